/* The answer for a duty officer: kilogrammes, river kilometres, clock time, microgrammes a litre. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/io.h"
#include "io/json_out.h"

enum { WORD = 2 * HW_ID_SIZE };

/* Half a unit goes away from zero, as people round; printf alone would go to the even digit. */
static double rounded(double value, int decimals) {
  const double unit = pow(10, decimals);
  return round(value * unit) / unit;
}

/* Three digits that mean something, without zeros that mean nothing and never as a power of ten; no digit before the
 * point is given up. The dashboard has the same rules for numbers, masses and places (web/src/format.ts). */
static const char *digits_text(double value, char out[WORD]) {
  const double size = fabs(value);
  const int decimals = size > 0 ? (int)fmin(6, fmax(0, 2 - floor(log10(size)))) : 0;
  snprintf(out, WORD, "%.*f", decimals, rounded(value, decimals));
  if (strchr(out, '.')) {
    size_t end = strlen(out);
    while (out[end - 1] == '0') {
      end--;
    }
    out[out[end - 1] == '.' ? end - 1 : end] = '\0';
  }
  return strcmp(out, "-0") == 0 ? out + 1 : out; /* without its sign */
}

static const char *with_unit(double value, const char *unit, char out[WORD]) {
  char digits[WORD];
  snprintf(out, WORD, "%.*s %s", (int)(WORD - 8), digits_text(value, digits), unit);
  return out;
}

static const char *mass_text(double mass_g, char out[WORD]) {
  const double size = fabs(mass_g);
  return size >= 999.5e3 ? with_unit(mass_g / 1e6, "t", out)
         : size >= 999.5 ? with_unit(mass_g / 1e3, "kg", out)
                         : with_unit(mass_g, "g", out);
}

/* A place that a file gives is told to ten metres, one that is estimated to a hundred unless its interval is short. */
enum { GIVEN = 2 };
static const double short_m = 2000;

static const char *place_text(double location_m, int decimals, char out[WORD]) {
  const double km = round(location_m / pow(10, 3 - decimals)) / pow(10, decimals);
  snprintf(out, WORD, "km %.*f", decimals, km == 0 ? 0 : km);
  return out;
}

/* With its branch, where the river has any. */
static const char *where_text(const hw_result *result, size_t branch, double location_m, int decimals, char out[WORD]) {
  char place[WORD];
  const bool named = branch < result->river->branch_count;
  snprintf(out, WORD, "%.*s%s%.*s", HW_ID_SIZE, named ? result->river->branches[branch].id : "", named ? " " : "",
           WORD - HW_ID_SIZE - 2, place_text(location_m, decimals, place));
  return out;
}

/* Of the source, and of whatever is told beside it. */
static int source_decimals(const hw_estimate *e) {
  return e->has_interval && e->interval.hi.location_m - e->interval.lo.location_m < short_m ? 2 : 1;
}

static const char *concentration_text(double c_g_m3, char out[WORD]) {
  return fabs(c_g_m3) >= 0.1 ? with_unit(c_g_m3, "mg/l", out) : with_unit(c_g_m3 * 1000, "ug/l", out);
}

/* Never 0 % and never 100 %: no method is that sure. */
static const char *percent_text(double probability, char out[WORD]) {
  if (probability > 0.994) {
    snprintf(out, WORD, ">99 %%");
  } else if (probability < 0.006) {
    snprintf(out, WORD, "<1 %%");
  } else {
    snprintf(out, WORD, "%.0f %%", round(100 * probability)); /* half a unit goes up, as everywhere */
  }
  return out;
}

static const char *span_text(double time_s, char out[WORD]) {
  const double size = fabs(time_s);
  const char *sign = time_s < 0 ? "-" : "";
  if (size < 120) {
    snprintf(out, WORD, "%s%.1f s", sign, size);
  } else if (size < 3600) {
    snprintf(out, WORD, "%s%.1f min", sign, size / 60);
  } else {
    const double minutes = round(size / 60);
    snprintf(out, WORD, "%s%.0f h %02.0f min", sign, floor(minutes / 60), fmod(minutes, 60));
  }
  return out;
}

/* "2026-03-01 08:15 UTC", or hours and minutes on the readings' own clock. */
static const char *time_text(const hw_result *result, double time_s, char out[WORD]) {
  if (!result->calendar) {
    return span_text(time_s, out);
  }
  char instant[40];
  hw_time_format(60 * round((result->origin_unix_s + time_s) / 60), instant, sizeof instant);
  snprintf(out, WORD, "%.10s %.5s UTC", instant, strlen(instant) > 11 ? instant + 11 : "");
  return out;
}

