#include "posterior/spill.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"
#include "posterior/kernel.h"
#include "river/doubt.h"
#include "river/when.h"

enum { PASSAGE, LN_AGE, LN_MASS, LN_V, LN_D, OWN_V, OWN_D, SHAPE, LN_DURATION, AXES };

/* A sensor that is wrong: how often, and what its own curve costs as an accident (a place in time, a height, a width).
 */
static const double wrong_share = 0.02, accident = 25;

/* Standard deviation of the mean of a field over a stretch, as a share of the field's own; it decorrelates
 * exponentially. */
static double averaged(double length_m) {
  const double r = length_m / HW__LOCAL_LENGTH_M;
  return r < 1e-3 ? 1 : sqrt(2 * (r - 1 + exp(-r))) / r;
}

static double log_normal_density(double x, double sd) {
  return -0.5 * (x / sd) * (x / sd) - log(sd) - 0.918938533204672742;
}

/* ---- Coordinates ---- */

void hw__spill_anchor(hw__spill *spill, size_t anchor) {
  const hw_box *box = &spill->river->search;
  const hw__station *a = &spill->station[anchor];
  spill->anchor = anchor;
  spill->dims = 0;
  const bool wanted[AXES] = {box->hi.time_s > box->lo.time_s,
                             box->hi.location_m > box->lo.location_m,
                             spill->mass_hi > spill->mass_lo,
                             spill->doubt.common_v > 0,
                             spill->doubt.common_d > 0,
                             spill->doubt.local_v > 0,
                             spill->doubt.local_d > 0,
                             spill->doubt.shape > 0,
                             spill->lasting};
  for (size_t k = 0; k < AXES; k++) {
    if (wanted[k]) {
      spill->axis[spill->dims++] = k;
    }
  }
  const double doubt = 3 * hypot(spill->doubt.common_v, spill->doubt.local_v);
  const double far = a->at.theta - hw__transport_integrals(spill->transport, box->lo.location_m).theta;
  const double near = a->at.theta - hw__transport_integrals(spill->transport, box->hi.location_m).theta;
  double y[HW__PULSE_SIZE];
  hw__curve_to(&a->fit->curve, y);
  const double width = exp(0.5 * y[HW__LN_VARIANCE]), passage = y[HW__PASSAGE];
  double oldest = fmin(far * exp(doubt), passage + 6 * width - box->lo.time_s);
  double youngest = fmax(near * exp(-doubt), fmax(passage - 6 * width - box->hi.time_s, 0.05 * width));
  spill->open = spill->lasting && !a->fit->complete;
  if (spill->lasting && !spill->open) { /* the age that an instant's pulse of the same width would have */
    const double per_travel = a->at.variance - hw__transport_integrals(spill->transport, box->lo.location_m).variance;
    const double spread = exp(3 * hypot(spill->doubt.common_d, spill->doubt.local_d) + 2 * doubt);
    spill->last.per_travel_s = fmax(per_travel, 1e-9) / fmax(far, 1e-3);
    oldest = fmax(oldest, 3 * width * width / spill->last.per_travel_s * spread);
    youngest = fmax(near * exp(-doubt), 0.05 * width);
  }
  spill->log_age_lo = log(fmax(youngest, 1e-3));
  spill->log_age_hi = fmax(log(fmax(oldest, 1e-3)), spill->log_age_lo + 0.01);
}

/* The coordinate of this kind, or what it is when it is no coordinate. */
static double coordinate(const hw__spill *spill, double *const *x, size_t i, size_t kind, double otherwise) {
  for (size_t k = 0; k < spill->dims; k++) {
    if (spill->axis[k] == kind) {
      return x[k][i];
    }
  }
  return otherwise;
}

static bool has(const hw__spill *spill, size_t kind) {
  for (size_t k = 0; k < spill->dims; k++) {
    if (spill->axis[k] == kind) {
      return true;
    }
  }
  return false;
}

/* By how much a pulse looks older for having lasted: its variance is the instant's and duration^2 / 12. So the width
 * that is seen fixes one coordinate and leaves the duration free, instead of bending the posterior. */
static double older_by(const hw__spill *spill, const hw__release *r) {
  if (spill->open) {
    return 0;
  }
  return r->duration_s * r->duration_s / 12 * r->velocity_factor * r->velocity_factor /
         (spill->lasting ? spill->last.per_travel_s * r->dispersion_factor : 1);
}

/* ln mass less the coordinate that stands for it. */
static double in_a_second(const hw__spill *spill, double duration_s) {
  return spill->open ? log(duration_s) : 0;
}

