/* Lookup is one open-addressing table over "river/sensor", "/sensor" (any river) and "river/", and "~river/gauge" and
 * "~/gauge", which no river's id can be mistaken for. It is built while loading and only read afterwards, so threads
 * share it without a lock. */
#include "rivers/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *name; /* NULL: free slot */
  hw__place place;
  bool ambiguous;
} slot;

struct hw__catalog {
  hw__site **sites;
  size_t count;
  slot *slots;
  size_t slot_count; /* a power of two */
  size_t used;
  hw__place *by_key; /* key of a sensor or gauge -> place; site SIZE_MAX where none */
  size_t key_count;
};

static uint64_t hash(const char *text) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *text; text++) {
    h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
  }
  return h ^ (h >> 29);
}

static slot *probe(slot *slots, size_t slot_count, const char *name) {
  size_t i = (size_t)hash(name) & (slot_count - 1);
  while (slots[i].name && strcmp(slots[i].name, name) != 0) {
    i = (i + 1) & (slot_count - 1);
  }
  return &slots[i];
}

static hw_status grow(hw__catalog *catalog) {
  const size_t wanted = catalog->slot_count * 2;
  slot *slots = calloc(wanted, sizeof *slots);
  if (!slots) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < catalog->slot_count; i++) {
    if (catalog->slots[i].name) {
      *probe(slots, wanted, catalog->slots[i].name) = catalog->slots[i];
    }
  }
  free(catalog->slots);
  catalog->slots = slots;
  catalog->slot_count = wanted;
  return HW_OK;
}

static hw_status enter(hw__catalog *catalog, const char *river, const char *sensor, hw__place place) {
  if (2 * (catalog->used + 1) > catalog->slot_count && grow(catalog) != HW_OK) {
    return HW_ENOMEM;
  }
  char name[2 * HW_ID_SIZE + 3];
  snprintf(name, sizeof name, "%s/%s", river, sensor);
  slot *found = probe(catalog->slots, catalog->slot_count, name);
  if (found->name) {
    found->ambiguous = true;
    return HW_OK;
  }
  found->name = strdup(name);
  if (!found->name) {
    return HW_ENOMEM;
  }
  found->place = place;
  catalog->used++;
  return HW_OK;
}

hw_status hw__catalog_create(hw__catalog **out) {
  *out = NULL;
  hw__catalog *catalog = calloc(1, sizeof *catalog);
  if (!catalog) {
    return HW_ENOMEM;
  }
  catalog->slot_count = 256;
  catalog->slots = calloc(catalog->slot_count, sizeof *catalog->slots);
  if (!catalog->slots) {
    free(catalog);
    return HW_ENOMEM;
  }
  *out = catalog;
  return HW_OK;
}

size_t hw__site_line_count(const hw__site *site) {
  return hw__centerline_count(&site->river);
}

bool hw__site_is_mapped(const hw__site *site) {
  for (size_t i = 0; i < hw__site_line_count(site); i++) {
    if (site->lines[i].count) {
      return true;
    }
  }
  return false;
}

static void free_site(hw__site *site) {
  if (site) {
    for (size_t i = 0; i < hw__site_line_count(site); i++) {
      hw__centerline_free(&site->lines[i]);
    }
    free(site->lines);
    hw_river_free(&site->river);
    free(site->sensor_keys);
    free(site->gauge_keys);
    free(site);
  }
}

void hw__catalog_free(hw__catalog *catalog) {
  if (!catalog) {
    return;
  }
  for (size_t i = 0; i < catalog->count; i++) {
    free_site(catalog->sites[i]);
  }
  for (size_t i = 0; i < catalog->slot_count; i++) {
    free(catalog->slots[i].name);
  }
  free(catalog->sites);
  free(catalog->slots);
  free(catalog->by_key);
  free(catalog);
}

static bool id_is_plain(const char *id) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return *id && id[0] != '.' && strlen(id) < HW_ID_SIZE && id[strspn(id, plain)] == '\0';
}

/* "a/b/truckee.yaml" -> "truckee"; "a/truckee/river.yaml" -> "truckee". */
static void id_from_path(const char *path, char out[HW_ID_SIZE]) {
  const char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  size_t length = strcspn(base, ".");
  if (strncmp(base, "river", length) == 0 && length == 5 && base > path) {
    const char *end = base - 1;
    const char *start = end;
    while (start > path && start[-1] != '/') {
      start--;
    }
    base = start;
    length = (size_t)(end - start);
  }
  snprintf(out, HW_ID_SIZE, "%.*s", (int)(length < HW_ID_SIZE ? length : HW_ID_SIZE - 1), base);
}

