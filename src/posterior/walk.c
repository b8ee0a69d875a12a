#include "posterior/walk.h"

#include <math.h>

#include "posterior/coordinates.h"
#include "posterior/filter.h"
#include "posterior/grab.h"
#include "posterior/step_draw.h"
#include "river/doubt.h"

bool hw__spill_is_filtered(const hw__spill *spill, size_t k) {
  const hw__doubt *d = &spill->doubt;
  const bool doubtful =
      d->local_v > 0 || d->local_d > 0 || spill->station[k].gain_sd > 0 || spill->eased_v > 0 || spill->eased_d > 0;
  return spill->station[k].fit->seen &&
         (k > spill->anchor ? doubtful || spill->many : k < spill->anchor && spill->many);
}

bool hw__spill_is_passed_by(const hw__spill *spill, size_t k) {
  const hw__fit *fit = spill->station[k].fit;
  return spill->first_look && hw__spill_is_filtered(spill, k) && (fit->sketchy || !fit->complete);
}

typedef struct {
  const hw__spill *spill;
  const hw__release *release;
  uint64_t stage;
  size_t index;
  bool seeded;
  hw_rng rng;
  const hw__station *before; /* the station that the walk came from */
  double middle_m;           /* of the stretch above it */
  double sd_before[2];       /* of its local factors */
  size_t last_seen;          /* the station furthest down that the filter takes in */
  hw__plume state;
} walk;

static hw_rng *stream_of(walk *w) {
  if (!w->seeded) {
    hw_rng_seed(&w->rng, w->spill->seed, (w->stage + 1) * 65536 + w->index);
    w->seeded = true;
  }
  return &w->rng;
}

/* The step to a station at or above the anchor: the release's own factors, nothing drawn but the gain. */
static double step_from_source(walk *w, size_t k, hw__sight *sight) {
  const hw__station *s = &w->spill->station[k];
  const double lost = (s->at.decay - w->release->at.decay) / w->release->velocity_factor;
  const hw__release *r = w->release;
  const hw__doubt *d = &w->spill->doubt;
  const double slower = 1 / r->velocity_factor, length = hw__averaged(s->x_m - r->source.location_m);
  const hw__stretch part = {
      .release_s = r->source.time_s,
      .shape = r->shape,
      .duration = r->duration_s,
      .travel = (s->at.theta - r->at.theta) * slower,
      .variance = (s->at.variance - r->at.variance) * r->dispersion_factor * slower * slower * slower,
      .ln_area = log(r->source.mass_g * (s->per_discharge + s->per_area * exp(-r->ln_v))) - lost};
  const hw__step_prior prior = {{0}, {0, 0, s->gain_sd}};
  double n[HW__STEP] = {0}, y[HW__PULSE_SIZE], ratio = 0;
  sight->filtered = hw__spill_is_filtered(w->spill, k);
  if (s->gain_sd > 0 && !sight->filtered) {
    ratio = hw__draw_step(s->fit, &part, &prior, stream_of(w), n);
  }
  w->state = (hw__plume){.mean = {0, 0, r->own_v, r->own_d}};
  hw__stretch_predict(&part, n, &w->state.mean[HW__TRAVEL], &w->state.mean[HW__VARIANCE], y);
  if (sight->filtered) {
    hw__plume same = w->state;
    sight->log_likelihood = hw__filter_take_in(s->fit, &part, s->gain_sd, 0.5 * d->shape, &same);
  }
  w->middle_m = 0.5 * (r->source.location_m + s->x_m);
  w->sd_before[0] = d->local_v * length;
  w->sd_before[1] = d->local_d * length;
  sight->curve.area_g_s_m3 = exp(y[HW__LN_AREA] + lost);
  return ratio;
}

