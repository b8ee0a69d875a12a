#include "posterior/walk.h"

#include <math.h>
#include <stdlib.h>

#include "core/normal.h"
#include "posterior/coordinates.h"
#include "posterior/gain.h"
#include "posterior/grab.h"
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

/* ---- What the points suppose ---- */

static void set_lane(hw__four *g, size_t lane, const hw__spill *spill, const hw__release *r) {
  const double slower = 1 / r->velocity_factor,
               share = hw__averaged(spill->station[spill->anchor].x_m - r->source.location_m);
  g->cargo.release_s[lane] = r->source.time_s;
  g->cargo.duration_s[lane] = r->duration_s;
  g->cargo.shape[lane] = r->shape;
  g->mass_g[lane] = r->source.mass_g;
  g->longer[lane] = exp(r->shape); /* nothing decays the more for it */
  g->slower[lane] = exp(-r->ln_v);
  g->wider[lane] = exp(r->ln_d - 3 * r->ln_v);
  g->ln_v[lane] = r->ln_v;
  g->ln_d[lane] = r->ln_d;
  g->location_m[lane] = r->source.location_m;
  g->theta[lane] = r->at.theta;
  g->variance[lane] = r->at.variance;
  g->decay[lane] = r->at.decay;
  g->own_slower[lane] = slower;
  g->own_wider[lane] = r->dispersion_factor * slower * slower * slower;
  g->own[0][lane] = r->own_v;
  g->own[1][lane] = r->own_d;
  g->stray[0][lane] = r->stray_v;
  g->stray[1][lane] = r->stray_d;
  g->local[0][lane] = spill->doubt.local_v * r->above.local_v * share;
  g->local[1][lane] = spill->doubt.local_d * r->above.local_d * share;
}

/* A lane without a possible point goes along with nothing released a second above the anchor. */
static void set_empty_lane(hw__four *g, size_t lane, const hw__spill *spill) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw__release none = {.source = {.mass_g = 0, .location_m = a->x_m},
                            .velocity_factor = 1,
                            .dispersion_factor = 1,
                            .above = {1, 1, 1, 1},
                            .at = {a->at.theta - 1, a->at.variance - 1, a->at.decay}};
  set_lane(g, lane, spill, &none);
}

hw__walk *hw__walk_create(void) {
  return aligned_alloc(64, (sizeof(hw__walk) + 63) / 64 * 64);
}

void hw__walk_begin(hw__walk *w, const hw__spill *spill, const uint64_t *chance, size_t n, const size_t *index,
                    double *const *x) {
  w->spill = spill;
  w->count = n;
  w->fours = (n + HW__LANES - 1) / HW__LANES;
  w->before = NULL;
  w->last_seen = 0;
  for (size_t k = spill->count; k-- > spill->anchor + 1 && w->last_seen == 0;) {
    w->last_seen = hw__spill_is_filtered(spill, k) && !hw__spill_is_passed_by(spill, k) ? k : 0;
  }
  for (size_t i = 0; i < w->fours * HW__LANES; i++) {
    hw__four *g = &w->four[i / HW__LANES];
    if (i < n) {
      hw__release *r = &w->release[i];
      w->chance[i] = chance[index[i]];
      w->seeded[i] = false;
      w->ratio[i] = 0;
      hw__place_release(spill, x, index[i], r);
      r->log_prior = r->possible ? hw__release_log_prior(spill, r) : -INFINITY;
    }
    if (i < n && w->release[i].possible) {
      set_lane(g, i % HW__LANES, spill, &w->release[i]);
    } else {
      set_empty_lane(g, i % HW__LANES, spill);
    }
  }
}

static hw_rng *stream_of(hw__walk *w, size_t i) {
  if (!w->seeded[i]) {
    hw_rng_seed(&w->rng[i], w->spill->seed, w->chance[i]);
    w->seeded[i] = true;
  }
  return &w->rng[i];
}

/* ---- To a station at or above the anchor: the release's own factors ---- */

