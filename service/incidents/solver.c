#include "incidents/solver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "incidents/outcome.h"
#include "incidents/turns.h"

enum { RUNS_KEPT = 4 }; /* of closed incidents, for people who look at them */

struct hw_solver {
  hw_store *store;
  const hw_catalog *catalog;
  hw_tracker *tracker;
  hw_solver_options options;
  pthread_mutex_t lock; /* the tracker, turns, tick, stopping */
  pthread_cond_t news;
  hw_turns turns;
  uint64_t tick;
  bool stopping;
  pthread_t *threads;
  size_t thread_count;
};

/* The lock is held. Returned: the incident's work, made when there is none; NULL without memory, or when its river is
 * no longer served. */
static hw_work *admit(hw_solver *solver, const hw_incident *incident) {
  hw_work *work = hw__turns_find(&solver->turns, incident->id);
  const ptrdiff_t site = hw__catalog_site_of_key(solver->catalog, incident->river);
  if (work || site < 0) {
    return work;
  }
  if (!hw__turns_reserve(&solver->turns) ||
      hw__work_create(solver->store, hw__catalog_site(solver->catalog, (size_t)site), &solver->options, incident,
                      &work) != HW_OK) {
    hw__log(HW_LOG_ERROR, "incident_not_followed", "reason", "out of memory");
    return NULL;
  }
  hw__turns_add(&solver->turns, work);
  return work;
}

/* One whose readings are to be followed here as they come. */
static void follow(hw_solver *solver, const hw_incident *incident) {
  hw_work *work = admit(solver, incident);
  if (work) {
    work->followed = true;
  }
}

static void tell(hw_solver *solver) {
  hw__turns_tell(&solver->turns);
  pthread_cond_broadcast(&solver->news);
}

