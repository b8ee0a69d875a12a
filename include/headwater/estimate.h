/* What comes out: the source with its interval, the suspects, what the intakes must expect, and why the last solve
 * ended. Whoever only reads or writes results needs this header and no method. */
#ifndef HEADWATER_ESTIMATE_H
#define HEADWATER_ESTIMATE_H

#include <stdint.h>

#include "headwater/river.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why the last solve ended; one list, as for the statuses. */
#define HW_STOP_LIST(X)                                           \
  X(HW_STOP_NONE, "not yet run")                                  \
  X(HW_STOP_GRADIENT, "projected gradient within tolerance")      \
  X(HW_STOP_GAIN, "nothing left to gain next to the noise")       \
  X(HW_STOP_ITERATIONS, "iteration limit reached")                \
  X(HW_STOP_SMALL_STEP, "step too small to matter")               \
  X(HW_STOP_BACKTRACKS, "line search found no descent")           \
  X(HW_STOP_NONFINITE, "loss not finite; last finite point kept") \
  X(HW_STOP_BUDGET, "evaluation budget spent")                    \
  X(HW_STOP_COMPLETE, "complete")

typedef enum {
#define HW_STOP_ENUM(name, text) name,
  HW_STOP_LIST(HW_STOP_ENUM)
#undef HW_STOP_ENUM
} hw_stop;
const char *hw_stop_text(hw_stop stop);
/* False where the method ran out of iterations or budget, or met a number that is not finite, before it was done. */
bool hw_stop_converged(hw_stop stop);

typedef struct {
  double lo, mid, hi;
} hw_range;

/* What a method thinks of its own answer; one list, as for the statuses. */
#define HW_TRUST_LIST(X)                                                                             \
  X(HW_TRUST_UNJUDGED, NULL)             /* the method does not judge itself */                      \
  X(HW_TRUST_FULL, "full")               /* intervals cover the truth as often as they say */        \
  X(HW_TRUST_PROVISIONAL, "provisional") /* the pulse is too incomplete for a calibrated interval */ \
  X(HW_TRUST_NONE, "none")               /* the readings are not explained: no source is given */

typedef enum {
#define HW_TRUST_ENUM(name, text) name,
  HW_TRUST_LIST(HW_TRUST_ENUM)
#undef HW_TRUST_ENUM
} hw_trust;
/* As it stands in results; NULL for HW_TRUST_UNJUDGED. */
const char *hw_trust_text(hw_trust trust);

/* Probability that the release came from this candidate; candidate -1 is "none of these". Of two releases: that at
 * least one of them did, and that neither came from any; these may add up to more than one. */
typedef struct {
  ptrdiff_t candidate;
  double probability;
} hw_suspicion;

/* What an intake must expect. Times are when the alarm level (or, without one, a tenth of the peak)
 * is first passed, when the peak passes, and when the level is passed downwards for good. All are given that there is a
 * spill, and NANs where the estimate has no source. */
typedef struct {
  size_t intake;
  hw_range first_s; /* NANs when the level is not expected to be passed */
  hw_range peak_s;
  hw_range last_s; /* NANs as first_s */
  hw_range peak_g_m3;
  double exceeds_alarm; /* probability, that of a spill included; NAN without an alarm level or trust */
} hw_arrival;

/* A stretch of one branch, and the probability that the release came from there. Branches are counted as in the river;
 * 0 on a river without branches. */
typedef struct {
  size_t branch;
  double lo_m, hi_m;
  double probability;
} hw_region;

/* Probability that the release came from anywhere on this branch. */
typedef struct {
  size_t branch;
  double probability;
} hw_branch_share;

/* One of several releases. */
typedef struct {
  double probability; /* that there was this release */
  hw_source source;   /* its time is the begin */
  bool has_interval;
  hw_box interval;
  hw_range duration_s;
  const hw_region *regions;
  size_t region_count;
  const hw_suspicion *suspicions; /* that this release came from each candidate */
  size_t suspicion_count;
} hw_release;

typedef struct {
  uint64_t model_evaluations;    /* concentrations of the forward model */
  uint64_t gradient_evaluations; /* gradients of the loss */
  size_t state_bytes;            /* memory the method holds */
} hw_cost;

/* What is known after the readings so far. Arrays belong to the run and stay valid until its next
 * observe or estimate. */
typedef struct {
  size_t readings;
  double spill; /* probability that there is a spill at all; NAN: not judged */
  hw_trust trust;
  const char *trust_reason; /* a sentence; NULL: none */
  bool provisional;         /* the pulse is too incomplete for a calibrated interval */
  bool has_source;          /* false with HW_TRUST_NONE, and when no spill is seen: then there is neither source nor
                               interval, no suspicion, region, branch or release, and arrivals have no times */
  hw_source source;         /* the largest release; its time is the begin, its mass while it flows the mass so far */
  bool has_interval;
  double level;
  hw_box interval;          /* lo and hi of each, when has_interval */
  hw_range duration_s;      /* zeros: an instant; NANs: not judged */
  double still_flowing;     /* probability that the release goes on; NAN: not judged */
  double rate_g_s;          /* of a release that goes on; NAN: not judged, or it does not */
  const hw_region *regions; /* the shortest stretches that together hold `level`, most probable first */
  size_t region_count;
  const hw_branch_share *branches; /* most probable first */
  size_t branch_count;
  const hw_release *releases; /* in order of time; empty: the source is the only one */
  size_t release_count;
  bool has_hydraulics;
  hw_range velocity_m_s;
  hw_range dispersion_m2_s;       /* NANs in the field model, which has no dispersion */
  const hw_suspicion *suspicions; /* most probable first, "none of these" among them; empty without candidates */
  size_t suspicion_count;
  const hw_arrival *arrivals; /* one per intake downstream, in the river's order */
  size_t arrival_count;
  double loss; /* mean square misfit over the readings kept, (g/m3)^2; NAN if not computed */
  hw_stop stop;
  hw_cost cost;
  const char *const *warnings; /* plain sentences */
  size_t warning_count;
} hw_estimate;

/* A source to be filled in, and nothing judged: where a method starts its answer. */
void hw_estimate_init(hw_estimate *estimate);

#ifdef __cplusplus
}
#endif

#endif
