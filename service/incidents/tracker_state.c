/* The snapshot is the state after one record, byte for byte: a header, then (sensor key, detector) pairs, then the
 * open incidents. Nothing depends on it: without one the log is processed from its start. One of another layout (an
 * upgrade in between) cannot be read; then detection starts afresh at the head of the log and open incidents go on. */
#include "incidents/tracker_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"

typedef struct {
  char magic[8];
  uint32_t detector_size, tracked_size;
  uint64_t detectors, tracked;
  hw__tracker_clock clock;
} snapshot_header;

typedef struct {
  int64_t key;
  hw__detector detector;
} snapshot_row;

static const char magic[8] = "HWTRACK2";

bool hw__tracker_stopping(hw__tracker *tracker) {
  pthread_mutex_lock(&tracker->lock);
  const bool stopping = tracker->stopping;
  pthread_mutex_unlock(&tracker->lock);
  return stopping;
}

void hw__tracker_add(hw__tracker *tracker, const hw__tracked *tracked) {
  pthread_mutex_lock(&tracker->lock);
  if (hw__grow(&tracker->open, tracker->open_count, &tracker->open_capacity, sizeof *tracker->open, 64)) {
    tracker->open[tracker->open_count++] = *tracked;
  }
  pthread_mutex_unlock(&tracker->lock);
}

void hw__tracker_remove(hw__tracker *tracker, hw__tracked *tracked) {
  pthread_mutex_lock(&tracker->lock);
  /* Order is kept: it is the order in which incidents are looked at. */
  const size_t after = (size_t)(tracker->open + tracker->open_count - tracked) - 1;
  memmove(tracked, tracked + 1, after * sizeof *tracked);
  tracker->open_count--;
  pthread_mutex_unlock(&tracker->lock);
}

void hw__tracker_reach(hw__tracker *tracker, int64_t seq) {
  pthread_mutex_lock(&tracker->lock);
  tracker->seq = seq;
  pthread_mutex_unlock(&tracker->lock);
}

void hw__tracker_news(hw__tracker *tracker) {
  pthread_mutex_lock(&tracker->lock);
  pthread_cond_broadcast(&tracker->news);
  pthread_mutex_unlock(&tracker->lock);
}

/* --- snapshot --- */

typedef struct {
  int64_t seq;
  const void *body;
  size_t size;
} snapshot_job;

static hw__db_status run_snapshot(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const snapshot_job *job = context;
  return hw__db_put_snapshot(db, job->seq, job->body, job->size);
}

void hw__tracker_save(hw__tracker *tracker) {
  size_t sensors = 0;
  for (size_t r = 0; r < hw__catalog_count(tracker->catalog); r++) {
    sensors += hw__catalog_site(tracker->catalog, r)->river.sensor_count;
  }
  const size_t size =
      sizeof(snapshot_header) + sensors * sizeof(snapshot_row) + tracker->open_count * sizeof(hw__tracked);
  char *body = calloc(1, size);
  if (!body) {
    return;
  }
  snapshot_header header = {.detector_size = sizeof(snapshot_row),
                            .tracked_size = sizeof(hw__tracked),
                            .detectors = sensors,
                            .tracked = tracker->open_count,
                            .clock = tracker->clock};
  memcpy(header.magic, magic, sizeof magic);
  memcpy(body, &header, sizeof header);
  char *at = body + sizeof header;
  for (size_t r = 0; r < hw__catalog_count(tracker->catalog); r++) {
    const hw__site *site = hw__catalog_site(tracker->catalog, r);
    for (size_t s = 0; s < site->river.sensor_count; s++, at += sizeof(snapshot_row)) {
      const snapshot_row row = {site->sensor_keys[s], tracker->detectors[r][s]};
      memcpy(at, &row, sizeof row);
    }
  }
  if (tracker->open_count) {
    memcpy(at, tracker->open, tracker->open_count * sizeof *tracker->open);
  }
  snapshot_job job = {tracker->seq, body, size};
  const hw__db_status status = hw__store_write(tracker->store, run_snapshot, &job);
  if (status != HW_DB_OK && status != HW_DB_STOPPING) {
    hw__log(HW_LOG_WARNING, "snapshot_not_stored", "reason", hw__db_text(status));
  }
  free(body);
}

static bool restore(hw__tracker *tracker, const char *body, size_t size) {
  snapshot_header header;
  if (size < sizeof header) {
    return false;
  }
  memcpy(&header, body, sizeof header);
  const size_t rest = size - sizeof header;
  if (memcmp(header.magic, magic, sizeof magic) != 0 || header.detector_size != sizeof(snapshot_row) ||
      header.tracked_size != sizeof(hw__tracked) || header.detectors > rest / sizeof(snapshot_row) ||
      header.tracked > rest / sizeof(hw__tracked) ||
      header.detectors * sizeof(snapshot_row) + header.tracked * sizeof(hw__tracked) != rest) {
    return false;
  }
  tracker->clock = header.clock;
  const char *at = body + sizeof header;
  for (uint64_t i = 0; i < header.detectors; i++, at += sizeof(snapshot_row)) {
    snapshot_row row;
    hw__place place;
    memcpy(&row, at, sizeof row);
    if (hw__catalog_place(tracker->catalog, row.key, &place) == HW_OK && !place.gauge) {
      tracker->detectors[place.site][place.sensor] = row.detector;
    }
  }
  for (uint64_t i = 0; i < header.tracked; i++, at += sizeof(hw__tracked)) {
    hw__tracked tracked;
    memcpy(&tracked, at, sizeof tracked);
    hw__tracker_add(tracker, &tracked);
  }
  return true;
}