static void add_range_text(hw__text *text, const hw_result *result, const hw_range *range,
                           const char *(*word)(double, char[WORD])) {
  char mid[WORD], lo[WORD], hi[WORD];
  if (word) {
    hw__text_add(text, "%s (%s to %s)", word(range->mid, mid), word(range->lo, lo), word(range->hi, hi));
  } else {
    hw__text_add(text, "%s (%s to %s)", time_text(result, range->mid, mid), time_text(result, range->lo, lo),
                 time_text(result, range->hi, hi));
  }
}

/* An instant needs no line of its own. */
static void add_duration_lines(hw__text *text, const hw_estimate *e) {
  char mid[WORD], lo[WORD], hi[WORD];
  if (e->duration_s.mid > 0) {
    hw__text_add(text, "  lasted    %-22s%s to %s\n", span_text(e->duration_s.mid, mid),
                 span_text(e->duration_s.lo, lo), span_text(e->duration_s.hi, hi));
  }
  if (e->still_flowing >= 0.005) {
    hw__text_add(text, "  It still flows with probability %s", percent_text(e->still_flowing, mid));
    if (isfinite(e->rate_g_s)) {
      hw__text_add(text, ", at %s an hour; the mass is the mass so far", mass_text(3600 * e->rate_g_s, lo));
    }
    hw__text_add(text, ".\n");
  }
}

/* A single stretch is the interval that was printed already. */
static void add_region_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  char lo[WORD], hi[WORD], share[WORD];
  for (size_t i = 0; e->branch_count > 1 && i < e->branch_count; i++) {
    hw__text_add(text, "%s%5s  %s\n", i ? "            " : "  branches  ",
                 percent_text(e->branches[i].probability, share), result->river->branches[e->branches[i].branch].id);
  }
  for (size_t i = 0; e->region_count > 1 && i < e->region_count; i++) {
    const hw_region *r = &e->regions[i];
    hw__text_add(text, "%s%5s  %s to %s\n", i ? "            " : "  stretches ", percent_text(r->probability, share),
                 where_text(result, r->branch, r->lo_m, source_decimals(e), lo),
                 place_text(r->hi_m, source_decimals(e), hi));
  }
}

static void add_release_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  char mass[WORD], place[WORD], time[WORD], share[WORD];
  if (e->release_count < 2) {
    return;
  }
  hw__text_add(text, "\nReleases (above: the largest)\n");
  for (size_t i = 0; i < e->release_count; i++) {
    const hw_release *r = &e->releases[i];
    hw__text_add(text, "  %5s  %s at %s, %s", percent_text(r->probability, share), mass_text(r->source.mass_g, mass),
                 where_text(result, r->source.branch, r->source.location_m, source_decimals(e), place),
                 time_text(result, r->source.time_s, time));
    if (r->suspicion_count > 0) {
      const hw_suspicion *first = &r->suspicions[0];
      hw__text_add(text, ": %s %s",
                   first->candidate < 0 ? "no candidate" : result->river->candidates[first->candidate].id,
                   percent_text(first->probability, share));
    }
    hw__text_add(text, "\n");
  }
}

static void add_source_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  char mid[WORD], lo[WORD], hi[WORD];
  const char *clock = result->calendar ? "" : "  (clock of the readings)";
  hw__text_add(text, "  mass      %-22s", mass_text(e->source.mass_g, mid));
  if (e->has_interval) {
    hw__text_add(text, "%s to %s", mass_text(e->interval.lo.mass_g, lo), mass_text(e->interval.hi.mass_g, hi));
  }
  hw__text_add(text, "\n  place     %-22s",
               where_text(result, e->source.branch, e->source.location_m, source_decimals(e), mid));
  if (e->has_interval) {
    hw__text_add(text, "%s to %s", place_text(e->interval.lo.location_m, source_decimals(e), lo),
                 place_text(e->interval.hi.location_m, source_decimals(e), hi));
  }
  hw__text_add(text, "\n  released  %-22s", time_text(result, e->source.time_s, mid));
  if (e->has_interval) {
    hw__text_add(text, "%s to %s", time_text(result, e->interval.lo.time_s, lo),
                 time_text(result, e->interval.hi.time_s, hi));
  }
  hw__text_add(text, "%s\n", clock);
  add_duration_lines(text, e);
  add_region_lines(text, result);
  if (!e->has_interval) {
    hw__text_add(text, "  No interval: %s.\n",
                 e->provisional ? "too little of the pulse has been seen"
                                : "this method gives one only when several sensors saw the pulse");
  }
}

