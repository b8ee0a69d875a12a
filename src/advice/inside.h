/* What an advice holds, and its steps: a survey of places and times, spots out of it, crews. */
#ifndef HW_ADVICE_INSIDE_H
#define HW_ADVICE_INSIDE_H

#include "advice/information.h"
#include "advice/places.h"
#include "headwater/advice.h"

enum { HW__TIMES = 20, HW__CREWS_MOST = 8 };

struct hw_advice {
  hw__foresight ahead;
  hw__question *questions; /* one, or one an intake */
  size_t question_count;
  hw__reading_error error;
  size_t *dealt, *picked; /* of draws: dealt at random, and those looked at */
  double *scratch;        /* one number a draw */
  double *even;           /* weights before any bottle */
  hw_rng rng;
  hw_spot *spots;
  size_t count;
  bool provisional; /* as the answer it rests on */
};

/* A place with what each draw brings there, and what a reading is worth at each time. */
typedef struct {
  hw__place_ahead place;
  hw__pulse_ahead *pulses;
  double bits[HW__TIMES];
  size_t best;
} hw__surveyed;

typedef struct {
  hw__surveyed sites[HW__PLACES_MOST];
  size_t count;
  double time_s[HW__TIMES];
  hw__pulse_ahead *pulses;
} hw__survey;

/* survey.c: places and times, rated with some of the draws. Status: HW_ENOMEM, HW_EEMPTY for no place */
hw_status hw__survey_make(hw_advice *a, const hw_river *river, const hw_advice_options *options, hw__survey *out);

/* worth.c */
/* What the draws a->picked[0 .. n) would read, stabilised, into a->scratch. */
void hw__foresee(const hw_advice *a, const hw__pulse_ahead *pulses, double time_s, size_t n);
/* Bits of the readings in a->scratch, a->dealt being a deal of them. */
double hw__worth_of(const hw_advice *a, size_t n);
void hw__shuffle(size_t *order, size_t n, hw_rng *rng);
/* Picks draws 0, stride, ... and deals them anew. Returned: how many. */
size_t hw__pick(hw_advice *a, size_t stride);
void hw__pulses_at(const hw_advice *a, hw__place_ahead place, hw__pulse_ahead *out);

/* Weights of the draws after a bottle. Status: as hw_advice_after */
hw_status hw__bottle_weights(const hw_advice *a, const hw_bottle *bottle, double *weight);

/* spots.c: the best of the survey, each looked at with every draw. */
void hw__choose_alternatives(hw_advice *a, const hw__survey *survey, size_t most);
/* Places that go well together. Status: HW_ENOMEM */
hw_status hw__choose_crews(hw_advice *a, hw__survey *survey, size_t crews);

#endif
