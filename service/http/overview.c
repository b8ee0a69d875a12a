/* All rivers at a glance: as much of each as a list and a map of them need. */
#include <math.h>
#include <string.h>

#include "http/handlers.h"
#include "live/present.h"
#include "live/show.h"

static const char *const states[] = {"no data", "learning", "quiet", "alarm", "silent"};
enum { STATES = sizeof states / sizeof states[0] };

static json_t *count_sensors(hw__service *service, size_t index, double present_s) {
  const hw_river *river = &hw__catalog_site(service->catalog, index)->river;
  size_t counts[STATES] = {0};
  for (size_t s = 0; s < river->sensor_count; s++) {
    const hw__detector d = hw__tracker_detector(service->processing.tracker, (hw__place){index, s});
    const char *state = hw__sensor_state(&d, present_s);
    for (size_t k = 0; k < STATES; k++) {
      counts[k] += strcmp(state, states[k]) == 0;
    }
  }
  json_t *root = json_pack("{s:I}", "total", (json_int_t)river->sensor_count);
  for (size_t k = 0; k < STATES; k++) {
    json_object_set_new(root, states[k], json_integer((json_int_t)counts[k]));
  }
  return root;
}

static json_t *show_river(hw__service *service, size_t index) {
  static const char *const bases[] = {
      [HW_TIME_UNSET] = "unset", [HW_TIME_RELATIVE] = "relative", [HW_TIME_CALENDAR] = "calendar"};
  const hw__site *site = hw__catalog_site(service->catalog, index);
  const double present_s = hw__present_s(service, index);
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:b}", "id", site->id, "name", site->river.name, "time_base",
                   bases[hw__river_time_base(service, index)], "present_s", hw__real(present_s), "sensors",
                   count_sensors(service, index, present_s), "remarks",
                   hw__show_remarks(&site->river, hw__river_time_base(service, index) == HW_TIME_CALENDAR, present_s),
                   "has_centerline", hw__site_is_mapped(site));
}

hw__reply hw__get_overview(hw__request *request) {
  hw__service *service = request->service;
  json_t *rivers = json_array();
  for (size_t i = 0; i < hw__catalog_count(service->catalog); i++) {
    json_array_append_new(rivers, show_river(service, i));
  }
  const char *tiles = service->options.tiles;
  return hw__reply_json(200,
                        json_pack("{s:o, s:o}", "rivers", rivers, "tiles", tiles ? json_string(tiles) : json_null()));
}