static void add_hydraulics_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  const bool learned = e->velocity_m_s.hi > e->velocity_m_s.lo || e->dispersion_m2_s.hi > e->dispersion_m2_s.lo;
  if (!e->has_hydraulics || !learned) {
    return;
  }
  hw__text_add(text, "\nRiver as the readings show it\n");
  if (isfinite(e->velocity_m_s.mid)) {
    hw__text_add(text, "  velocity    %.3g m/s (%.3g to %.3g)\n", e->velocity_m_s.mid, e->velocity_m_s.lo,
                 e->velocity_m_s.hi);
  }
  if (isfinite(e->dispersion_m2_s.mid)) {
    hw__text_add(text, "  dispersion  %.3g m2/s (%.3g to %.3g)\n", e->dispersion_m2_s.mid, e->dispersion_m2_s.lo,
                 e->dispersion_m2_s.hi);
  }
}

static void add_candidate_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  if (e->suspicion_count == 0) {
    return;
  }
  hw__text_add(text, e->release_count < 2 ? "\nWho\n" : "\nWho (of at least one of the releases)\n");
  for (size_t i = 0; i < e->suspicion_count; i++) {
    const hw_suspicion *s = &e->suspicions[i];
    char place[WORD], share[WORD];
    percent_text(s->probability, share);
    if (s->candidate < 0) {
      hw__text_add(text, "  %5s  none of these\n", share);
    } else {
      const hw_candidate *c = &result->river->candidates[s->candidate];
      hw__text_add(text, "  %5s  %s%s%s at %s\n", share, c->id, c->name[0] ? ", " : "", c->name,
                   where_text(result, c->branch, c->location_m, GIVEN, place));
    }
  }
}

static void add_time_line(hw__text *text, const hw_result *result, const char *what, const hw_range *range) {
  if (isfinite(range->mid)) {
    hw__text_add(text, "    %-12s", what);
    add_range_text(text, result, range, NULL);
    hw__text_add(text, "\n");
  }
}

/* From when until when the level is passed. Where there is an alarm level, how long the intake must stay closed comes
 * first: from the earliest that it may be passed until the latest. */
static void add_window_lines(hw__text *text, const hw_result *result, const hw_arrival *a, bool alarm) {
  static const double likely = 0.5; /* below this probability the window only "may" come */
  char from[WORD], until[WORD];
  if (!isfinite(a->first_s.mid)) {
    hw__text_add(text, "    not expected to pass the alarm level\n");
    return;
  }
  if (alarm && isfinite(a->last_s.mid)) {
    hw__text_add(text, "    %-12s%s until %s\n", a->exceeds_alarm < likely ? "may pass" : "close from",
                 time_text(result, a->first_s.lo, from), time_text(result, a->last_s.hi, until));
  }
  add_time_line(text, result, alarm ? "rises above" : "arrives", &a->first_s);
  add_time_line(text, result, alarm ? "falls below" : "gone", &a->last_s);
}

static void add_arrival_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  if (e->arrival_count == 0 || e->trust == HW_TRUST_NONE) {
    return;
  }
  hw__text_add(text, "\nDownstream\n");
  for (size_t i = 0; i < e->arrival_count; i++) {
    const hw_arrival *a = &e->arrivals[i];
    const hw_intake *k = &result->river->intakes[a->intake];
    char word[WORD], percent[WORD];
    hw__text_add(text, "  %s at %s\n", k->name[0] ? k->name : k->id,
                 where_text(result, k->branch, k->location_m, GIVEN, word));
    if (e->has_source) {
      add_window_lines(text, result, a, k->alarm_g_m3 > 0);
    }
    if (e->has_source) {
      add_time_line(text, result, "peak", &a->peak_s);
    }
    if (e->has_source && isfinite(a->peak_g_m3.mid)) {
      hw__text_add(text, "    peak of     ");
      add_range_text(text, result, &a->peak_g_m3, concentration_text);
      hw__text_add(text, "\n");
    }
    if (isfinite(a->exceeds_alarm)) {
      hw__text_add(text, "    passes the alarm level of %s with probability %s\n",
                   concentration_text(k->alarm_g_m3, word), percent_text(a->exceeds_alarm, percent));
    }
  }
}

static bool unit_follows(const char *end, const char *unit) {
  return strncmp(end, unit, strlen(unit)) == 0 && !isalnum((unsigned char)end[strlen(unit)]);
}

/* Methods speak SI and count their seconds from their own beginning: " at 12300 s" becomes a time that people read, and
 * "6e-05 g/m3" a concentration as everywhere else. */
