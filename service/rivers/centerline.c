#include "rivers/centerline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { FILE_MAX = 16 << 20, NESTING_MAX = 8 };
static const double metres_max = 1e8; /* twice round the world */

/* A point whose river metre the file gives. */
typedef struct {
  size_t point;
  double at_m;
} anchor;

typedef struct {
  const char *name;
  hw_error *error;
  hw__line_point *points;
  size_t count, capacity;
  size_t first; /* point of the feature at hand; SIZE_MAX before it */
  anchor *anchors;
  size_t anchor_count, anchor_capacity;
} builder;

static hw_status fail(const builder *b, const char *sentence) {
  snprintf(b->error->text, sizeof b->error->text, "%s: %s", b->name, sentence);
  return HW_EINPUT;
}

static hw_status no_memory(const builder *b) {
  snprintf(b->error->text, sizeof b->error->text, "%s: %s", b->name, hw_status_text(HW_ENOMEM));
  return HW_ENOMEM;
}

static hw_status add_point(builder *b, const json_t *position) {
  const json_t *east = json_array_get(position, 0), *north = json_array_get(position, 1);
  const hw__line_point point = {json_number_value(east), json_number_value(north), NAN};
  if (!json_is_number(east) || !json_is_number(north) || !(fabs(point.longitude) <= 180) ||
      !(fabs(point.latitude) <= 90)) {
    char *found = position ? json_dumps(position, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(8)) : NULL;
    snprintf(b->error->text, sizeof b->error->text,
             "%s: point %zu of the centreline is %.60s, expected [longitude, latitude] in degrees", b->name,
             b->count + 1, found ? found : "nothing");
    free(found);
    return HW_EINPUT;
  }
  const hw__line_point *last = b->count ? &b->points[b->count - 1] : NULL;
  if (last && !(fabs(last->longitude - point.longitude) > 0) && !(fabs(last->latitude - point.latitude) > 0)) {
    return HW_OK; /* parts that follow each other share a point */
  }
  if (!hw__grow(&b->points, b->count, &b->capacity, sizeof *b->points, 256)) {
    return no_memory(b);
  }
  b->points[b->count++] = point;
  return HW_OK;
}

static hw_status add_line(builder *b, const json_t *coordinates) {
  if (!json_is_array(coordinates)) {
    return fail(b, "a line without coordinates, expected a list of [longitude, latitude]");
  }
  size_t i;
  json_t *position;
  hw_status status = HW_OK;
  json_array_foreach(coordinates, i, position) {
    if (status == HW_OK) {
      status = add_point(b, position);
    }
    b->first = status == HW_OK && b->first == SIZE_MAX ? b->count - 1 : b->first;
  }
  return status;
}

static hw_status add_anchor(builder *b, const json_t *properties, const char *key, size_t point) {
  const json_t *value = json_object_get(properties, key);
  if (!value || json_is_null(value)) {
    return HW_OK;
  }
  if (!json_is_number(value) || !(fabs(json_number_value(value)) <= metres_max)) {
    snprintf(b->error->text, sizeof b->error->text, "%s: property %s, expected river metres", b->name, key);
    return HW_EINPUT;
  }
  if (!hw__grow(&b->anchors, b->anchor_count, &b->anchor_capacity, sizeof *b->anchors, 16)) {
    return no_memory(b);
  }
  b->anchors[b->anchor_count++] = (anchor){point, json_number_value(value)};
  return HW_OK;
}

static hw_status add(builder *b, const json_t *value, int depth);

static hw_status add_all(builder *b, const json_t *list, int depth) {
  size_t i;
  json_t *each;
  hw_status status = HW_OK;
  json_array_foreach(list, i, each) {
    if (status == HW_OK) {
      status = add(b, each, depth + 1);
    }
  }
  return status;
}

static hw_status add_feature(builder *b, const json_t *feature, int depth) {
  const json_t *properties = json_object_get(feature, "properties");
  b->first = SIZE_MAX;
  hw_status status = add(b, json_object_get(feature, "geometry"), depth + 1);
  if (status == HW_OK && b->first != SIZE_MAX) {
    status = add_anchor(b, properties, "from_m", b->first);
    if (status == HW_OK) {
      status = add_anchor(b, properties, "to_m", b->count - 1);
    }
  }
  return status;
}

