#include "posterior/grab.h"

#include <math.h>

#include "posterior/walk.h"

enum { TRIES = 32 };

/* One of the states that are possible. */
static hw__state draw_state(const hw__state *of, hw_rng *rng) {
  double root[HW__STATE][HW__STATE] = {{0}}, z[HW__STATE];
  hw__state drawn = {.mean = {0}};
  for (size_t a = 0; a < HW__STATE; a++) {
    z[a] = hw_rng_normal(rng);
    drawn.mean[a] = of->mean[a];
    for (size_t b = 0; b <= a; b++) {
      double sum = of->cov[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      const double least = 1e-12 * of->cov[a][a]; /* of what follows from the others nothing is left */
      root[a][b] = a != b ? (root[b][b] > 0 ? sum / root[b][b] : 0) : sum > least ? sqrt(sum) : 0;
      drawn.mean[a] += root[a][b] * z[b];
    }
  }
  drawn.mean[HW__TRAVEL] = fmax(drawn.mean[HW__TRAVEL], 0.1 * of->mean[HW__TRAVEL]);
  drawn.mean[HW__VARIANCE] = fmax(drawn.mean[HW__VARIANCE], 0.1 * of->mean[HW__VARIANCE]);
  return drawn;
}

double hw__grab_meet(const hw__spill *spill, const hw__release *release, const hw__station *station, hw_rng *rng,
                     hw__state *state, double *area_g_s_m3) {
  hw__state tried[TRIES];
  double area[TRIES], log_p[TRIES], most = -INFINITY, sum = 0;
  for (size_t j = 0; j < TRIES; j++) {
    tried[j] = draw_state(state, rng);
    area[j] = *area_g_s_m3 * (station->gain_sd > 0 ? exp(station->gain_sd * hw_rng_normal(rng)) : 1);
    const hw__curve curve =
        hw__release_curve(release, &station->at, tried[j].mean[HW__TRAVEL], tried[j].mean[HW__VARIANCE], area[j]);
    log_p[j] = hw__station_log_probability(station, hw__view_log_likelihood(station->view, spill->tails, &curve), NULL);
    most = fmax(most, log_p[j]);
  }
  for (size_t j = 0; j < TRIES; j++) {
    sum += exp(log_p[j] - most);
  }
  size_t chosen = 0;
  double left = hw_rng_uniform(rng) * sum - exp(log_p[0] - most);
  while (left > 0 && chosen + 1 < TRIES) {
    left -= exp(log_p[++chosen] - most);
  }
  *state = tried[chosen];
  *area_g_s_m3 = area[chosen];
  return most + log(sum / TRIES) - log_p[chosen];
}
