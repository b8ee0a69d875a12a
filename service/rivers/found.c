#include "rivers/found.h"

#include "rivers/feature.h"

const hw__centerline *hw__line_of(const hw_river *river, const hw__centerline *lines, const json_t *place) {
  const char *id = json_string_value(json_object_get(place, "branch"));
  const size_t branch = id ? hw_river_branch(river, id) : 0;
  return &lines[branch < hw__centerline_count(river) ? branch : 0];
}

static json_t *point_of(const hw_river *river, const hw__centerline *lines, const json_t *estimate) {
  const double location_m = json_number_value(json_object_get(estimate, "location_m"));
  return hw__centerline_point(hw__line_of(river, lines, estimate), location_m);
}

/* `ends`: two places along the branch that `place` names. */
static json_t *stretch_of(const hw_river *river, const hw__centerline *lines, const json_t *place, const json_t *ends) {
  const double lo = json_number_value(json_array_get(ends, 0)), hi = json_number_value(json_array_get(ends, 1));
  return hw__centerline_stretch(hw__line_of(river, lines, place), lo, hi);
}

static void add(json_t *features, const char *kind, json_t *geometry, json_t *properties) {
  json_array_append_new(features, hw__feature(kind, geometry, properties));
}

/* The largest release is the source. */
static void add_others(json_t *features, const hw_river *river, const hw__centerline *lines, const json_t *answer) {
  const json_t *largest = json_object_get(answer, "estimate");
  size_t i;
  json_t *each;
  json_array_foreach(json_object_get(answer, "releases"), i, each) {
    const json_t *estimate = json_object_get(each, "estimate");
    if (!json_is_object(estimate) || json_equal(estimate, largest)) {
      continue;
    }
    json_t *properties = json_copy((json_t *)estimate);
    json_object_set(properties, "probability", json_object_get(each, "probability"));
    json_object_set(properties, "interval", json_object_get(each, "interval"));
    add(features, "release", point_of(river, lines, estimate), properties);
  }
}

static void add_region(json_t *features, const hw_river *river, const hw__centerline *lines, const json_t *region) {
  size_t i;
  json_t *each;
  json_array_foreach(region, i, each) {
    add(features, "region", stretch_of(river, lines, each, json_object_get(each, "location_m")), json_copy(each));
  }
}

void hw__add_found(json_t *features, const hw_river *river, const hw__centerline *lines, const json_t *answer,
                   json_t *about) {
  const json_t *estimate = json_object_get(answer, "estimate"), *interval = json_object_get(answer, "interval");
  if (!json_is_object(estimate)) {
    json_decref(about);
    return;
  }
  json_t *properties = json_copy((json_t *)estimate);
  json_object_update(properties, about);
  json_decref(about);
  add(features, "source", point_of(river, lines, estimate), properties);
  const json_t *ends = json_object_get(interval, "location_m");
  if (json_array_size(ends) == 2) {
    add(features, "source_interval", stretch_of(river, lines, estimate, ends),
        json_pack("{s:O, s:O}", "location_m", ends, "level", json_object_get(interval, "level")));
  }
  add_others(features, river, lines, answer);
  const json_t *releases = json_object_get(answer, "releases");
  if (json_array_size(releases) < 2) {
    add_region(features, river, lines, json_object_get(answer, "region"));
  }
  for (size_t i = 0; json_array_size(releases) > 1 && i < json_array_size(releases); i++) {
    add_region(features, river, lines, json_object_get(json_array_get(releases, i), "region"));
  }
}
