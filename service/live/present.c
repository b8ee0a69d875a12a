#include "live/present.h"

#include <math.h>

#include "live/show.h"

static const double live_s = 86400; /* a reading that arrives later than this counts as a recording */

/* Did this sensor's latest reading arrive when it was taken? The answer stays the same however long the sensor is
 * silent afterwards. A reading that was removed was an old one of a live river. */
static bool came_live(hw__service *service, hw__place place, double latest_s) {
  const hw__site *site = hw__catalog_site(service->catalog, place.site);
  hw__log_record record;
  size_t count = 0;
  hw__db *db = hw__store_reader(service->store);
  if (db) {
    hw__db_sensor_log(db, site->sensor_keys[place.sensor], latest_s, latest_s, &record, 1, &count);
    hw__store_return(service->store, db);
  }
  return count == 0 || fabs((double)record.received_us * 1e-6 - record.time_s) < live_s;
}

double hw__present_s(hw__service *service, size_t site) {
  const hw_river *river = &hw__catalog_site(service->catalog, site)->river;
  double latest_s = -INFINITY;
  hw__place latest = {site, 0};
  for (size_t s = 0; s < river->sensor_count; s++) {
    const double here_s = hw__tracker_detector(service->processing.tracker, (hw__place){site, s}).latest_s;
    latest.sensor = here_s > latest_s ? s : latest.sensor;
    latest_s = fmax(latest_s, here_s);
  }
  const bool live = isfinite(latest_s) && hw__river_time_base(service, site) == HW_TIME_CALENDAR &&
                    came_live(service, latest, latest_s);
  return live ? fmax(latest_s, (double)hw__store_now_us(service->store) * 1e-6) : latest_s;
}

double hw__sensor_patience_s(const hw__detector *detector) {
  return fmax(300, 5 * detector->interval_s);
}

bool hw__sensor_is_silent(const hw__detector *detector, double present_s) {
  return detector->readings > 0 && present_s - detector->latest_s > hw__sensor_patience_s(detector);
}
