/* A release in the river as it is: the steady answer of transport.c, in the river's own clock (clock.h). */
#include <math.h>
#include <stdlib.h>

#include "headwater/transport.h"
#include "river/clock.h"

/* A lasting release is even in time, not in the river's clock: so many parts of it are. */
enum { PARTS = 64 };

struct hw_spill {
  hw_transport *transport;
  hw__clock *clock; /* NULL: the flow is steady */
  hw_source source;
  double duration_s;
  size_t parts;
  double tau_s[PARTS + 1]; /* where each part begins, and the last one ends */
};

hw_status hw_spill_create(const hw_river *river, const hw_source *source, double duration_s, hw_spill **out) {
  *out = NULL;
  if (!isfinite(source->mass_g) || !isfinite(source->location_m) || !isfinite(source->time_s) ||
      !(duration_s >= 0 && isfinite(duration_s)) || source->branch >= (river->branch_count ? river->branch_count : 1)) {
    return HW_EDOMAIN;
  }
  hw_spill *s = calloc(1, sizeof *s);
  if (!s) {
    return HW_ENOMEM;
  }
  hw_status status = hw_transport_create(river, NULL, &s->transport);
  if (status == HW_OK) {
    status = hw__clock_create(river, &s->clock);
  }
  if (status != HW_OK) {
    hw_spill_free(s);
    return status;
  }
  s->source = *source;
  s->duration_s = duration_s;
  s->parts = s->clock && duration_s > 0 ? PARTS : 1;
  for (size_t i = 0; i <= s->parts; i++) {
    const double time_s = source->time_s + duration_s * (double)i / (double)s->parts;
    s->tau_s[i] = hw__clock_in(s->clock, source->branch, source->location_m, time_s);
  }
  *out = s;
  return HW_OK;
}

void hw_spill_free(hw_spill *spill) {
  if (spill) {
    hw_transport_free(spill->transport);
    hw__clock_free(spill->clock);
    free(spill);
  }
}

static hw_leg leg_to(const hw_spill *s, size_t branch, double x_m) {
  return hw_transport_leg_between(s->transport, s->source.branch, s->source.location_m, branch, x_m);
}

double hw_spill_concentration(const hw_spill *s, size_t branch, double x_m, double time_s) {
  hw_leg leg = leg_to(s, branch, x_m);
  if (!s->clock) {
    return s->source.mass_g * hw_leg_lasting(&leg, time_s - s->source.time_s, s->duration_s);
  }
  /* Decay goes by the clock on the wall. */
  const double decay_per_s = leg.decay_per_s;
  leg.decay_per_s = 0;
  const double tau_s = hw__clock_in(s->clock, branch, x_m, time_s);
  double sum = 0;
  for (size_t i = 0; i < s->parts; i++) {
    const double middle_s = s->source.time_s + s->duration_s * ((double)i + 0.5) / (double)s->parts;
    sum += hw_leg_lasting(&leg, tau_s - s->tau_s[i], s->tau_s[i + 1] - s->tau_s[i]) *
           exp(-decay_per_s * fmax(time_s - middle_s, 0));
  }
  return s->source.mass_g * sum / (double)s->parts / hw__clock_dilution(s->clock, branch, x_m, time_s);
}

/* Where the response has fallen to the least, between an age inside the pulse and one outside. */
static double pulse_edge(const hw_leg *leg, double inside_s, double outside_s, double least) {
  for (int i = 0; i < 100; i++) {
    const double middle = 0.5 * (inside_s + outside_s);
    if (hw_leg_response(leg, middle) > least) {
      inside_s = middle;
    } else {
      outside_s = middle;
    }
  }
  return outside_s;
}

/* The peak of c(T) solves (a + 2k) T^2 + T - a theta^2 = 0. */
bool hw_spill_window(const hw_spill *s, size_t branch, double x_m, double share, double *first_s, double *last_s) {
  const hw_leg leg = leg_to(s, branch, x_m);
  if (!(leg.travel_s > 0)) {
    return false;
  }
  const double a = leg.sharpness_per_s, q = a + 2 * leg.decay_per_s;
  const double peak_s = (sqrt(1 + 4 * q * a * leg.travel_s * leg.travel_s) - 1) / (2 * q);
  const double least = share * hw_leg_response(&leg, peak_s);
  if (!(least > 0)) {
    return false;
  }
  double late_s = 2 * peak_s;
  while (hw_leg_response(&leg, late_s) > least) {
    late_s *= 2;
  }
  *first_s = hw__clock_out(s->clock, branch, x_m, s->tau_s[0] + pulse_edge(&leg, peak_s, 0, least));
  *last_s = hw__clock_out(s->clock, branch, x_m, s->tau_s[s->parts] + pulse_edge(&leg, peak_s, late_s, least));
  return true;
}