static void place_release(const hw__spill *spill, double *const *x, size_t i, hw__release *r) {
  const hw_box *box = &spill->river->search;
  const hw__station *a = &spill->station[spill->anchor];
  *r = (hw__release){.ln_v = coordinate(spill, x, i, LN_V, 0),
                     .ln_d = coordinate(spill, x, i, LN_D, 0),
                     .own_v = coordinate(spill, x, i, OWN_V, 0),
                     .own_d = coordinate(spill, x, i, OWN_D, 0),
                     .shape = coordinate(spill, x, i, SHAPE, 0)};
  const double faster = exp(r->ln_v + r->own_v);
  r->velocity_factor = faster;
  r->dispersion_factor = exp(r->ln_d + r->own_d);
  r->duration_s = spill->lasting ? exp(coordinate(spill, x, i, LN_DURATION, 0)) : 0;
  if (has(spill, LN_AGE)) {
    r->apparent_s = exp(coordinate(spill, x, i, LN_AGE, 0));
    r->age_s = r->apparent_s - older_by(spill, r);
    r->source.location_m = hw__transport_place(spill->transport, a->at.theta - r->age_s * faster);
  } else {
    r->source.location_m = box->lo.location_m;
    r->age_s = (a->at.theta - hw__transport_integrals(spill->transport, box->lo.location_m).theta) / faster;
  }
  r->source.time_s = has(spill, PASSAGE)
                         ? coordinate(spill, x, i, PASSAGE, 0) - r->age_s - (spill->open ? 0 : 0.5 * r->duration_s)
                         : box->lo.time_s;
  const double ln_mass = coordinate(spill, x, i, LN_MASS, log(spill->mass_lo) - in_a_second(spill, r->duration_s)) +
                         in_a_second(spill, r->duration_s);
  r->source.mass_g = exp(ln_mass);
  const double l = r->source.location_m, t = r->source.time_s;
  r->possible =
      l >= box->lo.location_m && l <= box->hi.location_m && t >= box->lo.time_s && t <= box->hi.time_s &&
      r->source.mass_g >= spill->mass_lo * (1 - 1e-12) && r->source.mass_g <= spill->mass_hi * (1 + 1e-12) &&
      r->age_s > 0 && l < a->x_m && fabs(r->ln_v + r->own_v) < 5 && fabs(r->ln_d + r->own_d) < 12 &&
      fabs(r->shape) < 4 &&
      (!spill->lasting || (r->duration_s >= spill->last.shortest_s && r->duration_s <= spill->last.longest_s));
  if (r->possible) {
    r->at = hw__transport_integrals(spill->transport, l);
  }
}

/* ln density in these coordinates: uniform in place and time, the place moving by v age with ln age. */
static double log_prior(const hw__spill *spill, const hw__release *r) {
  const hw_box *box = &spill->river->search;
  const hw__doubt *d = &spill->doubt;
  double p = 0;
  if (has(spill, LN_AGE)) {
    const double v = hw__transport_velocity(spill->transport, r->source.location_m) * r->velocity_factor;
    p += log(v * r->apparent_s / (box->hi.location_m - box->lo.location_m));
  }
  p += has(spill, PASSAGE) ? hw__when_log_density(spill->river, r->source.time_s) - log(box->hi.time_s - box->lo.time_s)
                           : 0;
  p -= has(spill, LN_MASS) ? log(log(spill->mass_hi / spill->mass_lo)) : 0;
  const double length = averaged(spill->station[spill->anchor].x_m - r->source.location_m);
  p += has(spill, LN_V) ? log_normal_density(r->ln_v, d->common_v) : 0;
  p += has(spill, LN_D) ? log_normal_density(r->ln_d, d->common_d) : 0;
  p += has(spill, OWN_V) ? log_normal_density(r->own_v, d->local_v * length) : 0;
  p += has(spill, OWN_D) ? log_normal_density(r->own_d, d->local_d * length) : 0;
  p += has(spill, SHAPE) ? log_normal_density(r->shape, d->shape) : 0;
  p += spill->lasting ? spill->last.log_prior : 0;
  return p;
}

/* ---- First draws: any age, hydraulics from their prior, passage and mass as the anchor's own pulse suggests ---- */

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
  const hw__doubt *d = &spill->doubt;
  const double sd[AXES] = {
      [LN_V] = d->common_v, [LN_D] = d->common_d, [OWN_V] = d->local_v, [OWN_D] = d->local_d, [SHAPE] = d->shape};
  if (kind == LN_AGE) {
    *log_density -= log(spill->log_age_hi - spill->log_age_lo);
    return spill->log_age_lo + hw_rng_uniform(rng) * (spill->log_age_hi - spill->log_age_lo);
  }
  const double value = sd[kind] * hw_rng_normal(rng);
  *log_density += log_normal_density(value, sd[kind]);
  return value;
}

/* Any that leaves the water an age. */
static double draw_duration(const hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_density) {
  hw__release r;
  const double lo = log(spill->last.shortest_s);
  double hi = log(spill->last.longest_s);
  x[spill->dims - 1][i] = hi;
  place_release(spill, x, i, &r);
  if (has(spill, LN_AGE) && !spill->open) {
    hi = fmin(hi, hi + 0.5 * log(0.99 * r.apparent_s / older_by(spill, &r)));
  }
  hi = fmax(hi, lo + 0.01);
  *log_density -= log(hi - lo);
  return lo + hw_rng_uniform(rng) * (hi - lo);
}