HW__CLONES static void come_from_source(hw__walk *w, const hw__station *s) {
  for (size_t g = 0; g < w->fours; g++) {
    const hw__four *f = &w->four[g];
    const hw__i4 passes = f->location_m < s->x_m;
    hw__plume *p = &w->plume[g];
    *p = (hw__plume){{{0}}, {{0}}};
    p->mean[HW__TRAVEL] = hw__v4_choose(passes, (s->at.theta - f->theta) * f->own_slower, hw__v4_all(1));
    p->mean[HW__VARIANCE] = hw__v4_choose(passes, (s->at.variance - f->variance) * f->own_wider, hw__v4_all(1));
  }
}

static void set_own_factors(hw__walk *w) {
  for (size_t g = 0; g < w->fours; g++) {
    w->plume[g].mean[HW__OWN_FASTER] = w->four[g].own[0];
    w->plume[g].mean[HW__OWN_SPREADING] = w->four[g].own[1];
  }
}

/* Double integral of exp(-|u - v|) over 0..r for both. */
HW__INLINE hw__v4 together(hw__v4 r) {
  return 2.0 * (r - 1.0 + hw__v4_exp(-r));
}

/* The way to this station is a part of that to the anchor. The mean of a local factor over it, given the mean m over
 * all of it: with A and B the variances of both means in units of the field's, and C their covariance,
 * C / B m +- sqrt(A - C^2 / B). All stations above the anchor stray alike: most of their ways is the same water. */
HW__CLONES static void stray(hw__walk *w, const hw__station *s) {
  const double anchor_m = w->spill->station[w->spill->anchor].x_m, shortest = 1e-4;
  for (size_t g = 0; g < w->fours; g++) {
    const hw__four *f = &w->four[g];
    hw__plume *p = &w->plume[g];
    const hw__v4 all = hw__v4_max((anchor_m - f->location_m) / HW__LOCAL_LENGTH_M, hw__v4_all(shortest));
    const hw__v4 part = hw__v4_max((s->x_m - f->location_m) / HW__LOCAL_LENGTH_M, hw__v4_all(shortest));
    const hw__v4 of_all = together(all), of_part = together(part), rest = hw__v4_max(all - part, hw__v4_all(0));
    const hw__v4 both = 0.5 * (of_all + of_part - together(rest)), share = both * all / (part * of_all);
    /* sqrt((A - C^2 / B) / B): local is the standard deviation of the whole way's mean. */
    const hw__v4 left = (of_part / (part * part) * (all * all) / of_all) - share * share;
    const hw__v4 sd = hw__v4_sqrt(hw__v4_max(left, hw__v4_all(0)));
    hw__v4 more[2];
    for (size_t c = 0; c < 2; c++) {
      more[c] = (share - 1.0) * f->own[c] + sd * f->local[c] * f->stray[c];
      p->mean[HW__OWN_FASTER + c] += more[c];
    }
    const hw__i4 passes = f->location_m < s->x_m;
    p->mean[HW__TRAVEL] = hw__v4_choose(passes, p->mean[HW__TRAVEL] * hw__v4_exp(-more[0]), p->mean[HW__TRAVEL]);
    p->mean[HW__VARIANCE] =
        hw__v4_choose(passes, p->mean[HW__VARIANCE] * hw__v4_exp(more[1] - 3.0 * more[0]), p->mean[HW__VARIANCE]);
  }
}

/* ---- To a station below the anchor ---- */

/* What does not change from point to point of a step. */
typedef struct {
  double theta, variance; /* from the station before */
  double here_m;          /* the stretch's middle */
  double sd[2];           /* of its local factors, ln */
  bool even;              /* all water is as doubtful as all other; else what this has of the common doubt: */
  double common_v, common_d;
  bool first; /* the stretch above reaches up to the source */
} step;

static step step_to(const hw__walk *w, const hw__station *s) {
  const hw__doubt *d = &w->spill->doubt;
  const double share = hw__averaged(s->x_m - w->before->x_m);
  const hw__doubt_share own = hw__doubts_between(w->spill->doubts, (hw__doubt_end){&w->before->at, &w->before->doubt},
                                                 (hw__doubt_end){&s->at, &s->doubt});
  return (step){.theta = s->at.theta - w->before->at.theta,
                .variance = s->at.variance - w->before->at.variance,
                .here_m = 0.5 * (w->before->x_m + s->x_m),
                .sd = {hypot(d->local_v * own.local_v * share, w->spill->eased_v),
                       hypot(d->local_d * own.local_d * share, w->spill->eased_d)},
                .even = hw__doubts_even(w->spill->doubts),
                .common_v = own.common_v,
                .common_d = own.common_d,
                .first = w->before == &w->spill->station[w->spill->anchor]};
}

