#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/show.h"

enum { READINGS_MAX = 20000 };

hw__reply hw__get_rivers(hw__request *request) {
  json_t *list = json_array();
  for (size_t i = 0; i < hw__catalog_count(request->service->catalog); i++) {
    json_array_append_new(list, hw__show_river(request->service, i, true));
  }
  return hw__reply_json(200, json_pack("{s:o}", "rivers", list));
}

static ptrdiff_t captured_river(const hw__request *request) {
  return hw__catalog_find(request->service->catalog, request->captured[0]);
}

static hw__reply no_river(const hw__request *request) {
  return hw__reply_error(404, "no river '%.64s'", request->captured[0]);
}

hw__reply hw__get_river(hw__request *request) {
  const ptrdiff_t index = captured_river(request);
  return index < 0 ? no_river(request) : hw__reply_json(200, hw__show_river(request->service, (size_t)index, false));
}

/* The latest `limit` readings of one sensor in a span of time; what a chart needs. */
hw__reply hw__get_river_readings(hw__request *request) {
  hw__service *service = request->service;
  const ptrdiff_t index = captured_river(request);
  const char *sensor = hw__query(request, "sensor");
  hw__place place;
  if (index < 0) {
    return no_river(request);
  }
  if (!sensor || hw__catalog_sensor(service->catalog, request->captured[0], sensor, &place) != HW_OK) {
    return hw__reply_error(404, "sensor '%.64s', expected one of this river", sensor ? sensor : "");
  }
  double from_s, to_s, limit;
  if (!hw__query_time(request, "from", -INFINITY, &from_s) || !hw__query_time(request, "to", INFINITY, &to_s) ||
      !hw__query_number(request, "limit", 2000, &limit) || !(limit >= 1) || limit > READINGS_MAX) {
    return hw__reply_error(400, "from, to: expected seconds or ISO 8601; limit: 1 to %d", READINGS_MAX);
  }
  const bool calendar = hw__river_time_base(service, place.site) == HW_TIME_CALENDAR;
  hw__log_record *records = malloc((size_t)limit * sizeof *records);
  hw__db *db = records ? hw__store_reader(service->store) : NULL;
  size_t count = 0;
  hw__db_status status = records ? HW_DB_IO : HW_DB_MEMORY;
  if (db) {
    status = hw__db_sensor_log(db, hw__catalog_site(service->catalog, place.site)->sensor_keys[place.sensor], from_s,
                               to_s, records, (size_t)limit, &count);
    hw__store_return(service->store, db);
  }
  json_t *list = json_array();
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    json_array_append_new(list, hw__show_reading(service, &records[i], calendar));
  }
  free(records);
  if (status != HW_DB_OK) {
    json_decref(list);
    return hw__reply_db(status);
  }
  return hw__reply_json(
      200, json_pack("{s:s, s:s, s:o}", "river", request->captured[0], "sensor", sensor, "readings", list));
}