static void start_point(hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_proposal) {
  const hw__station *a = &spill->station[spill->anchor];
  double q = 0;
  for (size_t k = 0; k < spill->dims; k++) {
    x[k][i] = 0;
    if (spill->axis[k] != PASSAGE && spill->axis[k] != LN_MASS && spill->axis[k] != LN_DURATION) {
      x[k][i] = draw_axis(spill, rng, spill->axis[k], &q);
    }
  }
  if (spill->lasting) { /* the last axis: the others say how long it can have been */
    x[spill->dims - 1][i] = draw_duration(spill, rng, x, i, &q);
  }
  hw__release r;
  place_release(spill, x, i, &r);
  const hw__integrals at = hw__transport_integrals(spill->transport, r.source.location_m);
  const double variance = (a->at.variance - at.variance) * r.dispersion_factor / pow(r.velocity_factor, 3);
  const double ln_instant = log(fmax(variance, 1e-3));
  const double ln_variance = spill->lasting ? log(fmax(variance, 1e-3) + r.duration_s * r.duration_s / 12) : ln_instant;
  const suggestion s = spill->open ? suggest_open(a->fit)
                                   : suggest(a->fit, ln_variance, 0.5 * ln_instant - log(fmax(r.age_s, 1e-3)) - r.shape,
                                             ln_instant - ln_variance);
  const double z1 = hw_rng_normal(rng), z2 = hw_rng_normal(rng), u = hw_rng_uniform(rng), pick = hw_rng_uniform(rng);
  const double per_gram = log(a->per_discharge + a->per_area / r.velocity_factor);
  const double lo = log(spill->mass_lo) - in_a_second(spill, r.duration_s);
  const double hi = log(spill->mass_hi) - in_a_second(spill, r.duration_s);
  double off = z1; /* of the passage, in its own scale */
  for (size_t k = 0; k < spill->dims; k++) {
    if (spill->axis[k] == PASSAGE) {
      x[k][i] = s.mean[0] + s.root[0] * z1;
      q += log_normal_density(z1, 1) - log(s.root[0]);
    } else if (spill->axis[k] == LN_MASS) {
      const double centre = s.mean[1] + s.root[1] * off - per_gram;
      x[k][i] = pick < suggested_masses ? centre + s.root[2] * z2 : lo + u * (hi - lo);
      const bool inside = x[k][i] >= lo && x[k][i] <= hi;
      q += log(suggested_masses * exp(log_normal_density(x[k][i] - centre, s.root[2])) +
               (inside ? (1 - suggested_masses) / (hi - lo) : 0));
    }
  }
  *log_proposal = q;
}

static void start(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal) {
  for (size_t i = 0; i < n; i++) {
    start_point(context, rng, x, i, &log_proposal[i]);
  }
}

/* ---- Down the river ---- */

/* What is in doubt from one station to the next: factors on velocity and dispersion, and the sensor's gain. */
enum { STEP_V, STEP_D, STEP_GAIN, STEP };

typedef struct {
  double mean[STEP], sd[STEP]; /* prior; sd 0: known */
} step_prior;

/* The curve a step leads to, and how it changes with the step. */
typedef struct {
  double travel_before, variance_before, travel, variance; /* medians of the stretch, common factors in */
  double ln_area, release_s;                               /* area less what has decayed on the way */
  double shape;                                            /* ln of the shape's travel time over the water's */
  double duration;
} stretch;

/* The pulse where the plume has this travel time and variance. */
static void pulse_at(const stretch *s, double travel, double variance, double y[HW__PULSE_SIZE]) {
  const double whole = variance + s->duration * s->duration / 12;
  y[HW__PASSAGE] = s->release_s + travel + 0.5 * s->duration;
  y[HW__LN_VARIANCE] = log(whole);
  y[HW__LN_AREA] = s->ln_area;
  y[HW__LN_SKEW] = 0.5 * log(variance) - log(travel) - s->shape;
  y[HW__LN_SHARE] = log(variance / whole);
}

static void predict(const stretch *s, const double n[STEP], double *travel, double *variance,
                    double y[HW__PULSE_SIZE]) {
  *travel = s->travel_before + s->travel * exp(-n[STEP_V]);
  *variance = s->variance_before + s->variance * exp(n[STEP_D] - 3 * n[STEP_V]);
  pulse_at(s, *travel, *variance, y);
  y[HW__LN_AREA] += n[STEP_GAIN];
}

/* Lower Cholesky factor of a positive matrix over the free rows. */
static bool root_of(double m[STEP][STEP], double root[STEP][STEP], size_t n) {
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = m[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      if (a == b && !(sum > 0)) {
        return false;
      }
      root[a][b] = a == b ? sqrt(sum) : sum / root[b][b];
    }
  }
  return true;
}

static void solve(double root[STEP][STEP], size_t n, double *b) {
  for (size_t a = 0; a < n; a++) {
    for (size_t k = 0; k < a; k++) {
      b[a] -= root[a][k] * b[k];
    }
    b[a] /= root[a][a];
  }
  for (size_t a = n; a-- > 0;) {
    for (size_t k = a + 1; k < n; k++) {
      b[a] -= root[k][a] * b[k];
    }
    b[a] /= root[a][a];
  }
}

/* A pulse that lies further than this (chi-square, three degrees of freedom) from what the step allows is not looked
 * at: the sensor may be wrong. */
