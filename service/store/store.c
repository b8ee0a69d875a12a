/* The store opened and closed, its readers, its clock, and who waits for news. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "store/store_inside.h"

enum { RECENT_MOST = 101 };

int64_t hw__store_now_us(hw__store *store) {
  return hw__store_clock(store).now_us;
}

hw__guarded_clock hw__store_clock(hw__store *store) {
  pthread_mutex_lock(&store->clock_lock);
  /* Uptime counts a suspended machine's sleep, as the wall clock does. */
  hw__guarded_clock_look(&store->clock, hw__clock_us(CLOCK_REALTIME), hw__clock_us(CLOCK_BOOTTIME));
  const hw__guarded_clock clock = store->clock;
  pthread_mutex_unlock(&store->clock_lock);
  return clock;
}

/* From where the log and the clock of an earlier run ended. */
static hw__db_status start_clock(hw__store *store) {
  int64_t recent_us[RECENT_MOST], last_us = 0;
  size_t recent = 0;
  hw__db_status status = hw__db_recent(store->writer, recent_us, RECENT_MOST, &recent);
  if (status != HW_DB_OK) {
    return status;
  }
  hw__guarded_clock_start(&store->clock, recent_us, recent, hw__clock_us(CLOCK_REALTIME), hw__clock_us(CLOCK_BOOTTIME));
  const int64_t ago_us = hw__guarded_clock_hour_ago(&store->clock);
  if (hw__db_received_until(store->writer, ago_us, store->seq, &last_us) != HW_DB_OK) {
    last_us = 1; /* a page that cannot be read is told by others; here it only means that nothing is known */
  }
  hw__guarded_clock_compare(&store->clock, last_us);
  return HW_DB_OK;
}

/* Open the database, look it over, and learn where the log and the clock of an earlier run ended. */
static hw__db_status open_database(hw__store *store, char *sentence, size_t size) {
  hw__db_status status = hw__db_open(store->path, true, &store->writer, sentence, size);
  if (status != HW_DB_OK) {
    return status;
  }
  status = hw__store_look_over(store);
  if (status == HW_DB_OK) {
    status = hw__db_enrol(store->writer, store->catalog);
  }
  if (status == HW_DB_OK) {
    status = hw__db_head(store->writer, &store->seq);
  }
  if (status == HW_DB_OK) {
    status = start_clock(store);
  }
  if (status != HW_DB_OK) {
    char name[256];
    hw__db_name(store->path, name, sizeof name);
    snprintf(sentence, size, "%s: %s", name, hw__db_text(status));
  }
  return status;
}

static hw__db_status start_writer(hw__store *store, char *sentence, size_t size) {
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
  if (pthread_create(&store->thread, NULL, hw__store_write_loop, store) != 0) {
    snprintf(sentence, size, "no thread for the writer");
    return HW_DB_THREAD;
  }
  return HW_DB_OK;
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
  hw__db_status status = open_database(store, sentence, size);
  if (status == HW_DB_OK) {
    status = start_writer(store, sentence, size);
  }
  if (status != HW_DB_OK) {
    hw__db_close(store->writer);
    free(store->path);
    free(store);
    return status;
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
  if (!store->damaged) {
    hw__db_mark_end(store->writer);
  }
  hw__db_close(store->writer);
  free(store->path);
  free(store);
}

hw__db_status hw__store_borrow(hw__store *store, hw__db **out) {
  *out = NULL;
  pthread_mutex_lock(&store->reader_lock);
  while (store->reader_count == 0 && store->readers_out == HW_READERS_MOST) {
    pthread_cond_wait(&store->reader_free, &store->reader_lock);
  }
  hw__db *db = store->reader_count ? store->readers[--store->reader_count] : NULL;
  store->readers_out++;
  pthread_mutex_unlock(&store->reader_lock);
  char sentence[256];
  const hw__db_status status = db ? HW_DB_OK : hw__db_open(store->path, false, &db, sentence, sizeof sentence);
  if (status != HW_DB_OK) {
    hw__store_return(store, NULL);
  }
  *out = db;
  return status;
}

hw__db *hw__store_reader(hw__store *store) {
  hw__db *db = NULL;
  hw__store_borrow(store, &db);
  return db;
}

void hw__store_return(hw__store *store, hw__db *db) {
  if (db && hw__db_damaged(db)) {
    hw__store_meet_damage(store);
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
