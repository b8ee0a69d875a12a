/* Group commit: one thread takes every job that waits and runs them all in one transaction. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/store_inside.h"

/* A damaged file may get worse with every write, and the sender of a refused reading still has it. */
void hw__store_meet_damage(hw__store *store) {
  pthread_mutex_lock(&store->news_lock);
  const bool first = !store->damaged;
  store->damaged = true;
  store->health = HW_DB_CORRUPT;
  pthread_mutex_unlock(&store->news_lock);
  if (first) {
    hw__log(HW_LOG_ERROR, "database_damaged", "consequence", "nothing is stored until it is restored");
  }
}

/* Finds the end of the log again after a commit that failed or may have failed. A server that lost its last commits
 * in a crash reports an earlier end than it acknowledged. */
static hw__db_status find_end(hw__store *store, int64_t *seq) {
  const hw__db_status status = hw__db_head(store->writer, seq);
  if (status != HW_DB_OK || *seq >= store->seq) {
    return status;
  }
  hw__fault fault = {HW_FAULT_LOST, *seq + 1, store->seq, store->seq - *seq, ""};
  snprintf(fault.text, sizeof fault.text, "records %" PRId64 " to %" PRId64 " were acknowledged and are gone",
           fault.first, fault.last);
  *seq = store->seq; /* their numbers are not given again */
  return hw__store_keep_fault(store, &fault);
}

/* Run a chain of jobs in one transaction. *seq: the last number of the log after it. */
static hw__db_status transact(hw__store *store, hw__job *chain, bool whole_chain, int64_t *seq) {
  hw__db_status status = hw__db_begin(store->writer);
  if (status == HW_DB_OK && store->seq_unsure) {
    status = find_end(store, seq);
  }
  for (hw__job *each = chain; each && status == HW_DB_OK; each = whole_chain ? each->next : NULL) {
    status = each->run(store->writer, seq, each->context);
  }
  if (status == HW_DB_OK) {
    status = hw__db_commit(store->writer);
  }
  if (status != HW_DB_OK) {
    hw__db_rollback(store->writer);
  }
  store->seq_unsure = status != HW_DB_OK;
  return status;
}

static void publish(hw__store *store, int64_t seq, hw__db_status status) {
  pthread_mutex_lock(&store->news_lock);
  store->seq = seq;
  store->health = store->damaged ? HW_DB_CORRUPT : status;
  store->version++;
  pthread_cond_broadcast(&store->news);
  pthread_mutex_unlock(&store->news_lock);
}

static void commit_chain(hw__store *store, hw__job *chain) {
  const int64_t started = hw__clock_us(CLOCK_MONOTONIC);
  int64_t seq = store->seq; /* only this thread moves it */
  hw__db_status status = transact(store, chain, true, &seq);
  size_t jobs = 0;
  if (status != HW_DB_OK && chain->next) {
    seq = store->seq;
    for (hw__job *each = chain; each; each = each->next) {
      int64_t tried = seq;
      each->status = transact(store, each, false, &tried);
      seq = each->status == HW_DB_OK ? tried : seq;
      status = each->status;
      jobs++;
    }
  } else {
    seq = status == HW_DB_OK ? seq : store->seq;
    for (hw__job *each = chain; each; each = each->next) {
      each->status = status;
      jobs++;
    }
  }
  publish(store, seq, status);
  if (status == HW_DB_CORRUPT) {
    hw__store_meet_damage(store);
  }
  hw__metric_add(HW_METRIC_COMMITS, 1);
  hw__metric_add(HW_METRIC_COMMIT_JOBS, jobs);
  hw__metric_add(HW_METRIC_COMMIT_FAILURES, status != HW_DB_OK);
  hw__metric_add(HW_METRIC_COMMIT_US, (uint64_t)(hw__clock_us(CLOCK_MONOTONIC) - started));
  while (chain) {
    hw__job *next = chain->next; /* the job is gone once its owner wakes */
    sem_post(&chain->done);
    chain = next;
  }
}

