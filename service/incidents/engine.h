/* One incident's engine: its run, its place in the log, what it has stored. */
#ifndef HW_INCIDENTS_ENGINE_H
#define HW_INCIDENTS_ENGINE_H

#include <pthread.h>

#include "incidents/solver.h"

enum { HW_WORK_TIMES = 256 };

typedef struct {
  hw_store *store;
  const hw_site *site;
  hw_solver_options options;
  hw_incident incident;
  bool calendar;
  bool followed;         /* its readings are taken in as they come; this and the next four are the list's, turns.h */
  size_t users;          /* threads that hold or want it */
  bool attended, missed; /* a worker has it; another came by meanwhile */
  uint64_t used;         /* when a query looked last, for letting go of runs */
  pthread_mutex_t lock;  /* all below */
  hw_run *run;
  const char *failure; /* why there is no run */
  bool led_in;
  int64_t cursor;     /* last record given to the run */
  int64_t stored_seq; /* estimates up to here are stored */
  size_t full_pages;  /* of new readings in a row: how far it is behind */
  size_t readings;
  bool *candidate_told, *intake_told;
  double times_us[HW_WORK_TIMES]; /* of the latest observations, a ring */
  size_t time_count;
  double busy_s;
  bool finished; /* closed, and all of it seen and stored */
} hw_work;

/* Status: HW_ENOMEM */
hw_status hw__work_create(hw_store *store, const hw_site *site, const hw_solver_options *options,
                          const hw_incident *incident, hw_work **out);
void hw__work_free(hw_work *work);
/* Give the run what the log has for it up to `upto`, one page; store what came of it. The lock is held.
 * Returned: true when there may be more. */
bool hw__work_advance(hw_work *work, int64_t upto);
/* Let the run go; the next advance starts again from the lead-in. The lock is held. */
void hw__work_drop(hw_work *work);

#endif
