#include "advice/foresight.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES_MOST = 16384, GRID = 48, LOOKS = 3 };
static const double correlation_m = 5000; /* of what differs from stretch to stretch */
static const double field_local_sd = 0.1, field_local_spread_sd = 0.35;
static const double jobson_power = 0.887;
/* Beside the doubt that a file states: the way below is another than the way down to the sensors. Square of 0.15: found
 * with study-advise, where without it true passages lay outside the draws' in a third of the networks. */
static const double other_reach = 0.15 * 0.15;
static const double most_stored = 1 / 30.0, storage_widths = 5;

/* --- the river as transport knows it, with something in place of what is unknown --- */

static double value_of(const hw_quantity *q) {
  return q->certainty == HW_UNKNOWN ? 1 : q->value;
}

/* Where nothing is known, all of it is shared but for what rivers show. */
static hw__doubt_ahead doubt_of(const hw_quantity *q, double unknown_local) {
  if (q->certainty != HW_UNCERTAIN) {
    return q->certainty == HW_KNOWN ? (hw__doubt_ahead){0, 0} : (hw__doubt_ahead){1, unknown_local};
  }
  const double all = log(q->factor), local = q->local > 0 ? log(q->local) : 0.6 * all;
  return (hw__doubt_ahead){sqrt(fmax(all * all - local * local, 0)), local};
}

static hw_status set_transport(const hw_river *river, hw__foresight *f) {
  hw_river stated = *river;
  hw_hydraulics *h = &stated.hydraulics;
  if (h->velocity_m_s.certainty == HW_UNKNOWN) {
    h->velocity_m_s = (hw_quantity){.certainty = HW_KNOWN, .value = 1, .factor = 1};
    stated.reach_count = 0;
  }
  if (h->dispersion_m2_s.certainty == HW_UNKNOWN) {
    h->dispersion_m2_s = (hw_quantity){.certainty = HW_KNOWN, .value = 1, .factor = 1};
  }
  hw_status status = hw_transport_create(&stated, NULL, &f->transport);
  hw_transport *faster = NULL;
  if (status == HW_OK) {
    status = hw_transport_create(&stated, &(hw_hydraulic_scale){.velocity = 2, .dispersion = 1}, &faster);
  }
  if (status == HW_OK && river->sensor_count) {
    const hw_sensor *s = &river->sensors[0];
    const hw_leg once = hw_transport_leg_between(f->transport, s->branch, s->location_m - 1, s->branch, s->location_m);
    const hw_leg twice = hw_transport_leg_between(faster, s->branch, s->location_m - 1, s->branch, s->location_m);
    f->discharge_slope = log2(twice.discharge_m3_s / once.discharge_m3_s) > 0.5;
  }
  hw_transport_free(faster);
  f->velocity = doubt_of(&river->hydraulics.velocity_m_s, field_local_sd);
  f->dispersion = doubt_of(&river->hydraulics.dispersion_m2_s, field_local_spread_sd);
  return status;
}

/* --- draws --- */

/* Systematic resampling: as many as wanted, equally weighted, in the order of the samples. */
static hw_status set_draws(hw_run *run, const hw_river *river, size_t count, uint64_t seed, hw__foresight *f) {
  hw_sample *samples = malloc(SAMPLES_MOST * sizeof *samples);
  f->draws = calloc(count, sizeof *f->draws);
  size_t given = 0;
  hw_status status = samples && f->draws ? hw_run_samples(run, samples, SAMPLES_MOST, &given) : HW_ENOMEM;
  double total = 0, running = 0;
  for (size_t i = 0; i < given && status == HW_OK; i++) {
    total += samples[i].weight;
  }
  hw_rng rng;
  hw_rng_seed(&rng, seed, 0xAD);
  const double offset = hw_rng_uniform(&rng);
  for (size_t i = 0; i < given && status == HW_OK && total > 0; i++) {
    running += samples[i].weight / total;
    while (f->count < count && ((double)f->count + offset) / (double)count < running) {
      f->draws[f->count++] =
          (hw__draw_ahead){.source = samples[i].source,
                           .duration_s = samples[i].duration_s > 0 ? samples[i].duration_s : 0,
                           .velocity = samples[i].velocity_m_s / value_of(&river->hydraulics.velocity_m_s),
                           .dispersion = samples[i].dispersion_m2_s / value_of(&river->hydraulics.dispersion_m2_s),
                           .luck = hw_rng_normal(&rng),
                           .spread_luck = hw_rng_normal(&rng),
                           .storage = most_stored * hw_rng_uniform(&rng)};
    }
  }
  free(samples);
  return status != HW_OK ? status : f->count ? HW_OK : HW_EEMPTY;
}

