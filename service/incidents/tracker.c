#include "incidents/tracker.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "incidents/tracker_state.h"

enum { PAGE = 2048, SNAPSHOT_RECORDS = 50000, SNAPSHOT_MS = 10000 };
static const double longest_incident_s = 30 * 86400.0, day_s = 86400;
static const int64_t hour_us = INT64_C(3600000000), day_us = INT64_C(86400000000);

/* Does a reading of this sensor concern the open incident? */
static bool concerns(const hw__site *site, const hw__tracked *tracked, const hw__log_record *record) {
  return tracked->river == record->river && hw__site_on_one_path(site, tracked->sensor, record->sensor);
}

/* On a network a spill that no open incident can account for opens one of its own. */
static bool is_open_on(const hw__tracker *tracker, const hw__site *site, const hw__log_record *record) {
  for (size_t i = 0; i < tracker->open_count; i++) {
    if (concerns(site, &tracker->open[i], record)) {
      return true;
    }
  }
  return false;
}

/* --- opening and closing --- */

/* The engine's time 0, as `identify` would choose it for the same readings: the epoch where the search
 * box has dates or the readings have none, else the first reading. */
static double origin_of(hw__tracker *tracker, const hw__site *site, const hw__incident *incident, double fallback_s) {
  hw__time_base base = HW_TIME_UNSET;
  double origin = 0;
  hw__db *db = hw__store_reader(tracker->store);
  if (db && !site->river.search_is_calendar && hw__db_time_base(db, site->key, &base) == HW_DB_OK &&
      base == HW_TIME_CALENDAR) {
    hw__log_record first;
    size_t count = 0;
    const hw__lead_in what = {site->key, incident->from_s, 0, incident->id};
    origin = hw__db_lead_in(db, &what, &first, 1, &count) == HW_DB_OK && count ? first.time_s : fallback_s;
  }
  if (db) {
    hw__store_return(tracker->store, db);
  }
  return origin;
}

static void open_incident(hw__tracker *tracker, size_t site_index, const hw__log_record *record, double onset_s) {
  const hw__site *site = hw__catalog_site(tracker->catalog, site_index);
  hw__incident incident = {.id = record->seq,
                           .river = site->key,
                           .sensor = record->kind == HW_RECORD_READING ? record->sensor : 0,
                           .seed = tracker->options.seed,
                           .opened_s = record->time_s,
                           .onset_s = onset_s,
                           .from_s = onset_s - tracker->options.lead_in_s,
                           .opened_us = record->received_us,
                           .engine = HW_ENGINE};
  snprintf(incident.method, sizeof incident.method, "%s", record->method[0] ? record->method : tracker->options.method);
  incident.origin_s = origin_of(tracker, site, &incident, record->time_s);
  if (hw__tracker_write_change(tracker, &incident, true, record->seq) != HW_DB_OK) {
    tracker->incomplete = true;
    return;
  }
  hw__tracked tracked = {.id = incident.id,
                         .river = site->key,
                         .opened_s = record->time_s,
                         .latest_s = record->time_s,
                         .above_s = record->kind == HW_RECORD_READING ? record->time_s : (double)NAN,
                         .sensor = incident.sensor};
  hw__tracker_add(tracker, &tracked);
  if (tracker->listener.opened) {
    tracker->listener.opened(tracker->listener.context, &incident);
  }
}

static void close_incident(hw__tracker *tracker, hw__tracked *tracked, const hw__log_record *record,
                           const char *reason) {
  hw__incident incident = {.id = tracked->id,
                           .river = tracked->river,
                           .closed_seq = record->seq,
                           .closed_s = tracked->latest_s,
                           .closed_us = record->received_us};
  snprintf(incident.reason, sizeof incident.reason, "%s", reason);
  if (hw__tracker_write_change(tracker, &incident, false, record->seq) != HW_DB_OK) {
    tracker->incomplete = true;
    return;
  }
  hw__tracker_remove(tracker, tracked);
  if (tracker->listener.closed) {
    tracker->listener.closed(tracker->listener.context, &incident);
  }
}

/* Is a sensor that this incident concerns above its background, as far as recent readings tell? */
static bool any_alarm(const hw__tracker *tracker, size_t site_index, const hw__tracked *tracked) {
  const hw__site *site = hw__catalog_site(tracker->catalog, site_index);
  for (size_t s = 0; s < site->river.sensor_count; s++) {
    const hw__detector *d = &tracker->detectors[site_index][s];
    if (d->alarm && d->latest_s > tracked->latest_s - tracker->options.quiet_s &&
        hw__site_on_one_path(site, tracked->sensor, site->sensor_keys[s])) {
      return true;
    }
  }
  return false;
}

