/* The advection-dispersion equation along a river: see transport.h for the equations.
 *
 * With ages instead of distances the equation depends on the two places only through theta, V and K,
 * and those are differences of three running integrals along the river, piecewise linear in place:
 *
 *   Theta(x) = int dx/v,   Var(x) = int 2 D / v^3 dx,   Decay(x) = int k / v dx.
 *
 * So a leg costs two look-ups, and its derivatives in the source's place are slopes of these lines.
 * Inside one reach a = v^2/(2D) and kappa = k are taken directly: exact, no cancellation.
 *
 * In a network the running integrals of a tributary end at its mouth with the values they have there on the branch it
 * joins. So they stand for the whole tree, and a leg from one branch to another is a difference like any other.
 *
 * Check value (Truckee, the paper's hydraulics, 1300 g at -22106 m and -215 min): see test_transport.c.
 */
#include "headwater/transport.h"

#include <math.h>
#include <stdlib.h>

#include "river/along.h"
#include "river/network.h"

/* A stretch with constant properties, from from_m up to the next stretch. */
typedef struct {
  double from_m;                          /* -inf for the first */
  double anchor_m;                        /* where the running integrals below hold; finite */
  double theta, variance, decay;          /* running integrals at anchor_m */
  double theta_dx, variance_dx, decay_dx; /* their slopes in this stretch */
  double discharge_m3_s;
  double sharpness_per_s, decay_per_s;
} stretch;

/* One branch: its stretches, and where it goes on. */
typedef struct {
  stretch *stretches;
  size_t count;
  size_t joins; /* HW_OUTLET: nowhere */
  double joins_at_m;
} line;

struct hw_transport {
  size_t outlet;
  size_t line_count;
  line *lines;
  stretch stretches[];
};

static void set_slopes(stretch *s, double v, double d, double k, double discharge) {
  s->theta_dx = 1 / v;
  s->variance_dx = 2 * d / (v * v * v);
  s->decay_dx = k / v;
  s->sharpness_per_s = v * v / (2 * d);
  s->decay_per_s = k;
  s->discharge_m3_s = discharge;
}

static void set_reach(stretch *s, const hw_reach *r, const hw_hydraulic_scale *by) {
  const double v = r->velocity_m_s * by->velocity;
  set_slopes(s, v, r->dispersion_m2_s * by->dispersion, r->decay_per_s,
             r->area_m2 * (r->discharge_m3_s > 0 ? r->velocity_m_s : v));
}

static void set_own(stretch *s, const hw_hydraulics *h, const hw_hydraulic_scale *by) {
  const double v = h->velocity_m_s.value * by->velocity;
  set_slopes(s, v, h->dispersion_m2_s.value * by->dispersion, h->decay_per_s,
             h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * v);
}

/* Reaches from upstream to downstream; whatever stretch lies below the last has the hydraulics' own numbers. */
static void lay(line *l, const hw_hydraulics *h, const hw_reach *reaches, size_t reach_count,
                const hw_hydraulic_scale *by) {
  for (size_t i = 0; i < l->count; i++) {
    stretch *s = &l->stretches[i];
    s->from_m = i ? reaches[i - 1].to_m : -INFINITY;
    s->anchor_m = i ? s->from_m : reach_count ? reaches[0].to_m : 0;
    if (i < reach_count) {
      set_reach(s, &reaches[i], by);
    } else {
      set_own(s, h, by);
    }
    if (i > 1) {
      const stretch *before = s - 1;
      const double length = s->anchor_m - before->anchor_m;
      s->theta = before->theta + length * before->theta_dx;
      s->variance = before->variance + length * before->variance_dx;
      s->decay = before->decay + length * before->decay_dx;
    }
  }
}

static hw__integrals integrals_of(const stretch *s, double x_m) {
  const double along = x_m - s->anchor_m;
  return (hw__integrals){.theta = s->theta + along * s->theta_dx,
                         .variance = s->variance + along * s->variance_dx,
                         .decay = s->decay + along * s->decay_dx};
}

/* Shifts the integrals of a tributary so that they meet those of the branch it joins. */
static void meet(line *l, const hw__integrals *at_mouth) {
  const hw__integrals own = integrals_of(&l->stretches[l->count - 1], 0);
  for (size_t i = 0; i < l->count; i++) {
    l->stretches[i].theta += at_mouth->theta - own.theta;
    l->stretches[i].variance += at_mouth->variance - own.variance;
    l->stretches[i].decay += at_mouth->decay - own.decay;
  }
}

