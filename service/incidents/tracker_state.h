/* What the tracker holds, and how it is kept over a restart. */
#ifndef HW_INCIDENTS_TRACKER_STATE_H
#define HW_INCIDENTS_TRACKER_STATE_H

#include <pthread.h>

#include "incidents/tracker.h"

/* An open incident as the tracker sees it; plain data, part of the snapshot. */
typedef struct {
  int64_t id, river;
  double opened_s, latest_s; /* reading time */
  double above_s;            /* last reading above the background; NAN: none yet */
  int64_t sensor;            /* key of the sensor that raised it; 0: opened by a person, so every sensor concerns it */
  int64_t furthest;          /* key of the most downstream sensor that was above it; 0: none yet */
} hw__tracked;

/* When records were received, as far as it tells that the machine's clock may have been set; part of the snapshot. */
typedef struct {
  int64_t received_us;    /* the last record */
  int64_t doubt_until_us; /* until then it may be a wrong clock by which records are accepted; 0: no doubt */
  int64_t pause_us;       /* before the record that raised the doubt */
  int64_t known_us;       /* the longest pause that was one: the clock went on from there for an hour */
} hw__tracker_clock;

struct hw__tracker {
  hw__store *store;
  const hw__catalog *catalog;
  hw__tracker_options options;
  hw__tracker_listener listener;
  hw__detector **detectors; /* [site][sensor]; written by the tracker's thread, under the lock */
  double *slowest_m_s;      /* per site: the velocity by which waiting times are computed */
  hw__tracked *open;
  size_t open_count, open_capacity;
  int64_t seq; /* last record taken */
  hw__tracker_clock clock;
  bool incomplete;      /* the record after seq was begun but not finished */
  pthread_mutex_t lock; /* detectors, open_count, seq, stopping */
  pthread_cond_t news;
  bool stopping;
  pthread_t thread;
};

void *hw__tracker_loop(void *tracker);
bool hw__tracker_stopping(hw__tracker *tracker);
void hw__tracker_add(hw__tracker *tracker, const hw__tracked *tracked);
void hw__tracker_remove(hw__tracker *tracker, hw__tracked *tracked);
void hw__tracker_reach(hw__tracker *tracker, int64_t seq);
/* Wakes those who wait until a record is processed. */
void hw__tracker_news(hw__tracker *tracker);
void hw__tracker_save(hw__tracker *tracker);

/* Stores that an incident opened or closed, by the record of this number, with the event that reports it. */
hw__db_status hw__tracker_write_change(hw__tracker *tracker, const hw__incident *incident, bool opening, int64_t seq);
/* Store the event of an acknowledgement. */
hw__db_status hw__tracker_write_acknowledgement(hw__tracker *tracker, const hw__log_record *record);

#endif