HW__INLINE hw__stretch stretch_of(const hw__walk *w, const step *to, const hw__four *f) {
  const hw__v4 ln_v = to->common_v * f->ln_v;
  hw__stretch s = {
      .travel_s = to->theta * (to->even ? f->slower : hw__v4_exp(-ln_v)),
      .variance_s2 = to->variance * (to->even ? f->wider : hw__v4_exp(to->common_d * f->ln_d - 3.0 * ln_v))};
  const hw__v4 above = to->first ? 0.5 * (f->location_m + w->before->x_m) : hw__v4_all(w->middle_m);
  const hw__v4 rho = hw__v4_exp((above - to->here_m) / HW__LOCAL_LENGTH_M);
  const hw__v4 fresh = hw__v4_sqrt(hw__v4_max(1.0 - rho * rho, hw__v4_all(0)));
  for (size_t c = 0; c < 2; c++) {
    const hw__v4 before = to->first ? f->local[c] : hw__v4_all(w->sd_before[c]);
    const hw__i4 known = before > 0.0;
    s.carry[c] = hw__v4_keep(known, rho * to->sd[c] / hw__v4_choose(known, before, hw__v4_all(1)));
    s.sd[c] = to->sd[c] * fresh;
  }
  return s;
}

/* The filter's step, with the station's own pulse or past it. */
HW__CLONES static void filter_down(hw__walk *w, const step *to, const hw__news *news) {
  for (size_t g = 0; g < w->fours; g++) {
    const hw__stretch s = stretch_of(w, to, &w->four[g]);
    if (news) {
      hw__filter_pass(news, &s, &w->four[g].cargo, &w->plume[g], &w->log_likelihood[g]);
    } else {
      hw__filter_advance(&s, &w->plume[g]);
    }
  }
}

/* Below the last pulse that was seen: local factors from their prior. */
HW__CLONES static void draw_down(hw__walk *w, const step *to) {
  for (size_t g = 0; g < w->fours; g++) {
    const hw__stretch s = stretch_of(w, to, &w->four[g]);
    hw__plume *p = &w->plume[g];
    hw__v4 n[2];
    for (size_t c = 0; c < 2; c++) {
      n[c] = s.carry[c] * p->mean[HW__OWN_FASTER + c];
    }
    for (size_t i = g * HW__LANES; i < w->count && i < (g + 1) * HW__LANES; i++) {
      const size_t lane = i % HW__LANES;
      for (size_t c = 0; c < 2 && w->release[i].possible; c++) {
        n[c][lane] += s.sd[c][lane] > 0 ? s.sd[c][lane] * hw__normal(stream_of(w, i)) : 0;
      }
    }
    p->mean[HW__TRAVEL] += s.travel_s * hw__v4_exp(-n[0]);
    p->mean[HW__VARIANCE] += s.variance_s2 * hw__v4_exp(n[1] - 3.0 * n[0]);
    p->mean[HW__OWN_FASTER] = n[0];
    p->mean[HW__OWN_SPREADING] = n[1];
    for (size_t a = 0; a < HW__COVARIANCES; a++) {
      p->cov[a] = hw__v4_all(0);
    }
  }
}

/* ---- What is seen there ---- */

HW__CLONES static void set_areas(hw__walk *w, const hw__station *s) {
  const bool even = hw__doubts_even(w->spill->doubts);
  for (size_t g = 0; g < w->fours; g++) {
    hw__four *f = &w->four[g];
    hw__curves *c = &w->curve[g];
    const hw__v4 slower = even ? f->slower : hw__v4_exp(-(s->common_v * f->ln_v));
    c->area_g_s_m3 = hw__v4_keep(f->location_m < s->x_m, f->mass_g * (s->per_discharge + s->per_area * slower));
    const hw__v4 lost = (s->at.decay - f->decay) * f->own_slower;
    f->cargo.ln_area = hw__v4_log(hw__v4_max(c->area_g_s_m3, hw__v4_all(1e-300))) - lost;
  }
}

