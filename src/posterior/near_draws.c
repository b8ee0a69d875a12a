#include "posterior/near_draws.h"

#include <math.h>

#include "core/normal.h"
#include "posterior/coordinates.h"

/* Ages are drawn about the one that the medians give to a pulse of this width, with this standard deviation in ln, and
 * this share of them anywhere; the Gaussian of the rest is made wider than it is. */
static const double age_sd = 0.7, any_age = 0.25, wider = 1.3;
/* Of a release that lasted: the share of durations that may be anything, whatever the pulse's second order says. */
static const double any_duration = 0.3;

bool hw__can_draw_near(const hw__spill *spill) {
  const hw__doubt *d = &spill->doubt;
  const hw__fit *fit = spill->station[spill->anchor].fit;
  return !spill->anywhere && hw__doubts_even(spill->doubts) && (d->common_d > 0 || d->local_d > 0) && !spill->open &&
         hw__spill_has(spill, HW__AXIS_PASSAGE) && hw__spill_has(spill, HW__AXIS_LN_AGE) &&
         hw__spill_has(spill, HW__AXIS_LN_MASS) && d->shape > 0 && fit->seen && !fit->sketchy;
}

/* What is Gaussian given age and speed; the last of a release that lasted alone. ln of an instant's share of the
 * variance. */
enum { MIDDLE, LN_WHOLE, LN_SEEN_AREA, SHAPE, LN_INSTANT, FREE };

typedef struct {
  size_t size;
  double mean[FREE], root[FREE][FREE]; /* root: of the precision, lower */
} gaussian;

/* What a point has of the water above the anchor. */
typedef struct {
  double ln_age, ln_v, own_v;
  double faster;    /* ln of the whole factor */
  double ln_medium; /* ln of an instant's variance, were the dispersion its median */
  double lost;      /* of ln area, by decay */
  double sd_d[2];   /* of ln dispersion: common, and this water's own */
} water;

static double square(double x) {
  return x * x;
}

/* Adds to the precision of z and to the right-hand side: (a z + b)^2 weighed by `weight`. */
static void add_square(gaussian *g, double precision[FREE][FREE], const double a[FREE], double b, double weight) {
  for (size_t i = 0; i < g->size; i++) {
    for (size_t j = 0; j < g->size; j++) {
      precision[i][j] += weight * a[i] * a[j];
    }
    g->mean[i] -= weight * a[i] * b;
  }
}

static void factorise(gaussian *g, double precision[FREE][FREE]) {
  for (size_t i = 0; i < g->size; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = precision[i][j];
      for (size_t k = 0; k < j; k++) {
        sum -= g->root[i][k] * g->root[j][k];
      }
      g->root[i][j] = i == j ? sqrt(fmax(sum, 1e-12 * precision[i][i])) : sum / g->root[j][j];
    }
  }
}

/* root root' mean = what stands in mean. */
static void solve(gaussian *g) {
  for (size_t i = 0; i < g->size; i++) {
    for (size_t k = 0; k < i; k++) {
      g->mean[i] -= g->root[i][k] * g->mean[k];
    }
    g->mean[i] /= g->root[i][i];
  }
  for (size_t i = g->size; i-- > 0;) {
    for (size_t k = i + 1; k < g->size; k++) {
      g->mean[i] -= g->root[k][i] * g->mean[k];
    }
    g->mean[i] /= g->root[i][i];
  }
}

/* The pulse's coordinates as lines of z: y = at + to z, written about the middle of the second order. */
static void lines(const hw__quadratic *q, const water *w, size_t size, double to[HW__PULSE_SIZE][FREE],
                  double at[HW__PULSE_SIZE]) {
  to[HW__PASSAGE][MIDDLE] = to[HW__LN_VARIANCE][LN_WHOLE] = to[HW__LN_AREA][LN_SEEN_AREA] = 1;
  to[HW__LN_SKEW][LN_WHOLE] = 0.5;
  to[HW__LN_SKEW][SHAPE] = -1;
  if (size > LN_INSTANT) {
    to[HW__LN_SKEW][LN_INSTANT] = 0.5;
    to[HW__LN_SHARE][LN_INSTANT] = 1;
  }
  /* z is counted from the pulse's own, the asymmetry from none. */
  const double share = size > LN_INSTANT ? q->at[HW__LN_SHARE] : 0;
  at[HW__LN_SKEW] = 0.5 * (q->at[HW__LN_VARIANCE] + share) - w->ln_age - q->at[HW__LN_SKEW];
}

