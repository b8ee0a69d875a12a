/* One incident's engine: its run, its place in the log, what it has stored. */
#ifndef HW_INCIDENTS_ENGINE_H
#define HW_INCIDENTS_ENGINE_H

#include <pthread.h>

#include "incidents/engine_flow.h"
#include "incidents/solver.h"

enum { HW_ENGINE_TIMES = 256 };

/* What was reported about one candidate or intake. */
typedef struct {
  bool raised;
  double from_s, until_s; /* of an intake: the window, on the river's clock; NAN: not known */
  hw_trust trust;
} hw__alarm;

typedef struct {
  hw__store *store;
  const hw__site *site;
  hw__solver_options options;
  hw__incident incident;
  bool calendar;
  bool followed;         /* its readings are taken in as they come; this and the next six are the list's, turns.h */
  size_t users;          /* threads that use it or wait for it */
  bool attended, missed; /* a worker has it; another worker asked for it meanwhile */
  size_t waiting;        /* of the users: queries and changes, which go before workers */
  uint64_t served;       /* such users so far */
  uint64_t used;         /* when a query last looked at it, to decide which runs are released */
  pthread_mutex_t lock;  /* all below */
  hw_run *run;
  hw__engine_flow flow; /* changed: the run waits to be made anew with it, see hw__engine_settle */
  const char *failure;  /* why there is no run */
  char excluded[320];   /* what failure points to where the search box is out of date */
  bool led_in;
  int64_t cursor;     /* last record given to the run */
  int64_t stored_seq; /* estimates up to here are stored */
  size_t behind;      /* new readings taken in since it was last through */
  size_t readings;
  hw__alarm *candidates, *intakes;  /* what was reported last, see alarms.h */
  double times_us[HW_ENGINE_TIMES]; /* of the latest observations, a ring */
  size_t time_count;
  double busy_s;
  bool finished; /* closed, and all of its readings processed and stored */
} hw__engine;

/* Status: HW_ENOMEM */
hw_status hw__engine_create(hw__store *store, const hw__site *site, const hw__solver_options *options,
                            const hw__incident *incident, hw__engine **out);
void hw__engine_free(hw__engine *engine);
/* Give the run what the log has for it up to `upto`, one page, or as much of it as can be answered in a moment; store
 * what came of it. The lock is held. Returned: true when there may be more. */
bool hw__engine_advance(hw__engine *engine, int64_t upto);
/* Where discharges came in, the run begins again with all of them, so that what it says depends on the log alone and
 * not on when it was asked. To be called before the run is asked. The lock is held. Returned: false when the log could
 * not be read; the run is let go then. */
bool hw__engine_settle(hw__engine *engine);
/* Releases the run; the next advance starts again from the lead-in. The lock is held. */
void hw__engine_drop(hw__engine *engine);

#endif