HW__CLONES static void set_curves(hw__walk *w, const hw__station *s) {
  for (size_t g = 0; g < w->fours; g++) {
    const hw__four *f = &w->four[g];
    hw__curves *c = &w->curve[g];
    const hw__i4 passes = f->location_m < s->x_m;
    const hw__v4 travel = w->plume[g].mean[HW__TRAVEL];
    c->travel_s = travel * f->longer;
    c->variance_s2 = w->plume[g].mean[HW__VARIANCE];
    c->passage_s = f->cargo.release_s + travel;
    c->duration_s = hw__v4_choose(f->cargo.duration_s > 0.0, f->cargo.duration_s, hw__v4_all(1));
    c->decay_per_s = hw__v4_keep(passes, (s->at.decay - f->decay) / ((s->at.theta - f->theta) * f->longer));
  }
}

static void draw_gains(hw__walk *w, const hw__station *s) {
  for (size_t i = 0; i < w->count; i++) {
    const size_t g = i / HW__LANES, lane = i % HW__LANES;
    const hw__release *r = &w->release[i];
    if (!(w->curve[g].area_g_s_m3[lane] > 0)) {
      continue;
    }
    const hw__sight sight = hw__walk_sight(w, i);
    const hw__curve curve = hw__sight_curve(w->spill, r, w->station, &sight);
    double y[HW__PULSE_SIZE], ln_gain;
    hw__curve_to(&curve, y);
    w->ratio[i] += hw__draw_gain(s->fit, y, s->gain_sd, stream_of(w, i), &ln_gain);
    w->curve[g].area_g_s_m3[lane] *= exp(ln_gain);
  }
}

/* A grab sample chooses among the states that the filter expects. */
static void meet_grabs(hw__walk *w, const hw__station *s) {
  hw__prepared readings;
  hw__kernel_prepare(s->view, w->spill->tails, &readings);
  for (size_t i = 0; i < w->count; i++) {
    const size_t g = i / HW__LANES, lane = i % HW__LANES;
    if (!w->release[i].possible) {
      continue;
    }
    hw__plume *p = &w->plume[g];
    hw__state state;
    for (size_t a = 0; a < HW__STATE; a++) {
      state.mean[a] = p->mean[a][lane];
      for (size_t b = 0; b < HW__STATE; b++) {
        state.cov[a][b] = p->cov[hw__pair(a, b)][lane];
      }
    }
    double area = w->curve[g].area_g_s_m3[lane];
    w->ratio[i] += hw__grab_meet(w->spill, &w->release[i], s, &readings, stream_of(w, i), &state, &area);
    w->curve[g].area_g_s_m3[lane] = area;
    for (size_t a = 0; a < HW__STATE; a++) {
      p->mean[a][lane] = state.mean[a];
      for (size_t b = 0; b <= a; b++) {
        p->cov[hw__pair(a, b)][lane] = 0; /* nothing is in doubt of the chosen one */
      }
    }
  }
}

static void compare_at_or_above(hw__walk *w, const hw__news *news) {
  for (size_t g = 0; g < w->fours; g++) {
    hw__filter_compare(news, &w->four[g].cargo, &w->plume[g], &w->log_likelihood[g]);
  }
}

bool hw__walk_to(hw__walk *w, size_t k) {
  const hw__spill *spill = w->spill;
  const hw__station *s = &spill->station[k];
  if (hw__spill_is_passed_by(spill, k)) {
    return false;
  }
  bool met = false;
  w->station = k;
  w->filtered = hw__spill_is_filtered(spill, k);
  set_areas(w, s);
  const hw__news news = hw__filter_news(s->fit, s->gain_sd, 0.5 * spill->doubt.shape, hw__station_believed(s));
  if (k <= spill->anchor) {
    come_from_source(w, s);
    set_own_factors(w);
    if (k < spill->anchor && (spill->doubt.local_v > 0 || spill->doubt.local_d > 0)) {
      stray(w, s);
    }
    if (w->filtered) {
      compare_at_or_above(w, &news);
    }
  } else {
    const step to = step_to(w, s);
    const bool doubtful = to.sd[0] > 0 || to.sd[1] > 0 || s->gain_sd > 0;
    if (!w->filtered && s->fit->few && doubtful) {
      filter_down(w, &to, NULL);
      meet_grabs(w, s);
      met = true;
    } else if (w->filtered ||
               k < w->last_seen) { /* a sensor further down pins the plume better than a draw could guess it */
      filter_down(w, &to, w->filtered ? &news : NULL);
    } else {
      draw_down(w, &to);
    }
    w->middle_m = to.here_m;
    w->sd_before[0] = to.sd[0];
    w->sd_before[1] = to.sd[1];
  }
  set_curves(w, s);
  if (s->gain_sd > 0 && !w->filtered && !met && (k <= spill->anchor || k >= w->last_seen)) {
    draw_gains(w, s);
  }
  w->before = s;
  return true;
}

