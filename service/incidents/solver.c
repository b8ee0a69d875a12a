#include "incidents/solver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "incidents/outcome.h"
#include "incidents/turns.h"

enum { RUNS_KEPT = 4 }; /* runs of closed incidents that are kept for people who look at them */

struct hw__solver_pool {
  hw__store *store;
  const hw__catalog *catalog;
  hw__tracker *tracker;
  hw__solver_options options;
  pthread_mutex_t lock;  /* the tracker, turns, tick, stopping */
  pthread_cond_t news;   /* for workers: there may be something to do */
  pthread_cond_t served; /* for workers: somebody has finished with an engine */
  hw__turns turns;
  uint64_t tick;
  bool stopping;
  pthread_t *threads;
  size_t thread_count;
};

/* The lock is held. Returned: the incident's work, made when there is none; NULL without memory, or when its river is
 * no longer served. */
static hw__engine *admit(hw__solver_pool *solver, const hw__incident *incident) {
  hw__engine *engine = hw__turns_find(&solver->turns, incident->id);
  const ptrdiff_t site = hw__catalog_site_of_key(solver->catalog, incident->river);
  if (engine || site < 0) {
    return engine;
  }
  if (!hw__turns_reserve(&solver->turns) ||
      hw__engine_create(solver->store, hw__catalog_site(solver->catalog, (size_t)site), &solver->options, incident,
                        &engine) != HW_OK) {
    hw__log(HW_LOG_ERROR, "incident_not_followed", "reason", "out of memory");
    return NULL;
  }
  hw__turns_add(&solver->turns, engine);
  return engine;
}

/* One whose readings are to be followed here as they come. */
static void follow(hw__solver_pool *solver, const hw__incident *incident) {
  hw__engine *engine = admit(solver, incident);
  if (engine) {
    engine->followed = true;
  }
}

/* For those who want to look at an engine or tell it something. The solver's lock is held, and afterwards the engine's
 * in its place. */
static void hold(hw__solver_pool *solver, hw__engine *engine) {
  engine->users++;
  engine->waiting++;
  pthread_mutex_unlock(&solver->lock);
  pthread_mutex_lock(&engine->lock);
}

/* The other way round. */
static void let_go(hw__solver_pool *solver, hw__engine *engine) {
  pthread_mutex_unlock(&engine->lock);
  pthread_mutex_lock(&solver->lock);
  engine->users--;
  engine->waiting--;
  engine->served++;
  pthread_cond_broadcast(&solver->served);
}

/* A worker that comes back to an engine lets those who have waited for it go first: left to the mutex, one that is far
 * behind would be busy whenever anybody asks. The solver's lock is held. */
static void give_way(hw__solver_pool *solver, const hw__engine *engine) {
  const uint64_t all = engine->served + engine->waiting;
  while (engine->served < all && !solver->stopping) {
    pthread_cond_wait(&solver->served, &solver->lock);
  }
}

static void tell(hw__solver_pool *solver) {
  hw__turns_tell(&solver->turns);
  pthread_cond_broadcast(&solver->news);
}

