#include "posterior/samples.h"

#include <string.h>

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

static void take_next(hw__picking *p, double weight) {
  p->running += weight;
  for (p->times = 0; p->given < p->wanted && (0.5 + (double)p->given) / (double)p->wanted < p->running; p->given++) {
    p->times++;
  }
}

hw__release hw__ade_pick(hw__ade *a, size_t i, hw__picking *p) {
  hw__release r;
  hw__spill_walk(&a->spill, a->found.stage, i, a->draws.x, &r, a->spill.sight);
  take_next(p, r.possible ? a->draws.weight[i] : 0);
  return r;
}

static void keep_pick(hw__ade *a, size_t at, const hw__release *r) {
  memcpy(&a->sight[at * a->spill.count], a->spill.sight, a->spill.count * sizeof *a->sight);
  a->released[at] = *r;
}

/* What rounding leaves open at the very end. */
static void repeat_pick(hw__ade *a, size_t given, size_t wanted) {
  for (; given < wanted && given > 0; given++) {
    memcpy(&a->sight[given * a->spill.count], &a->sight[(given - 1) * a->spill.count],
           a->spill.count * sizeof *a->sight);
    a->released[given] = a->released[given - 1];
  }
}

void hw__ade_set_samples(hw__ade *a) {
  hw__picking p = {.wanted = HW__PICKED};
  for (size_t i = 0; i < a->drawn; i++) {
    const hw__release r = hw__ade_pick(a, i, &p);
    a->samples[i] = sample_of(a, &r, a->draws.weight[i]);
    for (size_t k = 0; k < p.times; k++) {
      keep_pick(a, p.given - p.times + k, &r);
    }
  }
  repeat_pick(a, p.given, HW__PICKED);
}

void hw__ade_mix_samples(hw__ade *a, double share) {
  const size_t fresh = (size_t)(share * HW__FINAL + 0.5), kept = HW__FINAL - fresh;
  const size_t kept_picks = HW__PICKED - (size_t)(share * HW__PICKED + 0.5);
  hw__picking old = {.wanted = kept}, new = {.wanted = fresh}, picks = {.wanted = HW__PICKED - kept_picks};
  size_t n = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    for (take_next(&old, a->samples[i].weight); old.times > 0; old.times--) {
      a->mixing[n++] = a->samples[i];
    }
  }
  for (size_t i = 0; i < a->drawn; i++) {
    const hw__release r = hw__ade_pick(a, i, &new);
    for (; new.times > 0; new.times--) {
      a->mixing[n++] = sample_of(a, &r, 1);
    }
    take_next(&picks, r.possible ? a->draws.weight[i] : 0);
    for (size_t k = 0; k < picks.times; k++) {
      keep_pick(a, kept_picks + picks.given - picks.times + k, &r);
    }
  }
  repeat_pick(a, kept_picks + picks.given, HW__PICKED);
  for (size_t i = 0; i < HW__FINAL; i++) {
    a->samples[i] = a->mixing[i < n ? i : n - 1];
    a->samples[i].weight = 1.0 / HW__FINAL;
  }
}