static const double too_far = 40;
/* The density drawn from is a little wider than the product of the Gaussians. */
static const double wider = 1.15;

/* A Gaussian of the free parts of a step. */
typedef struct {
  size_t count, part[STEP];
  double root[STEP][STEP]; /* of its precision, lower */
} step_density;

/* Precision and pull at n: the station's own pulse against the curve there, and the prior. Returned: their chi-square.
 */
static double pull_at(const hw__fit *fit, const stretch *s, const step_prior *prior, const double n[STEP],
                      step_density *d, double rhs[STEP]) {
  const hw__quadratic *q = &fit->near;
  double travel, variance, y[HW__PULSE_SIZE], m[STEP][STEP] = {{0}}, pull[HW__PULSE_SIZE], chi = 0;
  predict(s, n, &travel, &variance, y);
  const double share = 1 - s->variance_before / variance, took = travel - s->travel_before;
  const double whole = share * exp(y[HW__LN_SHARE]), other = share - whole;
  const double slope[HW__PULSE_SIZE][STEP] = {{-took, 0, 0},
                                              {-3 * whole, whole, 0},
                                              {0, 0, 1},
                                              {-1.5 * share + took / travel, 0.5 * share, 0},
                                              {-3 * other, other, 0}};
  for (size_t a = 0; a < q->size; a++) {
    pull[a] = q->slope[a];
    for (size_t b = 0; b < q->size; b++) {
      pull[a] += q->curvature[a][b] * (q->at[b] - y[b]);
    }
    chi += (pull[a] + q->slope[a]) * (q->at[a] - y[a]);
  }
  for (size_t i = 0; i < d->count; i++) {
    const size_t k = d->part[i];
    const double per_sd2 = 1 / (prior->sd[k] * prior->sd[k]), away = n[k] - prior->mean[k];
    rhs[i] = -away * per_sd2;
    chi += away * away * per_sd2;
    m[i][i] += per_sd2;
    for (size_t a = 0; a < q->size; a++) {
      rhs[i] += slope[a][k] * pull[a];
      for (size_t b = 0; b < q->size; b++) {
        for (size_t j = 0; j <= i; j++) {
          m[i][j] += slope[a][k] * q->curvature[a][b] * slope[b][d->part[j]];
        }
      }
    }
  }
  return root_of(m, d->root, d->count) ? chi : INFINITY;
}

/* The velocity that brings the pulse there when it was seen: a good place to begin. */
static void begin_at(const hw__fit *fit, const stretch *s, const step_prior *prior, double n[STEP]) {
  const double seen = fit->near.at[HW__PASSAGE] - 0.5 * s->duration;
  const double took = seen - s->release_s - s->travel_before, most = 4 * prior->sd[STEP_V];
  if (prior->sd[STEP_V] > 0 && took > 0) {
    n[STEP_V] = prior->mean[STEP_V] + fmin(fmax(log(s->travel / took) - prior->mean[STEP_V], -most), most);
  }
}

/* Draws a step from its prior and what the station's own pulse says. Returned: ln prior - ln density drawn from. */
static double draw_step(const hw__fit *fit, const stretch *s, const step_prior *prior, hw_rng *rng, double n[STEP]) {
  step_density d = {0};
  for (size_t k = 0; k < STEP; k++) {
    n[k] = prior->mean[k];
    if (prior->sd[k] > 0) {
      d.part[d.count++] = k;
    }
  }
  if (d.count == 0) {
    return 0;
  }
  double chi = INFINITY, rhs[STEP];
  if (fit->seen) {
    begin_at(fit, s, prior, n);
    for (int round = 0; round < 3; round++) { /* Gauss and Newton */
      chi = pull_at(fit, s, prior, n, &d, rhs);
      if (round == 2 || !isfinite(chi)) {
        break;
      }
      solve(d.root, d.count, rhs);
      for (size_t i = 0; i < d.count; i++) {
        n[d.part[i]] += rhs[i];
      }
    }
  }
  double z[STEP], drawn[STEP] = {0}, ratio = 0;
  for (size_t i = 0; i < d.count; i++) {
    z[i] = hw_rng_normal(rng);
  }
  if (!(chi < too_far)) { /* from the prior itself */
    for (size_t i = 0; i < d.count; i++) {
      n[d.part[i]] = prior->mean[d.part[i]] + prior->sd[d.part[i]] * z[i];
    }
    return 0;
  }
  for (size_t a = d.count; a-- > 0;) { /* root^T drawn = z */
    double sum = z[a] * wider;
    for (size_t k = a + 1; k < d.count; k++) {
      sum -= d.root[k][a] * drawn[k];
    }
    drawn[a] = sum / d.root[a][a];
    ratio += 0.5 * z[a] * z[a] - log(d.root[a][a] / wider);
  }
  for (size_t i = 0; i < d.count; i++) {
    const size_t k = d.part[i];
    n[k] += drawn[i];
    const double off = (n[k] - prior->mean[k]) / prior->sd[k];
    ratio += -0.5 * off * off - log(prior->sd[k]);
  }
  return ratio;
}

/* ---- The filter ---- */

