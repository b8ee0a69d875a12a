#include "api/map.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rivers/centerline.h"
#include "rivers/feature.h"
#include "rivers/found.h"
#include "rivers/geopackage.h"

static hw_status fail(hw_error *error, hw_status status, const char *path, const char *sentence) {
  snprintf(error->text, sizeof error->text, "%s: %s", path, sentence);
  return status;
}

static void add(json_t *features, const char *kind, json_t *geometry, json_t *properties) {
  json_array_append_new(features, hw__feature(kind, geometry, properties));
}

static json_t *branch_id(const hw_river *river, size_t branch) {
  return river->branch_count ? json_string(river->branches[branch].id) : NULL;
}

static json_t *place(const hw_river *river, const char *id, const char *name, size_t branch, double location_m) {
  return json_pack("{s:s, s:s, s:o*, s:f}", "id", id, "name", name, "branch", branch_id(river, branch), "location_m",
                   location_m);
}

static void add_lines(json_t *features, const hw_river *river, const hw__centerline *lines) {
  for (size_t i = 0; i < hw__centerline_count(river); i++) {
    if (lines[i].count) {
      json_t *whole = hw__centerline_feature(&lines[i], 0);
      add(features, "river", json_incref(json_object_get(whole, "geometry")),
          json_pack("{s:s, s:o*}", "name", river->name, "branch", branch_id(river, i)));
      json_decref(whole);
    }
  }
}

static void add_river(json_t *features, const hw_river *river, const hw__centerline *lines, const json_t *answer) {
  add_lines(features, river, lines);
  for (size_t i = 0; i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    add(features, "sensor", hw__centerline_point(&lines[s->branch], s->location_m),
        place(river, s->id, s->id, s->branch, s->location_m));
  }
  for (size_t i = 0; i < river->candidate_count; i++) {
    const hw_candidate *c = &river->candidates[i];
    json_t *properties = place(river, c->id, c->name, c->branch, c->location_m);
    json_t *found = json_object_get(hw__with_id(json_object_get(answer, "candidates"), c->id), "probability");
    json_object_set(properties, "probability", found ? found : json_null());
    add(features, "candidate", hw__centerline_point(&lines[c->branch], c->location_m), properties);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    const hw_intake *n = &river->intakes[i];
    json_t *properties = place(river, n->id, n->name, n->branch, n->location_m);
    json_t *found = hw__with_id(json_object_get(answer, "arrivals"), n->id);
    json_object_set(properties, "arrival", found ? found : json_null());
    add(features, "intake", hw__centerline_point(&lines[n->branch], n->location_m), properties);
  }
}

/* The lines, an array to be freed with its elements; one without points where the file names none. */
static hw_status load_lines(const char *path, const hw_river *river, bool needed, hw__centerline **out,
                            hw_error *error) {
  hw__centerline *lines = calloc(hw__centerline_count(river), sizeof *lines);
  *out = lines;
  if (!lines) {
    return fail(error, HW_ENOMEM, path, hw_status_text(HW_ENOMEM));
  }
  const hw_status status = hw__centerlines_load(river, lines, error);
  bool any = false;
  for (size_t i = 0; i < hw__centerline_count(river); i++) {
    any = any || lines[i].count > 0;
  }
  return status == HW_OK && needed && !any
             ? fail(error, HW_EINPUT, path, "the river has no centerline, expected one for a GeoPackage")
             : status;
}

static void free_lines(const hw_river *river, hw__centerline *lines) {
  for (size_t i = 0; lines && i < hw__centerline_count(river); i++) {
    hw__centerline_free(&lines[i]);
  }
  free(lines);
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
  hw__centerline *lines;
  hw_status status = load_lines(path, river, package, &lines, error);
  if (status != HW_OK) {
    free_lines(river, lines);
    return status;
  }
  json_t *object = json_loads(answer, 0, NULL), *features = json_array();
  if (!object || !features) {
    status = fail(error, HW_ENOMEM, path, hw_status_text(HW_ENOMEM));
  } else {
    add_river(features, river, lines, object);
    json_t *about = json_pack("{s:O*, s:O*}", "trust", json_object_get(object, "trust"), "interval",
                              json_object_get(object, "interval"));
    hw__add_found(features, river, lines, object, about);
    status = package ? hw__geopackage_write(path, features, error) : write_geojson(path, features, error);
  }
  json_decref(object);
  json_decref(features);
  free_lines(river, lines);
  return status;
}
