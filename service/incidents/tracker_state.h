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
} hw_tracked;

struct hw_tracker {
  hw_store *store;
  const hw_catalog *catalog;
  hw_tracker_options options;
  hw_tracker_listener listener;
  hw_detector **detectors; /* [site][sensor]; written by the tracker's thread, under the lock */
  double *slowest_m_s;     /* per site: a velocity to wait by */
  hw_tracked *open;
  size_t open_count, open_capacity;
  int64_t seq;          /* last record taken */
  bool incomplete;      /* the record after seq was begun and could not be finished */
  pthread_mutex_t lock; /* detectors, open_count, seq, stopping */
  pthread_cond_t news;
  bool stopping;
  pthread_t thread;
};

void *hw__tracker_loop(void *tracker);
bool hw__tracker_stopping(hw_tracker *tracker);
void hw__tracker_add(hw_tracker *tracker, const hw_tracked *tracked);
void hw__tracker_remove(hw_tracker *tracker, hw_tracked *tracked);
void hw__tracker_reach(hw_tracker *tracker, int64_t seq);
/* Tell those who wait for a record to be taken. */
void hw__tracker_news(hw_tracker *tracker);
void hw__tracker_save(hw_tracker *tracker);

#endif
