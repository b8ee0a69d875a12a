#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/show.h"

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