/* --- landmarks --- */

static double jobson_variance(double age_s) {
  const double sd = 1 / (1025e-6 * pow(fmax(age_s, 60) / 3600, -jobson_power) * sqrt(2 * 3.141592653589793));
  return sd * sd;
}

/* Carried by its own hydraulics alone. */
static hw__pulse_ahead own_pulse(const hw__foresight *f, const hw__draw_ahead *d, size_t branch, double x_m) {
  hw_leg leg = hw_transport_leg_between(f->transport, d->source.branch, d->source.location_m, branch, x_m);
  if (leg.travel_s > 0) {
    const double travel_s = leg.travel_s / d->velocity, v3 = d->velocity * d->velocity * d->velocity;
    const double variance =
        isfinite(d->dispersion) ? leg.travel_s / leg.sharpness_per_s * d->dispersion / v3 : jobson_variance(travel_s);
    leg.sharpness_per_s = travel_s / variance;
    leg.travel_s = travel_s;
    leg.discharge_m3_s *= f->discharge_slope > 0 ? d->velocity : 1;
  }
  return (hw__pulse_ahead){leg, d->source.mass_g, d->duration_s};
}

/* Do most draws come by? Then *first_s is before any of them did. */
static bool is_below(const hw__foresight *f, const hw_sensor *s, double *first_s) {
  const size_t step = f->count > 64 ? f->count / 64 : 1;
  size_t come = 0, asked = 0;
  *first_s = INFINITY;
  for (size_t i = 0; i < f->count; i += step, asked++) {
    const hw_source *from = &f->draws[i].source;
    come +=
        hw_transport_leg_between(f->transport, from->branch, from->location_m, s->branch, s->location_m).travel_s > 0;
    *first_s = fmin(*first_s, from->time_s);
  }
  return 2 * come > asked;
}

typedef struct {
  double time_s[GRID];
  hw_range band[GRID];
  size_t peak;
  double base_g_m3;
} course;

static hw_status predict(hw_run *run, const hw_sensor *s, double lo, double hi, course *c) {
  for (size_t i = 0; i < GRID; i++) {
    c->time_s[i] = lo + (hi - lo) * (double)i / (GRID - 1);
  }
  const hw_prediction all = {s->location_m, c->time_s, GRID, c->band, s->branch};
  const hw_status status = hw_run_predict(run, &all);
  c->peak = 0;
  c->base_g_m3 = INFINITY;
  for (size_t i = 0; i < GRID && status == HW_OK; i++) {
    c->peak = c->band[i].mid > c->band[c->peak].mid ? i : c->peak;
    c->base_g_m3 = fmin(c->base_g_m3, c->band[i].mid);
  }
  return status;
}

/* The times around the peak at which more than a share of it is left. */
static void around_peak(const course *c, double share, double *lo, double *hi) {
  const double level = c->base_g_m3 + share * (c->band[c->peak].mid - c->base_g_m3);
  size_t a = c->peak, b = c->peak;
  while (a > 0 && c->band[a].mid > level) {
    a--;
  }
  while (b + 1 < GRID && c->band[b].mid > level) {
    b++;
  }
  *lo = c->time_s[a];
  *hi = c->time_s[b];
}

/* Is the pulse known there, by the run's own word? Then it is the landmark. */
static bool read_landmark(const course *c, const hw_sensor *s, const hw__foresight *f, double now_s,
                          hw__landmark *out) {
  const hw_range top = c->band[c->peak];
  const double lo = top.lo - c->base_g_m3, mid = top.mid - c->base_g_m3, hi = top.hi - c->base_g_m3;
  if (!(c->time_s[c->peak] < now_s) || !(lo > 0.5 * mid) || !(hi < 2 * mid) ||
      !(mid > 3 * fmax(s->noise_absolute_g_m3, s->detection_limit_g_m3))) {
    return false;
  }
  double area = 0, first = 0, second = 0;
  for (size_t i = 0; i < GRID; i++) {
    const double weight = fmax(c->band[i].mid - c->base_g_m3, 0), t = c->time_s[i] - c->time_s[c->peak];
    area += weight;
    first += weight * t;
    second += weight * t * t;
  }
  const double mean = first / area, step_s = c->time_s[1] - c->time_s[0];
  const hw_leg here = hw_transport_leg_between(f->transport, s->branch, s->location_m - 1, s->branch, s->location_m);
  *out = (hw__landmark){.branch = s->branch,
                        .x_m = s->location_m,
                        .passage_s = c->time_s[c->peak] + mean,
                        .variance_s2 = fmax(second / area - mean * mean, step_s * step_s),
                        .mass_g = area * step_s * here.discharge_m3_s};
  return true;
}

