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

#include "headwater/estimate.h"
#include "headwater/reading.h"
#include "headwater/river.h"
#include "headwater/status.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#define HW_DEFAULT_SEED         1
#define HW_DEFAULT_LEVEL        0.9  /* of every interval and region */
#define HW_DEFAULT_WINDOW       1000 /* of resolved learners; printed and corrected ones have 1 */
#define HW_DEFAULT_STARTS       30
#define HW_DEFAULT_TOLERANCE    5e-6
#define HW_DEFAULT_ITERATIONS   200
#define HW_DEFAULT_PERTURBATION 0.4

/* Zero means the default everywhere, so `hw_options options = {0};` is a good start. */
typedef struct {
  uint64_t seed;
  double level;               /* of intervals */
  hw_variant variant;         /* gradient methods */
  size_t window;              /* readings in the loss of the gradient methods */
  size_t starts;              /* paths of mtgd, mptgd */
  double tolerance;           /* on the box-scaled projected gradient */
  size_t iterations;          /* most iterations of one solve */
  double perturbation;        /* radius of aptgd, mptgd in box widths */
  hw_line_search line_search; /* printed and corrected learners */
  bool no_moment_start;       /* resolved learners: do not restart from the readings' moments */
  unsigned without;           /* resolved learners: HW_WITHOUT_..., or-ed */
  bool has_start;             /* start the single-path learners at `start` instead of the box's centre */
  hw_source start;
  bool per_sensor;    /* gradient methods: also learn from each sensor alone, for the interval across sensors */
  size_t threads;     /* default: one per core; results do not depend on it */
  size_t particles;   /* accepted, and without effect: the posterior engine draws as many as it needs */
  size_t evaluations; /* budget of the offline baselines; default per method */
  bool conservative;  /* field model: no tracer dye's losses even where the river's substance is rhodamine WT */
  bool steady; /* no answer depends on when earlier ones were asked for, to the bit; the posterior engine keeps to
                  that whatever this says */
} hw_options;

/* Every default filled in, as hw_run_create does it. Status: HW_EDOMAIN for options out of range */
hw_status hw_options_fill(hw_options *options);

/* A weighted draw of everything unknown; weights of a call sum to 1. */
typedef struct {
  hw_source source;
  double velocity_m_s;
  double dispersion_m2_s; /* NAN in the field model */
  double weight;
  double duration_s; /* of the release; 0: an instant */
} hw_sample;

/* Concentration band at one place: lo, mid, hi at each of `count` times. */
typedef struct {
  double x_m;
  const double *time_s;
  size_t count;
  hw_range *out_g_m3;
  size_t branch; /* 0 on a river without branches */
} hw_prediction;

enum { HW_NEEDS_HYDRAULICS = 1, HW_USES_FORWARD = 2, HW_KNOWS_BRANCHES = 4 };

typedef struct {
  const char *name;    /* as written on the command line */
  const char *summary; /* one line for --help */
  unsigned traits;     /* HW_NEEDS_HYDRAULICS: create fails with HW_EHYDRAULICS without velocity and dispersion.
                          HW_KNOWS_BRANCHES: takes rivers with branches, or with flow that changes, as they are;
                          without it the run goes along each branch's way down, in the river's own clock, and reports
                          the best */

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

#ifdef __cplusplus
}
#endif

#endif