static double step_down(walk *w, size_t k, hw__sight *sight) {
  const hw__release *r = w->release;
  const hw__station *s = &w->spill->station[k], *before = w->before;
  const hw__doubt *d = &w->spill->doubt;
  const double length = s->x_m - before->x_m, here = 0.5 * (before->x_m + s->x_m), share = hw__averaged(length);
  const double rho = exp(-(here - w->middle_m) / HW__LOCAL_LENGTH_M),
               sd[2] = {hypot(d->local_v * share, w->spill->eased_v), hypot(d->local_d * share, w->spill->eased_d)};
  const double lost = (s->at.decay - r->at.decay) / r->velocity_factor;
  const hw__stretch part = {.release_s = r->source.time_s,
                            .shape = r->shape,
                            .duration = r->duration_s,
                            .travel_before = w->state.mean[HW__TRAVEL],
                            .variance_before = w->state.mean[HW__VARIANCE],
                            .travel = (s->at.theta - before->at.theta) * exp(-r->ln_v),
                            .variance = (s->at.variance - before->at.variance) * exp(r->ln_d - 3 * r->ln_v),
                            .ln_area = log(r->source.mass_g * (s->per_discharge + s->per_area * exp(-r->ln_v))) - lost};
  hw__step_prior prior = {{0}, {0, 0, s->gain_sd}};
  double carry[2] = {0, 0};
  for (size_t c = 0; c < 2; c++) {
    carry[c] = w->sd_before[c] > 0 ? rho * sd[c] / w->sd_before[c] : 0;
    prior.mean[c] = carry[c] * w->state.mean[HW__OWN_FASTER + c];
    prior.sd[c] = sd[c] * sqrt(fmax(1 - rho * rho, 0));
    w->sd_before[c] = sd[c];
  }
  w->middle_m = here;
  double n[HW__STEP] = {prior.mean[HW__STEP_V], prior.mean[HW__STEP_D], 0}, y[HW__PULSE_SIZE];
  sight->filtered = hw__spill_is_filtered(w->spill, k);
  if (sight->filtered) {
    hw__plume next = {{0}, {{0}}};
    hw__stretch_begin(s->fit, &part, &prior, n);
    for (int round = 0; round < 2; round++) {
      next = hw__filter_advance(&w->state, &part, &prior, carry, n);
      const hw__plume expected = next;
      sight->log_likelihood = hw__filter_take_in(s->fit, &part, s->gain_sd, 0.5 * d->shape, &next);
      n[HW__STEP_V] = next.mean[HW__OWN_FASTER];
      n[HW__STEP_D] = next.mean[HW__OWN_SPREADING];
      double wrong;
      hw__station_log_probability(s, sight->log_likelihood, &wrong);
      if (wrong > 0.5) { /* it says nothing of the plume, so nothing is taken from it */
        next = expected;
        break;
      }
    }
    next.mean[HW__VARIANCE] = fmax(next.mean[HW__VARIANCE], 0.5 * part.variance_before + 1e-6);
    next.mean[HW__TRAVEL] = fmax(next.mean[HW__TRAVEL], 0.5 * part.travel_before);
    w->state = next;
    sight->curve.area_g_s_m3 = exp(part.ln_area + lost);
    return 0;
  }
  if (s->fit->few && (prior.sd[0] > 0 || prior.sd[1] > 0 || s->gain_sd > 0)) {
    w->state = hw__filter_advance(&w->state, &part, &prior, carry, n);
    sight->curve.area_g_s_m3 = exp(part.ln_area + lost);
    return hw__grab_meet(w->spill, r, s, stream_of(w), &w->state, &sight->curve.area_g_s_m3);
  }
  if (k < w->last_seen) { /* a sensor further down pins the plume better than a draw here could guess it */
    w->state = hw__filter_advance(&w->state, &part, &prior, carry, n);
    sight->curve.area_g_s_m3 = exp(part.ln_area + lost);
    return 0;
  }
  double ratio = 0;
  if (prior.sd[0] > 0 || prior.sd[1] > 0 || s->gain_sd > 0) {
    ratio = hw__draw_step(s->fit, &part, &prior, stream_of(w), n);
  }
  w->state = (hw__plume){.mean = {0, 0, n[HW__STEP_V], n[HW__STEP_D]}};
  hw__stretch_predict(&part, n, &w->state.mean[HW__TRAVEL], &w->state.mean[HW__VARIANCE], y);
  sight->curve.area_g_s_m3 = exp(y[HW__LN_AREA] + lost);
  return ratio;
}