/* How long until the pulse reaches the next sensor that has not seen it, 0 below the last. */
static double travel_to_next_s(const hw__tracker *tracker, size_t site_index, int64_t furthest) {
  const hw__site *site = hw__catalog_site(tracker->catalog, site_index);
  double next_m = INFINITY;
  for (size_t s = 0; s < site->river.sensor_count; s++) {
    const double way_m = hw__site_way_m(site, furthest, site->sensor_keys[s]);
    next_m = way_m > 0 && way_m < next_m ? way_m : next_m;
  }
  /* Half as long again, because velocities are medians and the tail comes later than the front. */
  return isfinite(next_m) ? 1.5 * next_m / tracker->slowest_m_s[site_index] : 0;
}

/* More than a day after the last record it was a long pause, or the clock was set ahead: for an hour nobody knows,
 * unless there were such pauses before. One that is set back meanwhile was wrong, and is no longer. */
static void watch_clock(hw__tracker *tracker, const hw__log_record *record) {
  hw__tracker_clock *clock = &tracker->clock;
  const int64_t pause_us = clock->received_us ? record->received_us - clock->received_us : 0;
  if (clock->doubt_until_us && record->received_us >= clock->doubt_until_us) {
    clock->known_us = clock->pause_us > clock->known_us ? clock->pause_us : clock->known_us;
    clock->doubt_until_us = 0;
  } else if (record->received_us < clock->doubt_until_us - hour_us) {
    clock->doubt_until_us = 0;
  }
  if (pause_us > day_us && pause_us / 2 > clock->known_us) {
    clock->doubt_until_us = record->received_us + hour_us;
    clock->pause_us = pause_us;
  }
  clock->received_us = record->received_us;
}

static void follow_incident(hw__tracker *tracker, size_t site_index, hw__tracked *tracked,
                            const hw__log_record *record) {
  tracked->latest_s = fmax(tracked->latest_s, record->time_s);
  if (tracked->latest_s - tracked->opened_s > longest_incident_s) {
    close_incident(tracker, tracked, record, "expired");
    return;
  }
  if (!isfinite(tracked->above_s) || any_alarm(tracker, site_index, tracked)) {
    return;
  }
  const double hold_s = tracker->options.quiet_s + travel_to_next_s(tracker, site_index, tracked->furthest);
  if (tracked->latest_s > tracked->above_s + hold_s) {
    close_incident(tracker, tracked, record, "passed");
  }
}

/* Dated more than a day after somebody received something. */
static bool is_ahead(double time_s, const hw__log_record *record) {
  return time_s > (double)record->received_us * 1e-6 + day_s;
}

static bool has_dates(hw__tracker *tracker, int64_t river) {
  hw__time_base base = HW_TIME_UNSET;
  hw__db *db = hw__store_reader(tracker->store);
  const bool known = db && hw__db_time_base(db, river, &base) == HW_DB_OK;
  if (db) {
    hw__store_return(tracker->store, db);
  }
  return known && base == HW_TIME_CALENDAR;
}

/* A reading dated far in the future, accepted while the clock was wrong, must not count as its sensor's latest: all
 * later readings would look late. If one did, it is dropped and learning starts again when the sensor reports the
 * present. A recording replayed from the future is ahead as a whole and is taken as it is.
 * Returned: true when this record is to be skipped. */
static bool is_misdated(hw__tracker *tracker, const hw__log_record *record, hw__detector *detector) {
  const bool ahead = is_ahead(record->time_s, record);
  if (detector->readings == 0 || ahead == is_ahead(detector->latest_s, record) || !has_dates(tracker, record->river)) {
    return false;
  }
  if (!ahead) {
    pthread_mutex_lock(&tracker->lock);
    hw__detect_init(detector);
    pthread_mutex_unlock(&tracker->lock);
  }
  return ahead;
}

static void take_reading(hw__tracker *tracker, const hw__log_record *record) {
  hw__place place;
  if (hw__catalog_place(tracker->catalog, record->sensor, &place) != HW_OK || place.gauge) {
    return; /* a sensor no river file has any more */
  }
  const hw__site *site = hw__catalog_site(tracker->catalog, place.site);
  const hw_sensor *sensor = &site->river.sensors[place.sensor];
  hw__detector *detector = &tracker->detectors[place.site][place.sensor];
  if (is_misdated(tracker, record, detector)) {
    return;
  }
  pthread_mutex_lock(&tracker->lock);
  const hw__detection found =
      hw__detect_step(detector, sensor, record->time_s, record->concentration_g_m3, record->below_limit);
  pthread_mutex_unlock(&tracker->lock);
  if (tracker->options.watch_only) {
    return;
  }
  if (found == HW_DETECT_RAISED && !is_open_on(tracker, site, record)) {
    open_incident(tracker, place.site, record, detector->onset_s);
  }
  const bool above = found == HW_DETECT_RAISED || found == HW_DETECT_ALARM;
  /* A reading that may be dated by a wrong clock neither ends an incident nor holds it open. */
  for (size_t i = tracker->clock.doubt_until_us ? 0 : tracker->open_count; i-- > 0;) {
    hw__tracked *each = &tracker->open[i];
    if (concerns(site, each, record)) {
      if (above) {
        each->above_s = isfinite(each->above_s) ? fmax(each->above_s, record->time_s) : record->time_s;
        const bool further = !each->furthest || hw__site_way_m(site, each->furthest, record->sensor) > 0;
        each->furthest = further ? record->sensor : each->furthest;
      }
      follow_incident(tracker, place.site, each, record);
    }
  }
}