/* The river, its sensors and its gauges. */
static hw_status enter_names(hw__catalog *catalog, size_t index) {
  const hw__site *site = catalog->sites[index];
  const hw_river *river = &site->river;
  char marked[HW_ID_SIZE + 1];
  snprintf(marked, sizeof marked, "~%s", site->id);
  hw_status status = enter(catalog, site->id, "", (hw__place){.site = index});
  for (size_t i = 0; i < river->sensor_count + river->gauge_count && status == HW_OK; i++) {
    const bool gauge = i >= river->sensor_count;
    const hw__place place = {index, gauge ? i - river->sensor_count : i, gauge};
    const char *name = hw__site_name(site, place);
    status = enter(catalog, gauge ? marked : site->id, name, place);
    if (status == HW_OK) {
      status = enter(catalog, gauge ? "~" : "", name, place);
    }
  }
  return status;
}

static const hw_sensor *sensor_of(const hw__site *site, int64_t key) {
  for (size_t i = 0; i < site->river.sensor_count; i++) {
    if (site->sensor_keys[i] == key) {
      return &site->river.sensors[i];
    }
  }
  return NULL;
}

double hw__site_way_m(const hw__site *site, int64_t from, int64_t to) {
  const hw_sensor *a = sensor_of(site, from), *b = sensor_of(site, to);
  return a && b ? hw_river_way_m(&site->river, a->branch, a->location_m, b->branch, b->location_m) : (double)NAN;
}

bool hw__site_on_one_path(const hw__site *site, int64_t sensor, int64_t other) {
  return !site->river.branch_count || !sensor || !sensor_of(site, sensor) || !sensor_of(site, other) ||
         isfinite(hw__site_way_m(site, sensor, other)) || isfinite(hw__site_way_m(site, other, sensor));
}

const char *hw__site_name(const hw__site *site, hw__place place) {
  return place.gauge ? site->river.gauges[place.sensor].id : site->river.sensors[place.sensor].id;
}

int64_t hw__site_key(const hw__site *site, hw__place place) {
  return (place.gauge ? site->gauge_keys : site->sensor_keys)[place.sensor];
}

hw_status hw__catalog_add(hw__catalog *catalog, const char *id, const char *path, hw_river *river, hw_error *error) {
  if (!id_is_plain(id)) {
    snprintf(error->text, sizeof error->text,
             "%s: river id '%s', expected letters, digits, '.', '_' or '-' (give ID=FILE)", path, id);
    return HW_EINPUT;
  }
  if (hw__catalog_find(catalog, id) >= 0) {
    snprintf(error->text, sizeof error->text, "%s: river id '%s' is in use, expected another (give ID=FILE)", path, id);
    return HW_EINPUT;
  }
  hw__site **sites = realloc(catalog->sites, (catalog->count + 1) * sizeof(hw__site *));
  if (sites) {
    catalog->sites = sites;
  }
  hw__site *site = calloc(1, sizeof *site);
  int64_t *keys = calloc(river->sensor_count, sizeof *keys);
  int64_t *gauge_keys = calloc(river->gauge_count + 1, sizeof *gauge_keys);
  hw__centerline *lines = calloc(river->branch_count + 1, sizeof *lines);
  if (!sites || !site || !keys || !gauge_keys || !lines) {
    free(site);
    free(keys);
    free(gauge_keys);
    free(lines);
    snprintf(error->text, sizeof error->text, "%s: out of memory", path);
    return HW_ENOMEM;
  }
  snprintf(site->id, sizeof site->id, "%s", id);
  snprintf(site->path, sizeof site->path, "%s", path);
  site->river = *river;
  site->sensor_keys = keys;
  site->gauge_keys = gauge_keys;
  site->lines = lines;
  catalog->sites[catalog->count++] = site;
  return enter_names(catalog, catalog->count - 1);
}

