#include "store/store.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/metrics.h"
#include "store/verify.h"

enum { READERS_MAX = 16, RECENT_MAX = 101 };

typedef struct job {
  hw__job_run run;
  void *context;
  hw__db_status status;
  sem_t done;
  struct job *next;
} job;

struct hw__store {
  hw__catalog *catalog;
  char *path;
  hw__db *writer;
  pthread_t thread;
  pthread_mutex_t queue_lock;
  pthread_cond_t queue_filled;
  job *first, **last;
  bool closing;

  pthread_mutex_t news_lock;
  pthread_cond_t news;
  uint64_t version;
  bool stopping;
  int64_t seq;
  bool seq_unsure; /* a commit that failed may have been made all the same: only the log knows */
  hw__db_status health;
  bool damaged;      /* for good: nothing is written on top of it */
  int64_t synced_us; /* when the kept head was last brought to the disk */

  pthread_mutex_t reader_lock;
  pthread_cond_t reader_free;
  hw__db *readers[READERS_MAX];
  size_t reader_count, readers_out;

  pthread_mutex_t clock_lock;
  hw__guarded_clock clock;
};

static int64_t read_clock_us(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t hw__store_now_us(hw__store *store) {
  return hw__store_clock(store).now_us;
}

hw__guarded_clock hw__store_clock(hw__store *store) {
  pthread_mutex_lock(&store->clock_lock);
  /* Uptime counts a suspended machine's sleep, as the wall clock does. */
  hw__guarded_clock_look(&store->clock, read_clock_us(CLOCK_REALTIME), read_clock_us(CLOCK_BOOTTIME));
  const hw__guarded_clock clock = store->clock;
  pthread_mutex_unlock(&store->clock_lock);
  return clock;
}

/* A damaged file may get worse with every write, and what is refused is still with its sender. */
static void meet_damage(hw__store *store) {
  pthread_mutex_lock(&store->news_lock);
  const bool first = !store->damaged;
  store->damaged = true;
  store->health = HW_DB_CORRUPT;
  pthread_mutex_unlock(&store->news_lock);
  if (first) {
    hw__log(HW_LOG_ERROR, "database_damaged", "consequence", "nothing is stored until it is restored");
  }
}

/* Found while the service goes on from it: told, counted and kept, so that `headwater verify` tells it later. */
static hw__db_status keep_fault(hw__store *store, const hw__fault *fault) {
  hw__log_fault(fault);
  hw__metric_add(HW_METRIC_LOG_FAULTS, 1);
  return hw__keep_fault(store->writer, fault, read_clock_us(CLOCK_REALTIME));
}

/* Where the log ends now, after a commit that failed or may have. A server that lost its own end to a crash says less
 * than it acknowledged. */
static hw__db_status find_end(hw__store *store, int64_t *seq) {
  const hw__db_status status = hw__db_head(store->writer, seq);
  if (status != HW_DB_OK || *seq >= store->seq) {
    return status;
  }
  hw__fault fault = {HW_FAULT_LOST, *seq + 1, store->seq, store->seq - *seq, ""};
  snprintf(fault.text, sizeof fault.text, "records %" PRId64 " to %" PRId64 " were acknowledged and are gone",
           fault.first, fault.last);
  *seq = store->seq; /* their numbers are not given again */
  return keep_fault(store, &fault);
}

/* Run a chain of jobs in one transaction. *seq: the last number of the log after it. */
static hw__db_status transact(hw__store *store, job *chain, bool whole_chain, int64_t *seq) {
  hw__db_status status = hw__db_begin(store->writer);
  if (status == HW_DB_OK && store->seq_unsure) {
    status = find_end(store, seq);
  }
  for (job *each = chain; each && status == HW_DB_OK; each = whole_chain ? each->next : NULL) {
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

static void commit_chain(hw__store *store, job *chain) {
  const int64_t started = read_clock_us(CLOCK_MONOTONIC);
  int64_t seq = store->seq; /* only this thread moves it */
  hw__db_status status = transact(store, chain, true, &seq);
  size_t jobs = 0;
  if (status != HW_DB_OK && chain->next) {
    seq = store->seq;
    for (job *each = chain; each; each = each->next) {
      int64_t tried = seq;
      each->status = transact(store, each, false, &tried);
      seq = each->status == HW_DB_OK ? tried : seq;
      status = each->status;
      jobs++;
    }
  } else {
    seq = status == HW_DB_OK ? seq : store->seq;
    for (job *each = chain; each; each = each->next) {
      each->status = status;
      jobs++;
    }
  }
  publish(store, seq, status);
  if (status == HW_DB_CORRUPT) {
    meet_damage(store);
  }
  hw__metric_add(HW_METRIC_COMMITS, 1);
  hw__metric_add(HW_METRIC_COMMIT_JOBS, jobs);
  hw__metric_add(HW_METRIC_COMMIT_FAILURES, status != HW_DB_OK);
  hw__metric_add(HW_METRIC_COMMIT_US, (uint64_t)(read_clock_us(CLOCK_MONOTONIC) - started));
  while (chain) {
    job *next = chain->next; /* the job is gone once its owner wakes */
    sem_post(&chain->done);
    chain = next;
  }
}

static hw__db_status run_probe(hw__db *db, int64_t *seq, void *context) {
  (void)context;
  return hw__db_put_cursor(db, "probe", *seq);
}

/* Can the disk be written again? Asked by a write of our own: a service that says it is not ready may be sent nothing
 * that would show it. */
static void probe(hw__store *store) {
  job mine = {.run = run_probe};
  sem_init(&mine.done, 0, 0);
  commit_chain(store, &mine);
  sem_destroy(&mine.done);
}

/* Seconds until the disk is tried again, or the kept head brought to it; 0 while it is well, or damaged for good. On a
 * full one a small write may fit where readings do not, so it is tried more seldom. */
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

/* Under a load that never rests: once a second. */
static void sync_head(hw__store *store) {
  const int64_t now_us = read_clock_us(CLOCK_MONOTONIC);
  if (now_us - store->synced_us > 1000000) {
    store->synced_us = now_us;
    hw__db_head_waits(store->writer, true);
  }
}

/* The queue's lock is held. Returned: something came, or there is nothing to try. */
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

static void *write_loop(void *argument) {
  hw__store *store = argument;
  pthread_mutex_lock(&store->queue_lock);
  for (;;) {
    if (!wait_for_jobs(store, patience_s(store))) {
      pthread_mutex_unlock(&store->queue_lock);
      use_the_wait(store);
      pthread_mutex_lock(&store->queue_lock);
      continue;
    }
    job *chain = store->first;
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
  job mine = {.run = run, .context = context};
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

typedef struct {
  hw__store *store;
  hw__ingest *ingest;
  int64_t received_us;
} append_job;

static hw__db_status run_append(hw__db *db, int64_t *seq, void *context) {
  const append_job *append = context;
  return hw__db_append(db, append->store->catalog, append->ingest->entries, append->ingest->count, append->received_us,
                       seq);
}

/* In which time this river lives, said to whoever spoke of the other. */
static const char *why_not(const hw__checked_reading *entry) {
  if (entry->fate != HW_FATE_TIME_BASE) {
    return hw__fate_text(entry->fate);
  }
  return entry->calendar
             ? "a date, but this river's first reading was in plain seconds: expected time_s, or the river "
               "begun anew (docs/operations.md, A river in the wrong time)"
             : "plain seconds, but this river's first reading had a date: expected time in ISO 8601, or the "
               "river begun anew (docs/operations.md, A river in the wrong time)";
}

hw__db_status hw__store_ingest(hw__store *store, hw__ingest *ingest) {
  if (ingest->count == 0) {
    return HW_DB_OK;
  }
  append_job append = {store, ingest, hw__store_now_us(store)};
  const hw__db_status status = hw__store_write(store, run_append, &append);
  for (size_t i = 0; i < ingest->count && status == HW_DB_OK; i++) {
    const hw__checked_reading *entry = &ingest->entries[i];
    if (entry->fate == HW_FATE_CONFLICT || entry->fate == HW_FATE_TIME_BASE) {
      hw__ingest_reject(ingest, entry->line, entry->fate, "%s", why_not(entry));
    } else {
      ingest->tally[entry->fate]++;
    }
  }
  return status;
}

enum { START_FAULTS_MOST = 16 };

typedef struct {
  hw__fault faults[START_FAULTS_MOST];
  size_t count;
} findings;

static void note(void *context, const hw__fault *fault) {
  findings *found = context;
  if (found->count < START_FAULTS_MOST) {
    found->faults[found->count++] = *fault;
  }
}

/* What only a start can see is kept; the rest every later check finds again. */
static hw__db_status keep_findings(hw__store *store, const findings *found) {
  bool lost = false;
  hw__db_status status = hw__db_begin(store->writer);
  for (size_t i = 0; i < found->count && status == HW_DB_OK; i++) {
    const hw__fault *fault = &found->faults[i];
    lost = lost || fault->kind == HW_FAULT_LOST;
    if (fault->kind == HW_FAULT_LOST || fault->kind == HW_FAULT_NAMES) {
      status = keep_fault(store, fault);
    } else {
      hw__log_fault(fault);
      hw__metric_add(HW_METRIC_LOG_FAULTS, 1);
    }
  }
  if (status == HW_DB_OK) {
    status = hw__db_commit(store->writer);
  }
  if (status == HW_DB_OK && lost) {
    hw__db_head_is_here(store->writer);
  } else if (status != HW_DB_OK) {
    hw__db_rollback(store->writer);
  }
  return status;
}

/* At a start: names, the last records, and whether the end is there that was acknowledged. */
static hw__db_status look_over(hw__store *store) {
  findings found = {.count = 0};
  const hw__fault_teller teller = {note, &found};
  int64_t lost_upto = 0;
  hw__db_status status = hw__verify_names(store->writer, &teller);
  if (status == HW_DB_OK) {
    status = hw__verify_last_block(store->writer, &teller);
  }
  if (status == HW_DB_OK) {
    status = hw__verify_end(store->writer, &teller, &lost_upto);
  }
  return status == HW_DB_OK && found.count ? keep_findings(store, &found) : status;
}

hw__db_status hw__store_open(const char *path, hw__catalog *catalog, hw__store **out, char *sentence, size_t size) {
  *out = NULL;
  hw__store *store = calloc(1, sizeof *store);
  char *copy = strdup(path);
  if (!store || !copy) {
    free(store);
    free(copy);
    snprintf(sentence, size, "out of memory");
    return HW_DB_MEMORY;
  }
  *store = (hw__store){.catalog = catalog, .path = copy, .last = &store->first};
  hw__db_status status = hw__db_open(path, true, &store->writer, sentence, size);
  int64_t recent_us[RECENT_MAX];
  size_t recent = 0;
  if (status == HW_DB_OK) {
    status = look_over(store);
    if (status == HW_DB_OK) {
      status = hw__db_enrol(store->writer, catalog);
    }
    if (status == HW_DB_OK) {
      status = hw__db_head(store->writer, &store->seq);
    }
    if (status == HW_DB_OK) {
      status = hw__db_recent(store->writer, recent_us, RECENT_MAX, &recent);
    }
    if (status != HW_DB_OK) {
      char name[256];
      hw__db_name(path, name, sizeof name);
      snprintf(sentence, size, "%s: %s", name, hw__db_text(status));
    }
  }
  if (status != HW_DB_OK) {
    hw__db_close(store->writer);
    free(store->path);
    free(store);
    return status;
  }
  hw__guarded_clock_start(&store->clock, recent_us, recent, read_clock_us(CLOCK_REALTIME),
                          read_clock_us(CLOCK_BOOTTIME));
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&store->queue_lock, NULL);
  pthread_cond_init(&store->queue_filled, &monotonic);
  pthread_mutex_init(&store->news_lock, NULL);
  pthread_cond_init(&store->news, &monotonic);
  pthread_mutex_init(&store->reader_lock, NULL);
  pthread_cond_init(&store->reader_free, NULL);
  pthread_mutex_init(&store->clock_lock, NULL);
  pthread_condattr_destroy(&monotonic);
  if (pthread_create(&store->thread, NULL, write_loop, store) != 0) {
    snprintf(sentence, size, "no thread for the writer");
    hw__db_close(store->writer);
    free(store->path);
    free(store);
    return HW_DB_IO;
  }
  *out = store;
  return HW_DB_OK;
}

void hw__store_relax(hw__store *store) {
  hw__db_relax(store->writer);
}

void hw__store_close(hw__store *store) {
  if (!store) {
    return;
  }
  pthread_mutex_lock(&store->queue_lock);
  store->closing = true;
  pthread_cond_signal(&store->queue_filled);
  pthread_mutex_unlock(&store->queue_lock);
  pthread_join(store->thread, NULL);
  for (size_t i = 0; i < store->reader_count; i++) {
    hw__db_close(store->readers[i]);
  }
  hw__db_close(store->writer);
  free(store->path);
  free(store);
}

hw__db *hw__store_reader(hw__store *store) {
  pthread_mutex_lock(&store->reader_lock);
  while (store->reader_count == 0 && store->readers_out == READERS_MAX) {
    pthread_cond_wait(&store->reader_free, &store->reader_lock);
  }
  hw__db *db = store->reader_count ? store->readers[--store->reader_count] : NULL;
  store->readers_out++;
  pthread_mutex_unlock(&store->reader_lock);
  if (!db) {
    char sentence[256];
    hw__db_open(store->path, false, &db, sentence, sizeof sentence);
  }
  if (!db) {
    hw__store_return(store, NULL);
  }
  return db;
}

void hw__store_return(hw__store *store, hw__db *db) {
  if (db && hw__db_damaged(db)) {
    meet_damage(store);
  }
  pthread_mutex_lock(&store->reader_lock);
  if (db) {
    store->readers[store->reader_count++] = db;
  }
  store->readers_out--;
  pthread_cond_signal(&store->reader_free);
  pthread_mutex_unlock(&store->reader_lock);
}

uint64_t hw__store_wait(hw__store *store, uint64_t seen, int timeout_ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&store->news_lock);
  while (store->version == seen && !store->stopping &&
         pthread_cond_timedwait(&store->news, &store->news_lock, &until) == 0) {
  }
  const uint64_t version = store->version;
  pthread_mutex_unlock(&store->news_lock);
  return version;
}

static void raise_news(hw__store *store, bool stopping) {
  pthread_mutex_lock(&store->news_lock);
  store->version++;
  store->stopping = store->stopping || stopping;
  pthread_cond_broadcast(&store->news);
  pthread_mutex_unlock(&store->news_lock);
}

void hw__store_nudge(hw__store *store) {
  raise_news(store, false);
}

void hw__store_wake_for_stop(hw__store *store) {
  raise_news(store, true);
}

int64_t hw__store_seq(hw__store *store) {
  pthread_mutex_lock(&store->news_lock);
  const int64_t seq = store->seq;
  pthread_mutex_unlock(&store->news_lock);
  return seq;
}

hw__db_status hw__store_health(hw__store *store) {
  pthread_mutex_lock(&store->news_lock);
  const hw__db_status health = store->health;
  pthread_mutex_unlock(&store->news_lock);
  return health;
}