static hw_status set_landmarks(hw_run *run, const hw_river *river, double now_s, hw__foresight *f) {
  f->landmarks = calloc(river->sensor_count + 1, sizeof *f->landmarks);
  hw_status status = f->landmarks ? HW_OK : HW_ENOMEM;
  for (size_t s = 0; s < river->sensor_count && f->landmark_count < HW__LANDMARKS_MOST && status == HW_OK; s++) {
    double lo, hi;
    course c;
    if (!is_below(f, &river->sensors[s], &lo) || !(lo < now_s)) {
      continue;
    }
    /* Nearer and nearer: first to find the pulse, then to see it. One that is still to come tells nothing here. */
    hi = now_s + 0.5 * (now_s - lo);
    bool ahead = false;
    for (int look = 0; look < LOOKS && status == HW_OK && !ahead; look++) {
      status = predict(run, &river->sensors[s], lo, hi, &c);
      ahead = c.time_s[c.peak] - (c.time_s[1] - c.time_s[0]) > now_s;
      around_peak(&c, 0.01, &lo, &hi);
    }
    f->landmark_count +=
        status == HW_OK && !ahead && read_landmark(&c, &river->sensors[s], f, now_s, &f->landmarks[f->landmark_count]);
  }
  return status;
}

/* Which landmarks the water of each draw passes. */
static void set_ways(hw__foresight *f) {
  for (size_t j = 0; j < f->count; j++) {
    hw__draw_ahead *d = &f->draws[j];
    for (size_t i = 0; i < f->landmark_count; i++) {
      const hw__landmark *m = &f->landmarks[i];
      const hw_leg to =
          hw_transport_leg_between(f->transport, d->source.branch, d->source.location_m, m->branch, m->x_m);
      d->way |= (unsigned)(to.travel_s > 0 && m->passage_s > d->source.time_s) << i;
    }
  }
}

hw_status hw__foresight_create(hw_run *run, const hw_river *river, double now_s, size_t count, uint64_t seed,
                               hw__foresight *out) {
  *out = (hw__foresight){0};
  hw_status status = set_transport(river, out);
  if (status == HW_OK) {
    status = set_draws(run, river, count, seed, out);
  }
  if (status == HW_OK) {
    status = set_landmarks(run, river, now_s, out);
    set_ways(out);
  }
  if (status != HW_OK) {
    hw__foresight_free(out);
  }
  return status;
}

void hw__foresight_free(hw__foresight *f) {
  hw_transport_free(f->transport);
  free(f->draws);
  free(f->landmarks);
  *f = (hw__foresight){0};
}

/* --- carrying on --- */

/* How much of the local part is left in the mean over a stretch. */
static double averaged(double length_m) {
  return fmin(1, 2 * correlation_m / fmax(length_m, 1));
}

/* The factor below, given the one from the source to here: its common part is known as well as that tells it. */
static double factor_below(const hw__doubt_ahead *doubt, double above, double above_m, double below_m, double luck) {
  const double common = doubt->common * doubt->common, local = doubt->local * doubt->local;
  const double share = common > 0 ? common / (common + local * averaged(above_m)) : 0;
  const double left = common * (1 - share) + local * averaged(below_m) + (common > 0 ? other_reach : 0);
  return exp(share * log(above) + sqrt(left) * luck);
}

/* How wide a pulse of this age and width is after a further travel_s. */
static double widened(const hw__draw_ahead *d, const hw__landmark *from, const hw_leg *on, double travel_s,
                      double velocity, double dispersion) {
  if (isfinite(d->dispersion)) {
    return from->variance_s2 + on->travel_s / on->sharpness_per_s * dispersion / (velocity * velocity * velocity);
  }
  const double age = fmax(from->passage_s - d->source.time_s, 60);
  return from->variance_s2 * (1 + (pow((age + travel_s) / age, 2 * jobson_power) - 1) * dispersion);
}

