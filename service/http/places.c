/* Everything with a place, as GeoJSON: what the river file knows and, of an incident, what was found. Without
 * a centreline features have `location_m` and no geometry. */
#include <math.h>
#include <string.h>

#include "http/handlers.h"
#include "live/show.h"
#include "rivers/feature.h"
#include "rivers/found.h"

/* Every line of a river; properties say which branch of which river. */
static void add_lines(json_t *features, const hw__site *site, double within_m) {
  for (size_t i = 0; i < hw__site_line_count(site); i++) {
    if (site->lines[i].count) {
      json_t *line = hw__centerline_feature(&site->lines[i], within_m);
      json_t *properties = json_object_get(line, "properties");
      json_object_set_new(properties, "river", json_string(site->id));
      json_object_set_new(properties, "branch",
                          site->river.branch_count ? json_string(site->river.branches[i].id) : json_null());
      json_array_append_new(features, line);
    }
  }
}

static json_t *collection(json_t *features) {
  return json_pack("{s:s, s:o}", "type", "FeatureCollection", "features", features);
}

static hw__reply reply_geojson(json_t *root) {
  hw__reply reply = hw__reply_json(200, root);
  reply.type = "application/geo+json";
  return reply;
}

static json_t *or_null(const json_t *value) {
  return value ? json_copy((json_t *)value) : json_null();
}

/* One kind of place, as the river's own answer lists it. */
static void add_places(json_t *features, const hw__site *site, const json_t *list, const char *kind,
                       const json_t *incident) {
  size_t i;
  json_t *each;
  json_array_foreach(list, i, each) {
    json_t *properties = json_copy(each);
    const char *id = json_string_value(json_object_get(each, "id"));
    if (incident && strcmp(kind, "candidate") == 0) {
      const json_t *found = hw__with_id(json_object_get(incident, "candidates"), id);
      json_object_set_new(properties, "probability", or_null(json_object_get(found, "probability")));
    }
    if (incident && strcmp(kind, "intake") == 0) {
      json_object_set_new(properties, "arrival", or_null(hw__with_id(json_object_get(incident, "arrivals"), id)));
    }
    const double location_m = json_number_value(json_object_get(each, "location_m"));
    json_array_append_new(
        features,
        hw__feature(kind, hw__centerline_point(hw__line_of(&site->river, site->lines, each), location_m), properties));
  }
}

hw__reply hw__reply_places(const hw__request *request, const hw__site *site, const json_t *incident) {
  const ptrdiff_t index = hw__catalog_find(request->service->catalog, site->id);
  hw__sensor_page page;
  hw__reply refusal;
  if (!hw__query_page(request, site, &page, &refusal)) {
    return refusal;
  }
  json_t *river = hw__show_river(request->service, (size_t)index, page, true);
  json_t *features = json_array();
  add_lines(features, site, 0);
  add_places(features, site, json_object_get(river, "sensors"), "sensor", incident);
  add_places(features, site, json_object_get(river, "candidates"), "candidate", incident);
  add_places(features, site, json_object_get(river, "intakes"), "intake", incident);
  if (incident) {
    json_t *about =
        json_pack("{s:O, s:O*, s:O*, s:O*, s:O*}", "incident", json_object_get(incident, "id"), "origin_s",
                  json_object_get(incident, "origin_s"), "provisional", json_object_get(incident, "provisional"),
                  "trust", json_object_get(incident, "trust"), "interval", json_object_get(incident, "interval"));
    hw__add_found(features, &site->river, site->lines, incident, about);
  }
  json_t *root = collection(features);
  json_object_set(root, "sensors_more", json_object_get(river, "sensors_more"));
  json_decref(river);
  return reply_geojson(root);
}

static const hw__site *captured_site(const hw__request *request) {
  const ptrdiff_t index = hw__catalog_find(request->service->catalog, request->captured[0]);
  return index < 0 ? NULL : hw__catalog_site(request->service->catalog, (size_t)index);
}

hw__reply hw__get_places(hw__request *request) {
  const hw__site *site = captured_site(request);
  return site ? hw__reply_places(request, site, NULL) : hw__reply_error(404, "no river '%.64s'", request->captured[0]);
}

hw__reply hw__get_centerline(hw__request *request) {
  const hw__site *site = captured_site(request);
  if (!site || !hw__site_is_mapped(site)) {
    return site ? hw__reply_error(404, "this river has no centerline")
                : hw__reply_error(404, "no river '%.64s'", request->captured[0]);
  }
  if (site->river.branch_count) {
    json_t *features = json_array();
    add_lines(features, site, 0);
    return reply_geojson(collection(features));
  }
  return reply_geojson(hw__centerline_feature(&site->lines[0], 0));
}

/* ?within_m=M: what lies less than that off a line is left out of it. */
hw__reply hw__get_centerlines(hw__request *request) {
  double within_m;
  if (!hw__query_number(request, "within_m", 0, &within_m) || !(within_m >= 0)) {
    return hw__reply_error(400, "within_m: expected metres, 0 or more");
  }
  json_t *features = json_array();
  for (size_t i = 0; i < hw__catalog_count(request->service->catalog); i++) {
    add_lines(features, hw__catalog_site(request->service->catalog, i), within_m);
  }
  return reply_geojson(collection(features));
}