hw__sight hw__walk_sight(const hw__walk *w, size_t i) {
  const size_t g = i / HW__LANES, lane = i % HW__LANES;
  if (!(w->curve[g].area_g_s_m3[lane] > 0)) {
    return (hw__sight){.log_likelihood = NAN};
  }
  return (hw__sight){.travel_s = w->plume[g].mean[HW__TRAVEL][lane],
                     .variance_s2 = w->curve[g].variance_s2[lane],
                     .area_g_s_m3 = w->curve[g].area_g_s_m3[lane],
                     .own_v = w->plume[g].mean[HW__OWN_FASTER][lane],
                     .own_d = w->plume[g].mean[HW__OWN_SPREADING][lane],
                     .log_likelihood = w->filtered ? w->log_likelihood[g][lane] : NAN};
}

/* ---- On from what was seen ---- */

hw__curve hw__release_curve(const hw__release *r, const hw__integrals *to, double travel, double variance,
                            double area) {
  const double longer = exp(r->shape);
  return (hw__curve){.passage_s = r->source.time_s + travel,
                     .travel_s = travel * longer,
                     .variance_s2 = variance,
                     .area_g_s_m3 = area,
                     .decay_per_s = (to->decay - r->at.decay) / ((to->theta - r->at.theta) * longer),
                     .duration_s = r->duration_s};
}

hw__curve hw__sight_curve(const hw__spill *spill, const hw__release *release, size_t k, const hw__sight *sight) {
  return sight->travel_s > 0 ? hw__release_curve(release, &spill->station[k].at, sight->travel_s, sight->variance_s2,
                                                 sight->area_g_s_m3)
                             : (hw__curve){0};
}

hw__curve hw__spill_carry(const hw__spill *spill, const hw__release *release, size_t k, const hw__sight *sight,
                          double x_m, hw_rng *rng) {
  const hw__release *r = release;
  if (!(x_m > r->source.location_m)) {
    return (hw__curve){0};
  }
  const hw__integrals to = hw__transport_integrals(spill->transport, x_m);
  const hw_leg here = hw_transport_leg(spill->transport, x_m, x_m);
  const bool follows = hw__river_discharge_follows(spill->river, x_m);
  double travel, variance;
  if (!sight || k < spill->anchor) {
    travel = (to.theta - r->at.theta) / r->velocity_factor;
    variance = (to.variance - r->at.variance) * r->dispersion_factor / pow(r->velocity_factor, 3);
  } else {
    const hw__station *s = &spill->station[k];
    const double share = hw__averaged(x_m - s->x_m), rho = exp(-0.5 * (x_m - s->x_m) / HW__LOCAL_LENGTH_M);
    const double fresh = share * sqrt(1 - rho * rho);
    const hw__doubt_sums sums = hw__doubts_at(spill->doubts, x_m);
    const hw__doubt_share own =
        hw__doubts_between(spill->doubts, (hw__doubt_end){&s->at, &s->doubt}, (hw__doubt_end){&to, &sums});
    const double v =
        own.common_v * r->ln_v + rho * sight->own_v + spill->doubt.local_v * own.local_v * fresh * hw__normal(rng);
    const double w =
        own.common_d * r->ln_d + rho * sight->own_d + spill->doubt.local_d * own.local_d * fresh * hw__normal(rng);
    travel = sight->travel_s + (to.theta - s->at.theta) * exp(-v);
    variance = sight->variance_s2 + (to.variance - s->at.variance) * exp(w - 3 * v);
  }
  const double faster = follows ? exp(hw__doubts_here(spill->doubts, x_m).common_v * r->ln_v) : 1;
  return hw__release_curve(r, &to, travel, variance, r->source.mass_g / (here.discharge_m3_s * faster));
}
