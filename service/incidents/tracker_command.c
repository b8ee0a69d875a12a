/* A person's command goes into the log like a reading, and is acted upon when its turn comes. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "incidents/tracker_state.h"

static hw__db_status run_command(hw__db *db, int64_t *seq, void *context) {
  return hw__db_command(db, context, seq);
}

static hw__db_status say(hw__tracker *tracker, hw__log_record *record) {
  record->received_us = hw__store_now_us(tracker->store);
  const hw__db_status status = hw__store_write(tracker->store, run_command, record);
  if (status != HW_DB_OK) {
    return status;
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;
  pthread_mutex_lock(&tracker->lock);
  int waited = 0;
  while (tracker->seq < record->seq && !tracker->stopping && waited == 0) {
    waited = pthread_cond_timedwait(&tracker->news, &tracker->lock, &until);
  }
  pthread_mutex_unlock(&tracker->lock);
  return HW_DB_OK;
}

hw__db_status hw__tracker_open(hw__tracker *tracker, size_t site, const char *method, double time_s, int64_t *id) {
  hw__log_record record = {
      .kind = HW_RECORD_OPEN, .river = hw__catalog_site(tracker->catalog, site)->key, .time_s = time_s};
  snprintf(record.method, sizeof record.method, "%s", method ? method : "");
  const hw__db_status status = say(tracker, &record);
  *id = status == HW_DB_OK ? record.seq : *id;
  return status;
}

hw__db_status hw__tracker_close(hw__tracker *tracker, int64_t id) {
  bool found = false;
  int64_t river = 0;
  pthread_mutex_lock(&tracker->lock);
  for (size_t i = 0; i < tracker->open_count; i++) {
    found = found || tracker->open[i].id == id;
    river = tracker->open[i].id == id ? tracker->open[i].river : river;
  }
  pthread_mutex_unlock(&tracker->lock);
  if (!found) {
    return HW_DB_ABSENT;
  }
  hw__log_record record = {.kind = HW_RECORD_CLOSE, .river = river, .incident = id, .time_s = NAN};
  return say(tracker, &record);
}

hw__db_status hw__tracker_acknowledge(hw__tracker *tracker, const hw__incident *incident, const char *note,
                                      int64_t *seq) {
  hw__log_record record = {
      .kind = HW_RECORD_ACKNOWLEDGE, .river = incident->river, .incident = incident->id, .time_s = NAN, .note = note};
  const hw__db_status status = say(tracker, &record);
  *seq = record.seq;
  return status;
}