/* On from a landmark that lies between the source and the place. */
static hw__pulse_ahead on_from(const hw__foresight *f, const hw__draw_ahead *d, const hw__landmark *from, double x_m,
                               const hw_leg *on) {
  const double below_m = fabs(x_m - from->x_m), above_m = fabs(from->x_m - d->source.location_m);
  const double velocity = factor_below(&f->velocity, d->velocity, above_m, below_m, d->luck);
  const double dispersion =
      factor_below(&f->dispersion, isfinite(d->dispersion) ? d->dispersion : 1, above_m, below_m, d->spread_luck);
  const double travel_s = on->travel_s / velocity;
  hw_leg leg = *on;
  leg.travel_s = from->passage_s + travel_s - d->source.time_s;
  leg.sharpness_per_s = leg.travel_s / widened(d, from, on, travel_s, velocity, dispersion);
  leg.decay_per_s = 0;
  return (hw__pulse_ahead){leg, from->mass_g * exp(-on->decay_per_s * travel_s), 0};
}

/* Between the source and a landmark below: a share of its age and width. */
static hw__pulse_ahead back_from(const hw__foresight *f, const hw__draw_ahead *d, const hw__landmark *below,
                                 double rest_s, const hw__pulse_ahead *own) {
  const double above_s = own->leg.travel_s * exp(f->velocity.local * d->luck); /* faster above means slower below */
  const double share = above_s / (above_s + rest_s / d->velocity);
  hw__pulse_ahead p = *own;
  p.duration_s = 0;
  p.leg.travel_s = share * (below->passage_s - d->source.time_s);
  p.leg.sharpness_per_s = p.leg.travel_s / (share * below->variance_s2);
  return p;
}

void hw__foresight_look(const hw__foresight *f, size_t branch, double x_m, hw__prospect *out) {
  *out = (hw__prospect){.branch = branch, .x_m = x_m};
  for (size_t i = 0; i < f->landmark_count; i++) {
    const hw__landmark *m = &f->landmarks[i];
    out->above[i] = hw_transport_leg_between(f->transport, m->branch, m->x_m, branch, x_m);
    out->below_s[i] = hw_transport_leg_between(f->transport, branch, x_m, m->branch, m->x_m).travel_s;
  }
}

hw__pulse_ahead hw__foresight_pulse(const hw__foresight *f, size_t index, const hw__prospect *at) {
  const hw__draw_ahead *d = &f->draws[index];
  size_t above = f->landmark_count, below = f->landmark_count;
  for (size_t i = 0; i < f->landmark_count; i++) {
    if (!(d->way >> i & 1U)) {
      continue;
    }
    const double on_s = at->above[i].travel_s, rest_s = at->below_s[i];
    if (on_s > 0 && (above == f->landmark_count || on_s < at->above[above].travel_s)) {
      above = i;
    } else if (rest_s > 0 && (below == f->landmark_count || rest_s < at->below_s[below])) {
      below = i;
    }
  }
  if (above < f->landmark_count) {
    return on_from(f, d, &f->landmarks[above], at->x_m, &at->above[above]);
  }
  const hw__pulse_ahead own = own_pulse(f, d, at->branch, at->x_m);
  return own.leg.travel_s > 0 && below < f->landmark_count
             ? back_from(f, d, &f->landmarks[below], at->below_s[below], &own)
             : own;
}

double hw__foresight_read(const hw__foresight *f, size_t index, const hw__pulse_ahead *pulse, double time_s) {
  const hw__draw_ahead *d = &f->draws[index];
  const hw_leg *leg = &pulse->leg;
  const double age_s = time_s - d->source.time_s;
  if (!(leg->travel_s > 0) || !(age_s > 0)) {
    return 0;
  }
  const double lasts_s = pulse->duration_s;
  const double response = lasts_s > 0 ? hw_leg_lasting(leg, age_s, lasts_s) : hw_leg_response(leg, age_s);
  const double late_s = age_s - leg->travel_s - lasts_s, width_s = sqrt(leg->travel_s / leg->sharpness_per_s);
  const double tail =
      late_s > 0 ? d->storage / (leg->discharge_m3_s * 2.5066 * width_s) * exp(-late_s / (storage_widths * width_s))
                 : 0;
  return pulse->mass_g * (response + tail);
}