double hw__spill_walk(const hw__spill *spill, uint64_t stage, size_t i, double *const *x, hw__release *release,
                      hw__sight *sight) {
  hw__release *r = release;
  hw__place_release(spill, x, i, r);
  r->log_prior = r->possible ? hw__release_log_prior(spill, r) : -INFINITY;
  if (!r->possible) {
    return 0;
  }
  walk w = {.spill = spill, .release = r, .stage = stage, .index = i};
  for (size_t k = spill->count; k-- > spill->anchor + 1 && w.last_seen == 0;) {
    w.last_seen = hw__spill_is_filtered(spill, k) && !hw__spill_is_passed_by(spill, k) ? k : 0;
  }
  double ratio = 0;
  for (size_t k = 0; k < spill->count; k++) {
    const hw__station *s = &spill->station[k];
    sight[k] = (hw__sight){0};
    if (!(s->x_m > r->source.location_m) || hw__spill_is_passed_by(spill, k)) {
      continue;
    }
    ratio += k <= spill->anchor ? step_from_source(&w, k, &sight[k]) : step_down(&w, k, &sight[k]);
    sight[k].travel_s = w.state.mean[HW__TRAVEL];
    sight[k].curve = hw__plume_curve(r, s, &w.state, sight[k].curve.area_g_s_m3);
    sight[k].own_v = w.state.mean[HW__OWN_FASTER];
    sight[k].own_d = w.state.mean[HW__OWN_SPREADING];
    w.before = s;
  }
  return ratio;
}

hw__curve hw__spill_carry(const hw__spill *spill, const hw__release *release, const hw__sight *sight, double x_m,
                          hw_rng *rng) {
  const hw__release *r = release;
  if (!(x_m > r->source.location_m)) {
    return (hw__curve){0};
  }
  const hw__integrals to = hw__transport_integrals(spill->transport, x_m);
  const hw_leg here = hw_transport_leg(spill->transport, x_m, x_m);
  const bool follows = hw__river_discharge_follows(spill->river, x_m);
  size_t k = spill->count;
  while (k > 0 && (spill->station[k - 1].x_m > x_m || !(sight[k - 1].curve.travel_s > 0))) {
    k--;
  }
  double travel, variance;
  if (k == 0 || k - 1 < spill->anchor) {
    travel = (to.theta - r->at.theta) / r->velocity_factor;
    variance = (to.variance - r->at.variance) * r->dispersion_factor / pow(r->velocity_factor, 3);
  } else {
    const hw__station *s = &spill->station[k - 1];
    const double share = hw__averaged(x_m - s->x_m), rho = exp(-0.5 * (x_m - s->x_m) / HW__LOCAL_LENGTH_M);
    const double fresh = share * sqrt(1 - rho * rho);
    const double v = r->ln_v + rho * sight[k - 1].own_v + spill->doubt.local_v * fresh * hw_rng_normal(rng);
    const double w = r->ln_d + rho * sight[k - 1].own_d + spill->doubt.local_d * fresh * hw_rng_normal(rng);
    travel = sight[k - 1].travel_s + (to.theta - s->at.theta) * exp(-v);
    variance = sight[k - 1].curve.variance_s2 + (to.variance - s->at.variance) * exp(w - 3 * v);
  }
  const double discharge = here.discharge_m3_s * (follows ? exp(r->ln_v) : 1);
  const double longer = exp(r->shape);
  return (hw__curve){.passage_s = r->source.time_s + travel,
                     .travel_s = travel * longer,
                     .variance_s2 = variance,
                     .area_g_s_m3 = r->source.mass_g / discharge,
                     .decay_per_s = (to.decay - r->at.decay) / ((to.theta - r->at.theta) * longer),
                     .duration_s = r->duration_s};
}
