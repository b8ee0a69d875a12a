/* Places of a river as GeoJSON geometries, found along its centreline. */
#include "rivers/centerline.h"

#include <jansson.h>

/* First point at or below this place. */
static size_t point_below(const hw__centerline *line, double location_m) {
  size_t lo = 0, hi = line->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (line->points[middle].at_m < location_m) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static json_t *position(double longitude, double latitude) {
  return json_pack("[f, f]", longitude, latitude);
}

static json_t *position_at(const hw__centerline *line, double location_m) {
  const size_t next = point_below(line, location_m);
  if (next == 0 || next == line->count) {
    const hw__line_point *end = &line->points[next ? line->count - 1 : 0];
    return position(end->longitude, end->latitude);
  }
  const hw__line_point *a = &line->points[next - 1], *b = &line->points[next];
  const double share = (location_m - a->at_m) / (b->at_m - a->at_m);
  return position(a->longitude + share * (b->longitude - a->longitude),
                  a->latitude + share * (b->latitude - a->latitude));
}

json_t *hw__centerline_point(const hw__centerline *line, double location_m) {
  return line->count ? json_pack("{s:s, s:o}", "type", "Point", "coordinates", position_at(line, location_m))
                     : json_null();
}

json_t *hw__centerline_stretch(const hw__centerline *line, double from_m, double to_m) {
  if (!line->count) {
    return json_null();
  }
  json_t *list = json_array();
  json_array_append_new(list, position_at(line, from_m));
  /* The line's own ends are no points between: they stand for what lies beyond them already. */
  for (size_t i = 1; i + 1 < line->count; i++) {
    if (line->points[i].at_m > from_m && line->points[i].at_m < to_m) {
      json_array_append_new(list, position(line->points[i].longitude, line->points[i].latitude));
    }
  }
  json_array_append_new(list, position_at(line, to_m));
  return json_pack("{s:s, s:o}", "type", "LineString", "coordinates", list);
}

json_t *hw__centerline_feature(const hw__centerline *line) {
  json_t *coordinates = json_array(), *metres = json_array();
  for (size_t i = 0; i < line->count; i++) {
    json_array_append_new(coordinates, position(line->points[i].longitude, line->points[i].latitude));
    json_array_append_new(metres, json_real(line->points[i].at_m));
  }
  return json_pack("{s:s, s:{s:s, s:o}, s:{s:s, s:o}}", "type", "Feature", "properties", "kind", "river", "at_m",
                   metres, "geometry", "type", "LineString", "coordinates", coordinates);
}