/* Time of the river's latest reading; 0 before the first. */
static double latest_reading_s(const hw__tracker *tracker, size_t site_index) {
  double latest_s = -INFINITY;
  for (size_t s = 0; s < hw__catalog_site(tracker->catalog, site_index)->river.sensor_count; s++) {
    latest_s = fmax(latest_s, tracker->detectors[site_index][s].latest_s);
  }
  return isfinite(latest_s) ? latest_s : 0;
}

static void take_command(hw__tracker *tracker, const hw__log_record *record) {
  if (record->kind == HW_RECORD_OPEN) {
    const ptrdiff_t site = hw__catalog_site_of_key(tracker->catalog, record->river);
    if (site >= 0) {
      hw__log_record opening = *record;
      opening.time_s = isfinite(record->time_s) ? record->time_s : latest_reading_s(tracker, (size_t)site);
      open_incident(tracker, (size_t)site, &opening, opening.time_s);
    }
    return;
  }
  if (record->kind == HW_RECORD_ACKNOWLEDGE) {
    tracker->incomplete = hw__tracker_write_acknowledgement(tracker, record) != HW_DB_OK;
    return;
  }
  for (size_t i = 0; i < tracker->open_count; i++) {
    if (tracker->open[i].id == record->incident) {
      close_incident(tracker, &tracker->open[i], record, "closed by hand");
      return;
    }
  }
}

/* One page of the log, which ends at `head`. Returned: how many records there were. */
static size_t take_page(hw__tracker *tracker, hw__log_record *page, int64_t head) {
  hw__db *db = NULL;
  size_t count = 0;
  hw__db_status status = hw__store_borrow(tracker->store, &db);
  if (status == HW_DB_OK) {
    status = hw__db_log(db, tracker->seq, page, PAGE, &count);
    hw__store_return(tracker->store, db);
  }
  if (status != HW_DB_OK) {
    hw__log(HW_LOG_ERROR, "log_not_readable", "reason", hw__db_text(status));
    hw__store_wait(tracker->store, UINT64_MAX, 1000);
    return 0;
  }
  for (size_t i = 0; i < count && !tracker->incomplete; i++) {
    watch_clock(tracker, &page[i]);
    if (page[i].kind == HW_RECORD_READING) {
      take_reading(tracker, &page[i]);
    } else if (page[i].kind != HW_RECORD_DISCHARGE && !tracker->options.watch_only) {
      take_command(tracker, &page[i]);
    }
    if (!tracker->incomplete) {
      hw__tracker_reach(tracker, page[i].seq);
    }
  }
  if (!count) {
    hw__tracker_reach(tracker, head); /* the last numbers belonged to records that were lost */
  }
  if (count && tracker->listener.advanced) {
    tracker->listener.advanced(tracker->listener.context);
  }
  return count;
}

void *hw__tracker_loop(void *argument) {
  hw__tracker *tracker = argument;
  hw__log_record *page = malloc(PAGE * sizeof *page);
  uint64_t seen = UINT64_MAX; /* no version: the first look is at once */
  size_t since_snapshot = 0;  /* records */
  int64_t snapshot_us = hw__store_now_us(tracker->store);
  while (page && !hw__tracker_stopping(tracker)) {
    const uint64_t version = hw__store_wait(tracker->store, seen, SNAPSHOT_MS);
    const int64_t head = hw__store_seq(tracker->store);
    size_t taken = 1;
    while (tracker->seq < head && !hw__tracker_stopping(tracker) && taken > 0) {
      taken = take_page(tracker, page, head);
      since_snapshot += taken;
      if (since_snapshot >= SNAPSHOT_RECORDS) {
        hw__tracker_save(tracker);
        since_snapshot = 0;
      }
    }
    if (version != seen && tracker->seq >= head) {
      seen = version;
      hw__tracker_news(tracker);
    }
    const int64_t now_us = hw__store_now_us(tracker->store);
    if (since_snapshot > 0 && now_us - snapshot_us > SNAPSHOT_MS * INT64_C(1000)) {
      hw__tracker_save(tracker);
      since_snapshot = 0;
      snapshot_us = now_us;
    }
  }
  free(page);
  return NULL;
}
