#include "api/map.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "rivers/centerline.h"
#include "rivers/feature.h"
#include "rivers/geopackage.h"

static hw_status fail(hw_error *error, hw_status status, const char *path, const char *sentence) {
  snprintf(error->text, sizeof error->text, "%s: %s", path, sentence);
  return status;
}

/* Places on other branches than the one with the line have no geometry. */
static json_t *point(const hw__centerline *line, size_t branch, double location_m) {
  return branch == 0 && line->count ? hw__centerline_point(line, location_m) : json_null();
}

static void add(json_t *features, const char *kind, json_t *geometry, json_t *properties) {
  json_array_append_new(features, hw__feature(kind, geometry, properties));
}

static json_t *place(const char *id, const char *name, double location_m) {
  return json_pack("{s:s, s:s, s:f}", "id", id, "name", name, "location_m", location_m);
}

static void add_river(json_t *features, const hw_river *river, const hw__centerline *line, const json_t *answer) {
  if (line->count) {
    json_t *whole = hw__centerline_feature(line, 0);
    add(features, "river", json_incref(json_object_get(whole, "geometry")), json_pack("{s:s}", "name", river->name));
    json_decref(whole);
  }
  for (size_t i = 0; i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    add(features, "sensor", point(line, s->branch, s->location_m), place(s->id, s->id, s->location_m));
  }
  for (size_t i = 0; i < river->candidate_count; i++) {
    const hw_candidate *c = &river->candidates[i];
    json_t *properties = place(c->id, c->name, c->location_m);
    json_t *found = json_object_get(hw__with_id(json_object_get(answer, "candidates"), c->id), "probability");
    json_object_set(properties, "probability", found ? found : json_null());
    add(features, "candidate", point(line, c->branch, c->location_m), properties);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    const hw_intake *n = &river->intakes[i];
    json_t *properties = place(n->id, n->name, n->location_m);
    json_t *found = hw__with_id(json_object_get(answer, "arrivals"), n->id);
    json_object_set(properties, "arrival", found ? found : json_null());
    add(features, "intake", point(line, n->branch, n->location_m), properties);
  }
}

static void add_source(json_t *features, const hw_river *river, const hw__centerline *line, const json_t *answer) {
  const json_t *estimate = json_object_get(answer, "estimate"), *interval = json_object_get(answer, "interval");
  if (!json_is_object(estimate)) {
    return;
  }
  const char *name = json_string_value(json_object_get(estimate, "branch"));
  const size_t branch = name ? hw_river_branch(river, name) : 0;
  json_t *properties = json_deep_copy(estimate);
  json_object_set(properties, "trust", json_object_get(answer, "trust"));
  json_object_set(properties, "interval", json_object_get(answer, "interval"));
  add(features, "source", point(line, branch, json_number_value(json_object_get(estimate, "location_m"))), properties);
  const json_t *ends = json_object_get(interval, "location_m");
  if (json_array_size(ends) == 2) {
    const double lo = json_number_value(json_array_get(ends, 0)), hi = json_number_value(json_array_get(ends, 1));
    json_t *stretch = branch == 0 && line->count ? hw__centerline_stretch(line, lo, hi) : json_null();
    add(features, "source_interval", stretch,
        json_pack("{s:O, s:O}", "location_m", ends, "level", json_object_get(interval, "level")));
  }
}

static hw_status write_geojson(const char *path, json_t *features, hw_error *error) {
  json_t *collection = json_pack("{s:s, s:O}", "type", "FeatureCollection", "features", features);
  const int failed = collection ? json_dump_file(collection, path, JSON_INDENT(1)) : -1;
  json_decref(collection);
  return failed ? fail(error, HW_EIO, path, "could not be written") : HW_OK;
}

hw_status hw_map_write(const char *path, const hw_river *river, const char *answer, hw_error *error) {
  const char *dot = strrchr(path, '.');
  const bool package = dot && strcmp(dot, ".gpkg") == 0;
  hw__centerline line = {0};
  hw_status status = HW_OK;
  if (river->centerline) {
    status = hw__centerline_load(river->centerline, river, 0, &line, error);
  } else if (package) {
    status = fail(error, HW_EINPUT, path, "the river has no centerline, expected one for a GeoPackage");
  }
  if (status != HW_OK) {
    return status;
  }
  json_t *object = json_loads(answer, 0, NULL), *features = json_array();
  if (!object || !features) {
    status = fail(error, HW_ENOMEM, path, hw_status_text(HW_ENOMEM));
  } else {
    add_river(features, river, &line, object);
    add_source(features, river, &line, object);
    status = package ? hw__geopackage_write(path, features, error) : write_geojson(path, features, error);
  }
  json_decref(object);
  json_decref(features);
  hw__centerline_free(&line);
  return status;
}