static const stretch *stretch_at(const line *l, double x_m) {
  size_t i = l->count - 1;
  while (i > 0 && x_m <= l->stretches[i].from_m) {
    i--;
  }
  return &l->stretches[i];
}

/* Every branch below those that flow into it. */
static hw_status lay_network(hw_transport *t, const hw_river *river, const hw_hydraulic_scale *by) {
  size_t *order = calloc(river->branch_count, sizeof *order);
  if (!order) {
    return HW_ENOMEM;
  }
  hw__branch_order(river, order);
  t->outlet = order[0];
  stretch *room = t->stretches;
  for (size_t i = 0; i < river->branch_count; i++) {
    const hw_branch *b = &river->branches[order[i]];
    line *l = &t->lines[order[i]];
    *l = (line){room, b->reach_count ? b->reach_count : 1, b->joins, b->joins_at_m};
    room += l->count;
    lay(l, &river->hydraulics, b->reaches, b->reach_count, by);
    if (b->joins != HW_OUTLET) {
      const hw__integrals mouth = integrals_of(stretch_at(&t->lines[b->joins], b->joins_at_m), b->joins_at_m);
      meet(l, &mouth);
    }
  }
  free(order);
  return HW_OK;
}

hw_status hw_transport_create(const hw_river *river, const hw_hydraulic_scale *scale, hw_transport **out) {
  *out = NULL;
  const hw_hydraulic_scale by = scale ? *scale : (hw_hydraulic_scale){1, 1};
  if (!(by.velocity > 0) || !(by.dispersion > 0) || !isfinite(by.velocity) || !isfinite(by.dispersion)) {
    return HW_EDOMAIN;
  }
  if (!hw_river_has_hydraulics(river)) {
    return HW_EHYDRAULICS;
  }
  size_t stretches = river->reach_count + 1;
  for (size_t i = 0; i < river->branch_count; i++) {
    stretches += river->branches[i].reach_count + 1;
  }
  hw_transport *t = calloc(1, sizeof *t + stretches * sizeof t->stretches[0]);
  if (!t) {
    return HW_ENOMEM;
  }
  t->line_count = river->branch_count ? river->branch_count : 1;
  t->lines = calloc(t->line_count, sizeof *t->lines);
  hw_status status = t->lines ? HW_OK : HW_ENOMEM;
  if (status == HW_OK && river->branch_count) {
    status = lay_network(t, river, &by);
  } else if (status == HW_OK) {
    t->lines[0] = (line){t->stretches, river->reach_count + 1, HW_OUTLET, 0};
    lay(&t->lines[0], &river->hydraulics, river->reaches, river->reach_count, &by);
  }
  if (status != HW_OK) {
    hw_transport_free(t);
    return status;
  }
  *out = t;
  return HW_OK;
}

void hw_transport_free(hw_transport *transport) {
  if (transport) {
    free(transport->lines);
    free(transport);
  }
}

static const line *outlet_of(const hw_transport *t) {
  return &t->lines[t->outlet];
}

double hw__transport_velocity(const hw_transport *transport, double x_m) {
  return 1 / stretch_at(outlet_of(transport), x_m)->theta_dx;
}

double hw__transport_theta(const hw_transport *transport, double x_m) {
  const stretch *s = stretch_at(outlet_of(transport), x_m);
  return s->theta + (x_m - s->anchor_m) * s->theta_dx;
}

double hw__transport_place(const hw_transport *transport, double theta_s) {
  const line *l = outlet_of(transport);
  size_t i = l->count - 1;
  while (i > 0 && theta_s <= l->stretches[i].theta) {
    i--;
  }
  const stretch *s = &l->stretches[i];
  return s->anchor_m + (theta_s - s->theta) / s->theta_dx;
}

