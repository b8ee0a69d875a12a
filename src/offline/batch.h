/* What the offline baselines share: readings kept, the misfit they minimise, the budget they may spend.
 *
 * A baseline is a solver over the unit cube, u = (x - lo) / (hi - lo) of the search box, and one table
 * entry; observing, solving when asked, reporting and releasing are the functions below. One budget
 * holds for all of them: hw_options.evaluations misfits over all readings kept (default
 * HW__BATCH_EVALUATIONS). Nothing is solved while readings arrive; an estimate solves from scratch on
 * what is kept, from the same seed, so it does not depend on how often it was asked for.
 *
 * At most HW__BATCH_CAPACITY readings are kept. When they are full every second one of each sensor is
 * dropped, and from then on every second one of each sensor is kept, and so on: memory and the cost of a
 * misfit stay bounded and the kept readings stay spread over the whole record.
 */
#ifndef HW_OFFLINE_BATCH_H
#define HW_OFFLINE_BATCH_H

#include "headwater/method.h"
#include "headwater/rng.h"
#include "headwater/transport.h"

enum { HW__BATCH_CAPACITY = 8192, HW__BATCH_EVALUATIONS = 20000 };

typedef struct hw__batch hw__batch;

/* The best point found, as a solver hands it back. */
typedef struct {
  double unit[3];
  hw_stop stop;
  bool has_interval;
  double unit_lo[3], unit_hi[3];
} hw__batch_answer;

/* Looks for the source in the readings kept. Status: HW_ENOMEM */
typedef hw_status (*hw__solver)(hw__batch *batch, hw__batch_answer *out);

typedef struct {
  size_t sensor;
  double time_s;
  double concentration_g_m3; /* above the sensor's known background */
  bool below_limit;
} hw__kept;

struct hw__batch {
  hw__solver solve;
  hw_problem problem;
  hw_transport *transport; /* NULL when the problem brings its own forward model */
  hw_box box;
  uint64_t seed;
  double level;
  size_t budget;
  size_t spent; /* misfits of the solve under way */
  uint64_t model_evaluations;
  bool solved; /* `answer` belongs to the readings kept */
  hw__batch_answer answer;
  size_t sensor_count;
  hw_leg *legs;  /* scratch, one per sensor */
  size_t *seen;  /* readings met, per sensor */
  size_t *rank;  /* scratch, per sensor */
  size_t stride; /* one in `stride` readings of each sensor is kept */
  size_t count;
  hw__kept *readings; /* HW__BATCH_CAPACITY */
  double *predicted;  /* scratch, HW__BATCH_CAPACITY */
};

/* hw_method.create of a baseline, but for the solver. */
hw_status hw__batch_create(const hw_problem *problem, const hw_options *options, hw__solver solve, void **state);
/* hw_method.observe, estimate and destroy of every baseline. */
hw_status hw__batch_observe(void *state, const hw_reading *reading);
hw_status hw__batch_estimate(void *state, hw_estimate *out);
void hw__batch_destroy(void *state);

/* Concentrations of the kept readings after this release, into batch->predicted; one unit of budget. */
void hw__batch_predict(hw__batch *batch, const hw_source *source);
/* Predicted minus read; a non-detect only counts where the prediction is above its limit. */
double hw__batch_residual(const hw__batch *batch, size_t reading);
/* Mean square misfit, (g/m3)^2, at a point of the unit cube; one unit of budget. */
double hw__batch_loss(void *batch, const double *unit);
/* Mean square of the readings kept: the misfit of "no release at all". */
double hw__batch_mean_square(const hw__batch *batch);

hw_source hw__batch_source(const hw__batch *batch, const double *unit);
/* Back into [0, 1], as off a mirror. */
double hw__unit_reflect(double u);

#endif