static hw_status add(builder *b, const json_t *value, int depth) {
  const char *type = json_string_value(json_object_get(value, "type"));
  if (depth > NESTING_MAX) {
    return fail(b, "collections in collections, expected fewer");
  }
  if (!type) {
    return HW_OK; /* a feature without geometry, or not GeoJSON: reported when no line is found */
  }
  const json_t *coordinates = json_object_get(value, "coordinates");
  if (strcmp(type, "FeatureCollection") == 0) {
    return add_all(b, json_object_get(value, "features"), depth);
  }
  if (strcmp(type, "GeometryCollection") == 0) {
    return add_all(b, json_object_get(value, "geometries"), depth);
  }
  if (strcmp(type, "Feature") == 0) {
    return add_feature(b, value, depth);
  }
  if (strcmp(type, "LineString") == 0) {
    return add_line(b, coordinates);
  }
  hw_status status = HW_OK;
  if (strcmp(type, "MultiLineString") == 0) {
    size_t i;
    json_t *part;
    json_array_foreach(coordinates, i, part) {
      if (status == HW_OK) {
        status = add_line(b, part);
      }
    }
  }
  return status;
}

/* --- from points to river metres --- */

/* Great-circle distance (haversine). */
static double distance_m(const hw__line_point *a, const hw__line_point *b) {
  const double radius_m = 6371008.8, rad = 3.14159265358979323846 / 180;
  const double north = sin(rad * (b->latitude - a->latitude) / 2), east = sin(rad * (b->longitude - a->longitude) / 2);
  const double h = north * north + cos(rad * a->latitude) * cos(rad * b->latitude) * east * east;
  return 2 * radius_m * asin(fmin(1, sqrt(h)));
}

/* The stretch that contains every place of the river file. */
static void include(double location_m, size_t branch, size_t wanted, double *lo, double *hi) {
  if (branch == wanted) {
    *lo = fmin(*lo, location_m);
    *hi = fmax(*hi, location_m);
  }
}

/* From the head of a branch to its mouth; else from the most upstream to the most downstream place. */
static void extent(const hw_river *river, size_t branch, double *lo, double *hi) {
  *lo = INFINITY;
  *hi = -INFINITY;
  if (branch < river->branch_count) {
    const hw_branch *b = &river->branches[branch];
    include(b->head_m, 0, 0, lo, hi);
    include(b->joins != HW_OUTLET ? 0 : b->reach_count ? b->reaches[b->reach_count - 1].to_m : b->head_m, 0, 0, lo, hi);
    *hi = isfinite(*hi) ? *hi : *lo;
  }
  for (size_t i = 0; i < river->sensor_count; i++) {
    include(river->sensors[i].location_m, river->sensors[i].branch, branch, lo, hi);
  }
  for (size_t i = 0; i < river->candidate_count; i++) {
    include(river->candidates[i].location_m, river->candidates[i].branch, branch, lo, hi);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    include(river->intakes[i].location_m, river->intakes[i].branch, branch, lo, hi);
  }
}

/* Do the anchors grow along the line (1), shrink (-1: it was drawn from the mouth up), or neither (0)? */
static int direction(builder *b, const double *along) {
  size_t kept = 0;
  int found = 1;
  for (size_t i = 0; i < b->anchor_count; i++) {
    const anchor *now = &b->anchors[i];
    const anchor *last = kept ? &b->anchors[kept - 1] : NULL;
    const double rise = last ? now->at_m - last->at_m : 0;
    if (last && !(along[now->point] > along[last->point])) {
      if (fabs(rise) > 0) {
        return 0;
      }
      continue; /* where two features meet, both name the same river metre */
    }
    const int here = rise > 0 ? 1 : rise < 0 ? -1 : 0;
    if (last && (here == 0 || (kept > 1 && here != found))) {
      return 0;
    }
    found = last ? here : found;
    b->anchors[kept++] = *now;
  }
  b->anchor_count = kept;
  return found;
}

/* River metre of a point `along` metres down the line; k: the anchor at or before it. */
static double metre_at(const builder *b, const double *along, size_t point, size_t k, int way) {
  const anchor *a = &b->anchors[k];
  const double past = along[point] - along[a->point];
  if (past < 0 || k + 1 == b->anchor_count) {
    return a->at_m + way * past;
  }
  const anchor *next = &b->anchors[k + 1];
  return a->at_m + (next->at_m - a->at_m) * past / (along[next->point] - along[a->point]);
}

