/* Lookup is one open-addressing table over "river/sensor", "/sensor" (any river) and "river/". It is built while
 * loading and only read afterwards, so threads share it without a lock. */
#include "rivers/catalog.h"

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
  hw__place *by_key; /* sensor key -> place; site SIZE_MAX where none */
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
  char name[2 * HW_ID_SIZE + 2];
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

static void free_site(hw__site *site) {
  if (site) {
    hw_river_free(&site->river);
    hw__centerline_free(&site->centerline);
    free(site->sensor_keys);
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
  if (!sites || !site || !keys) {
    free(site);
    free(keys);
    snprintf(error->text, sizeof error->text, "%s: out of memory", path);
    return HW_ENOMEM;
  }
  snprintf(site->id, sizeof site->id, "%s", id);
  snprintf(site->path, sizeof site->path, "%s", path);
  site->river = *river;
  site->sensor_keys = keys;
  catalog->sites[catalog->count++] = site;
  hw_status status = enter(catalog, id, "", (hw__place){catalog->count - 1, 0});
  for (size_t s = 0; s < river->sensor_count && status == HW_OK; s++) {
    const hw__place place = {catalog->count - 1, s};
    status = enter(catalog, id, river->sensors[s].id, place);
    if (status == HW_OK) {
      status = enter(catalog, "", river->sensors[s].id, place);
    }
  }
  return status;
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
  if (status == HW_OK && river.centerline) {
    status = hw__centerline_load(river.centerline, &river, &catalog->sites[catalog->count - 1]->centerline, error);
  }
  return status;
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

hw_status hw__catalog_sensor(const hw__catalog *catalog, const char *river, const char *sensor, hw__place *out) {
  char name[2 * HW_ID_SIZE + 2];
  const int length = snprintf(name, sizeof name, "%s/%s", river ? river : "", sensor);
  if (!*sensor || length < 0 || (size_t)length >= sizeof name) {
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

hw_status hw__catalog_set_key(hw__catalog *catalog, size_t site, size_t sensor, int64_t key) {
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
      grown[i] = (hw__place){SIZE_MAX, 0};
    }
    catalog->by_key = grown;
    catalog->key_count = wanted;
  }
  catalog->by_key[index] = (hw__place){site, sensor};
  catalog->sites[site]->sensor_keys[sensor] = key;
  return HW_OK;
}

hw_status hw__catalog_place(const hw__catalog *catalog, int64_t sensor_key, hw__place *out) {
  if (sensor_key < 0 || (size_t)sensor_key >= catalog->key_count || catalog->by_key[sensor_key].site == SIZE_MAX) {
    return HW_ENAME;
  }
  *out = catalog->by_key[sensor_key];
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