static void adopt_open_incidents(hw__tracker *tracker, hw__db *db) {
  hw__incident open[256];
  size_t count = 0;
  hw__db_incidents(db, &(hw__incident_query){.open_only = true}, open, 256, &count);
  for (size_t i = count; i-- > 0;) {
    const hw__tracked tracked = {.id = open[i].id,
                                 .river = open[i].river,
                                 .opened_s = open[i].opened_s,
                                 .latest_s = open[i].opened_s,
                                 .above_s = open[i].opened_s,
                                 .sensor = open[i].sensor};
    hw__tracker_add(tracker, &tracked);
  }
}

static hw__db_status bring_back(hw__tracker *tracker) {
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(tracker->store, &db);
  if (status != HW_DB_OK) {
    return status;
  }
  void *body = NULL;
  size_t size = 0;
  int64_t seq = 0;
  status = hw__db_snapshot(db, &seq, &body, &size);
  if (status == HW_DB_OK) {
    if (restore(tracker, body, size)) {
      tracker->seq = seq;
    } else {
      hw__log(HW_LOG_WARNING, "snapshot_not_readable", "consequence", "detection learns anew");
      tracker->seq = hw__store_seq(tracker->store);
      adopt_open_incidents(tracker, db);
    }
  }
  free(body);
  hw__store_return(tracker->store, db);
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

/* --- life --- */

static double velocity_to_wait_by(const hw_river *river) {
  double slowest = river->hydraulics.velocity_m_s.certainty != HW_UNKNOWN ? river->hydraulics.velocity_m_s.value : 0;
  for (size_t i = 0; i < river->reach_count; i++) {
    const double v = river->reaches[i].velocity_m_s;
    slowest = slowest > 0 && slowest < v ? slowest : v;
  }
  for (size_t b = 0; b < river->branch_count; b++) {
    for (size_t i = 0; i < river->branches[b].reach_count; i++) {
      const double v = river->branches[b].reaches[i].velocity_m_s;
      slowest = slowest > 0 && slowest < v ? slowest : v;
    }
  }
  for (size_t s = 0; s < river->sensor_count && slowest <= 0; s++) {
    slowest = river->sensors[s].section_velocity_m_s;
  }
  return slowest > 0 ? slowest : 0.3; /* velocity not known: that of a lowland river */
}

static void release(hw__tracker *tracker) {
  for (size_t r = 0; tracker->detectors && r < hw__catalog_count(tracker->catalog); r++) {
    free(tracker->detectors[r]);
  }
  free(tracker->detectors);
  free(tracker->slowest_m_s);
  free(tracker->open);
  free(tracker);
}

static bool allocate(hw__tracker *tracker) {
  const size_t sites = hw__catalog_count(tracker->catalog);
  tracker->detectors = calloc(sites, sizeof(hw__detector *));
  tracker->slowest_m_s = calloc(sites, sizeof *tracker->slowest_m_s);
  bool ok = tracker->detectors && tracker->slowest_m_s;
  for (size_t r = 0; r < sites && ok; r++) {
    const hw_river *river = &hw__catalog_site(tracker->catalog, r)->river;
    tracker->slowest_m_s[r] = velocity_to_wait_by(river);
    tracker->detectors[r] = calloc(river->sensor_count, sizeof **tracker->detectors);
    ok = tracker->detectors[r] != NULL;
    for (size_t s = 0; s < river->sensor_count && ok; s++) {
      hw__detect_init(&tracker->detectors[r][s]);
    }
  }
  return ok;
}

hw__db_status hw__tracker_start(hw__store *store, const hw__catalog *catalog, const hw__tracker_options *options,
                                const hw__tracker_listener *listener, hw__tracker **out) {
  *out = NULL;
  hw__tracker *tracker = calloc(1, sizeof *tracker);
  if (!tracker) {
    return HW_DB_MEMORY;
  }
  tracker->store = store;
  tracker->catalog = catalog;
  tracker->options = *options;
  tracker->listener = *listener;
  pthread_mutex_init(&tracker->lock, NULL);
  pthread_cond_init(&tracker->news, NULL);
  hw__db_status status = allocate(tracker) ? bring_back(tracker) : HW_DB_MEMORY;
  if (status == HW_DB_OK && pthread_create(&tracker->thread, NULL, hw__tracker_loop, tracker) != 0) {
    status = HW_DB_THREAD;
  }
  if (status != HW_DB_OK) {
    release(tracker);
    return status;
  }
  *out = tracker;
  return HW_DB_OK;
}

void hw__tracker_stop(hw__tracker *tracker) {
  if (!tracker) {
    return;
  }
  pthread_mutex_lock(&tracker->lock);
  tracker->stopping = true;
  pthread_cond_broadcast(&tracker->news);
  pthread_mutex_unlock(&tracker->lock);
  hw__store_nudge(tracker->store);
  pthread_join(tracker->thread, NULL);
  if (!tracker->incomplete) {
    hw__tracker_save(tracker);
  }
  release(tracker);
}

int64_t hw__tracker_seq(hw__tracker *tracker) {
  pthread_mutex_lock(&tracker->lock);
  const int64_t seq = tracker->seq;
  pthread_mutex_unlock(&tracker->lock);
  return seq;
}

hw__detector hw__tracker_detector(hw__tracker *tracker, hw__place place) {
  pthread_mutex_lock(&tracker->lock);
  const hw__detector detector = tracker->detectors[place.site][place.sensor];
  pthread_mutex_unlock(&tracker->lock);
  return detector;
}

size_t hw__tracker_open_count(hw__tracker *tracker) {
  pthread_mutex_lock(&tracker->lock);
  const size_t count = tracker->open_count;
  pthread_mutex_unlock(&tracker->lock);
  return count;
}