static hw_status lay(builder *b, const hw_river *river, size_t branch, double *along) {
  along[0] = 0;
  for (size_t i = 1; i < b->count; i++) {
    along[i] = along[i - 1] + distance_m(&b->points[i - 1], &b->points[i]);
  }
  const double length_m = along[b->count - 1];
  anchor ends[2];
  if (b->anchor_count == 0) {
    double lo, hi;
    extent(river, branch, &lo, &hi);
    ends[0] = (anchor){0, lo};
    ends[1] = (anchor){b->count - 1, hi > lo ? hi : lo + length_m};
    free(b->anchors);
    b->anchors = malloc(sizeof ends);
    if (!b->anchors) {
      return no_memory(b);
    }
    memcpy(b->anchors, ends, sizeof ends);
    b->anchor_count = 2;
  }
  const int way = direction(b, along);
  if (way == 0) {
    return fail(b, "from_m and to_m go up and down, expected river metres that grow or shrink along the line");
  }
  for (size_t i = 0, k = 0; i < b->count; i++) {
    while (k + 1 < b->anchor_count && b->anchors[k + 1].point <= i) {
      k++;
    }
    b->points[i].at_m = metre_at(b, along, i, k, way);
  }
  for (size_t i = 0; way < 0 && i < b->count / 2; i++) {
    const hw__line_point swap = b->points[i];
    b->points[i] = b->points[b->count - 1 - i];
    b->points[b->count - 1 - i] = swap;
  }
  return HW_OK;
}

hw_status hw__centerline_parse(const char *name, const char *text, size_t size, const hw_river *river, size_t branch,
                               hw__centerline *out, hw_error *error) {
  builder b = {.name = name, .error = error, .first = SIZE_MAX};
  json_error_t fault;
  json_t *root = json_loadb(text, size, 0, &fault);
  if (!root) {
    snprintf(error->text, sizeof error->text, "%s:%d: %.120s, expected GeoJSON", name, fault.line, fault.text);
    return HW_EINPUT;
  }
  hw_status status = add(&b, root, 0);
  json_decref(root);
  if (status == HW_OK && b.count < 2) {
    status = fail(&b, "no line, expected a LineString or MultiLineString of two points or more");
  }
  double *along = status == HW_OK ? malloc(b.count * sizeof *along) : NULL;
  if (status == HW_OK) {
    status = along ? lay(&b, river, branch, along) : no_memory(&b);
  }
  free(along);
  free(b.anchors);
  if (status != HW_OK) {
    free(b.points);
    return status;
  }
  *out = (hw__centerline){b.points, b.count};
  return HW_OK;
}

hw_status hw__centerline_load(const char *path, const hw_river *river, size_t branch, hw__centerline *out,
                              hw_error *error) {
  FILE *file = fopen(path, "re");
  char *text = file ? malloc(FILE_MAX + 1) : NULL;
  if (!text) {
    snprintf(error->text, sizeof error->text, "%s: %s, expected the centreline as GeoJSON", path, strerror(errno));
    if (file) {
      fclose(file);
    }
    return file ? HW_ENOMEM : errno == ENOENT ? HW_EINPUT : HW_EIO;
  }
  const size_t size = fread(text, 1, FILE_MAX + 1, file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  hw_status status = HW_OK;
  if (failed || size > FILE_MAX) {
    snprintf(error->text, sizeof error->text, "%s: %s", path, failed ? "cannot be read" : "larger than 16 MiB");
    status = failed ? HW_EIO : HW_EINPUT;
  } else {
    status = hw__centerline_parse(path, text, size, river, branch, out, error);
  }
  free(text);
  return status;
}

void hw__centerline_free(hw__centerline *line) {
  free(line->points);
  *line = (hw__centerline){0};
}

size_t hw__centerline_count(const hw_river *river) {
  return river->branch_count ? river->branch_count : 1;
}

hw_status hw__centerlines_load(const hw_river *river, hw__centerline *lines, hw_error *error) {
  const size_t outlet = hw_river_outlet(river);
  hw_status status = HW_OK;
  for (size_t i = 0; i < hw__centerline_count(river) && status == HW_OK; i++) {
    const char *own = river->branch_count ? river->branches[i].centerline : NULL;
    const char *path = !own && i == outlet ? river->centerline : own;
    status = path ? hw__centerline_load(path, river, i, &lines[i], error) : HW_OK;
  }
  return status;
}
