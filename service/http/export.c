/* An incident to take away: its readings in the order the engine saw them (so that `identify` on the
 * file gives the same answer), its discharges as a flow file, its places, a plain-text bulletin. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/csv_export.h"
#include "http/handlers.h"
#include "live/show.h"

typedef struct {
  hw__service *service;
  hw__db *db;
  hw__incident incident;
  const hw__site *site;
  bool calendar;
} export_case;

static hw__db_status begin(hw__request *request, export_case *c) {
  *c = (export_case){.service = request->service};
  hw__db_status status = hw__store_borrow(request->service->store, &c->db);
  if (status == HW_DB_OK) {
    status = hw__db_incident(c->db, hw__captured_incident(request), &c->incident);
  }
  const ptrdiff_t site =
      status == HW_DB_OK ? hw__catalog_site_of_key(request->service->catalog, c->incident.river) : -1;
  if (status == HW_DB_OK && site < 0) {
    status = HW_DB_ABSENT;
  }
  if (status == HW_DB_OK) {
    hw__time_base base = HW_TIME_UNSET;
    c->site = hw__catalog_site(request->service->catalog, (size_t)site);
    hw__db_time_base(c->db, c->site->key, &base);
    c->calendar = base == HW_TIME_CALENDAR;
  } else if (c->db) {
    hw__store_return(request->service->store, c->db);
  }
  return status;
}

static hw__reply not_begun(const hw__request *request, hw__db_status status) {
  return status == HW_DB_ABSENT ? hw__reply_error(404, "no incident '%.40s'", request->captured[0])
                                : hw__reply_db(status);
}

static hw__reply reply_csv(hw__request *request, hw__record_kind kind) {
  export_case c;
  hw__db_status status = begin(request, &c);
  if (status != HW_DB_OK) {
    return not_begun(request, status);
  }
  status = hw__db_remembers(c.db, &c.incident);
  hw__store_return(request->service->store, c.db);
  if (status != HW_DB_OK) {
    return hw__reply_db(status);
  }
  const hw__csv_selection what = {
      .site = c.site,
      .kind = kind,
      .path = c.incident.sensor,
      .from_s = c.incident.from_s,
      .to_s = INFINITY,
      .before = c.incident.id,
      .after = c.incident.id - 1,
      .upto = c.incident.closed_seq ? c.incident.closed_seq : hw__store_seq(request->service->store)};
  return hw__csv_export(request, &what, c.calendar);
}

hw__reply hw__get_incident_readings(hw__request *request) {
  return reply_csv(request, HW_RECORD_READING);
}

hw__reply hw__get_export(hw__request *request) {
  const char *format = hw__query(request, "format");
  if (format && strcmp(format, "csv") == 0) {
    return hw__get_incident_readings(request);
  }
  if (format && strcmp(format, "flow") == 0) {
    return reply_csv(request, HW_RECORD_DISCHARGE);
  }
  if (!format || strcmp(format, "json") == 0) {
    return hw__get_incident(request);
  }
  if (strcmp(format, "geojson") != 0) {
    return hw__reply_error(400, "format: expected csv, flow, json or geojson");
  }
  export_case c;
  const hw__db_status status = begin(request, &c);
  if (status != HW_DB_OK) {
    return not_begun(request, status);
  }
  json_t *incident = hw__show_incident(request->service, c.db, &c.incident);
  hw__store_return(request->service->store, c.db);
  const hw__reply reply = hw__reply_places(request, c.site, incident);
  json_decref(incident);
  return reply;
}

/* --- the bulletin --- */

typedef struct {
  double issued_unix_s;
  json_t *alarms;
  char *text;
} bulletin;

