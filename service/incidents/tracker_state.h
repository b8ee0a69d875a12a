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
  double furthest_m;         /* most downstream sensor that was above it */
} hw__tracked;

struct hw__tracker {
  hw__store *store;
  const hw__catalog *catalog;
  hw__tracker_options options;
  hw__tracker_listener listener;
  hw__detector **detectors; /* [site][sensor]; written by the tracker's thread, under the lock */
  double *slowest_m_s;      /* per site: a velocity to wait by */
  hw__tracked *open;
  size_t open_count, open_capacity;
  int64_t seq;          /* last record taken */
  bool incomplete;      /* the record after seq was begun and could not be finished */
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
/* Tell those who wait for a record to be taken. */
void hw__tracker_news(hw__tracker *tracker);
void hw__tracker_save(hw__tracker *tracker);

#endif
