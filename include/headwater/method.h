/* A reading goes in, an estimate comes out.
 *
 * Every way of identifying a source, from TGD to the posterior engine, stands behind the table
 * hw_method. The usual way to drive one is the hw_run of this header:
 *
 *   hw_run *run = NULL;
 *   hw_run_create(hw_method_find("atgd"), &problem, &options, &run);
 *   while (next reading) { hw_run_observe(run, &reading); }
 *   hw_run_estimate(run, &estimate);
 *   hw_run_free(run);
 *
 * Methods are strictly causal: an estimate after reading n depends on readings 1..n only. Same
 * problem, options, readings and seed give the same bits, on any number of threads. Observing does
 * not allocate. A source that comes out is finite; where nothing is known, NAN says so.
 */
#ifndef HEADWATER_METHOD_H
#define HEADWATER_METHOD_H

#include <stdint.h>

#include "headwater/reading.h"
#include "headwater/river.h"
#include "headwater/status.h"

/* A forward model of the user's own, for methods that need no derivatives: the concentration at
 * x_m, t_s after this release. Must return a finite number >= 0 and have no side effects. */
typedef double (*hw_forward)(void *context, const hw_source *source, double x_m, double t_s);

/* What is to be identified. */
typedef struct {
  const hw_river *river; /* borrowed until the run is freed */
  hw_forward forward;    /* NULL: the river's own transport */
  void *forward_context;
} hw_problem;

typedef enum {
  HW_RESOLVED, /* the paper's idea made to work; the default */
  HW_PRINTED,  /* the paper's pseudo-code to the letter */
  HW_CORRECTED /* the paper's pseudo-code with its obvious slips mended and nothing else */
} hw_variant;

/* How the pseudo-code finds the length of a step, printed or corrected; resolved learners have their own way. */
typedef enum {
  HW_SEARCH_ALGORITHM_2, /* the paper's; the default */
  HW_SEARCH_ARMIJO,      /* the usual rule: a share of what the gradient promises must be gained (Remark 3.3 (ii)) */
  HW_SEARCH_GENERIC,     /* anything gained will do (Remark 3.3 (ii)) */
  HW_SEARCH_EXACT,       /* the best step there is, no longer than the first (Remark 3.3 (ii)) */
  HW_SEARCH_CONSTANT     /* none: Algorithm 3's vector step as it is (Remark 3.3 (i)) */
} hw_line_search;

/* Ingredients of the resolved descent that can be left out, to see what each is worth. */
enum {
  HW_WITHOUT_PHASE = 1,    /* place and time as they are, not the phase l - v t */
  HW_WITHOUT_CURVATURE = 2 /* steps by box widths alone, neither Gauss-Newton nor Barzilai-Borwein */
};

/* Zero means the default everywhere, so `hw_options options = {0};` is a good start. */
typedef struct {
  uint64_t seed;              /* default 1 */
  double level;               /* of intervals; default 0.9 */
  hw_variant variant;         /* gradient methods */
  size_t window;              /* readings in the loss of the gradient methods; default 1000, printed and corrected 1 */
  size_t starts;              /* paths of mtgd, mptgd; default 30 */
  double tolerance;           /* on the box-scaled projected gradient; default 5e-6 */
  size_t iterations;          /* most iterations of one solve; default 200 */
  double perturbation;        /* radius of aptgd, mptgd in box widths; default 0.4 */
  hw_line_search line_search; /* printed and corrected learners */
  bool no_moment_start;       /* resolved learners: do not restart from the readings' moments */
  unsigned without;           /* resolved learners: HW_WITHOUT_..., or-ed */
  bool has_start;             /* start the single-path learners at `start` instead of the box's centre */
  hw_source start;
  bool per_sensor;    /* gradient methods: also learn from each sensor alone, for the interval across sensors */
  size_t threads;     /* default: one per core; results do not depend on it */
  size_t particles;   /* posterior engine, mode K; default by noise kind */
  size_t evaluations; /* budget of the offline baselines; default per method */
  bool conservative;  /* field model: the substance is not lost on the way (off: expect a tracer dye's losses) */
  bool steady;        /* posterior engine: no answer depends on when earlier ones were asked for, to the bit. Where that
                         is a matter of timing (a service) it must not show; costs a little at every reading */
} hw_options;

/* Every default filled in, as hw_run_create does it. Status: HW_EDOMAIN for options out of range */
hw_status hw_options_fill(hw_options *options);

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

/* Probability that the release came from this candidate; candidate -1 is "none of these". */
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

/* A weighted draw of everything unknown; weights of a call sum to 1. */
typedef struct {
  hw_source source;
  double velocity_m_s;
  double dispersion_m2_s; /* NAN in the field model */
  double weight;
} hw_sample;

/* Concentration band at one place: lo, mid, hi at each of `count` times. */
typedef struct {
  double x_m;
  const double *time_s;
  size_t count;
  hw_range *out_g_m3;
} hw_prediction;

enum { HW_NEEDS_HYDRAULICS = 1, HW_USES_FORWARD = 2 };

typedef struct {
  const char *name;    /* as written on the command line */
  const char *summary; /* one line for --help */
  unsigned traits;     /* HW_NEEDS_HYDRAULICS: create fails with HW_EHYDRAULICS without velocity and dispersion */

  /* Required. */
  hw_status (*create)(const hw_problem *problem, const hw_options *options, void **state);
  hw_status (*observe)(void *state, const hw_reading *reading);
  /* *out comes as hw_estimate_init leaves it: a method fills in what it knows. */
  hw_status (*estimate)(void *state, hw_estimate *out);
  void (*destroy)(void *state); /* NULL state allowed */

  /* Optional (NULL: not offered). */
  hw_status (*samples)(void *state, hw_sample *out, size_t capacity, size_t *count);
  hw_status (*predict)(void *state, const hw_prediction *prediction);
} hw_method;

/* All methods, in the order they are listed to people; *count of them. */
const hw_method *const *hw_methods(size_t *count);
/* The method of this name, or NULL. */
const hw_method *hw_method_find(const char *name);

/* One method at work on one problem. */
typedef struct hw_run hw_run;

/* Status: HW_EDOMAIN for options out of range, HW_EHYDRAULICS, HW_ENOMEM, HW_EINPUT for a river that
 * hw_river_check refuses. */
hw_status hw_run_create(const hw_method *method, const hw_problem *problem, const hw_options *options, hw_run **out);
/* Status: HW_EDOMAIN for a sensor that does not exist, a time or concentration that is not finite, or a reading both
 * below and above a limit (the reading is not used and the run goes on as before). */
hw_status hw_run_observe(hw_run *run, const hw_reading *reading);
/* Status: HW_EEMPTY before the first reading, HW_ENONFINITE for a source that is not finite. *out is untouched on
 * failure. */
hw_status hw_run_estimate(hw_run *run, hw_estimate *out);
/* Status: HW_EUNSUPPORTED where the method has no such operation. */
hw_status hw_run_samples(hw_run *run, hw_sample *out, size_t capacity, size_t *count);
hw_status hw_run_predict(hw_run *run, const hw_prediction *prediction);
void hw_run_free(hw_run *run);

#endif
