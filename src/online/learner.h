/* What the five learners of the paper have in common: a window of readings, one or more paths through the
 * box, and for each reading one step of every path. A learner's own file says only how its path steps.
 */
#ifndef HW_ONLINE_LEARNER_H
#define HW_ONLINE_LEARNER_H

#include "core/pool.h"
#include "headwater/method.h"
#include "headwater/rng.h"
#include "loss/solve.h"
#include "online/moment.h"

/* Steps after which one start can be told from another: what a jump and a moment start get before they are compared. */
enum { HW__TRIAL_ITERATIONS = 20 };

/* One point on its way down; each has its own stream of chance and its own evaluator, so paths can run on
 * any thread. */
typedef struct {
  hw__misfit misfit;
  hw_rng rng;
  hw_source x;
  hw_stop stop;
  double criterion; /* mean square over all readings kept: by this the best path is chosen */
  size_t jump_due;  /* readings after which jumping is tried again (perturb.c) */
  double jump_loss; /* F when it was tried last */
} hw__path;

/* How steep the window's loss is over the box, in the paper's units (paper_units.h). */
typedef struct {
  double slope[3];            /* Lipschitz moduli, one per coordinate */
  double smoothness, hessian; /* of gradient and Hessian */
} hw__steepness;

typedef struct hw__learner hw__learner;

/* A learner's step: take the path from x^n to x^{n+1} on the window's loss. */
typedef void (*hw__advance)(const hw__learner *learner, hw__path *path);

typedef struct {
  hw__advance resolved;
  hw__advance printed; /* the pseudo-code, printed or corrected as the options say */
  void (*measure)(
      hw__learner *learner); /* what the pseudo-code asks of a new reading before any path steps; may be NULL */
  bool multi_start;
  bool moment_start; /* resolved variant: path 0 also tries the source that the readings' moments suggest */
} hw__recipe;

struct hw__learner {
  const hw__recipe *recipe;
  hw_options options;
  hw_box box;
  hw_transport *transport;
  double *sensor_m;
  size_t sensor_count;
  hw__window kept;          /* at least the window, and enough for the choice between paths */
  hw__packed all;           /* everything kept */
  hw__packed recent;        /* the window alone, once there is more than that */
  const hw__packed *packed; /* the one of the two that is the window now */
  size_t seen;              /* readings so far */
  hw__moment moment_tried;  /* what the readings were when the moment start was tried last */
  hw__steepness steepness;  /* of the pseudo-code's variants: the same for all paths */
  size_t path_count;
  size_t path_iterations; /* of each path per reading, at most */
  hw__path *paths;
  size_t *live; /* paths that still go their own way, in order; path 0 is always one */
  size_t live_count;
  size_t best;
  hw__pool *pool; /* NULL with one path */
};

/* The hw_method operations, given a recipe. With options->per_sensor, one more learner of the same kind
 * follows each sensor alone and the estimate carries Student's interval across them (across.c). */
hw_status hw__learner_create(const hw__recipe *recipe, const hw_problem *problem, const hw_options *options,
                             void **state);
hw_status hw__learner_observe(void *state, const hw_reading *reading);
hw_status hw__learner_estimate(void *state, hw_estimate *out);
void hw__learner_destroy(void *state);

/* A descent with the learner's tolerance and at most this many iterations, from path->x; F is returned. */
double hw__learner_solve(const hw__learner *learner, hw__path *path, size_t iterations);

/* That descent with all the iterations allowed and nothing more: the hw__advance of atgd and mtgd. */
void hw__advance_plain(const hw__learner *learner, hw__path *path);

#endif
