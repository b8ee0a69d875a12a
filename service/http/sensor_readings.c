/* Readings as they are stored: of one sensor or gauge the latest, those after a number, or a few that show the shape of
 * them all; or every one as CSV. What is not all says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/csv_export.h"
#include "http/handlers.h"
#include "live/show.h"

enum { READINGS_MAX = 20000, POINTS_MIN = 10, PAGE = 2048 };

/* What is asked for, and what is found. */
typedef struct {
  hw__service *service;
  hw__sensor_span span;
  size_t limit;
  bool latest; /* the last of them; else the first */
  hw__log_record *records;
  size_t count;
  uint64_t total; /* of which records are some */
  bool more;      /* there are others than those counted */
  int64_t seq;    /* the highest number among those counted */
} selection;

static double value_of(const hw__log_record *r) {
  return r->below_limit ? 0 : r->concentration_g_m3;
}

static void note(selection *s, const hw__log_record *records, size_t count) {
  for (size_t i = 0; i < count; i++) {
    s->seq = records[i].seq > s->seq ? records[i].seq : s->seq;
  }
  s->total += count;
}

/* One more than asked for tells whether there are others. */
static hw__db_status select_some(selection *s, hw__db *db) {
  const hw__sensor_span *w = &s->span;
  const hw__db_status status = s->latest ? hw__db_sensor_log(db, w->sensor, nextafter(w->after_s, INFINITY), w->to_s,
                                                             s->records, s->limit + 1, &s->count)
                                         : hw__db_sensor_page(db, w, s->records, s->limit + 1, &s->count);
  if (status == HW_DB_OK && s->count > s->limit) {
    s->more = true;
    s->count--;
    if (s->latest) {
      memmove(s->records, s->records + 1, s->count * sizeof *s->records);
    }
  }
  note(s, s->records, status == HW_DB_OK ? s->count : 0);
  return status;
}

/* --- few for many --- */

/* The lowest and the highest of each of `bins` stretches of time. */
typedef struct {
  double from_s, step_s;
  size_t bins;
  hw__log_record *lowest, *highest; /* seq 0: none yet */
} outline;

static void outline_add(outline *o, const hw__log_record *r) {
  const double place = floor((r->time_s - o->from_s) / o->step_s);
  const size_t bin = place < 0 ? 0 : place >= (double)o->bins ? o->bins - 1 : (size_t)place;
  hw__log_record *low = &o->lowest[bin], *high = &o->highest[bin];
  *low = !low->seq || value_of(r) < value_of(low) ? *r : *low;
  *high = !high->seq || value_of(r) > value_of(high) ? *r : *high;
}

static size_t outline_take(const outline *o, hw__log_record *out) {
  size_t count = 0;
  for (size_t i = 0; i < o->bins; i++) {
    const hw__log_record *a = &o->lowest[i], *b = &o->highest[i];
    if (!a->seq) {
      continue;
    }
    const bool in_order = a->time_s <= b->time_s;
    out[count++] = in_order ? *a : *b;
    if (a->seq != b->seq) {
      out[count++] = in_order ? *b : *a;
    }
  }
  return count;
}

/* All, where they are no more than `limit`; else an outline of as many. */
static hw__db_status scan(selection *s, hw__db *db, outline *o, hw__log_record *page) {
  hw__sensor_span span = s->span;
  size_t count = PAGE;
  hw__db_status status = HW_DB_OK;
  while (status == HW_DB_OK && count == PAGE) {
    status = hw__db_sensor_page(db, &span, page, PAGE, &count);
    for (size_t i = 0; status == HW_DB_OK && i < count; i++) {
      if (s->total + i < s->limit) {
        s->records[s->total + i] = page[i];
      }
      outline_add(o, &page[i]);
    }
    note(s, page, status == HW_DB_OK ? count : 0);
    span.after_s = count ? page[count - 1].time_s : span.after_s;
  }
  s->count = s->total <= s->limit ? (size_t)s->total : outline_take(o, s->records);
  return status;
}

static hw__db_status select_outline(selection *s, hw__db *db) {
  hw__log_record first, last;
  size_t any = 0;
  hw__db_status status = hw__db_sensor_page(db, &s->span, &first, 1, &any);
  if (status == HW_DB_OK && any) {
    status = hw__db_sensor_log(db, s->span.sensor, first.time_s, s->span.to_s, &last, 1, &any);
  }
  if (status != HW_DB_OK || !any) {
    return status;
  }
  outline o = {.from_s = first.time_s, .bins = s->limit / 2};
  o.step_s = fmax((last.time_s - first.time_s) / (double)o.bins, 1e-6);
  o.lowest = calloc(o.bins, sizeof *o.lowest);
  o.highest = calloc(o.bins, sizeof *o.highest);
  hw__log_record *page = malloc(PAGE * sizeof *page);
  status = o.lowest && o.highest && page ? scan(s, db, &o, page) : HW_DB_MEMORY;
  free(o.lowest);
  free(o.highest);
  free(page);
  return status;
}