static gaussian rest_given(const hw__spill *spill, const water *w) {
  const hw__fit *fit = spill->station[spill->anchor].fit;
  const hw__quadratic *q = &fit->near;
  gaussian g = {.size = spill->lasting ? FREE : FREE - 1};
  double precision[FREE][FREE] = {{0}}, to[HW__PULSE_SIZE][FREE] = {{0}}, at[HW__PULSE_SIZE] = {0};
  lines(q, w, g.size, to, at);
  for (size_t a = 0; a < q->size; a++) {
    for (size_t i = 0; i < g.size; i++) {
      g.mean[i] += q->slope[a] * to[a][i];
      for (size_t b = 0; b < q->size; b++) {
        g.mean[i] -= to[a][i] * q->curvature[a][b] * at[b];
        for (size_t j = 0; j < g.size; j++) {
          precision[i][j] += to[a][i] * q->curvature[a][b] * to[b][j];
        }
      }
    }
  }
  const double instant[FREE] = {[LN_WHOLE] = 1, [LN_INSTANT] = g.size > LN_INSTANT ? 1 : 0};
  const double share = g.size > LN_INSTANT ? q->at[HW__LN_SHARE] : 0, d2 = square(w->sd_d[0]) + square(w->sd_d[1]);
  add_square(&g, precision, instant, q->at[HW__LN_VARIANCE] + share - w->ln_medium, 1 / d2);
  const double shape[FREE] = {[SHAPE] = 1};
  add_square(&g, precision, shape, 0, 1 / square(spill->doubt.shape));
  /* A little stiffer than the readings make it, for what they do not tell. */
  precision[MIDDLE][MIDDLE] += 0.1 / fit->curve.variance_s2;
  precision[LN_SEEN_AREA][LN_SEEN_AREA] += 0.1;
  if (g.size > LN_INSTANT) {
    precision[LN_INSTANT][LN_INSTANT] += 1;
  }
  factorise(&g, precision);
  solve(&g);
  return g;
}

/* Draws z; *log_density: ln of its density. */
static void draw_rest(const gaussian *g, hw_rng *rng, double ln_instant_at, double z[FREE], double *log_density) {
  double n[FREE], q = 0;
  for (size_t i = g->size; i-- > 0;) {
    n[i] = wider * hw__normal(rng);
    double off = n[i];
    for (size_t k = i + 1; k < g->size; k++) {
      off -= g->root[k][i] * (z[k] - g->mean[k]);
    }
    z[i] = g->mean[i] + off / g->root[i][i];
    q += hw__log_normal_density(n[i], wider) + log(g->root[i][i]);
    if (i == LN_INSTANT) { /* drawn first, of itself; or 1 - share, d^2 / 12 over the whole, is anything */
      const double lo = log(1e-3), u = hw_rng_uniform(rng), pick = hw_rng_uniform(rng);
      z[i] = pick < any_duration ? log1p(-exp(lo * u)) - ln_instant_at : z[i];
      const double ln_instant = z[i] + ln_instant_at, lasted = -expm1(fmin(ln_instant, -1e-12));
      const double gauss = hw__log_normal_density((z[i] - g->mean[i]) * g->root[i][i], wider) + log(g->root[i][i]);
      /* density of ln share where ln(1 - share) is even: |d ln(1 - share) / d ln share| = share / (1 - share) */
      const double even = ln_instant < 0 && lasted > exp(lo) ? exp(ln_instant) / lasted / -lo : 0;
      q = log((1 - any_duration) * exp(gauss) + any_duration * even);
    }
  }
  *log_density += q;
}

/* The age at which the median dispersion makes the anchor's pulse as wide as it is seen. */
static double usual_ln_age(const hw__spill *spill) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw__quadratic *q = &a->fit->near;
  const double wanted = exp(q->at[HW__LN_VARIANCE] + (spill->lasting ? q->at[HW__LN_SHARE] : 0));
  double lo = spill->log_age_lo, hi = spill->log_age_hi;
  for (int i = 0; i < 30; i++) {
    const double middle = 0.5 * (lo + hi), x_m = hw__transport_place(spill->transport, a->at.theta - exp(middle));
    if (a->at.variance - hw__transport_integrals(spill->transport, x_m).variance < wanted) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return 0.5 * (lo + hi);
}

static double draw_age(const hw__spill *spill, hw_rng *rng, double usual, double *log_density) {
  const double length = spill->log_age_hi - spill->log_age_lo;
  const double near = usual + age_sd * hw__normal(rng), any = spill->log_age_lo + length * hw_rng_uniform(rng);
  const double ln_age = hw_rng_uniform(rng) < any_age ? any : near;
  *log_density += log((1 - any_age) * exp(hw__log_normal_density(ln_age - usual, age_sd)) +
                      (ln_age >= spill->log_age_lo && ln_age <= spill->log_age_hi ? any_age / length : 0));
  return ln_age;
}

static double draw_normal(hw_rng *rng, double sd, double *log_density) {
  const double value = sd * hw__normal(rng);
  *log_density += hw__log_normal_density(value, sd);
  return value;
}

