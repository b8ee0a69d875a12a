/* Places of a river as GeoJSON geometries, found along its centreline. */
#include "rivers/centerline.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

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
  /* The ends of the line are left out, because they stand for everything beyond them already. */
  for (size_t i = 1; i + 1 < line->count; i++) {
    if (line->points[i].at_m > from_m && line->points[i].at_m < to_m) {
      json_array_append_new(list, position(line->points[i].longitude, line->points[i].latitude));
    }
  }
  json_array_append_new(list, position_at(line, to_m));
  return json_pack("{s:s, s:o}", "type", "LineString", "coordinates", list);
}

/* --- fewer points (Douglas and Peucker) --- */

/* Metres from a point to the stretch between two others, on a plane about the first. */
static double off_m(const hw__line_point *p, const hw__line_point *a, const hw__line_point *b) {
  const double degree_m = 111195, squeeze = cos(a->latitude * acos(-1) / 180);
  const double bx = (b->longitude - a->longitude) * squeeze * degree_m, by = (b->latitude - a->latitude) * degree_m;
  const double px = (p->longitude - a->longitude) * squeeze * degree_m, py = (p->latitude - a->latitude) * degree_m;
  const double length2 = bx * bx + by * by;
  const double share = length2 > 0 ? fmin(1, fmax(0, (px * bx + py * by) / length2)) : 0;
  return hypot(px - share * bx, py - share * by);
}

/* The point between two others that lies furthest off; `first` when none is more than within_m off. */
static size_t furthest(const hw__centerline *line, size_t first, size_t last, double within_m) {
  size_t found = first;
  for (size_t i = first + 1; i < last; i++) {
    const double here_m = off_m(&line->points[i], &line->points[first], &line->points[last]);
    found = here_m > within_m ? i : found;
    within_m = fmax(within_m, here_m);
  }
  return found;
}

/* Mark the points to keep. Returned: false without memory. */
static bool thin(const hw__centerline *line, double within_m, bool *keep) {
  size_t *ends = malloc((line->count + 1) * sizeof *ends); /* of stretches yet to be looked at, from the left */
  if (!ends) {
    return false;
  }
  size_t from = 0, count = 0;
  keep[0] = keep[line->count - 1] = true;
  ends[count++] = line->count - 1;
  while (count > 0) {
    const size_t split = furthest(line, from, ends[count - 1], within_m);
    if (split != from) {
      keep[split] = true;
      ends[count++] = split;
    } else {
      from = ends[--count];
    }
  }
  free(ends);
  return true;
}

json_t *hw__centerline_feature(const hw__centerline *line, double within_m) {
  json_t *coordinates = json_array(), *metres = json_array();
  bool *keep = within_m > 0 && line->count > 2 ? calloc(line->count, sizeof *keep) : NULL;
  const bool thinned = keep && thin(line, within_m, keep);
  for (size_t i = 0; i < line->count; i++) {
    if (!thinned || keep[i]) {
      json_array_append_new(coordinates, position(line->points[i].longitude, line->points[i].latitude));
      json_array_append_new(metres, json_real(line->points[i].at_m));
    }
  }
  free(keep);
  return json_pack("{s:s, s:{s:s, s:o}, s:{s:s, s:o}}", "type", "Feature", "properties", "kind", "river", "at_m",
                   metres, "geometry", "type", "LineString", "coordinates", coordinates);
}
