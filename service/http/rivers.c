#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/show.h"

static bool read_limit(const hw__request *request, size_t *out, hw__reply *refusal) {
  double limit;
  if (!hw__query_number(request, "limit", HW_PAGE_USUAL, &limit) || !(limit >= 1)) {
    *refusal = hw__reply_error(400, "limit: expected a number from 1 on");
    return false;
  }
  *out = (size_t)fmin(limit, HW_PAGE_MOST);
  return true;
}

bool hw__query_page(const hw__request *request, const hw__site *site, hw__sensor_page *out, hw__reply *refusal) {
  const char *after = hw__query(request, "after");
  hw__place place = {0};
  *out = (hw__sensor_page){0};
  if (!read_limit(request, &out->most, refusal)) {
    return false;
  }
  if (after && hw__catalog_sensor(request->service->catalog, site->id, after, &place) != HW_OK) {
    *refusal = hw__reply_error(404, "after: no sensor '%.64s'", after);
    return false;
  }
  out->from = after ? place.sensor + 1 : 0;
  return true;
}

/* As many rivers as have so many sensors together, the first in any case. */
hw__reply hw__get_rivers(hw__request *request) {
  const hw__catalog *catalog = request->service->catalog;
  const char *after = hw__query(request, "after");
  const ptrdiff_t last = after ? hw__catalog_find(catalog, after) : -1;
  size_t left = 0;
  hw__reply refusal;
  if (!read_limit(request, &left, &refusal)) {
    return refusal;
  }
  if (after && last < 0) {
    return hw__reply_error(404, "after: no river '%.64s'", after);
  }
  json_t *list = json_array();
  size_t next = (size_t)(last + 1);
  for (; next < hw__catalog_count(catalog) && left > 0; next++) {
    const size_t sensors = hw__catalog_site(catalog, next)->river.sensor_count;
    if (json_array_size(list) > 0 && sensors > left) {
      break;
    }
    json_array_append_new(list, hw__show_river(request->service, next, (hw__sensor_page){0, left}, true));
    left -= sensors < left ? sensors : left;
  }
  return hw__reply_json(200, json_pack("{s:o, s:b}", "rivers", list, "more", next < hw__catalog_count(catalog)));
}

hw__reply hw__get_river(hw__request *request) {
  const hw__catalog *catalog = request->service->catalog;
  const ptrdiff_t index = hw__catalog_find(catalog, request->captured[0]);
  hw__sensor_page page;
  hw__reply refusal;
  if (index < 0) {
    return hw__reply_error(404, "no river '%.64s'", request->captured[0]);
  }
  if (!hw__query_page(request, hw__catalog_site(catalog, (size_t)index), &page, &refusal)) {
    return refusal;
  }
  return hw__reply_json(200, hw__show_river(request->service, (size_t)index, page, false));
}
