/* Where a river lies: its centreline, read from GeoJSON.
 *
 * Every LineString and MultiLineString of the file, in order, is one line (a Feature, a FeatureCollection or
 * a GeometryCollection may hold them; other geometries are passed over), longitude and latitude in degrees.
 * Properties `from_m` and `to_m` of a feature say which river metres its ends are: places between two known
 * points are found by distance, beyond them by the length on the ground. Where no feature says anything the
 * line is laid from the most upstream to the most downstream place of the river file; one of a branch from its head to
 * its mouth.
 */
#ifndef HW_RIVERS_CENTERLINE_H
#define HW_RIVERS_CENTERLINE_H

#include "headwater/headwater.h"

typedef struct {
  double longitude, latitude; /* degrees */
  double at_m;                /* river metre */
} hw__line_point;

/* count 0: there is none. at_m grows. */
typedef struct {
  hw__line_point *points;
  size_t count;
} hw__centerline;

/* Status: HW_EINPUT (with what was found and expected), HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__centerline_load(const char *path, const hw_river *river, size_t branch, hw__centerline *out,
                              hw_error *error);
hw_status hw__centerline_parse(const char *name, const char *text, size_t size, const hw_river *river, size_t branch,
                               hw__centerline *out, hw_error *error);
void hw__centerline_free(hw__centerline *line);

/* How many lines a river may have: one per branch, or one. */
size_t hw__centerline_count(const hw_river *river);
/* Every line that the river file names, each into the place of its branch; the river's own `centerline` is that of the
 * branch which joins nothing. Given: lines, empty ones, to be freed also after a failure. Status: as of
 * hw__centerline_load */
hw_status hw__centerlines_load(const hw_river *river, hw__centerline *lines, hw_error *error);

/* GeoJSON geometries (Jansson's json_t); null without a line. The ends stand for everything beyond them. */
struct json_t *hw__centerline_point(const hw__centerline *line, double location_m);
struct json_t *hw__centerline_stretch(const hw__centerline *line, double from_m, double to_m);
/* The whole line as a Feature whose property `at_m` has the river metre of each point; what lies less than `within_m`
 * off the line is left out. */
struct json_t *hw__centerline_feature(const hw__centerline *line, double within_m);

#endif