void hw__solver_opened(void *context, const hw_incident *incident) {
  hw_solver *solver = context;
  hw__logf(HW_LOG_INFO, "incident_opened", "incident", "%lld", (long long)incident->id);
  pthread_mutex_lock(&solver->lock);
  follow(solver, incident);
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

void hw__solver_closed(void *context, const hw_incident *incident) {
  hw_solver *solver = context;
  hw__logf(HW_LOG_INFO, "incident_closed", "incident", "%lld", (long long)incident->id);
  pthread_mutex_lock(&solver->lock);
  hw_work *work = hw__turns_find(&solver->turns, incident->id);
  if (work) {
    work->users++;
    pthread_mutex_unlock(&solver->lock);
    pthread_mutex_lock(&work->lock);
    work->incident.closed_seq = incident->closed_seq;
    pthread_mutex_unlock(&work->lock);
    pthread_mutex_lock(&solver->lock);
    work->users--;
  }
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

void hw__solver_advanced(void *context) {
  hw_solver *solver = context;
  pthread_mutex_lock(&solver->lock);
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

/* The last record this incident may see: what the tracker has looked at, and nothing after closing. */
static int64_t horizon(const hw_work *work, int64_t tracker_seq) {
  const int64_t closed = work->incident.closed_seq;
  return closed && closed < tracker_seq ? closed : tracker_seq;
}

/* Are there readings its engine has not seen? The lock is held. */
static bool is_due(const hw_work *work, int64_t upto) {
  return !work->finished && (work->cursor < upto || !work->led_in);
}

/* Bring one incident forward by a page. Returned: there is more to do for it. */
static bool attend(hw_work *work, int64_t tracker_seq) {
  pthread_mutex_lock(&work->lock);
  const int64_t upto = horizon(work, tracker_seq);
  const bool more = is_due(work, upto) && hw__work_advance(work, upto);
  pthread_mutex_unlock(&work->lock);
  return more;
}

static void *work_loop(void *argument) {
  hw_solver *solver = argument;
  pthread_mutex_lock(&solver->lock);
  while (!solver->stopping) {
    hw_work *work = solver->tracker ? hw__turns_take(&solver->turns) : NULL;
    if (!work) {
      hw__turns_let_go(&solver->turns, RUNS_KEPT);
      pthread_cond_wait(&solver->news, &solver->lock);
      continue;
    }
    const int64_t tracker_seq = hw__tracker_seq(solver->tracker);
    pthread_mutex_unlock(&solver->lock);
    const bool more = attend(work, tracker_seq);
    pthread_mutex_lock(&solver->lock);
    if (hw__turns_give_back(&solver->turns, work, more)) {
      pthread_cond_broadcast(&solver->news);
    }
  }
  pthread_mutex_unlock(&solver->lock);
  return NULL;
}

hw_status hw__solver_start(hw_store *store, const hw_catalog *catalog, const hw_solver_options *options,
                           hw_solver **out) {
  *out = NULL;
  hw_solver *solver = calloc(1, sizeof *solver);
  if (!solver) {
    return HW_ENOMEM;
  }
  solver->store = store;
  solver->catalog = catalog;
  solver->options = *options;
  pthread_mutex_init(&solver->lock, NULL);
  pthread_cond_init(&solver->news, NULL);
  const size_t wanted = options->threads ? options->threads : 2;
  solver->threads = calloc(wanted, sizeof *solver->threads);
  while (solver->threads && solver->thread_count < wanted &&
         pthread_create(&solver->threads[solver->thread_count], NULL, work_loop, solver) == 0) {
    solver->thread_count++;
  }
  if (solver->thread_count != wanted) {
    hw__solver_stop(solver);
    return HW_ENOMEM;
  }
  *out = solver;
  return HW_OK;
}

void hw__solver_follow(hw_solver *solver, hw_tracker *tracker) {
  pthread_mutex_lock(&solver->lock);
  solver->tracker = tracker;
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

hw_db_status hw__solver_resume(hw_solver *solver) {
  enum { MOST = 4096 };
  hw_incident *open = malloc(MOST * sizeof *open);
  hw_db *db = open ? hw__store_reader(solver->store) : NULL;
  hw_db_status status = HW_DB_IO;
  size_t count = 0;
  if (db) {
    status = hw__db_unfinished(db, open, MOST, &count);
    hw__store_return(solver->store, db);
  }
  pthread_mutex_lock(&solver->lock);
  for (size_t i = count; i-- > 0 && status == HW_DB_OK;) {
    follow(solver, &open[i]);
  }
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
  free(open);
  return status;
}

void hw__solver_stop(hw_solver *solver) {
  if (!solver) {
    return;
  }
  pthread_mutex_lock(&solver->lock);
  solver->stopping = true;
  pthread_cond_broadcast(&solver->news);
  pthread_mutex_unlock(&solver->lock);
  for (size_t i = 0; i < solver->thread_count; i++) {
    pthread_join(solver->threads[i], NULL);
  }
  hw__turns_free(&solver->turns);
  free(solver->threads);
  free(solver);
}

size_t hw__solver_behind(hw_solver *solver) {
  pthread_mutex_lock(&solver->lock);
  const int64_t tracker_seq = solver->tracker ? hw__tracker_seq(solver->tracker) : 0;
  size_t behind = 0;
  for (size_t i = 0; i < solver->turns.count; i++) {
    hw_work *work = solver->turns.works[i];
    const bool held = pthread_mutex_trylock(&work->lock) == 0;
    behind += !held || is_due(work, horizon(work, tracker_seq)); /* one that is worked on is not through */
    if (held) {
      pthread_mutex_unlock(&work->lock);
    }
  }
  pthread_mutex_unlock(&solver->lock);
  return behind;
}

hw_db_status hw__solver_look(hw_solver *solver, int64_t id, void (*look)(void *context, const hw_solver_view *),
                             void *context) {
  hw_incident incident;
  hw_db *db = hw__store_reader(solver->store);
  hw_db_status status = db ? hw__db_incident(db, id, &incident) : HW_DB_IO;
  status = status == HW_DB_OK ? hw__db_remembers(db, &incident) : status;
  if (db) {
    hw__store_return(solver->store, db);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  pthread_mutex_lock(&solver->lock);
  hw_work *work = admit(solver, &incident);
  if (work) {
    work->users++;
    work->used = ++solver->tick;
  }
  /* Without a tracker of ours somebody else works: look no further than the result told last. */
  const bool elsewhere = !solver->tracker;
  const int64_t tracker_seq = elsewhere ? incident.result_seq : hw__tracker_seq(solver->tracker);
  pthread_mutex_unlock(&solver->lock);
  if (!work) {
    return HW_DB_ABSENT; /* of a river that is no longer served */
  }
  pthread_mutex_lock(&work->lock);
  if (elsewhere) {
    work->incident.closed_seq = incident.closed_seq;
    work->stored_seq = incident.result_seq; /* nothing is made here that was not told */
  }
  if ((!work->run && !work->failure) || (elsewhere && work->cursor < tracker_seq)) {
    while (hw__work_advance(work, horizon(work, tracker_seq))) {
    }
  }
  const hw_solver_view view = {work->run, &work->incident, work->site, hw__outcome_result(work)};
  look(context, &view);
  pthread_mutex_unlock(&work->lock);
  pthread_mutex_lock(&solver->lock);
  work->users--;
  hw__turns_let_go(&solver->turns, RUNS_KEPT);
  pthread_mutex_unlock(&solver->lock);
  return HW_DB_OK;
}