/* --- the answers --- */

static hw__reply show(const selection *s, const hw__site *site, hw__place place, bool calendar) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->count; i++) {
    json_array_append_new(list, hw__show_reading(s->service, &s->records[i], calendar));
  }
  return hw__reply_json(
      200, json_pack("{s:s, s:s, s:o, s:I, s:b, s:b, s:I}", "river", site->id, place.gauge ? "gauge" : "sensor",
                     hw__site_name(site, place), "readings", list, "total", (json_int_t)s->total, "thinned",
                     s->total > s->count, "more", s->more, "seq", (json_int_t)s->seq));
}

static hw__reply reply_some(hw__request *request, hw__place place, selection *s, bool thin) {
  hw__service *service = request->service;
  const hw__site *site = hw__catalog_site(service->catalog, place.site);
  s->service = service;
  s->span.sensor = hw__site_key(site, place);
  s->records = malloc((s->limit + 2) * sizeof *s->records);
  hw__db *db = NULL;
  hw__db_status status = s->records ? hw__store_borrow(service->store, &db) : HW_DB_MEMORY;
  if (db) {
    status = thin ? select_outline(s, db) : select_some(s, db);
    hw__store_return(service->store, db);
  }
  const bool calendar = hw__river_time_base(service, place.site) == HW_TIME_CALENDAR;
  const hw__reply reply = status == HW_DB_OK ? show(s, site, place, calendar) : hw__reply_db(status);
  free(s->records);
  return reply;
}

/* All of them, of one sensor or of the river. */
static hw__reply reply_csv(hw__request *request, hw__place place, bool one, double from_s, double to_s) {
  hw__service *service = request->service;
  const hw__site *site = hw__catalog_site(service->catalog, place.site);
  const hw__csv_selection what = {.site = site,
                                  .kind = place.gauge ? HW_RECORD_DISCHARGE : HW_RECORD_READING,
                                  .sensor = one ? hw__site_key(site, place) : 0,
                                  .from_s = from_s,
                                  .to_s = to_s,
                                  .upto = hw__store_seq(service->store)};
  return hw__csv_export(request, &what, hw__river_time_base(service, place.site) == HW_TIME_CALENDAR);
}

/* ?format=csv, or of one sensor &limit= the latest, &after= those with a higher seq, &points= an outline. */
hw__reply hw__get_river_readings(hw__request *request) {
  hw__service *service = request->service;
  const char *river = request->captured[0], *format = hw__query(request, "format");
  const char *gauge = hw__query(request, "gauge"), *id = gauge ? gauge : hw__query(request, "sensor");
  const ptrdiff_t index = hw__catalog_find(service->catalog, river);
  if (index < 0) {
    return hw__reply_error(404, "no river '%.64s'", river);
  }
  const bool csv = format && strcmp(format, "csv") == 0;
  if (format && !csv && strcmp(format, "json") != 0) {
    return hw__reply_error(400, "format: expected csv or json");
  }
  hw__place place = {.site = (size_t)index};
  if ((!id && !csv) ||
      (id && (gauge ? hw__catalog_gauge : hw__catalog_sensor)(service->catalog, river, id, &place) != HW_OK)) {
    return hw__reply_error(404, "%s '%.64s', expected one of this river", gauge ? "gauge" : "sensor", id ? id : "");
  }
  double from_s, to_s, limit, after, points;
  if (!hw__query_time(request, "from", -INFINITY, &from_s) || !hw__query_time(request, "to", INFINITY, &to_s) ||
      !hw__query_number(request, "limit", 2000, &limit) || !(limit >= 1) || limit > READINGS_MAX ||
      !hw__query_number(request, "after", 0, &after) || !(after >= 0) ||
      !hw__query_number(request, "points", POINTS_MIN, &points) || !(points >= POINTS_MIN) || points > READINGS_MAX) {
    return hw__reply_error(400,
                           "from, to: expected seconds or ISO 8601; limit: 1 to %d; points: %d to %d; after: a seq",
                           READINGS_MAX, POINTS_MIN, READINGS_MAX);
  }
  if (csv) {
    return reply_csv(request, place, id != NULL, from_s, to_s);
  }
  const bool thin = hw__query(request, "points") != NULL;
  selection s = {.span = {.after_s = nextafter(from_s, -INFINITY), .to_s = to_s, .after_seq = (int64_t)after},
                 .limit = (size_t)(thin ? points : limit),
                 .latest = !hw__query(request, "after")};
  return reply_some(request, place, &s, thin);
}