static void add_warning(hw__text *text, const hw_result *result, const char *warning) {
  char word[WORD], *end;
  hw__text_add(text, "  ");
  for (const char *c = warning; *c; c = end) {
    const bool begins = isdigit((unsigned char)*c) || (*c == '-' && isdigit((unsigned char)c[1]));
    const bool alone = c == warning || c[-1] == ' ';
    const double value = begins && alone ? strtod(c, &end) : 0;
    if (begins && alone && unit_follows(end, " g/m3")) {
      hw__text_add(text, "%s", concentration_text(value, word));
      end += strlen(" g/m3");
    } else if (begins && alone && c - warning >= 4 && strncmp(c - 4, " at ", 4) == 0 && unit_follows(end, " s")) {
      hw__text_add(text, "%s", time_text(result, value, word));
      end += strlen(" s");
    } else {
      end = (char *)c + 1;
      hw__text_add(text, "%c", *c);
    }
  }
  hw__text_add(text, "\n");
}

static void add_warning_lines(hw__text *text, const hw_result *result) {
  const hw_estimate *e = result->estimate;
  if (result->warning_count + e->warning_count == 0) {
    return;
  }
  hw__text_add(text, "\nPlease note\n");
  for (size_t i = 0; i < result->warning_count; i++) {
    hw__text_add(text, "  %s\n", result->warnings[i]);
  }
  for (size_t i = 0; i < e->warning_count; i++) {
    add_warning(text, result, e->warnings[i]);
  }
}

static void add_cost_line(hw__text *text, const hw_result *result) {
  const hw_reader_counts *c = &result->counts;
  if (c->missing || c->duplicate || c->out_of_order) {
    hw__text_add(text,
                 "\nRows passed over: %" PRIu64 " missing, %" PRIu64 " duplicate. Out of time order: %" PRIu64 ".\n",
                 c->missing, c->duplicate, c->out_of_order);
  }
  hw__text_add(text, "\nMethod %s, seed %" PRIu64 ", %s.", result->method, result->seed,
               hw_stop_text(result->estimate->stop));
  if (!isnan(result->seconds)) {
    hw__text_add(text, " %.3g s in all", result->seconds);
    if (!isnan(result->reading_us_median)) {
      hw__text_add(text, ", %.3g us for the median reading", result->reading_us_median);
    }
    hw__text_add(text, ".");
  }
  hw__text_add(text, "\n");
}

/* There is no source: either no spill was seen, or the method does not trust its answer. */
static void add_no_source(hw__text *text, const hw_estimate *e) {
  const char *plural = e->readings == 1 ? "" : "s";
  if (e->trust == HW_TRUST_NONE) {
    hw__text_add(text, "The readings cannot be explained%s%s\n\n", e->trust_reason ? ": " : "",
                 e->trust_reason ? e->trust_reason : "");
    hw__text_add(text, "  No source is given: after %zu reading%s no mass, place or time fits them.\n", e->readings,
                 plural);
    return;
  }
  hw__text_add(text, "No spill seen in %zu reading%s%s\n", e->readings, plural, e->provisional ? " (provisional)" : "");
  if (isfinite(e->spill)) {
    char share[WORD];
    hw__text_add(text, "\n  A spill that these sensors could have seen: probability %s\n",
                 percent_text(e->spill, share));
  }
  if (e->trust_reason) {
    hw__text_add(text, "  %s\n", e->trust_reason);
  }
}

static void add_source_heading(hw__text *text, const hw_estimate *e) {
  hw__text_add(text, "Spill identified from %zu reading%s", e->readings, e->readings == 1 ? "" : "s");
  if (e->provisional) {
    hw__text_add(text, " (provisional: %s)", e->trust_reason ? e->trust_reason : "the pulse is still incomplete");
  }
  hw__text_add(text, "\n\n");
  if (isfinite(e->spill) && e->spill < 0.99) {
    char share[WORD];
    hw__text_add(text, "  That there is a spill at all has a probability of %s.\n\n", percent_text(e->spill, share));
  }
  if (e->has_interval) {
    hw__text_add(text, "%34s%.0f %% interval\n", "", 100 * e->level);
  }
}

hw_status hw_result_text(const hw_result *result, char **out) {
  const hw_estimate *e = result->estimate;
  if (!e) {
    return HW_EEMPTY;
  }
  hw__text text = {0};
  if (result->river->name[0]) {
    hw__text_add(&text, "%s\n", result->river->name);
  }
  if (e->has_source) {
    add_source_heading(&text, e);
    add_source_lines(&text, result);
    add_release_lines(&text, result);
    add_hydraulics_lines(&text, result);
  } else {
    add_no_source(&text, e);
  }
  add_candidate_lines(&text, result);
  add_arrival_lines(&text, result);
  add_warning_lines(&text, result);
  add_cost_line(&text, result);
  return hw__text_finish(&text, out);
}
