/* A file of the database holds the transitions twice, in 32 bits and in 64; the second part is used where there is
 * one, and the rule behind it for what comes after the last transition. */
#include "io/zone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/time.h"
#include "io/zone_rule.h"

enum { LARGEST_FILE = 1 << 20, HEADER_SIZE = 44 };

struct hw__zone {
  size_t count;
  int64_t *at;      /* transitions, in order */
  int32_t *offset;  /* from each on */
  int32_t before_s; /* before the first */
  bool has_rule;
  hw__zone_rule rule; /* after the last */
};

static int64_t take_integer(const uint8_t *p, size_t size) {
  uint64_t value = p[0] & 0x80 ? UINT64_MAX : 0;
  for (size_t i = 0; i < size; i++) {
    value = value << 8 | p[i];
  }
  return (int64_t)value;
}

/* The six counts of a part's header. */
typedef struct {
  size_t utc, standard, leaps, transitions, types, letters;
} counts;

static bool take_header(const uint8_t *data, size_t size, counts *out) {
  if (size < HEADER_SIZE || memcmp(data, "TZif", 4) != 0) {
    return false;
  }
  size_t n[6];
  for (size_t i = 0; i < 6; i++) {
    const int64_t value = take_integer(data + 20 + 4 * i, 4);
    if (value < 0 || value > 100000) {
      return false;
    }
    n[i] = (size_t)value;
  }
  *out = (counts){n[0], n[1], n[2], n[3], n[4], n[5]};
  return out->types > 0;
}

static size_t body_size(const counts *c, size_t time_size) {
  return c->transitions * (time_size + 1) + c->types * 6 + c->letters + c->leaps * (time_size + 4) + c->standard +
         c->utc;
}

/* One part behind its header. */
static bool take_body(const uint8_t *data, const counts *c, size_t time_size, hw__zone *zone) {
  const uint8_t *types = data + c->transitions * (time_size + 1);
  zone->at = malloc((c->transitions + 1) * sizeof *zone->at);
  zone->offset = malloc((c->transitions + 1) * sizeof *zone->offset);
  if (!zone->at || !zone->offset) {
    return false;
  }
  zone->count = c->transitions;
  zone->before_s = (int32_t)take_integer(types, 4);
  for (size_t i = 0; i < c->transitions; i++) {
    const uint8_t type = data[c->transitions * time_size + i];
    zone->at[i] = take_integer(data + i * time_size, time_size);
    if (type >= c->types || (i > 0 && zone->at[i] <= zone->at[i - 1])) {
      return false;
    }
    zone->offset[i] = (int32_t)take_integer(types + 6 * (size_t)type, 4);
  }
  return true;
}

bool hw__zone_parse(const uint8_t *data, size_t size, hw__zone **out) {
  *out = NULL;
  hw__zone *zone = calloc(1, sizeof *zone);
  counts first, second;
  bool good = zone && take_header(data, size, &first) && body_size(&first, 4) <= size - HEADER_SIZE;
  if (good && data[4] >= '2') {
    const size_t skip = HEADER_SIZE + body_size(&first, 4);
    good = take_header(data + skip, size - skip, &second) && body_size(&second, 8) <= size - skip - HEADER_SIZE &&
           take_body(data + skip + HEADER_SIZE, &second, 8, zone);
    if (good) {
      const size_t foot = skip + HEADER_SIZE + body_size(&second, 8);
      const uint8_t *end = foot + 1 < size ? memchr(data + foot + 1, '\n', size - foot - 1) : NULL;
      if (end && data[foot] == '\n') {
        const char *text = (const char *)data + foot + 1;
        zone->has_rule = hw__zone_rule_parse((hw__slice){text, (size_t)(end - data) - foot - 1}, &zone->rule);
      }
    }
  } else if (good) {
    good = take_body(data + HEADER_SIZE, &first, 4, zone);
  }
  if (!good) {
    hw__zone_free(zone);
    return false;
  }
  *out = zone;
  return true;
}

void hw__zone_free(hw__zone *zone) {
  if (zone) {
    free(zone->at);
    free(zone->offset);
    free(zone);
  }
}

