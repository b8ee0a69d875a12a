/* All methods on the same readings, one table. Errors are in metres and seconds, and as shares of the distance and
 * travel time to the first sensor. */
#include <math.h>
#include <stdio.h>

#include "headwater/io.h"
#include "io/json_out.h"

static void add_percent(hw__text *text, double share) {
  if (isfinite(share)) {
    hw__text_add(text, " %8.2f %%", 100 * share);
  } else {
    hw__text_add(text, " %10s", "-");
  }
}

static void add_number(hw__text *text, double value) {
  if (isfinite(value)) {
    hw__text_add(text, " %10.1f", value);
  } else {
    hw__text_add(text, " %10s", "elsewhere");
  }
}

static void add_row(hw__text *text, const hw_result *result, const hw_source *truth) {
  const hw_estimate *e = result->estimate;
  hw__text_add(text, "%-10s", result->method);
  if (!e) {
    hw__text_add(text, "  %s\n", result->failure ? result->failure : "no estimate");
    return;
  }
  if (!e->has_source) {
    hw__text_add(text, "  %s%s%s\n", e->trust == HW_TRUST_NONE ? "the readings cannot be explained" : "no spill seen",
                 e->trust_reason ? ": " : "", e->trust_reason ? e->trust_reason : "");
    return;
  }
  char when[40];
  if (result->calendar) {
    hw_time_format(round(result->origin_unix_s + e->source.time_s), when, sizeof when);
  } else {
    snprintf(when, sizeof when, "%.1f", e->source.time_s);
  }
  hw__text_add(text, " %12.6g %12.1f %20s %11.4g %11.3g %10.3g", e->source.mass_g, e->source.location_m, when, e->loss,
               result->reading_us_median, result->seconds);
  if (truth) {
    const hw_source share = hw_relative_error(result->river, &e->source, truth);
    add_percent(text, share.mass_g);
    const hw_source off = hw_source_error(&e->source, truth);
    add_number(text, fabs(off.location_m));
    add_percent(text, share.location_m);
    add_number(text, fabs(off.time_s));
    add_percent(text, share.time_s);
  }
  if (!hw_stop_converged(e->stop)) {
    hw__text_add(text, "  not converged: %s", hw_stop_text(e->stop));
  }
  hw__text_add(text, "\n");
}

hw_status hw_comparison_text(const hw_result *results, size_t count, const hw_source *truth, char **out) {
  hw__text text = {0};
  const bool calendar = count && results[0].calendar;
  hw__text_add(&text, "%-10s %12s %12s %20s %11s %11s %10s", "method", "mass_g", "location_m",
               calendar ? "time" : "time_s", "loss", "us/reading", "seconds");
  if (truth) {
    hw__text_add(&text, " %10s %10s %10s %10s %10s", "mass off", "metres off", "of way", "s off", "of travel");
  }
  hw__text_add(&text, "\n");
  for (size_t i = 0; i < count; i++) {
    add_row(&text, &results[i], truth);
  }
  if (truth) {
    hw__text_add(&text,
                 "of way, of travel: of the distance and travel time from the true place to the first sensor below\n");
  }
  return hw__text_finish(&text, out);
}
