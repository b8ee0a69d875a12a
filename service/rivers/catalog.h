/* The rivers this service watches, and how a name becomes a number.
 *
 * A river's id is what topics and URLs say; a sensor is found by (river, sensor) or, where only one
 * river has a sensor of that id, by the sensor alone. Gauges are found in the same way, and have names of
 * their own: a sensor and a gauge may share one. Keys are the database's numbers for the same
 * things: they outlive a changed river file, indices do not.
 */
#ifndef HW_RIVERS_CATALOG_H
#define HW_RIVERS_CATALOG_H

#include <stdint.h>

#include "headwater/headwater.h"
#include "rivers/centerline.h"

typedef struct {
  char id[HW_ID_SIZE];
  char path[512];
  hw_river river;
  hw__centerline *lines; /* one per branch; one on a river without branches */
  int64_t key;           /* database's number */
  int64_t *sensor_keys;  /* one per sensor */
  int64_t *gauge_keys;   /* one per gauge */
} hw__site;

typedef struct {
  size_t site;
  size_t sensor; /* index of the sensor, or of the gauge */
  bool gauge;
} hw__place;

/* Does the water of one of two sensors (keys) pass the other? A spill that one has seen comes from upstream of it,
 * so a sensor that is neither upstream nor downstream of it says nothing about that spill. Always true for a key of
 * 0, and where there are no branches. */
bool hw__site_on_one_path(const hw__site *site, int64_t sensor, int64_t other);
/* From one sensor (key) down to another, in metres; NAN where the water does not pass. */
double hw__site_way_m(const hw__site *site, int64_t from, int64_t to);
/* The id of the sensor or gauge, and the database's number for it. */
const char *hw__site_name(const hw__site *site, hw__place place);
int64_t hw__site_key(const hw__site *site, hw__place place);

typedef struct hw__catalog hw__catalog;

hw_status hw__catalog_create(hw__catalog **out);
void hw__catalog_free(hw__catalog *catalog);

/* Load one river. Given: "FILE" or "ID=FILE"; without an id it is the file's name without its
 * ending, or its folder's name for a file called river.yaml.
 * Its centreline is read too.
 * Status: HW_EINPUT (also for an id in use or not of [A-Za-z0-9._-]), HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__catalog_load(hw__catalog *catalog, const char *argument, hw_warn warn, void *context, hw_error *error);
/* The same with a river already made; ownership of its arrays passes to the catalog on success. */
hw_status hw__catalog_add(hw__catalog *catalog, const char *id, const char *path, hw_river *river, hw_error *error);

size_t hw__catalog_count(const hw__catalog *catalog);
hw__site *hw__catalog_site(const hw__catalog *catalog, size_t index);
/* Index of the river with this id, or -1. */
ptrdiff_t hw__catalog_find(const hw__catalog *catalog, const char *id);
/* Where this sensor is. river NULL or empty: any river, as long as only one has it.
 * Status: HW_ENAME for no such river or sensor, HW_EDOMAIN when several rivers have it. */
hw_status hw__catalog_sensor(const hw__catalog *catalog, const char *river, const char *sensor, hw__place *out);
hw_status hw__catalog_gauge(const hw__catalog *catalog, const char *river, const char *gauge, hw__place *out);

/* Database numbers, set once while the store opens; then keys lead back to places. */
hw_status hw__catalog_set_key(hw__catalog *catalog, hw__place place, int64_t key);
/* Of a sensor or a gauge. Status: HW_ENAME when it is no longer in any river file. */
hw_status hw__catalog_place(const hw__catalog *catalog, int64_t key, hw__place *out);
ptrdiff_t hw__catalog_site_of_key(const hw__catalog *catalog, int64_t river_key);

/* The number of lines: one per branch, or one. */
size_t hw__site_line_count(const hw__site *site);
/* Does any branch have a centreline? */
bool hw__site_is_mapped(const hw__site *site);

#endif