hw_status hw__catalog_load(hw__catalog *catalog, const char *argument, hw_warn warn, void *context, hw_error *error) {
  char id[HW_ID_SIZE];
  const char *equals = strchr(argument, '=');
  const char *slash = strchr(argument, '/');
  const char *path = argument;
  if (equals && (!slash || equals < slash)) {
    snprintf(id, sizeof id, "%.*s", (int)(equals - argument), argument);
    path = equals + 1;
  } else {
    id_from_path(path, id);
  }
  hw_river river;
  hw_status status = hw_river_load(path, warn, context, &river, error);
  if (status != HW_OK) {
    return status;
  }
  status = hw__catalog_add(catalog, id, path, &river, error);
  if (status == HW_EINPUT) {
    hw_river_free(&river);
  }
  if (status != HW_OK) {
    return status;
  }
  hw__site *site = catalog->sites[catalog->count - 1];
  return hw__centerlines_load(&site->river, site->lines, error);
}

size_t hw__catalog_count(const hw__catalog *catalog) {
  return catalog->count;
}

hw__site *hw__catalog_site(const hw__catalog *catalog, size_t index) {
  return catalog->sites[index];
}

ptrdiff_t hw__catalog_find(const hw__catalog *catalog, const char *id) {
  char name[HW_ID_SIZE + 2];
  const int length = snprintf(name, sizeof name, "%s/", id);
  const bool fits = length > 1 && (size_t)length < sizeof name;
  const slot *found = fits ? probe(catalog->slots, catalog->slot_count, name) : NULL;
  return found && found->name ? (ptrdiff_t)found->place.site : -1;
}

/* "MARKRIVER/ID". It is built for every reading, so without snprintf, which would cost too much. */
static bool compose(const char *mark, const char *river, const char *id, char *out, size_t size) {
  const size_t marked = strlen(mark), named = strlen(river), rest = strlen(id);
  if (marked + named + 1 + rest >= size) {
    return false;
  }
  memcpy(out, mark, marked + 1);
  memcpy(out + marked, river, named + 1);
  out[marked + named] = '/';
  memcpy(out + marked + named + 1, id, rest + 1);
  return true;
}

static hw_status find(const hw__catalog *catalog, const char *mark, const char *river, const char *id, hw__place *out) {
  char name[2 * HW_ID_SIZE + 3];
  if (!*id || !compose(mark, river ? river : "", id, name, sizeof name)) {
    return HW_ENAME;
  }
  const slot *found = probe(catalog->slots, catalog->slot_count, name);
  if (!found->name) {
    return HW_ENAME;
  }
  if (found->ambiguous) {
    return HW_EDOMAIN;
  }
  *out = found->place;
  return HW_OK;
}

hw_status hw__catalog_sensor(const hw__catalog *catalog, const char *river, const char *sensor, hw__place *out) {
  return find(catalog, "", river, sensor, out);
}

hw_status hw__catalog_gauge(const hw__catalog *catalog, const char *river, const char *gauge, hw__place *out) {
  return find(catalog, "~", river, gauge, out);
}

hw_status hw__catalog_set_key(hw__catalog *catalog, hw__place place, int64_t key) {
  if (key < 0 || (uint64_t)key > SIZE_MAX / sizeof(hw__place) / 2) {
    return HW_EDOMAIN;
  }
  const size_t index = (size_t)key;
  if (index >= catalog->key_count) {
    const size_t wanted = index + 1 + index / 2;
    hw__place *grown = realloc(catalog->by_key, wanted * sizeof *grown);
    if (!grown) {
      return HW_ENOMEM;
    }
    for (size_t i = catalog->key_count; i < wanted; i++) {
      grown[i] = (hw__place){.site = SIZE_MAX};
    }
    catalog->by_key = grown;
    catalog->key_count = wanted;
  }
  catalog->by_key[index] = place;
  hw__site *site = catalog->sites[place.site];
  (place.gauge ? site->gauge_keys : site->sensor_keys)[place.sensor] = key;
  return HW_OK;
}

hw_status hw__catalog_place(const hw__catalog *catalog, int64_t key, hw__place *out) {
  if (key < 0 || (size_t)key >= catalog->key_count || catalog->by_key[key].site == SIZE_MAX) {
    return HW_ENAME;
  }
  *out = catalog->by_key[key];
  return HW_OK;
}

ptrdiff_t hw__catalog_site_of_key(const hw__catalog *catalog, int64_t river_key) {
  for (size_t i = 0; i < catalog->count; i++) {
    if (catalog->sites[i]->key == river_key) {
      return (ptrdiff_t)i;
    }
  }
  return -1;
}
