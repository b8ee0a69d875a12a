#include "posterior/first_draws.h"

#include <math.h>

#include "core/normal.h"
#include "posterior/coordinates.h"

typedef struct {
  double mean[2], root[3]; /* of passage and ln area; lower Cholesky factor of the scale */
} suggestion;

/* Given variance, asymmetry and the instant's share of the variance of the pulse. */
static suggestion suggest(const hw__fit *fit, double log_variance, double log_skew, double log_share) {
  const hw__quadratic *q = &fit->near;
  const double(*j)[HW__PULSE_SIZE] = q->curvature;
  const double width2 = fit->curve.variance_s2;
  /* A little stiffer than the readings make it, for what they do not tell. */
  const double a = j[HW__PASSAGE][HW__PASSAGE] + 0.1 / width2, b = j[HW__PASSAGE][HW__LN_AREA];
  const double c = j[HW__LN_AREA][HW__LN_AREA] + 0.1, det = fmax(a * c - b * b, 1e-12 * a * c);
  const double off = fmin(fmax(log_variance - q->at[HW__LN_VARIANCE], -1.5), 1.5);
  const double skewed = fmin(fmax(log_skew - q->at[HW__LN_SKEW], -1.5), 1.5);
  const double shared = fmin(fmax(log_share - q->at[HW__LN_SHARE], -1.5), 1.5);
  const double u = q->slope[HW__PASSAGE] - j[HW__PASSAGE][HW__LN_VARIANCE] * off -
                   j[HW__PASSAGE][HW__LN_SKEW] * skewed - j[HW__PASSAGE][HW__LN_SHARE] * shared;
  const double v = q->slope[HW__LN_AREA] - j[HW__LN_AREA][HW__LN_VARIANCE] * off -
                   j[HW__LN_AREA][HW__LN_SKEW] * skewed - j[HW__LN_AREA][HW__LN_SHARE] * shared;
  const double wide = 9;
  const double v11 = wide * c / det + 0.0025 * width2, v22 = wide * a / det + 0.0025, v12 = -wide * b / det;
  suggestion s = {{q->at[HW__PASSAGE] + (c * u - b * v) / det, q->at[HW__LN_AREA] + (a * v - b * u) / det}, {0, 0, 0}};
  s.root[0] = sqrt(v11);
  s.root[1] = v12 / s.root[0];
  s.root[2] = sqrt(fmax(v22 - s.root[1] * s.root[1], 1e-8));
  return s;
}

/* Of a release whose end nobody has seen: the front and, in place of the area, the level. */
static suggestion suggest_open(const hw__fit *fit) {
  const double width = sqrt(fit->curve.variance_s2);
  const double level = fit->lasting ? fit->curve.area_g_s_m3 / fit->curve.duration_s : fit->peak_g_m3;
  return (suggestion){{fit->curve.passage_s - (fit->lasting ? 0 : 0.5 * width), log(level)},
                      {fit->lasting ? 0.5 * width : 1.5 * width, 0, fit->lasting ? 0.3 : 1}};
}

/* Half of the masses come from the suggestion, the others from the box. */
static const double suggested_masses = 0.7;

static double draw_axis(const hw__spill *spill, hw_rng *rng, size_t kind, double *log_density) {
  const double sd = hw__axis_sd(spill, kind);
  if (kind == HW__AXIS_LN_AGE) {
    *log_density -= log(spill->log_age_hi - spill->log_age_lo);
    return spill->log_age_lo + hw_rng_uniform(rng) * (spill->log_age_hi - spill->log_age_lo);
  }
  const double value = sd * hw__normal(rng);
  *log_density += hw__log_normal_density(value, sd);
  return value;
}