/* A name of the database leads into its folder and nowhere else. */
static bool is_place(const char *name) {
  bool letters = false;
  for (const char *p = name; *p; p++) {
    const bool letter = (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z');
    letters = letters || letter;
    if (!letter && !(*p >= '0' && *p <= '9') && !(*p == '/' && p > name) && !strchr("_+-", *p)) {
      return false;
    }
  }
  return letters;
}

static hw__zone *load(const char *name) {
  char path[300];
  if (!is_place(name) || snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name) >= (int)sizeof path) {
    return NULL;
  }
  FILE *file = fopen(path, "rb");
  uint8_t *data = file ? malloc(LARGEST_FILE) : NULL;
  hw__zone *zone = NULL;
  if (data) {
    hw__zone_parse(data, fread(data, 1, LARGEST_FILE, file), &zone);
  }
  free(data);
  if (file) {
    fclose(file);
  }
  return zone;
}

hw_status hw__zone_open(const char *name, hw__zone **out, hw_error *error) {
  double offset_s;
  *out = NULL;
  if (hw__zone_offset_named((hw__slice){name, strlen(name)}, &offset_s)) {
    *out = calloc(1, sizeof **out);
    if (!*out) {
      return hw__fail(error, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
    }
    (*out)->before_s = (int32_t)offset_s;
    return HW_OK;
  }
  *out = load(name);
  char shown[HW__EXCERPT_SIZE];
  return *out ? HW_OK
              : hw__fail(error, HW_EINPUT,
                         "no time zone '%s' in /usr/share/zoneinfo, expected one such as Europe/Berlin, UTC or +01:00",
                         hw__excerpt((hw__slice){name, strlen(name)}, shown));
}

double hw__zone_offset(const hw__zone *zone, double unix_s) {
  size_t lo = 0, hi = zone->count;
  while (lo < hi) { /* the first transition after the instant */
    const size_t mid = lo + (hi - lo) / 2;
    if ((double)zone->at[mid] <= unix_s) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  if (lo == zone->count && zone->has_rule) {
    return hw__zone_rule_offset(&zone->rule, unix_s);
  }
  return lo ? zone->offset[lo - 1] : zone->before_s;
}

/* Clocks change at most once within two days. */
size_t hw__zone_instants(const hw__zone *zone, double local_s, double unix_s[2]) {
  const double before = hw__zone_offset(zone, local_s - 86400), after = hw__zone_offset(zone, local_s + 86400);
  size_t count = 0;
  if (hw__zone_offset(zone, local_s - before) == before) {
    unix_s[count++] = local_s - before;
  }
  if (after != before && hw__zone_offset(zone, local_s - after) == after) {
    unix_s[count++] = local_s - after;
  }
  return count;
}

bool hw__zone_offset_named(hw__slice name, double *offset_s) {
  static const struct {
    const char *name;
    double hours;
  } known[] = {{"Z", 0},    {"UTC", 0},  {"GMT", 0},  {"WET", 0},   {"WEST", 1},  {"BST", 1},    {"CET", 1},
               {"MEZ", 1},  {"CEST", 2}, {"MESZ", 2}, {"EET", 2},   {"EEST", 3},  {"NST", -3.5}, {"NDT", -2.5},
               {"AST", -4}, {"ADT", -3}, {"EST", -5}, {"EDT", -4},  {"CST", -6},  {"CDT", -5},   {"MST", -7},
               {"MDT", -6}, {"PST", -8}, {"PDT", -7}, {"AKST", -9}, {"AKDT", -8}, {"HST", -10}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (hw__slice_is(name, known[i].name)) {
      *offset_s = known[i].hours * 3600;
      return true;
    }
  }
  if (name.size > 3 && (memcmp(name.text, "UTC", 3) == 0 || memcmp(name.text, "GMT", 3) == 0)) {
    name.text += 3;
    name.size -= 3;
  }
  const char *p = name.text;
  return hw__time_take_offset(&p, name.text + name.size, offset_s) && p == name.text + name.size;
}