void hw__solver_opened(void *context, const hw__incident *incident) {
  hw__solver_pool *solver = context;
  hw__logf(HW_LOG_INFO, "incident_opened", "incident", "%lld", (long long)incident->id);
  pthread_mutex_lock(&solver->lock);
  follow(solver, incident);
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

void hw__solver_closed(void *context, const hw__incident *incident) {
  hw__solver_pool *solver = context;
  hw__logf(HW_LOG_INFO, "incident_closed", "incident", "%lld", (long long)incident->id);
  pthread_mutex_lock(&solver->lock);
  hw__engine *engine = hw__turns_find(&solver->turns, incident->id);
  if (engine) {
    hold(solver, engine);
    engine->incident.closed_seq = incident->closed_seq;
    let_go(solver, engine);
  }
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

void hw__solver_advanced(void *context) {
  hw__solver_pool *solver = context;
  pthread_mutex_lock(&solver->lock);
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

/* The last record this incident may see: what the tracker has looked at, and nothing after closing. */
static int64_t horizon(const hw__engine *engine, int64_t tracker_seq) {
  const int64_t closed = engine->incident.closed_seq;
  return closed && closed < tracker_seq ? closed : tracker_seq;
}

/* Are there readings its engine has not seen? The lock is held. */
static bool is_due(const hw__engine *engine, int64_t upto) {
  return !engine->finished && (engine->cursor < upto || !engine->led_in);
}

/* Bring one incident forward by a page. Returned: there is more to do for it. */
static bool attend(hw__engine *engine, int64_t tracker_seq) {
  pthread_mutex_lock(&engine->lock);
  const int64_t upto = horizon(engine, tracker_seq);
  const bool more = is_due(engine, upto) && hw__engine_advance(engine, upto);
  pthread_mutex_unlock(&engine->lock);
  return more;
}

static void *work_loop(void *argument) {
  hw__solver_pool *solver = argument;
  pthread_mutex_lock(&solver->lock);
  while (!solver->stopping) {
    hw__engine *engine = solver->tracker ? hw__turns_take(&solver->turns) : NULL;
    if (!engine) {
      hw__turns_let_go(&solver->turns, RUNS_KEPT);
      pthread_cond_wait(&solver->news, &solver->lock);
      continue;
    }
    give_way(solver, engine);
    const int64_t tracker_seq = solver->tracker ? hw__tracker_seq(solver->tracker) : 0;
    pthread_mutex_unlock(&solver->lock);
    const bool more = attend(engine, tracker_seq);
    pthread_mutex_lock(&solver->lock);
    if (hw__turns_give_back(&solver->turns, engine, more)) {
      pthread_cond_broadcast(&solver->news);
    }
  }
  pthread_mutex_unlock(&solver->lock);
  return NULL;
}

hw_status hw__solver_start(hw__store *store, const hw__catalog *catalog, const hw__solver_options *options,
                           hw__solver_pool **out) {
  *out = NULL;
  hw__solver_pool *solver = calloc(1, sizeof *solver);
  if (!solver) {
    return HW_ENOMEM;
  }
  solver->store = store;
  solver->catalog = catalog;
  solver->options = *options;
  pthread_mutex_init(&solver->lock, NULL);
  pthread_cond_init(&solver->news, NULL);
  pthread_cond_init(&solver->served, NULL);
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

void hw__solver_follow(hw__solver_pool *solver, hw__tracker *tracker) {
  pthread_mutex_lock(&solver->lock);
  solver->tracker = tracker;
  tell(solver);
  pthread_mutex_unlock(&solver->lock);
}

hw__db_status hw__solver_resume(hw__solver_pool *solver) {
  enum { MOST = 4096 };
  hw__incident *open = malloc(MOST * sizeof *open);
  hw__db *db = NULL;
  hw__db_status status = open ? hw__store_borrow(solver->store, &db) : HW_DB_MEMORY;
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

void hw__solver_stop(hw__solver_pool *solver) {
  if (!solver) {
    return;
  }
  pthread_mutex_lock(&solver->lock);
  solver->stopping = true;
  pthread_cond_broadcast(&solver->news);
  pthread_cond_broadcast(&solver->served);
  pthread_mutex_unlock(&solver->lock);
  for (size_t i = 0; i < solver->thread_count; i++) {
    pthread_join(solver->threads[i], NULL);
  }
  hw__turns_free(&solver->turns);
  free(solver->threads);
  free(solver);
}

size_t hw__solver_behind(hw__solver_pool *solver) {
  pthread_mutex_lock(&solver->lock);
  const int64_t tracker_seq = solver->tracker ? hw__tracker_seq(solver->tracker) : 0;
  size_t behind = 0;
  for (size_t i = 0; i < solver->turns.count; i++) {
    hw__engine *engine = solver->turns.engines[i];
    const bool held = pthread_mutex_trylock(&engine->lock) == 0;
    behind += !held || is_due(engine, horizon(engine, tracker_seq)); /* one that is being processed is not finished */
    if (held) {
      pthread_mutex_unlock(&engine->lock);
    }
  }
  pthread_mutex_unlock(&solver->lock);
  return behind;
}

hw__db_status hw__solver_look(hw__solver_pool *solver, int64_t id, void (*look)(void *context, const hw__solver_view *),
                              void *context) {
  hw__incident incident;
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(solver->store, &db);
  if (status == HW_DB_OK) {
    status = hw__db_incident(db, id, &incident);
  }
  if (status == HW_DB_OK) {
    status = hw__db_remembers(db, &incident);
  }
  if (db) {
    hw__store_return(solver->store, db);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  pthread_mutex_lock(&solver->lock);
  hw__engine *engine = admit(solver, &incident);
  if (!engine) {
    pthread_mutex_unlock(&solver->lock);
    return HW_DB_ABSENT; /* of a river that is no longer served */
  }
  /* Without a tracker here the incident is processed elsewhere: look no further than the last result that came from
   * there. */
  const bool elsewhere = !solver->tracker;
  const int64_t tracker_seq = elsewhere ? incident.result_seq : hw__tracker_seq(solver->tracker);
  engine->used = ++solver->tick;
  hold(solver, engine);
  if (elsewhere) {
    engine->incident.closed_seq = incident.closed_seq;
    engine->stored_seq = incident.result_seq; /* nothing is computed here beyond the result that was received */
  }
  if ((!engine->run && !engine->failure) || (elsewhere && engine->cursor < tracker_seq)) {
    while (hw__engine_advance(engine, horizon(engine, tracker_seq))) {
    }
  }
  hw__engine_settle(engine);
  const hw__solver_view view = {engine->run, &engine->incident, engine->site, hw__outcome_result(engine)};
  look(context, &view);
  let_go(solver, engine);
  hw__turns_let_go(&solver->turns, RUNS_KEPT);
  pthread_mutex_unlock(&solver->lock);
  return HW_DB_OK;
}
