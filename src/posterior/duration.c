#include "posterior/duration.h"

/* e^(x^2) erfc x for x >= 0, relative error below 3e-10: (1 + 2 x) erfcx x is smooth in u = (x - 3) / (x + 3), which
 * takes [0, inf) to [-1, 1); a polynomial through its values at the zeros of Chebyshev's of degree 14. */
HW__INLINE hw__v4 scaled_tail(hw__v4 x) {
  static const double c[] = {1.2530080582517198,     -0.13562110588977411,    -0.047562292578381779,
                             0.12964513564858771,    -0.11927369264647601,    0.068308399692526986,
                             -0.023770329148928782,  0.0025271155196833202,   0.0018881023959187765,
                             -0.0007731099351480404, -0.00010412154073995744, 0.00011462995270302857,
                             3.858826671278491e-06,  -1.148163984713132e-05};
  const hw__v4 u = (x - 3.0) / (x + 3.0);
  hw__v4 p = hw__v4_all(c[13]);
  for (int k = 12; k >= 0; k--) {
    p = p * u + c[k];
  }
  return p / (1.0 + 2.0 * x);
}

/* Four curves' constants. */
typedef struct {
  hw__v4 travel, per_travel; /* theta; 2 V / theta */
  hw__v4 g, scale;           /* scale: what stands before the brackets of F */
} shape4;

HW__INLINE hw__v4 passed(const shape4 *s, hw__v4 age) {
  const hw__v4 aged = hw__v4_max(age, 1e-9 * s->travel);
  const hw__v4 width = hw__v4_sqrt(s->per_travel * aged), way = s->g * aged;
  const hw__v4 a = (s->travel - way) / width, b = (s->travel + way) / width;
  const hw__v4 e = hw__v4_exp(-(a * a)), tail = e * scaled_tail(hw__v4_max(a, -a));
  const hw__v4 first = hw__v4_choose(a < 0.0, 2.0 - tail, tail);
  return s->scale * (first - e * scaled_tail(b));
}

static bool any_positive(hw__v4 x) {
  return x[0] > 0 || x[1] > 0 || x[2] > 0 || x[3] > 0;
}

HW__INLINE shape4 shape_of(const hw__curves *c, hw__v4 spread_s2) {
  const hw__v4 travel = c->travel_s, decay = c->decay_per_s, per_travel = 2.0 * (c->variance_s2 + spread_s2) / travel;
  if (!any_positive(decay)) { /* as below, and cheaper */
    return (shape4){travel, per_travel, hw__v4_all(1), hw__v4_all(0.5)};
  }
  const hw__v4 g = hw__v4_sqrt(1.0 + decay * per_travel);
  /* (1 - g) theta^2 / V without the difference: (1 - g^2) / (1 + g) */
  const hw__v4 lost = -2.0 * decay * travel / (1.0 + g);
  return (shape4){travel, per_travel, g, 0.5 * hw__v4_exp(lost) / g};
}

/* What has come by then of a release that began, less what has come of one that begins when it ends. */
HW__INLINE hw__v4 respond(const hw__curves *c, const shape4 *shape, hw__v4 time_s) {
  const hw__v4 age = time_s - c->passage_s + c->travel_s, ended = age - c->duration_s;
  const hw__v4 gone = any_positive(ended) ? passed(shape, ended) : hw__v4_all(0);
  return passed(shape, age) - gone;
}

HW__CLONES void hw__lasting_respond(const hw__curves *c, double time_s, double spread_s2, hw__v4 *out) {
  const hw__v4 widest = HW__APART * c->variance_s2, all = hw__v4_all(spread_s2);
  const hw__v4 apart = hw__v4_choose(widest < all, widest, all);
  const shape4 shape = shape_of(c, all - apart);
  hw__v4 come;
  if (spread_s2 > 0) {
    const hw__v4 node = hw__v4_sqrt(apart);
    come = 0.5 * (respond(c, &shape, time_s - node) + respond(c, &shape, time_s + node));
  } else {
    come = respond(c, &shape, hw__v4_all(time_s));
  }
  *out = hw__v4_max(c->area_g_s_m3 / c->duration_s * come, hw__v4_all(0));
}

/* When an instant's curve peaks: (a/2 + k) T^2 + T/2 = a theta^2 / 2, a = theta / V. */
static double instant_peak_s(const hw__curve *c) {
  const double a = c->travel_s / c->variance_s2, q = 0.5 * a + c->decay_per_s, s = a * c->travel_s * c->travel_s;
  return c->passage_s - c->travel_s + s / (0.5 + sqrt(0.25 + 2 * q * s));
}

double hw__curve_peak_s(const hw__curve *curve) {
  hw__curve instant = *curve;
  instant.duration_s = 0;
  /* The slope is what comes in at the front less what leaves at the back; its sign changes once. */
  double rising = instant_peak_s(curve), falling = rising + curve->duration_s;
  for (int i = 0; i < 60 && curve->duration_s > 0; i++) {
    const double middle = 0.5 * (rising + falling);
    if (hw__curve_at(&instant, middle, 0) > hw__curve_at(&instant, middle - curve->duration_s, 0)) {
      rising = middle;
    } else {
      falling = middle;
    }
  }
  return rising;
}

/* A minute and three days: what releases last that are no instants. */
static const double least_s = 60, most_s = 3 * 86400.0;
/* Of a pulse's width: it adds less than a thousandth to the variance. */
static const double as_good_as_an_instant = 0.1;

void hw__lasting_set(hw__lasting *lasting, double width_s, double within_s) {
  lasting->longest_s = fmin(fmax(within_s, 4 * least_s), most_s);
  lasting->shortest_s = fmin(fmax(as_good_as_an_instant * width_s, least_s), 0.5 * lasting->longest_s);
  lasting->log_prior = -log(log(most_s / least_s));
}

double hw__lasting_log_odds(const hw__lasting *lasting, double log_instant, double log_lasting) {
  const double instants = 1 + log(lasting->shortest_s / least_s) * exp(lasting->log_prior);
  return log_lasting - log_instant - log(instants);
}