enum { TRAVEL, VARIANCE, OWN_FASTER, OWN_SPREADING, STATE };

/* What is known of the plume where the walk has come to. */
typedef struct {
  double mean[STATE], cov[STATE][STATE];
} plume_state;

/* The state at the next station, the stretch's step linearised at `about`. */
static plume_state advance(const plume_state *from, const stretch *s, const step_prior *prior, const double carry[2],
                           const double about[2]) {
  const double took = s->travel * exp(-about[0]), spread = s->variance * exp(about[1] - 3 * about[0]);
  const double mean[2] = {prior->mean[STEP_V], prior->mean[STEP_D]}, faster = mean[0] - about[0];
  const double more = mean[1] - about[1] - 3 * faster; /* far from `about` the line would cross zero */
  plume_state to = {.mean = {from->mean[TRAVEL] + took * fmax(1 - faster, 0.1),
                             from->mean[VARIANCE] + spread * fmax(1 + more, 0.1), mean[0], mean[1]}};
  /* Rows: how each part follows from the old state and from the new local factors. */
  const double by_faster[STATE] = {-took, -3 * spread, 1, 0}, by_spreading[STATE] = {0, spread, 0, 1};
  double f[STATE][STATE] = {{0}};
  f[TRAVEL][TRAVEL] = f[VARIANCE][VARIANCE] = 1;
  for (size_t a = 0; a < STATE; a++) {
    f[a][OWN_FASTER] += by_faster[a] * carry[0];
    f[a][OWN_SPREADING] += by_spreading[a] * carry[1];
  }
  double half[STATE][STATE];
  for (size_t a = 0; a < STATE; a++) {
    for (size_t b = 0; b < STATE; b++) {
      half[a][b] = 0;
      for (size_t k = 0; k < STATE; k++) {
        half[a][b] += f[a][k] * from->cov[k][b];
      }
    }
  }
  const double v0 = prior->sd[STEP_V] * prior->sd[STEP_V], v1 = prior->sd[STEP_D] * prior->sd[STEP_D];
  for (size_t a = 0; a < STATE; a++) {
    for (size_t b = 0; b < STATE; b++) {
      to.cov[a][b] = v0 * by_faster[a] * by_faster[b] + v1 * by_spreading[a] * by_spreading[b];
      for (size_t k = 0; k < STATE; k++) {
        to.cov[a][b] += half[a][k] * f[b][k];
      }
    }
  }
  return to;
}

/* Solves (I + J P) x = right, in place, and leaves ln det; J and P are of the pulse's size. */
HW__INLINE double solve_joined(size_t n, const double j[HW__PULSE_SIZE][HW__PULSE_SIZE],
                               double p[HW__PULSE_SIZE][HW__PULSE_SIZE],
                               double right[HW__PULSE_SIZE][HW__PULSE_SIZE + 1]) {
  const size_t columns = 2 * n + 1;
  double a[HW__PULSE_SIZE][2 * HW__PULSE_SIZE + 1], log_det = 0;
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      a[r][c] = r == c ? 1 : 0;
      for (size_t k = 0; k < n; k++) {
        a[r][c] += j[r][k] * p[k][c];
      }
    }
    memcpy(&a[r][n], right[r], (n + 1) * sizeof(double));
  }
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; r++) {
      pivot = fabs(a[r][k]) > fabs(a[pivot][k]) ? r : pivot;
    }
    for (size_t c = 0; c < columns && pivot != k; c++) {
      const double kept = a[k][c];
      a[k][c] = a[pivot][c];
      a[pivot][c] = kept;
    }
    log_det += log(fabs(a[k][k]));
    for (size_t r = 0; r < n; r++) {
      const double f = r == k ? 0 : a[r][k] / a[k][k];
      for (size_t c = k; c < columns && r != k; c++) {
        a[r][c] -= f * a[k][c];
      }
    }
  }
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c <= n; c++) {
      right[r][c] = a[r][n + c] / a[r][r];
    }
  }
  return log_det;
}

/* No curve does better than the sensor's own by more than this; where the second order says so, it is no longer right.
 */
static const double beyond = 3;

/* Takes the station's own pulse into the state. With P the covariance expected of the pulse and h the slope of its ln
 * likelihood where it is expected, ln integral = ln likelihood there - ln det(I + J P) / 2 + h' P (I + J P)^-1 h / 2.
 * Returned: that. */