/* Any that leaves the water an age. */
static double draw_duration(const hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_density) {
  hw__release r;
  const double lo = log(spill->last.shortest_s);
  double hi = log(spill->last.longest_s);
  x[spill->dims - 1][i] = hi;
  hw__place_release(spill, x, i, &r);
  if (hw__spill_has(spill, HW__AXIS_LN_AGE) && !spill->open) {
    hi = fmin(hi, hi + 0.5 * log(0.99 * r.apparent_s / hw__older_by(spill, &r)));
  }
  hi = fmax(hi, lo + 0.01);
  *log_density -= log(hi - lo);
  return lo + hw_rng_uniform(rng) * (hi - lo);
}

/* What the anchor's pulse suggests of passage and area, if it comes from this release. */
static suggestion suggest_for(const hw__spill *spill, const hw__release *r) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw__integrals at = hw__transport_integrals(spill->transport, r->source.location_m);
  const double variance = (a->at.variance - at.variance) * r->dispersion_factor / pow(r->velocity_factor, 3);
  const double ln_instant = log(fmax(variance, 1e-3));
  const double ln_variance =
      spill->lasting ? log(fmax(variance, 1e-3) + r->duration_s * r->duration_s / 12) : ln_instant;
  return spill->open ? suggest_open(a->fit)
                     : suggest(a->fit, ln_variance, 0.5 * ln_instant - log(fmax(r->age_s, 1e-3)) - r->shape,
                               ln_instant - ln_variance);
}

/* The mass of a release that passes the anchor `off` from when it is suggested, in that suggestion's own scale. */
static void draw_mass(const hw__spill *spill, const hw__release *r, const suggestion *s, double off, const double z[3],
                      double *mass, double *log_density) {
  const hw__station *a = &spill->station[spill->anchor];
  const double per_gram = log(a->per_discharge + a->per_area / r->velocity_factor);
  const double lo = log(spill->mass_lo) - hw__ln_in_a_second(spill, r->duration_s);
  const double hi = log(spill->mass_hi) - hw__ln_in_a_second(spill, r->duration_s);
  const double centre = s->mean[1] + s->root[1] * off - per_gram;
  *mass = z[2] < suggested_masses ? centre + s->root[2] * z[0] : lo + z[1] * (hi - lo);
  const bool inside = *mass >= lo && *mass <= hi;
  *log_density += log(suggested_masses * exp(hw__log_normal_density(*mass - centre, s->root[2])) +
                      (inside ? (1 - suggested_masses) / (hi - lo) : 0));
}

static void start_point(hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_proposal) {
  double q = 0;
  for (size_t k = 0; k < spill->dims; k++) {
    x[k][i] = 0;
    if (spill->axis[k] != HW__AXIS_PASSAGE && spill->axis[k] != HW__AXIS_LN_MASS &&
        spill->axis[k] != HW__AXIS_LN_DURATION) {
      x[k][i] = draw_axis(spill, rng, spill->axis[k], &q);
    }
  }
  if (spill->lasting) { /* the last axis: the others say how long it can have been */
    x[spill->dims - 1][i] = draw_duration(spill, rng, x, i, &q);
  }
  hw__release r;
  hw__place_release(spill, x, i, &r);
  const suggestion s = suggest_for(spill, &r);
  const double z1 = hw__normal(rng), z2 = hw__normal(rng), u = hw_rng_uniform(rng), pick = hw_rng_uniform(rng);
  for (size_t k = 0; k < spill->dims; k++) {
    if (spill->axis[k] == HW__AXIS_PASSAGE) {
      x[k][i] = s.mean[0] + s.root[0] * z1;
      q += hw__log_normal_density(z1, 1) - log(s.root[0]);
    } else if (spill->axis[k] == HW__AXIS_LN_MASS) {
      draw_mass(spill, &r, &s, z1, (const double[]){z2, u, pick}, &x[k][i], &q);
    }
  }
  *log_proposal = q;
}

/* The share of the box at which a release with what is drawn already lies: half of them anywhere, half so that they
 * pass the anchor when its pulse did; of a box that is small in time alone these are the few that can. */
