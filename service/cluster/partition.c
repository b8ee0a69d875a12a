#include "cluster/partition.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "cluster/copy.h"
#include "cluster/feed.h"
#include "cluster/outbox.h"
#include "cluster/wire.h"
#include "store/upkeep.h"

enum { GROUP = 256, FETCH_MS = 500, TRIES = 8 };

struct hw__partition {
  const hw__partition_plan *plan;
  const hw__lease *lease;
  char path[512];
  hw__catalog *catalog;
  hw__store *store;
  hw__processing processing;
  hw__upkeep upkeep;
  hw__outbox outbox;
  hw__copies copies;
  const char *origin; /* of the database */
  bool damaged;       /* it is of no use any more */
  int64_t cursor;
  pthread_t feeder, sender, copier;
  int64_t started_ms;
  atomic_bool stopping; /* asked to */
  atomic_bool closing;  /* no more readings come: the sender publishes what is left, the other threads end */
  atomic_bool ended, failed;
};

static bool goes_on(const hw__partition *p) {
  return !atomic_load(&p->stopping) && hw__lease_holds(p->lease);
}

static void fail(hw__partition *p, const char *reason) {
  atomic_store(&p->failed, true);
  hw__log_fields(HW_LOG_ERROR, "partition_failed", "{s:I, s:s}", "partition", (json_int_t)p->lease->partition, "reason",
                 reason);
}

/* --- opening --- */

static bool load_rivers(hw__partition *p) {
  const hw__partition_plan *plan = p->plan;
  hw_error error = {{0}};
  hw_status status = hw__catalog_create(&p->catalog);
  for (size_t i = 0; i < plan->rivers->count && status == HW_OK; i++) {
    if (hw__wire_partition(hw__catalog_site(plan->all, i)->id, plan->cluster->partitions) == p->lease->partition) {
      status = hw__catalog_load(p->catalog, plan->rivers->arguments[i], NULL, NULL, &error);
    }
  }
  if (status != HW_OK) {
    fail(p, error.text);
  }
  return status == HW_OK;
}

static bool open_store(hw__partition *p) {
  char sentence[512];
  p->copies = (hw__copies){.cluster = p->plan->cluster, .lease = p->lease, .path = p->path};
  p->origin = hw__copies_restore(&p->copies);
  if (hw__store_open(p->path, p->catalog, &p->store, sentence, sizeof sentence) != HW_DB_OK) {
    fail(p, sentence);
    return false;
  }
  hw__store_relax(p->store);
  hw__db_status status = hw__feed_adopt(p->store, p->plan->cluster->id);
  if (status == HW_DB_OK) {
    status = hw__feed_cursor(p->store, HW_FEED_CURSOR, &p->cursor);
  }
  p->outbox = (hw__outbox){p->plan->cluster, p->lease, p->store, p->catalog, 0};
  if (status == HW_DB_OK) {
    status = hw__outbox_open(&p->outbox);
  }
  if (status != HW_DB_OK) {
    fail(p, hw__db_text(status));
  }
  return status == HW_DB_OK;
}

static bool start_processing(hw__partition *p) {
  hw_error error = {{0}};
  if (hw__processing_start(p->store, p->catalog, &p->plan->processing, p->plan->threads, false, &p->processing,
                           &error) != HW_OK) {
    fail(p, error.text);
    return false;
  }
  if (hw__upkeep_start(p->store, p->plan->retention_days, HW_DEFAULT_VERIFY_HOURS, &p->closing, &p->upkeep, &error) !=
      HW_OK) {
    fail(p, error.text);
    return false;
  }
  return true;
}

/* --- the sender --- */

static void *send_loop(void *argument) {
  hw__partition *p = argument;
  uint64_t seen = UINT64_MAX;
  while (hw__lease_holds(p->lease)) {
    const bool last_look = atomic_load(&p->closing);
    const uint64_t version = hw__store_wait(p->store, seen, last_look ? 0 : 500);
    const int sent = hw__outbox_flush(&p->outbox);
    if (sent < 0) {
      hw__clock_nap_ms(200);
    } else if (sent == 0) {
      seen = version;
      if (last_look) {
        break;
      }
    }
  }
  hw__partition_ask_stop(p); /* if the lease lapsed only for a moment, the feeder may not have noticed, and would go on
                                while nothing is published */
  return NULL;
}

/* --- the copier: a thread of its own, because a large database takes long to copy --- */

/* A copy is due when there is something new, the interval is over, and copying takes no more than a twentieth of the
 * time. */
static bool copy_is_due(hw__partition *p) {
  const int64_t since_ms = hw__clock_ms() - p->copies.made_ms;
  int64_t cursor = 0;
  return (double)since_ms > 1000 * p->plan->copy_s && since_ms > 20 * p->copies.took_ms &&
         hw__feed_cursor(p->store, HW_FEED_CURSOR, &cursor) == HW_DB_OK && cursor > p->copies.cursor;
}

static void *copy_loop(void *argument) {
  hw__partition *p = argument;
  while (!atomic_load(&p->closing) && hw__lease_holds(p->lease)) {
    if (copy_is_due(p)) {
      hw__copies_make(&p->copies, p->store);
    }
    hw__clock_nap_ms(200);
  }
  hw__partition_ask_stop(p); /* as with the sender */
  return NULL;
}