HW__INLINE double take_in_sized(size_t n, const hw__fit *fit, const stretch *s, double gain_sd, double shape_sd,
                                plume_state *state) {
  const hw__quadratic *q = &fit->near;
  const double variance = fmax(state->mean[VARIANCE], 0.5 * s->variance_before + 1e-6);
  const double travel = fmax(state->mean[TRAVEL], 1e-3);
  /* How the pulse follows from the state: passage, ln variance, ln area, ln skew from travel and variance. */
  const double whole = variance + s->duration * s->duration / 12;
  const double by[HW__PULSE_SIZE][2] = {
      {1, 0}, {0, 1 / whole}, {0, 0}, {-1 / travel, 0.5 / variance}, {0, 1 / variance - 1 / whole}};
  double y[HW__PULSE_SIZE], cross[STATE][HW__PULSE_SIZE], p[HW__PULSE_SIZE][HW__PULSE_SIZE];
  double joint[HW__PULSE_SIZE][HW__PULSE_SIZE + 1], there = q->log_at, h[HW__PULSE_SIZE], gained = 0;
  pulse_at(s, travel, variance, y);
  for (size_t a = 0; a < n; a++) {
    h[a] = q->slope[a];
    for (size_t b = 0; b < n; b++) {
      h[a] += q->curvature[a][b] * (q->at[b] - y[b]);
    }
    there -= 0.5 * (h[a] + q->slope[a]) * (q->at[a] - y[a]);
    joint[a][n] = h[a];
  }
  if (!(state->cov[TRAVEL][TRAVEL] > 0) && !(state->cov[VARIANCE][VARIANCE] > 0) && !(gain_sd > 0) && !(shape_sd > 0)) {
    return fmin(there, fit->log_likelihood + beyond); /* nothing is in doubt */
  }
  for (size_t a = 0; a < STATE; a++) {
    for (size_t b = 0; b < n; b++) {
      cross[a][b] = state->cov[a][TRAVEL] * by[b][0] + state->cov[a][VARIANCE] * by[b][1];
    }
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      p[a][b] = by[a][0] * cross[TRAVEL][b] + by[a][1] * cross[VARIANCE][b];
      joint[a][b] = q->curvature[a][b];
    }
  }
  p[HW__LN_AREA][HW__LN_AREA] += gain_sd * gain_sd;
  p[HW__LN_SKEW][HW__LN_SKEW] += shape_sd * shape_sd;
  const double log_det = solve_joined(n, q->curvature, p, joint); /* joint: (I + J P)^-1 J and (I + J P)^-1 h */
  if (!(log_det > -1e-6) || isinf(log_det)) {
    return -INFINITY; /* out of all numbers, and of all reason */
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      gained += h[a] * p[a][b] * joint[b][n];
    }
  }
  plume_state next = *state;
  for (size_t a = 0; a < STATE; a++) {
    for (size_t b = 0; b < n; b++) {
      next.mean[a] += cross[a][b] * joint[b][n];
    }
    for (size_t b = 0; b < STATE; b++) {
      for (size_t c = 0; c < n; c++) {
        for (size_t e = 0; e < n; e++) {
          next.cov[a][b] -= cross[a][c] * joint[c][e] * cross[b][e];
        }
      }
    }
  }
  *state = next;
  return fmin(there + 0.5 * gained, fit->log_likelihood + beyond) - 0.5 * log_det;
}

/* Written out for either size, for the compiler to unroll. */
static double take_in(const hw__fit *fit, const stretch *s, double gain_sd, double shape_sd, plume_state *state) {
  return fit->near.size == HW__INSTANT_SIZE ? take_in_sized(HW__INSTANT_SIZE, fit, s, gain_sd, shape_sd, state)
                                            : take_in_sized(HW__PULSE_SIZE, fit, s, gain_sd, shape_sd, state);
}

/* ---- The walk ---- */

static bool is_filtered(const hw__spill *spill, size_t k) {
  const hw__doubt *d = &spill->doubt;
  const bool doubtful =
      d->local_v > 0 || d->local_d > 0 || spill->station[k].gain_sd > 0 || spill->eased_v > 0 || spill->eased_d > 0;
  return spill->station[k].fit->seen &&
         (k > spill->anchor ? doubtful || spill->many : k < spill->anchor && spill->many);
}

