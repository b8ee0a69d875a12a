#include "posterior/samples.h"

#include <math.h>

#include "core/normal.h"
#include "posterior/coordinates.h"
#include "posterior/walk.h"

/* Of a release that goes on: what has come of it so far. */
static double so_far(const hw__ade *a, const hw__release *r) {
  const double flowed = a->last_s - r->source.time_s;
  return r->duration_s > flowed && flowed > 0 ? flowed / r->duration_s : 1;
}

static hw_sample sample_of(const hw__ade *a, const hw__release *r, double weight) {
  const hw_hydraulics *h = &a->river->hydraulics;
  hw_source source = r->source;
  source.mass_g *= so_far(a, r);
  return (hw_sample){.source = source,
                     .velocity_m_s = h->velocity_m_s.value * r->velocity_factor,
                     .dispersion_m2_s = h->dispersion_m2_s.value * r->dispersion_factor,
                     .weight = r->possible ? weight : 0,
                     .duration_s = r->duration_s};
}

/* Draw by draw: how many of `wanted` equally weighted ones it stands for. */
typedef struct {
  size_t wanted, given, times;
  double running;
} picking;

static void take_next(picking *p, double weight) {
  p->running += weight;
  for (p->times = 0; p->given < p->wanted && (0.5 + (double)p->given) / (double)p->wanted < p->running; p->given++) {
    p->times++;
  }
}

size_t hw__ade_pick(const hw__ade *a, size_t wanted, size_t *index) {
  picking p = {.wanted = wanted};
  size_t n = 0;
  for (size_t i = 0; i < a->found.drawn; i++) {
    for (take_next(&p, a->draws.weight[i]); p.times > 0; p.times--) {
      index[n++] = i;
    }
  }
  for (; n > 0 && n < wanted; n++) { /* what rounding leaves open at the very end */
    index[n] = index[n - 1];
  }
  return n;
}

/* Some of the draws at hand are followed down the river; they become the picked ones from `at` on. */
static void follow_picks(hw__ade *a, size_t at) {
  size_t index[HW__PICKED];
  const size_t n = hw__ade_pick(a, HW__PICKED - at, index);
  hw__walk *w = a->spill.walk;
  hw__walk_begin(w, &a->spill, a->draws.chance, n, index, a->draws.x);
  for (size_t i = 0; i < n; i++) {
    a->released[at + i] = w->release[i];
  }
  for (size_t k = 0; k < a->spill.count; k++) {
    const bool seen = hw__walk_to(w, k);
    for (size_t i = 0; i < n; i++) {
      a->sight[(at + i) * a->spill.count + k] = seen ? hw__walk_sight(w, i) : (hw__sight){.log_likelihood = NAN};
    }
  }
}

static hw_sample sample_at(const hw__ade *a, size_t i, double weight) {
  hw__release r;
  hw__place_release(&a->spill, a->draws.x, i, &r);
  return sample_of(a, &r, weight);
}

/* A value that lies beyond an end of the box as far inside it: none pile up at the end. */
static double reflected(double value, double lo, double hi) {
  const double inside = value > hi ? hi * hi / value : value < lo ? lo * lo / value : value;
  return fmin(fmax(inside, lo), hi);
}

/* The discharge that masses were worked out with is in doubt, at all sensors alike. */
static void blur_masses(hw__ade *a) {
  hw_rng rng;
  hw_rng_seed(&rng, a->options.seed, UINT64_MAX / 4);
  for (size_t i = 0; i < a->found.drawn && a->discharge_sd > 0; i++) {
    double *mass = &a->samples[i].source.mass_g;
    *mass = reflected(*mass * exp(a->discharge_sd * hw__normal(&rng)), a->spill.mass_lo, a->spill.mass_hi);
  }
}

void hw__ade_set_samples(hw__ade *a) {
  for (size_t i = 0; i < a->found.drawn; i++) {
    a->samples[i] = sample_at(a, i, a->draws.weight[i]);
  }
  blur_masses(a);
  for (size_t i = a->found.drawn; i < HW__FINAL; i++) { /* fewer were drawn: the rest counts for nothing */
    a->samples[i] = a->samples[0];
    a->samples[i].weight = 0;
  }
  follow_picks(a, 0);
}

void hw__ade_mix_samples(hw__ade *a, double share) {
  const size_t fresh = (size_t)(share * HW__FINAL + 0.5);
  picking old = {.wanted = HW__FINAL - fresh}, new = {.wanted = fresh};
  size_t n = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    for (take_next(&old, a->samples[i].weight); old.times > 0; old.times--) {
      a->mixing[n++] = a->samples[i];
    }
  }
  for (size_t i = 0; i < a->found.drawn; i++) {
    for (take_next(&new, a->draws.weight[i]); new.times > 0; new.times--) {
      a->mixing[n++] = sample_at(a, i, 1);
    }
  }
  follow_picks(a, HW__PICKED - (size_t)(share * HW__PICKED + 0.5));
  for (size_t i = 0; i < HW__FINAL; i++) {
    a->samples[i] = a->mixing[i < n ? i : n - 1];
    a->samples[i].weight = 1.0 / HW__FINAL;
  }
}

hw__curve hw__picked_curve(const hw__ade *a, size_t pick, double x_m, hw_rng *rng) {
  const hw__sight *sight = &a->sight[pick * a->spill.count];
  size_t k = a->spill.count; /* the last station above it that sees the release */
  while (k > 0 && (a->station[k - 1].x_m > x_m || !(sight[k - 1].travel_s > 0))) {
    k--;
  }
  return hw__spill_carry(&a->spill, &a->released[pick], k > 0 ? k - 1 : 0, k > 0 ? &sight[k - 1] : NULL, x_m, rng);
}
