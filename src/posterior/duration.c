#include "posterior/duration.h"

#include <math.h>

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