/* On a first look, sensors whose own pulse is no more than a sketch are passed by. */
static bool is_passed_by(const hw__spill *spill, size_t k) {
  const hw__fit *fit = spill->station[k].fit;
  return spill->first_look && is_filtered(spill, k) && (fit->sketchy || !fit->complete);
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
  plume_state state;
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
  const double slower = 1 / r->velocity_factor, length = averaged(s->x_m - r->source.location_m);
  const stretch part = {.release_s = r->source.time_s,
                        .shape = r->shape,
                        .duration = r->duration_s,
                        .travel = (s->at.theta - r->at.theta) * slower,
                        .variance = (s->at.variance - r->at.variance) * r->dispersion_factor * slower * slower * slower,
                        .ln_area = log(r->source.mass_g * (s->per_discharge + s->per_area * exp(-r->ln_v))) - lost};
  const step_prior prior = {{0}, {0, 0, s->gain_sd}};
  double n[STEP] = {0}, y[HW__PULSE_SIZE], ratio = 0;
  sight->filtered = is_filtered(w->spill, k);
  if (s->gain_sd > 0 && !sight->filtered) {
    ratio = draw_step(s->fit, &part, &prior, stream_of(w), n);
  }
  w->state = (plume_state){.mean = {0, 0, r->own_v, r->own_d}};
  predict(&part, n, &w->state.mean[TRAVEL], &w->state.mean[VARIANCE], y);
  if (sight->filtered) {
    plume_state same = w->state;
    sight->log_likelihood = take_in(s->fit, &part, s->gain_sd, 0.5 * d->shape, &same);
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
  const double length = s->x_m - before->x_m, here = 0.5 * (before->x_m + s->x_m), share = averaged(length);
  const double rho = exp(-(here - w->middle_m) / HW__LOCAL_LENGTH_M),
               sd[2] = {hypot(d->local_v * share, w->spill->eased_v), hypot(d->local_d * share, w->spill->eased_d)};
  const double lost = (s->at.decay - r->at.decay) / r->velocity_factor;
  const stretch part = {.release_s = r->source.time_s,
                        .shape = r->shape,
                        .duration = r->duration_s,
                        .travel_before = w->state.mean[TRAVEL],
                        .variance_before = w->state.mean[VARIANCE],
                        .travel = (s->at.theta - before->at.theta) * exp(-r->ln_v),
                        .variance = (s->at.variance - before->at.variance) * exp(r->ln_d - 3 * r->ln_v),
                        .ln_area = log(r->source.mass_g * (s->per_discharge + s->per_area * exp(-r->ln_v))) - lost};
  step_prior prior = {{0}, {0, 0, s->gain_sd}};
  double carry[2] = {0, 0};
  for (size_t c = 0; c < 2; c++) {
    carry[c] = w->sd_before[c] > 0 ? rho * sd[c] / w->sd_before[c] : 0;
    prior.mean[c] = carry[c] * w->state.mean[OWN_FASTER + c];
    prior.sd[c] = sd[c] * sqrt(fmax(1 - rho * rho, 0));
    w->sd_before[c] = sd[c];
  }
  w->middle_m = here;
  double n[STEP] = {prior.mean[STEP_V], prior.mean[STEP_D], 0}, y[HW__PULSE_SIZE];
  sight->filtered = is_filtered(w->spill, k);
  if (sight->filtered) {
    plume_state next = {{0}, {{0}}};
    begin_at(s->fit, &part, &prior, n);
    for (int round = 0; round < 2; round++) {
      next = advance(&w->state, &part, &prior, carry, n);
      const plume_state expected = next;
      sight->log_likelihood = take_in(s->fit, &part, s->gain_sd, 0.5 * d->shape, &next);
      n[STEP_V] = next.mean[OWN_FASTER];
      n[STEP_D] = next.mean[OWN_SPREADING];
      double wrong;
      hw__station_log_probability(s, sight->log_likelihood, &wrong);
      if (wrong > 0.5) { /* it says nothing of the plume, so nothing is taken from it */
        next = expected;
        break;
      }
    }
    next.mean[VARIANCE] = fmax(next.mean[VARIANCE], 0.5 * part.variance_before + 1e-6);
    next.mean[TRAVEL] = fmax(next.mean[TRAVEL], 0.5 * part.travel_before);
    w->state = next;
    sight->curve.area_g_s_m3 = exp(part.ln_area + lost);
    return 0;
  }
  if (k < w->last_seen) { /* a sensor further down pins the plume better than a draw here could guess it */
    w->state = advance(&w->state, &part, &prior, carry, n);
    sight->curve.area_g_s_m3 = exp(part.ln_area + lost);
    return 0;
  }
  double ratio = 0;
  if (prior.sd[0] > 0 || prior.sd[1] > 0 || s->gain_sd > 0) {
    ratio = draw_step(s->fit, &part, &prior, stream_of(w), n);
  }
  w->state = (plume_state){.mean = {0, 0, n[STEP_V], n[STEP_D]}};
  predict(&part, n, &w->state.mean[TRAVEL], &w->state.mean[VARIANCE], y);
  sight->curve.area_g_s_m3 = exp(y[HW__LN_AREA] + lost);
  return ratio;
}

double hw__spill_walk(const hw__spill *spill, uint64_t stage, size_t i, double *const *x, hw__release *release,
                      hw__sight *sight) {
  hw__release *r = release;
  place_release(spill, x, i, r);
  r->log_prior = r->possible ? log_prior(spill, r) : -INFINITY;
  if (!r->possible) {
    return 0;
  }
  walk w = {.spill = spill, .release = r, .stage = stage, .index = i};
  for (size_t k = spill->count; k-- > spill->anchor + 1 && w.last_seen == 0;) {
    w.last_seen = is_filtered(spill, k) && !is_passed_by(spill, k) ? k : 0;
  }
  double ratio = 0;
  for (size_t k = 0; k < spill->count; k++) {
    const hw__station *s = &spill->station[k];
    sight[k] = (hw__sight){0};
    if (!(s->x_m > r->source.location_m) || is_passed_by(spill, k)) {
      continue;
    }
    ratio += k <= spill->anchor ? step_from_source(&w, k, &sight[k]) : step_down(&w, k, &sight[k]);
    hw__curve *curve = &sight[k].curve;
    const double longer = exp(r->shape); /* nothing decays the more for it */
    sight[k].travel_s = w.state.mean[TRAVEL];
    curve->travel_s = sight[k].travel_s * longer;
    curve->variance_s2 = w.state.mean[VARIANCE];
    curve->passage_s = r->source.time_s + sight[k].travel_s;
    curve->duration_s = r->duration_s;
    curve->decay_per_s = (s->at.decay - r->at.decay) / ((s->at.theta - r->at.theta) * longer);
    sight[k].own_v = w.state.mean[OWN_FASTER];
    sight[k].own_d = w.state.mean[OWN_SPREADING];
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
    const double share = averaged(x_m - s->x_m), rho = exp(-0.5 * (x_m - s->x_m) / HW__LOCAL_LENGTH_M);
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

/* ---- Likelihood ---- */

static double log_sum(double a, double b) {
  const double most = fmax(a, b);
  return most + log(exp(a - most) + exp(b - most));
}

double hw__station_log_probability(const hw__station *station, double log_likelihood, double *wrong) {
  const double right = log(1 - wrong_share) + log_likelihood;
  const double other = log(wrong_share) + station->fit->log_likelihood - accident;
  const double both = log_sum(right, other);
  if (wrong) {
    *wrong = exp(other - both);
  }
  return both;
}

double hw__station_log_without(const hw__station *station) {
  return hw__station_log_probability(station, station->fit->log_without, NULL);
}

/* The anchor alone, taken at its word: leads to where its pulse can have come from. Then all stations, any of which may
 * be wrong; started on that at once, draws far from the truth would all find it equally likely that every sensor is. */
enum { ANCHOR_ALONE, ALL_STATIONS, PHASES };

static void set_columns(hw__spill *spill, size_t i, bool possible) {
  for (size_t k = 0; k < spill->count; k++) {
    double *c = spill->block + k * HW__SPILL_COLUMNS + i;
    const hw__curve *curve = &spill->sight[k].curve;
    const bool passes = possible && curve->travel_s > 0;
    c[0] = passes ? curve->passage_s : 0;
    c[HW__BLOCK] = passes ? curve->travel_s : 1;
    c[2 * HW__BLOCK] = passes ? curve->variance_s2 : 1;
    c[3 * HW__BLOCK] = passes ? curve->area_g_s_m3 : 0;
    c[4 * HW__BLOCK] = passes ? curve->decay_per_s : 0;
    c[5 * HW__BLOCK] = passes ? curve->duration_s : 1;
  }
}

/* Stations below the anchor that every point takes in by the filter. */
static double filtered_sum(const hw__spill *spill) {
  double sum = 0;
  for (size_t k = 0; k < spill->count; k++) {
    if (spill->sight[k].filtered) {
      sum += hw__station_log_probability(&spill->station[k], spill->sight[k].log_likelihood, NULL);
    }
  }
  return sum;
}

static void evaluate_block(hw__spill *spill, size_t phase, uint64_t stage, size_t from, size_t n, double *const *x,
                           double *log_prior, double *log_likelihood) {
  for (size_t i = 0; i < n; i++) {
    hw__release r;
    const double ratio = hw__spill_walk(spill, stage, from + i, x, &r, spill->sight);
    log_prior[i] = r.log_prior;
    log_likelihood[i] = phase == ANCHOR_ALONE || !r.possible ? 0 : ratio + filtered_sum(spill);
    set_columns(spill, i, r.possible);
  }
  /* Backgrounds that detection limits hide: either each is anything below its limit, or the river is clean. Taken one
   * by one, sixty sensors would agree on a middling background that none of them has seen. */
  double found[HW__BLOCK], clean[HW__BLOCK], any[HW__BLOCK] = {0}, none[HW__BLOCK] = {0};
  for (size_t k = 0; k < spill->count; k++) {
    if (phase == ANCHOR_ALONE ? k != spill->anchor : is_filtered(spill, k)) {
      continue;
    }
    const double *c = spill->block + k * HW__SPILL_COLUMNS;
    const hw__curves curves = {c,
                               c + HW__BLOCK,
                               c + 2 * HW__BLOCK,
                               c + 3 * HW__BLOCK,
                               c + 4 * HW__BLOCK,
                               spill->lasting ? c + 5 * HW__BLOCK : NULL};
    const hw__station *s = &spill->station[k];
    hw__kernel_log_likelihood(s->view, spill->tails, n, &curves, found, clean);
    for (size_t i = 0; i < n; i++) {
      const double own = phase == ANCHOR_ALONE ? found[i] : hw__station_log_probability(s, found[i], NULL);
      any[i] += own;
      none[i] += !s->view->hidden        ? own
                 : phase == ANCHOR_ALONE ? clean[i]
                                         : hw__station_log_probability(s, clean[i], NULL);
    }
  }
  for (size_t i = 0; i < n; i++) {
    log_likelihood[i] += log_sum(any[i], none[i]) - M_LN2;
  }
}

static void evaluate(void *context, size_t phase, uint64_t stage, size_t n, double *const *x, double *log_prior,
                     double *log_likelihood) {
  for (size_t from = 0; from < n; from += HW__BLOCK) {
    evaluate_block(context, phase, stage, from, n - from < HW__BLOCK ? n - from : HW__BLOCK, x, log_prior + from,
                   log_likelihood + from);
  }
}

hw__target hw__spill_target(hw__spill *spill) {
  return (hw__target){.dims = spill->dims, .phases = PHASES, .context = spill, .start = start, .evaluate = evaluate};
}
