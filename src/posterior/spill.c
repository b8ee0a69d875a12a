#include "posterior/spill.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "posterior/coordinates.h"
#include "posterior/first_draws.h"
#include "posterior/kernel.h"
#include "posterior/near_draws.h"
#include "posterior/walk.h"

/* A sensor that is wrong: how often. Its own curve costs what it does as an accident (pulse.h); one that shows nothing
 * needs no curve to be wrong, only to have been silent just then. */
static const double wrong_share = 0.02, silence = 6;
/* The same of a sensor that shows by its noise that it may be broken: then a curve of its own is no wonder. */
static const double suspect_share = 0.3, likely_accident = 8;

static double log_sum(double a, double b) {
  const double most = fmax(a, b);
  return most + log(exp(a - most) + exp(b - most));
}

/* ln probability that the sensor is wrong and its readings are what they are. */
static double log_wrong(const hw__station *station) {
  const double own = station->fit->log_likelihood;
  if (!station->suspect) {
    return log(wrong_share) + own - (station->fit->seen || station->fit->few ? station->fit->accident : silence);
  }
  return log(suspect_share) + own - (station->fit->seen ? likely_accident : 0);
}

/* ln probability that it is right. */
static double log_right(const hw__station *station) {
  return log(1 - (station->suspect ? suspect_share : wrong_share));
}

double hw__station_log_probability(const hw__station *station, double log_likelihood, double *wrong) {
  const double right = log_right(station) + log_likelihood, other = log_wrong(station);
  const double both = log_sum(right, other);
  if (wrong) {
    *wrong = exp(other - both);
  }
  return both;
}

double hw__station_log_without(const hw__station *station) {
  return hw__station_log_probability(station, station->fit->log_without, NULL);
}

double hw__station_believed(const hw__station *station) {
  return log_wrong(station) - log_right(station);
}

double hw__station_log_pulse(const hw__station *station) {
  return station->fit->log_likelihood - station->fit->accident;
}

/* The anchor alone, taken at its word: leads to where its pulse can have come from. Then all stations, any of which may
 * be wrong; started on that at once, draws far from the truth would all find it equally likely that every sensor is. */
enum { ANCHOR_ALONE, ALL_STATIONS, PHASES };

/* hw__station_log_probability of four. */
HW__INLINE hw__v4 log_probability(const hw__station *s, hw__v4 log_likelihood) {
  const hw__v4 right = log_right(s) + log_likelihood, other = hw__v4_all(log_wrong(s));
  const hw__v4 apart = hw__v4_choose(right > other, right - other, other - right);
  return hw__v4_max(right, other) + hw__v4_log(1.0 + hw__v4_exp(-apart));
}

HW__CLONES void hw__station_log_probabilities(const hw__station *station, size_t n, double *log_likelihood) {
  for (size_t i = 0; i < n; i += HW__LANES) {
    const hw__v4 both = log_probability(station, hw__v4_load(log_likelihood + i));
    memcpy(log_likelihood + i, &both, sizeof both);
  }
}

/* What the stations say, added up. Backgrounds that detection limits hide: either each is anything below its limit
 * (`any`), or the river is clean (`none`), which it cannot be where another sensor shows a background. Taken one by
 * one, sixty sensors would agree on a middling background that none of them has seen. */
typedef struct {
  hw__v4 any[HW__FOURS], none[HW__FOURS];
} votes;

/* A station whose own pulse the walk has taken in; it says nothing more of points that lie below it. */
HW__CLONES static void add_filtered(const hw__walk *w, const hw__station *s, votes *v) {
  const double without = hw__station_log_without(s);
  for (size_t g = 0; g < w->fours; g++) {
    const hw__v4 own =
        hw__v4_choose(w->curve[g].area_g_s_m3 > 0.0, log_probability(s, w->log_likelihood[g]), hw__v4_all(without));
    v->any[g] += own;
    v->none[g] += own;
  }
}

