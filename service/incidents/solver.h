/* Runs the method of every incident.
 *
 * A pool of threads that take the incidents in turn (turns.h). An incident's readings are pulled from the
 * log by its own cursor: first the lead-in, then the river's readings from the opening on, in the
 * order they became durable. So nothing is queued in memory, and after a restart the same readings in
 * the same order bring the engine back to the same bits; estimates already stored are not made again.
 */
#ifndef HW_INCIDENTS_SOLVER_H
#define HW_INCIDENTS_SOLVER_H

#include "incidents/tracker.h"
#include "store/store.h"

typedef struct {
  size_t threads;               /* 0: two */
  double level;                 /* of intervals; 0: the library's default */
  double candidate_probability; /* a candidate passing it is an event */
  double intake_probability;    /* a forecast alarm at an intake this probable is an event */
} hw__solver_options;

typedef struct hw__solver_pool hw__solver_pool;

hw_status hw__solver_start(hw__store *store, const hw__catalog *catalog, const hw__solver_options *options,
                           hw__solver_pool **out);
/* Nothing is processed before the tracker is set. Set NULL before the tracker is stopped. */
void hw__solver_follow(hw__solver_pool *solver, hw__tracker *tracker);
void hw__solver_stop(hw__solver_pool *solver);

/* For hw__tracker_listener; the context is the solver. */
void hw__solver_opened(void *solver, const hw__incident *incident);
void hw__solver_closed(void *solver, const hw__incident *incident);
void hw__solver_advanced(void *solver);

/* Resumes the incidents that are open, and those closed before their engine had processed all readings. */
hw__db_status hw__solver_resume(hw__solver_pool *solver);

/* How many incidents have readings their engine has not seen yet. */
size_t hw__solver_behind(hw__solver_pool *solver);

/* What a query may look at while it holds the incident's run. */
typedef struct {
  hw_run *run; /* NULL when the method cannot work on this river */
  const hw__incident *incident;
  const hw__site *site;
  hw_result result; /* all but the estimate filled in, for the writers of io.h */
} hw__solver_view;
/* Call look() with the incident's run, brought up to date first; a closed incident's run is computed again when it
 * is no longer in memory. Status: HW_DB_ABSENT for no such incident, HW_DB_FORGOTTEN for one whose readings were
 * removed. */
hw__db_status hw__solver_look(hw__solver_pool *solver, int64_t incident,
                              void (*look)(void *context, const hw__solver_view *), void *context);

#endif