static const char *word_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* What intakes and candidates were told last, and who has acknowledged it: whoever reads this may have heard less. */
static void write_alarms(FILE *out, const json_t *alarms) {
  size_t i, told = 0;
  const json_t *alarm;
  json_array_foreach(alarms, i, alarm) {
    if (strcmp(word_of(alarm, "kind"), "incident") == 0) {
      continue;
    }
    const json_t *by = json_object_get(alarm, "acknowledged");
    const char *note = word_of(by, "note");
    fprintf(out, "%s  %-11s%s\n", told++ ? "" : "\nAlarms as they were last told\n", word_of(alarm, "state"),
            word_of(alarm, "sentence"));
    if (json_is_object(by)) {
      fprintf(out, "  %-11sacknowledged by %s, %s%s%s\n", "", word_of(by, "who"), word_of(by, "at"), *note ? ": " : "",
              note);
    } else if (strcmp(word_of(alarm, "state"), "raised") == 0 || strcmp(word_of(alarm, "state"), "changed") == 0) {
      fprintf(out, "  %-11snot acknowledged\n", "");
    }
  }
}

/* On the readings' own clock as everywhere in the text: hours and minutes. */
static void relative_text(double time_s, char *out, size_t size) {
  const double minutes = round(fabs(time_s) / 60);
  snprintf(out, size, "%s%.0f h %02.0f min (clock of the readings)", time_s < 0 ? "-" : "", floor(minutes / 60),
           fmod(minutes, 60));
}

static void look_bulletin(void *context, const hw__solver_view *view) {
  bulletin *b = context;
  hw_estimate estimate;
  const bool have = view->run && hw_run_estimate(view->run, &estimate) == HW_OK;
  hw_result result = view->result;
  result.estimate = have ? &estimate : NULL;
  result.seconds = NAN; /* of the machine's work nobody who reads a bulletin wants to know */
  char *body = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&b->text, &size);
  if (!out) {
    return;
  }
  const bool closed = view->incident->closed_seq != 0;
  char issued[48] = "", opened[64] = "";
  hw_time_format(b->issued_unix_s, issued, sizeof issued);
  if (result.calendar) {
    hw_time_format(view->incident->opened_s, opened, sizeof opened);
  } else {
    relative_text(view->incident->opened_s, opened, sizeof opened);
  }
  fprintf(out, "POLLUTION BULLETIN  incident %" PRId64 "  %s\nIssued %s\nFirst noticed %s; %s\n\n", view->incident->id,
          closed ? "CLOSED" : "ONGOING", issued, opened,
          result.failure                    ? "THERE IS NO ANSWER: the reason is below."
          : !have                           ? "no estimate yet."
          : estimate.trust == HW_TRUST_NONE ? "THERE IS NO TRUSTWORTHY ANSWER: the reason is below."
          : !estimate.has_source            ? "no spill is seen so far."
          : estimate.provisional ? closed ? "the answer below is PROVISIONAL: the pulse was not seen to pass."
                                          : "the answer below is PROVISIONAL: the pulse has not passed yet."
                                 : "enough of the pulse has been seen for a dependable answer.");
  if (have && hw_result_text(&result, &body) == HW_OK) {
    fputs(body, out);
  } else {
    fprintf(out, "%s\n", view->site->river.name);
    if (result.failure) {
      fprintf(out, "No source is given: %s.\n", result.failure);
    }
  }
  write_alarms(out, b->alarms);
  free(body);
  fclose(out);
}

hw__reply hw__get_bulletin(hw__request *request) {
  const int64_t issued_s = hw__store_now_us(request->service->store) / 1000000; /* whole seconds are enough on paper */
  export_case c;
  hw__db_status status = begin(request, &c);
  if (status != HW_DB_OK) {
    return not_begun(request, status);
  }
  bulletin b = {.issued_unix_s = (double)issued_s, .alarms = hw__show_alarms(c.db, &c.incident)};
  hw__store_return(request->service->store, c.db);
  status = hw__solver_look(request->service->processing.solver, hw__captured_incident(request), look_bulletin, &b);
  json_decref(b.alarms);
  if (status != HW_DB_OK) {
    return not_begun(request, status);
  }
  return hw__reply_text(200, "text/plain; charset=utf-8", b.text);
}
