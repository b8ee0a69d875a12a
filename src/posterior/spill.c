#include "posterior/spill.h"

#include <math.h>

#include "posterior/coordinates.h"
#include "posterior/first_draws.h"
#include "posterior/kernel.h"
#include "posterior/walk.h"

/* A sensor that is wrong: how often, and what its own curve costs as an accident (a place in time, a height, a width).
 */
static const double wrong_share = 0.02, accident = 25;

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
    if (phase == ANCHOR_ALONE ? k != spill->anchor : hw__spill_is_filtered(spill, k)) {
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
  return (hw__target){
      .dims = spill->dims, .phases = PHASES, .context = spill, .start = hw__first_draws, .evaluate = evaluate};
}