static water draw_water(const hw__spill *spill, hw_rng *rng, double usual, double *log_density) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw__doubt *d = &spill->doubt;
  water w = {.ln_age = draw_age(spill, rng, usual, log_density)};
  w.ln_v = d->common_v > 0 ? draw_normal(rng, d->common_v, log_density) : 0;
  const double about_m = hw__transport_place(spill->transport, a->at.theta - exp(w.ln_age + w.ln_v));
  const double share = hw__averaged(fmax(a->x_m - about_m, 0));
  w.own_v = d->local_v > 0 ? draw_normal(rng, d->local_v * share, log_density) : 0;
  w.faster = w.ln_v + w.own_v;
  const double x_m = hw__transport_place(spill->transport, a->at.theta - exp(w.ln_age + w.faster));
  const hw__integrals at = hw__transport_integrals(spill->transport, x_m);
  w.ln_medium = log(fmax(a->at.variance - at.variance, 1e-3)) - 3 * w.faster;
  w.lost = (a->at.decay - at.decay) * exp(-w.faster);
  w.sd_d[0] = d->common_d;
  w.sd_d[1] = d->local_d * hw__averaged(fmax(a->x_m - x_m, 0));
  return w;
}

/* Where a coordinate of this kind stands; nowhere if it is none. */
static void set(const hw__spill *spill, double *const *x, size_t i, size_t kind, double value) {
  if (hw__spill_has(spill, kind)) {
    x[spill->column[kind]][i] = value;
  }
}

/* Of what a part of the water has for itself the anchor's pulse says nothing. */
static void draw_strays(const hw__spill *spill, hw_rng *rng, double *const *x, size_t i, double *log_density) {
  for (size_t kind = HW__AXIS_STRAY_V; kind <= HW__AXIS_STRAY_D; kind++) {
    if (hw__spill_has(spill, kind)) {
      set(spill, x, i, kind, draw_normal(rng, hw__axis_sd(spill, kind), log_density));
    }
  }
}

static void near_point(const hw__spill *spill, hw_rng *rng, double usual, double *const *x, size_t i,
                       double *log_proposal) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw__quadratic *near = &a->fit->near;
  double q = 0, z[FREE] = {0};
  const water w = draw_water(spill, rng, usual, &q);
  const gaussian g = rest_given(spill, &w);
  draw_rest(&g, rng, near->at[HW__LN_SHARE], z, &q);
  /* The dispersion's factor is what is left; which part of it is common to all water is the prior's to say. */
  const double ln_whole = near->at[HW__LN_VARIANCE] + z[LN_WHOLE];
  const double ln_instant = spill->lasting ? near->at[HW__LN_SHARE] + z[LN_INSTANT] : 0;
  const double ln_d = ln_whole + ln_instant - w.ln_medium;
  const double both = square(w.sd_d[0]) + square(w.sd_d[1]), own_share = square(w.sd_d[1]) / both;
  double own_d = own_share * ln_d;
  if (w.sd_d[0] > 0 && w.sd_d[1] > 0) {
    own_d += draw_normal(rng, w.sd_d[0] * w.sd_d[1] / sqrt(both), &q);
  }
  double age = exp(w.ln_age), apparent = age;
  if (spill->lasting) {
    const double lasted = -expm1(fmin(ln_instant, -1e-9)), duration = sqrt(12 * exp(ln_whole) * lasted);
    const hw__release r = {.duration_s = duration, .velocity_factor = exp(w.faster), .dispersion_factor = exp(ln_d)};
    apparent = age + hw__older_by(spill, &r);
    set(spill, x, i, HW__AXIS_LN_DURATION, ln_instant < 0 ? log(duration) : log(spill->last.longest_s) + 1);
    q += log(2 * lasted) + log(apparent / age); /* from shares to durations, from ages to apparent ones */
  }
  set(spill, x, i, HW__AXIS_PASSAGE, near->at[HW__PASSAGE] + z[MIDDLE]);
  set(spill, x, i, HW__AXIS_LN_AGE, log(apparent));
  const double per_gram = log(a->per_discharge + a->per_area * exp(-w.ln_v));
  set(spill, x, i, HW__AXIS_LN_MASS, near->at[HW__LN_AREA] + z[LN_SEEN_AREA] - per_gram + w.lost);
  set(spill, x, i, HW__AXIS_LN_V, w.ln_v);
  set(spill, x, i, HW__AXIS_LN_D, ln_d - own_d);
  set(spill, x, i, HW__AXIS_OWN_V, w.own_v);
  set(spill, x, i, HW__AXIS_OWN_D, own_d);
  set(spill, x, i, HW__AXIS_SHAPE, z[SHAPE]);
  draw_strays(spill, rng, x, i, &q);
  *log_proposal = q;
}

void hw__near_draws(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal) {
  const hw__spill *spill = context;
  const double usual = usual_ln_age(spill);
  for (size_t i = 0; i < n; i++) {
    near_point(spill, rng, usual, x, i, &log_proposal[i]);
  }
}