HW__CLONES static void add_compared(const hw__walk *w, const hw__station *s, bool at_its_word, const double *found,
                                    const double *clean, votes *v) {
  for (size_t g = 0; g < w->fours; g++) {
    const hw__v4 here = hw__v4_load(found + g * HW__LANES), own = at_its_word ? here : log_probability(s, here);
    v->any[g] += own;
    if (!s->view->hidden) {
      v->none[g] += own;
    } else {
      const hw__v4 nothing = hw__v4_load(clean + g * HW__LANES);
      v->none[g] += at_its_word ? nothing : log_probability(s, nothing);
    }
  }
}

/* Points to evaluate, and where what comes of them goes. */
typedef struct {
  const hw__spill *spill;
  size_t phase, n;
  const uint64_t *chance;
  double *const *x;
  double *log_prior, *log_likelihood;
  atomic_size_t next; /* the first that nobody has taken */
} task;

static void evaluate_block(const task *t, hw__walk *w, size_t from) {
  const hw__spill *spill = t->spill;
  const size_t phase = t->phase, n = t->n - from < HW__BLOCK ? t->n - from : HW__BLOCK;
  votes v;
  double found[HW__BLOCK], clean[HW__BLOCK];
  size_t index[HW__BLOCK]; /* whole, though only n are looked at */
  for (size_t i = 0; i < HW__BLOCK; i++) {
    index[i] = from + i;
  }
  hw__walk_begin(w, spill, t->chance, n, index, t->x);
  memset(&v, 0, sizeof v);
  for (size_t k = 0; k < spill->count; k++) {
    const hw__station *s = &spill->station[k];
    if ((phase == ANCHOR_ALONE && k != spill->anchor) || !hw__walk_to(w, k)) {
      continue;
    }
    if (w->filtered) {
      add_filtered(w, s, &v);
    } else {
      hw__kernel_log_likelihood(s->view, spill->tails, n, w->curve, spill->lasting, found, clean);
      add_compared(w, s, phase == ANCHOR_ALONE, found, clean, &v);
    }
  }
  for (size_t i = 0; i < n; i++) {
    const size_t g = i / HW__LANES, lane = i % HW__LANES;
    t->log_prior[from + i] = w->release[i].log_prior;
    const double any = v.any[g][lane], own = spill->stained ? any : log_sum(any, v.none[g][lane]) - M_LN2;
    t->log_likelihood[from + i] = (phase == ANCHOR_ALONE ? 0 : w->ratio[i]) + own;
  }
}

/* One of the crew, with a walk of its own. */
static void take_blocks(void *context, size_t member) {
  task *t = context;
  const hw__spill *spill = t->spill;
  hw__walk *own = member == 0 ? spill->walk : spill->crew.walk[member - 1];
  for (size_t from; (from = atomic_fetch_add(&t->next, HW__BLOCK)) < t->n;) {
    evaluate_block(t, own, from);
  }
}

static void evaluate(void *context, size_t phase, const uint64_t *chance, size_t n, double *const *x, double *log_prior,
                     double *log_likelihood) {
  const hw__spill *spill = context;
  task t = {spill, phase, n, chance, x, log_prior, log_likelihood, 0};
  hw__crew_share(&spill->crew, spill->crew.others + 1, take_blocks, &t);
}

/* So few coordinates are learned from half of the draws. */
enum { few_dims = 4 };
/* Quantiles at 5 and 95 % of so many are off by a seventeenth of a standard deviation. */
static const double ample_draws = 1000;

hw__target hw__spill_target(hw__spill *spill) {
  const bool near = hw__can_draw_near(spill) && (spill->from_pulse || !spill->lasting);
  const bool brief = spill->dims <= few_dims || (spill->from_pulse && near);
  return (hw__target){.dims = spill->dims,
                      .phases = PHASES,
                      .first = near && !spill->lasting ? ALL_STATIONS : ANCHOR_ALONE,
                      .stage = brief ? HW__STAGE / 2 : HW__STAGE,
                      .final = near && spill->from_pulse ? HW__FINAL / 2 : HW__FINAL,
                      .ample = ample_draws,
                      .led = near ? 0.3 : 1,
                      .context = spill,
                      .start = near ? hw__near_draws : hw__first_draws,
                      .evaluate = evaluate};
}
