/* Two releases: when a sensor shows two pulses one after the other, no single release can have made them.
 *
 * A second pulse stands out of the valley between the two by far more than noise. Where sensors that show two are no
 * fewer than those that show one, and two curves explain them better than one does by more than what a second curve
 * costs, the readings are taken apart: the earlier pulses with the later ones taken off, and the other way round. Each
 * half is then a question of one release, for the same engine. Only if both come to an answer, and together explain the
 * plain pulses of sensors that show one, are there two; else the readings are asked as a whole.
 */
#ifndef HW_POSTERIOR_RELEASES_H
#define HW_POSTERIOR_RELEASES_H

#include "headwater/method.h"
#include "posterior/pulse.h"

/* What is asked of an engine to be asked twice. */
typedef struct {
  /* Another engine for the same river, with so many threads. */
  hw_status (*again)(const void *whole, size_t threads, void **state);
  /* Takes these series, one a sensor, as its readings; it is not to look for two releases itself. */
  void (*fill)(void *state, const void *whole, const hw__series *series);
  hw_status (*estimate)(void *state, hw_estimate *out);
  hw_status (*predict)(void *state, const hw_prediction *prediction);
  void (*destroy)(void *state);
} hw__asked;

/* What is filed with the engine that asks, by sensor. */
typedef struct {
  const hw_river *river;
  const hw_sensor *sensors;
  const hw__series *series;
  const hw__fit *own;
  const hw__view *view;
  const void *engine;
  size_t threads; /* as in hw_options */
} hw__whole;

typedef struct {
  bool unanswered;       /* the readings are plainly of two, but there are none that would explain them */
  bool found;            /* there are two, and the following holds */
  double probability;    /* that there are two, by what the sensors' own curves explain */
  void *state[2];        /* engines, the earlier pulses' first */
  hw_estimate answer[2]; /* of each */
  hw_release release[2]; /* in order of time */
  hw_arrival *arrivals;  /* of both */
  size_t arrival_count;
  hw_suspicion *suspicions; /* that a candidate made at least one of them */
  size_t suspicion_count;
} hw__two;

/* Takes apart and asks, where the sensors' own pulses (by sensor) show two. Nothing is left over of what was there
 * before.
 * Status: HW_ENOMEM, HW_EHYDRAULICS */
hw_status hw__two_ask(hw__two *two, const hw__asked *engine, const hw__whole *whole, const hw__tails *tails);
void hw__two_free(hw__two *two, const hw__asked *engine);
/* The larger release's answer, with both releases in it; what intakes must expect and who is suspected is of both. */
void hw__two_estimate(const hw__two *two, hw_estimate *out);
/* both.c: what either release brings to each intake, in the intakes' order; how probable it is that a candidate made
 * at least one of them, and that none of them made either. Status: HW_ENOMEM */
hw_status hw__two_unite_arrivals(hw__two *two, size_t intake_count);
hw_status hw__two_unite_suspicions(hw__two *two, size_t candidate_count);
/* Which of the two engines has the larger release. */
int hw__two_larger(const hw__two *two);
/* What both bring, added up. Status: as the engine's; HW_ENOMEM */
hw_status hw__two_predict(const hw__two *two, const hw__asked *engine, const hw_prediction *prediction);

/* Does this series show two pulses? *valley_s: the time between them. */
bool hw__two_pulses(const hw__series *series, const hw_sensor *sensor, const hw__fit *own, double *valley_s);

#endif
