/* Where and when to take the next sample.
 *
 * A reading is worth what it is expected to tell about the question asked: the mutual information, in bits, between
 * the answer and the reading, under what is believed now. It is worked out from the run's own samples
 * (hw_run_samples): each is carried on to the place and time, which gives what would be read there if that sample were
 * the truth; readings that would tell the answers apart are worth much. Nothing is simulated again. One bit halves the
 * stretch, or the suspects.
 *
 *   hw_advice *advice = NULL;
 *   hw_advise(run, &river, &(hw_advice_options){.now_s = now}, &advice, &error);
 *   for (size_t i = 0; i < hw_advice_count(advice); i++) { use hw_advice_spot(advice, i) }
 *   hw_advice_free(advice);
 *
 * How a sample is carried on: where a sensor has seen the pulse well, every sample's pulse is taken to have passed
 * there as it was seen, and goes on from there at the sample's own velocity and dispersion; the flow is that of the
 * river file. A reading is taken to err by the sensors' noise and by `doubt` beside it, for a bottle is one point of a
 * cross-section and a model is a model.
 *
 * Deterministic: the same run, options and seed give the same advice.
 */
#ifndef HEADWATER_ADVICE_H
#define HEADWATER_ADVICE_H

#include "headwater/method.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the reading is to tell; one list, as for the statuses. */
#define HW_QUESTION_LIST(X)                                    \
  X(HW_QUESTION_PLACE, "place", "where it came from")          \
  X(HW_QUESTION_WHO, "who", "which candidate it was, or none") \
  X(HW_QUESTION_INTAKE, "intake", "whether and when the intakes' alarm levels will be passed")

typedef enum {
#define HW_QUESTION_ENUM(name, word, text) name,
  HW_QUESTION_LIST(HW_QUESTION_ENUM)
#undef HW_QUESTION_ENUM
      HW_QUESTION_COUNT
} hw_question;
/* As written on the command line ("place"), and in words. */
const char *hw_question_word(hw_question question);
const char *hw_question_text(hw_question question);

/* Zero means the default everywhere but for now_s. */
typedef struct {
  hw_question question;
  double now_s;   /* on the run's clock */
  double delay_s; /* before anybody can be anywhere; default 0 */
  double
      horizon_s; /* how far ahead to look, counted from then; default: until the pulse has passed, two days at most */
  size_t crews;  /* as many places that go well together, at most 8. 0 or 1: places to choose one from */
  size_t most;   /* places to choose from; default 5 */
  double doubt;  /* of a reading beside the sensors' own noise, relative; default 0.15 */
  uint64_t seed; /* default 1 */
} hw_advice_options;

/* A stretch of river and a window of time in which a reading tells at least four fifths of what it tells at the best
 * place and moment. */
typedef struct {
  size_t branch;             /* 0 on a river without branches */
  double location_m, time_s; /* the best */
  double from_m, to_m;
  double from_s, to_s;
  double bits; /* expected information of a reading at the best; with several crews, beside those before it */
  double seen; /* probability that it is above the detection limit (twice the noise where none is known) */
  hw_range expected_g_m3; /* what will be read there, 90 % */
  double region_m;        /* expected length of the 90 % region after it; NAN where the question is not the place */
} hw_spot;

typedef struct hw_advice hw_advice;

/* Given:    a run of a method with samples, after its readings; the river it runs on; options
 * Returned: *out, to be released with hw_advice_free; NULL on failure
 * Status:   HW_EEMPTY with a sentence in *error (may be NULL) where there is nothing to advise on: no spill is seen,
 * the answer is not trusted, there are no candidates or no intakes with an alarm level to ask about, or the pulse has
 * passed everything; HW_EUNSUPPORTED for a method without samples; HW_EDOMAIN for options out of range; HW_ENOMEM; and
 * as hw_run_estimate */
hw_status hw_advise(hw_run *run, const hw_river *river, const hw_advice_options *options, hw_advice **out,
                    hw_error *error);
void hw_advice_free(hw_advice *advice);

/* Is the answer that it rests on provisional? */
bool hw_advice_provisional(const hw_advice *advice);
/* Best first; in the order of the crews where there are several. */
size_t hw_advice_count(const hw_advice *advice);
const hw_spot *hw_advice_spot(const hw_advice *advice, size_t index);
/* How open the question is now, in bits: what all readings together could tell at most. */
double hw_advice_entropy(const hw_advice *advice);
/* Length of the 90 % region now, as the spots' region_m is worked out. */
double hw_advice_region(const hw_advice *advice);

/* What a reading at any place and time would tell, in bits; 0 where the water of the spill does not come. */
double hw_advice_value(const hw_advice *advice, size_t branch, double location_m, double time_s);

/* One reading that came back. */
typedef struct {
  size_t branch;
  double location_m, time_s;
  double concentration_g_m3; /* above the background; at or below the detection limit: not seen */
} hw_bottle;

/* What it has told: the answers weighed by how near the samples' own readings lie to it. The engine itself asks for
 * more than one reading before it believes in a pulse; this is for the one bottle that came back.
 * Returned: *entropy in bits and *region_m after it, as above
 * Status:   HW_EDOMAIN for numbers that are not finite; HW_EEMPTY when no sample comes near it; HW_ENOMEM */
hw_status hw_advice_after(const hw_advice *advice, const hw_bottle *bottle, double *entropy, double *region_m);

#ifdef __cplusplus
}
#endif

#endif