static hw_leg leg_of(const stretch *a, double from_m, const stretch *b, double to_m) {
  hw_leg leg = {.discharge_m3_s = b->discharge_m3_s, .travel_dl = -a->theta_dx};
  if (a == b) {
    leg.travel_s = (to_m - from_m) * a->theta_dx;
    leg.sharpness_per_s = a->sharpness_per_s;
    leg.decay_per_s = a->decay_per_s;
    return leg;
  }
  const double up = from_m - a->anchor_m;
  const double down = to_m - b->anchor_m;
  const double theta = b->theta - a->theta + down * b->theta_dx - up * a->theta_dx;
  const double variance = b->variance - a->variance + down * b->variance_dx - up * a->variance_dx;
  const double decay = b->decay - a->decay + down * b->decay_dx - up * a->decay_dx;
  leg.travel_s = theta;
  leg.sharpness_per_s = theta / variance;
  leg.decay_per_s = decay / theta;
  /* Quotients of two functions linear in l: (p/q)' = (p' q - p q') / q^2, (p/q)'' = -2 q'/q (p/q)'. */
  const double theta_dl = -a->theta_dx, variance_dl = -a->variance_dx, decay_dl = -a->decay_dx;
  leg.sharpness_dl = (theta_dl - leg.sharpness_per_s * variance_dl) / variance;
  leg.sharpness_dl2 = -2 * variance_dl / variance * leg.sharpness_dl;
  leg.decay_dl = (decay_dl - leg.decay_per_s * theta_dl) / theta;
  leg.decay_dl2 = -2 * theta_dl / theta * leg.decay_dl;
  return leg;
}

hw_leg hw_transport_leg(const hw_transport *transport, double from_m, double to_m) {
  const line *l = outlet_of(transport);
  return leg_of(stretch_at(l, from_m), from_m, stretch_at(l, to_m), to_m);
}

/* Does the water of a place on one branch pass a place on another one? */
static bool passes(const hw_transport *t, size_t from, size_t to, double to_m) {
  for (size_t b = from; t->lines[b].joins != HW_OUTLET; b = t->lines[b].joins) {
    if (t->lines[b].joins == to) {
      return to_m > t->lines[b].joins_at_m;
    }
  }
  return false;
}

hw_leg hw_transport_leg_between(const hw_transport *transport, size_t from_branch, double from_m, size_t to_branch,
                                double to_m) {
  if (from_branch >= transport->line_count || to_branch >= transport->line_count) {
    return (hw_leg){0};
  }
  const stretch *a = stretch_at(&transport->lines[from_branch], from_m);
  const stretch *b = stretch_at(&transport->lines[to_branch], to_m);
  if (from_branch != to_branch && !passes(transport, from_branch, to_branch, to_m)) {
    return (hw_leg){.discharge_m3_s = b->discharge_m3_s};
  }
  return leg_of(a, from_m, b, to_m);
}

hw__integrals hw__transport_integrals_on(const hw_transport *transport, size_t branch, double x_m) {
  return integrals_of(stretch_at(&transport->lines[branch], x_m), x_m);
}

hw__integrals hw__transport_integrals(const hw_transport *transport, double x_m) {
  return integrals_of(stretch_at(outlet_of(transport), x_m), x_m);
}

bool hw__river_discharge_follows(const hw_river *river, double x_m) {
  size_t i = 0;
  while (i < river->reach_count && x_m > river->reaches[i].to_m) {
    i++;
  }
  return !((i < river->reach_count ? river->reaches[i].discharge_m3_s : river->hydraulics.discharge_m3_s) > 0);
}

double hw_leg_response(const hw_leg *leg, double age_s) {
  if (!(age_s > 0) || !(leg->travel_s > 0)) {
    return 0;
  }
  const double a = leg->sharpness_per_s;
  const double lag = age_s - leg->travel_s;
  return sqrt(a / (2 * M_PI * age_s)) * exp(-a * lag * lag / (2 * age_s) - leg->decay_per_s * age_s) /
         leg->discharge_m3_s;
}

/* exp(x^2) erfc(x) for x >= 0; from 6 on by its continued fraction, which 20 terms give to rounding. */
static double scaled_erfc(double x) {
  if (x < 6) {
    return exp(x * x) * erfc(x);
  }
  double f = x;
  for (int k = 20; k > 0; k--) {
    f = x + 0.5 * k / f;
  }
  return M_2_SQRTPI / 2 / f;
}

/* Integral of the response from age 0 to this one. With b^2 = a + 2 kappa and c = sqrt(a) theta it is
 *
 *   sqrt(a) / (2 b Q) [ e^(a theta - bc) erfc(x) - e^(a theta + bc) erfc(y) ],   x, y = (c -+ b T) / sqrt(2 T)
 *
 * where either product, taken apart, may overflow; e^(a theta -+ bc) e^(-x^2) is the exponential of the response. */