static double draw_place(const hw__spill *spill, hw_rng *rng, double faster, double begin_s, double *log_density) {
  static const double anywhere = 0.5, of_width = 0.15;
  const hw__station *a = &spill->station[spill->anchor];
  const hw__quadratic *q = &a->fit->near;
  const hw_box *box = &spill->river->search;
  const double length = box->hi.location_m - box->lo.location_m, factor = exp(faster);
  const suggestion s = spill->open ? suggest_open(a->fit)
                                   : suggest(a->fit, q->at[HW__LN_VARIANCE], q->at[HW__LN_SKEW], q->at[HW__LN_SHARE]);
  const double sd = hypot(s.root[0], of_width * sqrt(a->fit->curve.variance_s2));
  const double u = hw_rng_uniform(rng), z = hw__normal(rng);
  double x_m = box->lo.location_m + u * length;
  if (hw_rng_uniform(rng) >= anywhere) {
    x_m = hw__transport_place(spill->transport, a->at.theta - (s.mean[0] + sd * z - begin_s) * factor);
  }
  const double travel = a->at.theta - hw__transport_integrals(spill->transport, x_m).theta;
  const double as_seen = exp(hw__log_normal_density(begin_s + travel / factor - s.mean[0], sd)) * length /
                         (hw__transport_velocity(spill->transport, x_m) * factor);
  const bool inside = x_m >= box->lo.location_m && x_m <= box->hi.location_m;
  *log_density += log((inside ? anywhere : 0) + (1 - anywhere) * as_seen);
  return (x_m - box->lo.location_m) / length;
}

/* Time and place are the coordinates: the first from its prior, and what is in doubt of the water too. */
static void box_point(const hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_proposal) {
  const hw_box *box = &spill->river->search;
  double q = 0, faster = 0, begin_s = box->lo.time_s, middle_s = 0;
  for (size_t k = 0; k < spill->dims; k++) {
    const size_t kind = spill->axis[k];
    x[k][i] = 0;
    if (kind == HW__AXIS_PASSAGE) {
      x[k][i] = hw_rng_uniform(rng);
      begin_s += x[k][i] * (box->hi.time_s - box->lo.time_s);
    } else if (kind == HW__AXIS_LN_DURATION) {
      const double lo = log(spill->last.shortest_s), length = fmax(log(spill->last.longest_s) - lo, 0.01);
      x[k][i] = lo + hw_rng_uniform(rng) * length;
      middle_s = spill->open ? 0 : 0.5 * exp(x[k][i]);
      q -= log(length);
    } else if (kind != HW__AXIS_LN_AGE && kind != HW__AXIS_LN_MASS) {
      x[k][i] = draw_axis(spill, rng, kind, &q);
      faster += kind == HW__AXIS_LN_V || kind == HW__AXIS_OWN_V ? x[k][i] : 0;
    }
  }
  if (hw__spill_has(spill, HW__AXIS_LN_AGE)) {
    x[spill->column[HW__AXIS_LN_AGE]][i] = draw_place(spill, rng, faster, begin_s + middle_s, &q);
  }
  hw__release r;
  hw__place_release(spill, x, i, &r);
  const suggestion s = suggest_for(spill, &r);
  const double z = hw__normal(rng), u = hw_rng_uniform(rng), pick = hw_rng_uniform(rng);
  if (hw__spill_has(spill, HW__AXIS_LN_MASS)) {
    const double off = (r.source.time_s + r.age_s + middle_s - s.mean[0]) / s.root[0];
    draw_mass(spill, &r, &s, fmin(fmax(off, -3), 3), (const double[]){z, u, pick},
              &x[spill->column[HW__AXIS_LN_MASS]][i], &q);
  }
  *log_proposal = q;
}

void hw__first_draws(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal) {
  hw__spill *spill = context;
  for (size_t i = 0; i < n; i++) {
    if (spill->boxed) {
      box_point(spill, rng, x, i, &log_proposal[i]);
    } else {
      start_point(spill, rng, x, i, &log_proposal[i]);
    }
  }
}
