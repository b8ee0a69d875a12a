#include "http/csv_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/connections.h"

enum { PAGE = 1024, BLOCK = 65536 };

typedef struct {
  hw__service *service;
  struct MHD_Connection *connection;
  hw__csv_selection what;
  bool calendar;
  bool led_in; /* those before the record are through */
  bool ended;
  int64_t cursor;
  hw__log_record *page;
  char *text; /* not yet sent */
  size_t size, sent;
} export;

/* A spreadsheet would take it for a formula, some also where the sign is of full width (U+FF1D and others). */
static bool is_formula(const char *text) {
  static const char *const signs[] = {"=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
    if (strncmp(text, signs[i], strlen(signs[i])) == 0) {
      return true;
    }
  }
  return false;
}

/* An id as a field: in quotes where it needs them. What would be taken for a formula gets an apostrophe, which is taken
 * for text. */
static void put_text(FILE *out, const char *text) {
  const bool formula = is_formula(text);
  const bool plain = !formula && !text[strcspn(text, "\",\r\n# ")];
  fputs(plain ? "" : formula ? "\"'" : "\"", out);
  for (; *text; text++) {
    fprintf(out, !plain && *text == '"' ? "\"\"" : "%c", *text);
  }
  fputs(plain ? "" : "\"", out);
}

static void put_row(const export *e, FILE *out, const hw__log_record *r) {
  hw__place place;
  if (r->kind != e->what.kind || r->time_s < e->what.from_s || r->time_s > e->what.to_s ||
      (e->what.sensor && r->sensor != e->what.sensor) ||
      (e->what.path && r->kind == HW_RECORD_READING && !hw__site_on_one_path(e->what.site, e->what.path, r->sensor)) ||
      hw__catalog_place(e->service->catalog, r->sensor, &place) != HW_OK) {
    return;
  }
  char when[48];
  if (e->calendar) {
    hw_time_format(r->time_s, when, sizeof when);
  } else {
    snprintf(when, sizeof when, "%.17g", r->time_s);
  }
  fprintf(out, "%s,", when);
  put_text(out, hw__site_name(e->what.site, place));
  fprintf(out, ",%s%.17g\n", r->below_limit ? "<" : r->above_limit ? ">" : "", r->concentration_g_m3);
}

static hw__db_status next_page(export *e, hw__db *db, size_t *count) {
  const hw__csv_selection *w = &e->what;
  hw__db_status status = HW_DB_OK;
  *count = 0;
  if (!e->led_in) {
    const hw__lead_in lead = {w->site->key, w->from_s, e->cursor, w->before};
    status = w->before ? hw__db_lead_in(db, &lead, e->page, PAGE, count) : HW_DB_OK;
    if (status != HW_DB_OK || *count) {
      return status;
    }
    e->led_in = true;
    e->cursor = w->after;
  }
  return hw__db_river_log(db, w->site->key, e->cursor, w->upto, e->page, PAGE, count);
}

/* The next page as text. Returned: false when the disk or memory failed, and the receiver is told by a broken answer.
 */
static bool refill(export *e) {
  size_t count = 0;
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(e->service->store, &db);
  if (status == HW_DB_OK) {
    status = next_page(e, db, &count);
  }
  if (db) {
    hw__store_return(e->service->store, db);
  }
  free(e->text);
  e->text = NULL;
  e->sent = e->size = 0;
  FILE *out = status == HW_DB_OK ? open_memstream(&e->text, &e->size) : NULL;
  if (!out) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    put_row(e, out, &e->page[i]);
  }
  e->cursor = count ? e->page[count - 1].seq : e->cursor;
  e->ended = count == 0;
  return fclose(out) == 0;
}

static ssize_t read_export(void *context, uint64_t position, char *buffer, size_t most) {
  (void)position;
  export *e = context;
  while (e->sent == e->size) {
    if (e->ended) {
      return MHD_CONTENT_READER_END_OF_STREAM;
    }
    /* A long answer takes its time: each page has that of an answer. */
    hw__connections_step(e->service->connections, e->connection, HW_STEP_ANSWER);
    if (atomic_load(&e->service->stopping) || !refill(e)) {
      return MHD_CONTENT_READER_END_WITH_ERROR;
    }
  }
  const size_t size = e->size - e->sent < most ? e->size - e->sent : most;
  memcpy(buffer, e->text + e->sent, size);
  e->sent += size;
  return (ssize_t)size;
}

static void free_export(void *context) {
  export *e = context;
  free(e->page);
  free(e->text);
  free(e);
}

hw__reply hw__csv_export(hw__request *request, const hw__csv_selection *selection, bool calendar) {
  export *e = calloc(1, sizeof *e);
  hw__log_record *page = malloc(PAGE * sizeof *page);
  char header_text[64];
  snprintf(header_text, sizeof header_text, "%s,%s\n", calendar ? "time" : "time_s",
           selection->kind == HW_RECORD_DISCHARGE ? "gauge,discharge_m3_s" : "sensor,concentration_g_m3");
  char *header = strdup(header_text);
  struct MHD_Response *response =
      e && page && header ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_export, e, free_export)
                          : NULL;
  if (!response) {
    free(e);
    free(page);
    free(header);
    return hw__reply_later("out of memory, ask again");
  }
  *e = (export){.service = request->service,
                .connection = request->connection,
                .what = *selection,
                .calendar = calendar,
                .page = page,
                .text = header,
                .size = strlen(header)};
  MHD_add_response_header(response, "Content-Type", "text/csv; charset=utf-8");
  MHD_add_response_header(response, "Cache-Control", "no-store");
  return (hw__reply){.code = 200, .response = response};
}