static double received(const hw_leg *leg, double age_s) {
  if (!(age_s > 0)) {
    return 0;
  }
  const double a = leg->sharpness_per_s, theta = leg->travel_s, kappa = leg->decay_per_s;
  const double b = sqrt(a + 2 * kappa), c = sqrt(a) * theta, root = sqrt(2 * age_s), lag = age_s - theta;
  const double x = (c - b * age_s) / root, y = (c + b * age_s) / root;
  const double now = exp(-a * lag * lag / (2 * age_s) - kappa * age_s);
  const double passed = x > 0 ? now * scaled_erfc(x) : exp(-2 * a * kappa * theta / (a + sqrt(a) * b)) * erfc(x);
  return sqrt(a) / (2 * b * leg->discharge_m3_s) * (passed - now * scaled_erfc(y));
}

double hw_leg_lasting(const hw_leg *leg, double age_s, double duration_s) {
  if (!(duration_s > 0)) {
    return hw_leg_response(leg, age_s);
  }
  if (!(age_s > 0) || !(leg->travel_s > 0)) {
    return 0;
  }
  return fmax((received(leg, age_s) - received(leg, age_s - duration_s)) / duration_s, 0);
}

/* ln g = (ln a - ln T)/2 - a (T - theta)^2 / (2T) - kappa T + const, so the derivatives of g = exp(ln g)
 * are g times polynomials. First ln g along l and T, then g = e^ln g: g_x = g p_x, g_xy = g (p_x p_y + p_xy);
 * T = t_reading - t, so every odd derivative in t changes its sign. */
void hw_leg_derivatives(const hw_leg *leg, double mass_g, double age_s, bool want_hessian, hw_derivatives *out) {
  *out = (hw_derivatives){0};
  const double g = hw_leg_response(leg, age_s);
  if (!(age_s > 0) || !(leg->travel_s > 0)) {
    return;
  }
  const double a = leg->sharpness_per_s, theta = leg->travel_s, t = age_s;
  const double lag = t - theta;
  const double per_theta = a * lag / t;
  const double per_a = 0.5 / a - lag * lag / (2 * t);
  const double p_l = per_theta * leg->travel_dl + per_a * leg->sharpness_dl - t * leg->decay_dl;
  const double p_t = -0.5 / t - a * (t * t - theta * theta) / (2 * t * t) - leg->decay_per_s;
  out->value = mass_g * g;
  out->gradient[0] = g;
  out->gradient[1] = out->value * p_l;
  out->gradient[2] = -out->value * p_t;
  if (!want_hessian) {
    return;
  }
  const double p_ll = -a / t * leg->travel_dl * leg->travel_dl + 2 * (lag / t) * leg->travel_dl * leg->sharpness_dl -
                      0.5 / (a * a) * leg->sharpness_dl * leg->sharpness_dl + per_a * leg->sharpness_dl2 -
                      t * leg->decay_dl2;
  const double p_tt = 0.5 / (t * t) - a * theta * theta / (t * t * t);
  const double p_lt =
      a * theta / (t * t) * leg->travel_dl - (t * t - theta * theta) / (2 * t * t) * leg->sharpness_dl - leg->decay_dl;
  double(*h)[3] = out->hessian;
  h[0][1] = h[1][0] = g * p_l;
  h[0][2] = h[2][0] = -g * p_t;
  h[1][1] = out->value * (p_l * p_l + p_ll);
  h[1][2] = h[2][1] = -out->value * (p_l * p_t + p_lt);
  h[2][2] = out->value * (p_t * p_t + p_tt);
}

hw_status hw_transport_concentration(const hw_transport *transport, const hw_source *source, double x_m, double t_s,
                                     double *c_g_m3) {
  if (!isfinite(source->mass_g) || !isfinite(source->location_m) || !isfinite(source->time_s) || !isfinite(x_m) ||
      !isfinite(t_s)) {
    return HW_EDOMAIN;
  }
  const hw_leg leg = hw_transport_leg_between(transport, source->branch, source->location_m, transport->outlet, x_m);
  *c_g_m3 = source->mass_g * hw_leg_response(&leg, t_s - source->time_s);
  return HW_OK;
}
