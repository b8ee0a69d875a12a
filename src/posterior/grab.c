#include "posterior/grab.h"

#include <math.h>

#include "core/normal.h"
#include "posterior/walk.h"

enum { TRIES = 32, FOURS = TRIES / HW__LANES };

/* What is drawn of the possible states. The local factors follow only when one of them is chosen: the readings do not
 * see them. */
typedef struct {
  double z[2][TRIES], ln_gain[TRIES];
  double travel_s[TRIES], variance_s2[TRIES], area_g_s_m3[TRIES];
  hw__curves curve[FOURS];
} tries;

static void factorise(const hw__state *of, double root[HW__STATE][HW__STATE]) {
  for (size_t a = 0; a < HW__STATE; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = of->cov[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= root[a][k] * root[b][k];
      }
      const double least = 1e-12 * of->cov[a][a]; /* of what follows from the others nothing is left */
      root[a][b] = a != b ? (root[b][b] > 0 ? sum / root[b][b] : 0) : sum > least ? sqrt(sum) : 0;
    }
  }
}

/* The tries' pulses; `like` has of the release and the station what is the same for all of them. */
HW__CLONES static void set_curves(const hw__state *of, double root[HW__STATE][HW__STATE], const hw__curve *like,
                                  double longer, tries *t) {
  const double *mean = of->mean;
  for (size_t g = 0; g < FOURS; g++) {
    const size_t at = g * HW__LANES;
    const hw__v4 z0 = hw__v4_load(t->z[0] + at), z1 = hw__v4_load(t->z[1] + at);
    const hw__v4 travel = hw__v4_max(mean[HW__TRAVEL] + root[0][0] * z0, hw__v4_all(0.1 * mean[HW__TRAVEL]));
    const hw__v4 variance =
        hw__v4_max(mean[HW__VARIANCE] + root[1][0] * z0 + root[1][1] * z1, hw__v4_all(0.1 * mean[HW__VARIANCE]));
    const hw__v4 area = like->area_g_s_m3 * hw__v4_exp(hw__v4_load(t->ln_gain + at));
    t->curve[g] = (hw__curves){.passage_s = like->passage_s + travel,
                               .travel_s = travel * longer,
                               .variance_s2 = variance,
                               .area_g_s_m3 = area,
                               .decay_per_s = hw__v4_all(like->decay_per_s),
                               .duration_s = hw__v4_all(like->duration_s > 0 ? like->duration_s : 1)};
    memcpy(t->travel_s + at, &travel, sizeof travel);
    memcpy(t->variance_s2 + at, &variance, sizeof variance);
    memcpy(t->area_g_s_m3 + at, &area, sizeof area);
  }
}

/* Each try's share of the probability, over e^(what is returned). */
HW__CLONES static double weigh(const double *log_p, double *share) {
  double most = log_p[0];
  for (size_t j = 1; j < TRIES; j++) {
    most = fmax(most, log_p[j]);
  }
  for (size_t j = 0; j < TRIES; j += HW__LANES) {
    const hw__v4 e = hw__v4_exp(hw__v4_load(log_p + j) - most);
    memcpy(share + j, &e, sizeof e);
  }
  return most;
}

static size_t choose(const double *share, double sum, hw_rng *rng) {
  size_t chosen = 0;
  double left = hw_rng_uniform(rng) * sum - share[0];
  while (left > 0 && chosen + 1 < TRIES) {
    left -= share[++chosen];
  }
  return chosen;
}

static void set_state(const tries *t, size_t j, double root[HW__STATE][HW__STATE], hw_rng *rng, hw__state *state) {
  const double z[HW__STATE] = {t->z[0][j], t->z[1][j], hw__normal(rng), hw__normal(rng)};
  state->mean[HW__TRAVEL] = t->travel_s[j];
  state->mean[HW__VARIANCE] = t->variance_s2[j];
  for (size_t a = HW__OWN_FASTER; a < HW__STATE; a++) {
    for (size_t b = 0; b <= a; b++) {
      state->mean[a] += root[a][b] * z[b];
    }
  }
}

double hw__grab_meet(const hw__spill *spill, const hw__release *release, const hw__station *station,
                     const hw__prepared *readings, hw_rng *rng, hw__state *state, double *area_g_s_m3) {
  double root[HW__STATE][HW__STATE] = {{0}}, log_p[TRIES], share[TRIES], clean[TRIES], sum = 0;
  tries t;
  factorise(state, root);
  for (size_t j = 0; j < TRIES; j++) {
    t.z[0][j] = hw__normal(rng);
    t.z[1][j] = hw__normal(rng);
    t.ln_gain[j] = station->gain_sd > 0 ? station->gain_sd * hw__normal(rng) : 0;
  }
  const double longer = exp(release->shape);
  const hw__curve like = hw__release_curve(release, &station->at, 0, 0, *area_g_s_m3);
  set_curves(state, root, &like, longer, &t);
  hw__kernel_compare(readings, TRIES, t.curve, spill->lasting, log_p, clean);
  hw__station_log_probabilities(station, TRIES, log_p);
  const double most = weigh(log_p, share);
  for (size_t j = 0; j < TRIES; j++) {
    sum += share[j];
  }
  const size_t chosen = choose(share, sum, rng);
  set_state(&t, chosen, root, rng, state);
  *area_g_s_m3 = t.area_g_s_m3[chosen];
  return most + log(sum / TRIES) - log_p[chosen];
}
