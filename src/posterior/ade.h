/* The engine where the river's hydraulics are known or stated with a doubt: the advection-dispersion equation.
 *
 * Observing files the reading with its sensor. The answer is worked out when it is asked for, from what is filed and
 * nothing else: each sensor's own pulse (pulse.h), then the hypothesis of one release against that of none (spill.h,
 * anneal.h), then what the engine thinks of its own answer (trust.c). So it does not matter in which order readings
 * came or when answers were asked for.
 */
#ifndef HW_POSTERIOR_ADE_H
#define HW_POSTERIOR_ADE_H

#include "headwater/method.h"
#include "posterior/releases.h"
#include "posterior/residuals.h"
#include "posterior/spill.h"
#include "summary/summary.h"
#include "summary/warnings.h"

enum { HW__PICKED = 256 };

/* The middle of the pulses that draws expect at a station. */
typedef struct {
  hw_rng rng;
  double count, y[HW__PULSE_SIZE];
} hw__expected;

/* What has come of the same readings elsewhere, on other branches of a network. */
typedef struct {
  double log_odds[2]; /* reached by an instant's release and by one that lasted; -INFINITY: none was asked */
  bool explained;     /* one of them leaves no pulse unexplained */
} hw__rivals;

/* What it takes to take up a hypothesis again: where its draws lay, and how the stations looked from there. */
typedef struct {
  bool found;
  hw__mixture proposal;
  hw__quadratic *near; /* by station */
} hw__kept;

typedef struct {
  const hw_river *river;
  hw_options options;
  hw_transport *transport;
  hw__doubts *doubts;
  hw__tails tails;
  size_t *order; /* sensors from upstream to downstream */

  /* Filed, by sensor. */
  hw__series *series;
  hw__fit *own; /* the sensor by itself */
  hw__view *view;
  bool *dirty; /* the series changed since its own fit */
  bool settled;
  bool single;         /* two releases are not looked for */
  bool defers;         /* where an instant explains the readings, whether it lasted is asked later */
  bool brief;          /* only an instant is supposed, and only the first sensor followed */
  bool loose;          /* the hydraulics are in far wider doubt than stated (looser.h) */
  double discharge_sd; /* of ln discharge, common to all sensors and so the mass's; 0: it is as stated */
  hw__two two;         /* what came of it */

  hw__rivals rivals; /* nobody, unless whoever asks says so */
  double bar;        /* ln odds below which a hypothesis is of no use: others on the same readings have more */

  /* Worked out. */
  hw__spill spill;
  hw__station *station;
  hw__fit *fit; /* by station: as the river looks at it */
  hw__draws draws;
  hw__annealed found;
  double log_odds; /* ln of the evidence for one release over that for none */
  bool deferred;   /* whether it lasted is still to be asked, */
  size_t followed; /* following this sensor's pulse */
  double
      reached[2]; /* the same of the hypotheses by themselves, the best anchor's: an instant, a release that lasted */
  bool outdone;   /* the rivals are so far ahead that the draws were not finished: found.found is false */
  double probability; /* that there is a spill */
  size_t seen;        /* sensors with a pulse */
  hw_trust trust;
  char reason[HW__WARNING_SIZE];
  double *wrong;            /* by station: probability that the sensor is wrong */
  hw__residuals *residuals; /* by station: its readings against what the answer expects of them */
  double *missing;          /* by station: how much likelier, in ln, its own pulse makes its readings than the answer */
  bool unfit;               /* no release with the stated hydraulics explains the pulses */
  bool pressed;             /* unfit, and most draws lie against an end of the search */
  bool misfit;              /* and neither the box nor a sensor is to blame */
  bool suspect;             /* unfit, or perhaps so: other hydraulics may explain them better */
  double deficit;           /* most that a station's readings fall short of what its own pulse explains, ln */
  double last_s;            /* the last reading of any sensor */
  double lasting;           /* probability that the release lasted, longer than what could pass for an instant */
  hw__expected *expected;   /* by station: what the draws of a look expect there */
  hw__kept kept[2];         /* the best instant's release so far, and the best that lasted */

  /* Reported. */
  hw_sample *samples;    /* HW__FINAL, the posterior */
  hw_sample *mixing;     /* room for as many */
  hw__release *released; /* what HW__PICKED of them, equally weighted, suppose */
  hw__sight *sight;      /* and what they make of the stations, HW__PICKED x stations */
  hw__passage *passages;
  hw__scratch sorting;
  hw_suspicion *suspicions;
  hw_region regions[HW__MOST_REGIONS];
  hw_arrival *arrivals;
  hw__warnings warnings;
  uint64_t evaluations;
  size_t bytes;
} hw__ade;

/* Status: HW_EHYDRAULICS, HW_ENOMEM. */
hw_status hw__ade_create(const hw_problem *problem, const hw_options *options, void **state);
/* Status: HW_EDOMAIN for a time beyond 1e12 s or a concentration beyond 1e12 g/m3 in size. */
hw_status hw__ade_observe(void *state, const hw_reading *reading);
hw_status hw__ade_estimate(void *state, hw_estimate *out);
void hw__ade_destroy(void *state);
hw_status hw__ade_samples(void *state, hw_sample *out, size_t capacity, size_t *count);
hw_status hw__ade_predict(void *state, const hw_prediction *prediction);

/* To ask twice (releases.h). */
extern const hw__asked hw__ade_asked;

/* The probability of a spill at these odds of its evidence. */
double hw__spill_probability(double log_odds);
/* Everything above "Reported" and the samples, from what is filed; or two releases.
 * Status: HW_ENOMEM, HW_EHYDRAULICS */
hw_status hw__ade_settle(hw__ade *a);
/* What was deferred, and everything again that depends on it. */
void hw__ade_settle_duration(hw__ade *a);
/* trust.c: pulses that stand out, and those of them that the answer does not explain. */
typedef struct {
  size_t seen, wrong;
} hw__pulse_count;
hw__pulse_count hw__ade_count(const hw__ade *a);
/* residuals.c: readings against what the samples expect. */
void hw__ade_compare(hw__ade *a);
/* The same readings for another river with the same sensors. A sensor by itself knows nothing of the river: its own
 * fit is taken over. */
void hw__ade_borrow(hw__ade *a, const hw__ade *from);
/* What the engine thinks of its answer; sets trust and reason. */
void hw__ade_judge(hw__ade *a);
/* It is the search box that keeps the pulses from being explained: no answer, for that reason. */
void hw__ade_blame_box(hw__ade *a);
/* Nothing explains the pulses: no answer, unless there was none before. */
void hw__ade_give_up(hw__ade *a);
/* samples.c: the curve of a picked draw at any place. */
hw__curve hw__picked_curve(const hw__ade *a, size_t pick, double x_m, hw_rng *rng);
/* forecast.c: arrivals at the intakes. Returned: how many. */
size_t hw__ade_forecast(hw__ade *a);

#endif