static hw__db_status run_probe(hw__db *db, int64_t *seq, void *context) {
  (void)context;
  return hw__db_put_cursor(db, "probe", *seq);
}

/* Can the disk be written again? This tries a write of its own, because a service that says it is not ready may be
 * sent no reading that would show it. */
static void probe(hw__store *store) {
  hw__job mine = {.run = run_probe};
  sem_init(&mine.done, 0, 0);
  commit_chain(store, &mine);
  sem_destroy(&mine.done);
}

/* Seconds until the disk is tried again or the kept head is synced; 0 while the disk is well, or damaged for good. A
 * full disk is tried less often, because a small write may fit where readings do not. */
static time_t patience_s(hw__store *store) {
  const hw__db_status health = hw__store_health(store);
  if (health == HW_DB_OK || health == HW_DB_CORRUPT) {
    return hw__db_head_waits(store->writer, false) ? 1 : 0;
  }
  return health == HW_DB_FULL ? 10 : 1;
}

static void use_the_wait(hw__store *store) {
  if (hw__store_health(store) == HW_DB_OK) {
    hw__db_head_waits(store->writer, true);
  } else {
    probe(store);
  }
}

/* Under a load without pauses the head is synced once a second. */
static void sync_head(hw__store *store) {
  const int64_t now_us = hw__clock_us(CLOCK_MONOTONIC);
  if (now_us - store->synced_us > 1000000) {
    store->synced_us = now_us;
    hw__db_head_waits(store->writer, true);
  }
}

/* The queue's lock is held. Returned: true when a job came or the store is closing, false when the time is up. */
static bool wait_for_jobs(hw__store *store, time_t limit_s) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += limit_s;
  int timed_out = 0;
  while (!store->first && !store->closing && !timed_out) {
    timed_out = limit_s ? pthread_cond_timedwait(&store->queue_filled, &store->queue_lock, &until)
                        : pthread_cond_wait(&store->queue_filled, &store->queue_lock);
  }
  return store->first || store->closing;
}

void *hw__store_write_loop(void *argument) {
  hw__store *store = argument;
  pthread_mutex_lock(&store->queue_lock);
  for (;;) {
    if (!wait_for_jobs(store, patience_s(store))) {
      pthread_mutex_unlock(&store->queue_lock);
      use_the_wait(store);
      pthread_mutex_lock(&store->queue_lock);
      continue;
    }
    hw__job *chain = store->first;
    if (!chain) {
      break;
    }
    store->first = NULL;
    store->last = &store->first;
    pthread_mutex_unlock(&store->queue_lock);
    commit_chain(store, chain);
    sync_head(store);
    pthread_mutex_lock(&store->queue_lock);
  }
  pthread_mutex_unlock(&store->queue_lock);
  return NULL;
}

static bool is_damaged(hw__store *store) {
  pthread_mutex_lock(&store->news_lock);
  const bool damaged = store->damaged;
  pthread_mutex_unlock(&store->news_lock);
  return damaged;
}

hw__db_status hw__store_write(hw__store *store, hw__job_run run, void *context) {
  if (is_damaged(store)) {
    return HW_DB_CORRUPT;
  }
  hw__job mine = {.run = run, .context = context};
  sem_init(&mine.done, 0, 0);
  pthread_mutex_lock(&store->queue_lock);
  if (store->closing) {
    pthread_mutex_unlock(&store->queue_lock);
    sem_destroy(&mine.done);
    return HW_DB_STOPPING;
  }
  *store->last = &mine;
  store->last = &mine.next;
  pthread_cond_signal(&store->queue_filled);
  pthread_mutex_unlock(&store->queue_lock);
  while (sem_wait(&mine.done) != 0) {
  }
  sem_destroy(&mine.done);
  return mine.status;
}