/* --- the feeder --- */

static size_t feed_once(hw__partition *p, hw__bus_pull *pull, bool *caught_up) {
  hw__bus_message messages[GROUP];
  size_t count = 0;
  if (hw__bus_pull_fetch(pull, messages, GROUP, FETCH_MS, &count) != HW_BUS_OK) {
    return 0;
  }
  *caught_up = count == 0 || messages[count - 1].pending == 0;
  uint64_t tally[HW_FATE_COUNT] = {0};
  hw__db_status status = HW_DB_OK;
  for (int tries = 0; count && goes_on(p); tries++) {
    status = hw__feed(p->store, p->catalog, p->plan->cluster->partitions, messages, count, tally);
    if (status == HW_DB_OK) {
      break;
    }
    hw__log(HW_LOG_ERROR, "readings_not_stored", "reason", hw__db_text(status));
    if (tries == TRIES || status == HW_DB_CORRUPT) {
      p->damaged = status == HW_DB_CORRUPT;
      fail(p, hw__db_text(status)); /* another worker has another disk */
      hw__partition_ask_stop(p);
    }
    hw__clock_nap_ms(500);
  }
  hw__fate_count(tally);
  for (size_t i = 0; i < count; i++) {
    hw__bus_message_free(&messages[i]);
  }
  return count;
}

static void feed(hw__partition *p) {
  char filter[64];
  hw__bus_pull *pull = NULL;
  snprintf(filter, sizeof filter, "hw.in.%zu.>", p->lease->partition);
  if (hw__bus_pull_open(p->plan->cluster->bus, "HW_IN", filter, p->cursor, &pull) != HW_OK) {
    fail(p, "out of memory");
    return;
  }
  bool caught_up = false, told = false;
  size_t replayed = 0;
  while (goes_on(p)) {
    replayed += feed_once(p, pull, &caught_up);
    if (caught_up && !told && goes_on(p)) {
      told = true;
      hw__log_fields(HW_LOG_INFO, "partition_taken", "{s:I, s:I, s:s, s:I, s:I, s:f}", "partition",
                     (json_int_t)p->lease->partition, "fence", (json_int_t)p->lease->fence, "origin", p->origin, "from",
                     (json_int_t)p->cursor, "replayed", (json_int_t)replayed, "seconds",
                     (double)(hw__clock_ms() - p->started_ms) * 1e-3);
    }
  }
  hw__bus_pull_close(pull);
}

static void close_all(hw__partition *p) {
  hw__upkeep_stop(&p->upkeep);
  if (p->store) {
    hw__store_wake_for_stop(p->store);
  }
  const bool processed = p->processing.tracker != NULL;
  hw__processing_stop(&p->processing);
  int64_t cursor = 0;
  if (processed && !p->damaged && hw__lease_holds(p->lease) &&
      hw__feed_cursor(p->store, HW_FEED_CURSOR, &cursor) == HW_DB_OK && cursor > p->copies.cursor) {
    hw__copies_make(&p->copies, p->store); /* for whoever is next */
  }
  hw__store_close(p->store);
  hw__catalog_free(p->catalog);
}

static void *feed_loop(void *argument) {
  hw__partition *p = argument;
  const bool ok = load_rivers(p) && open_store(p) && start_processing(p);
  const bool sends = ok && pthread_create(&p->sender, NULL, send_loop, p) == 0;
  const bool copies = sends && pthread_create(&p->copier, NULL, copy_loop, p) == 0;
  if (copies) {
    feed(p);
  } else if (ok) {
    fail(p, "no threads");
  }
  atomic_store(&p->closing, true);
  if (sends) {
    hw__store_nudge(p->store);
    pthread_join(p->sender, NULL);
  }
  if (copies) {
    pthread_join(p->copier, NULL);
  }
  close_all(p);
  if (p->damaged) {
    hw__copies_put_aside(&p->copies);
  }
  hw__log_fields(HW_LOG_INFO, "partition_left", "{s:I, s:I}", "partition", (json_int_t)p->lease->partition, "fence",
                 (json_int_t)p->lease->fence);
  atomic_store(&p->ended, true);
  return NULL;
}

hw_status hw__partition_start(const hw__partition_plan *plan, const hw__lease *lease, hw__partition **out) {
  *out = NULL;
  hw__partition *p = calloc(1, sizeof *p);
  if (!p) {
    return HW_ENOMEM;
  }
  p->plan = plan;
  p->lease = lease;
  p->started_ms = hw__clock_ms();
  snprintf(p->path, sizeof p->path, "%.400s/partition-%02zu.db", plan->dir, lease->partition);
  if (pthread_create(&p->feeder, NULL, feed_loop, p) != 0) {
    free(p);
    return HW_ENOMEM;
  }
  *out = p;
  return HW_OK;
}

bool hw__partition_ended(const hw__partition *partition) {
  return atomic_load(&partition->ended);
}

bool hw__partition_failed(const hw__partition *partition) {
  return atomic_load(&partition->failed);
}

void hw__partition_ask_stop(hw__partition *partition) {
  atomic_store(&partition->stopping, true);
}

void hw__partition_free(hw__partition *partition) {
  if (partition) {
    hw__partition_ask_stop(partition);
    pthread_join(partition->feeder, NULL);
    free(partition);
  }
}
