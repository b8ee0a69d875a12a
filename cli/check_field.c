#include "cli/check_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"

/* Two or three readings on the front make a narrow answer (docs/engine.md). */
static const double on_front_least = 2;

typedef struct {
  double location_m;
  hw_outlook outlook;
} row;

static bool identifiable(const row *r, double every_s) {
  return r->outlook.visible > 0 && r->outlook.lead_s >= on_front_least * every_s;
}

static void print_text_row(const row *r, double every_s) {
  const hw_outlook *o = &r->outlook;
  printf("  %9.2f %8zu", r->location_m / 1000, o->visible);
  if (o->visible == 0) {
    printf("  %18s  %14s  %12s  %8s   no\n", "-", "-", "-", "-");
    return;
  }
  const double distance = o->location_m - r->location_m;
  printf("  %8.2f to %6.2f  %+6.0f to %+4.0f  ", (o->location_m - distance * o->distance.hi) / 1000,
         (o->location_m - distance * o->distance.lo) / 1000, o->travel_s * (1 - o->age.hi) / 60,
         o->travel_s * (1 - o->age.lo) / 60);
  if (isfinite(o->mass.lo)) {
    printf("%+5.0f to %+4.0f", 100 * (o->mass.lo - 1), 100 * (o->mass.hi - 1));
  } else {
    printf("%13s", "-");
  }
  printf("  %7.1f   %s\n", o->lead_s / every_s, identifiable(r, every_s) ? "yes" : "too coarse");
}

static void print_text(const cli_session *session, const check_field_request *q, const row *rows) {
  size_t known = 0;
  printf("%s\nCould these %zu sensors identify a release of %.6g kg, read every %g s?\n", session->river.name,
         session->river.sensor_count, q->mass_g / 1000, q->every_s);
  printf("The dispersion is unknown: what limits the answer is how much rivers differ. 90 %% intervals to expect:\n\n");
  printf("  %9s %8s  %18s  %14s  %13s  %7s   %s\n", "place, km", "seen by", "place, km", "time, min", "mass, %",
         "front", "identifiable");
  for (size_t i = 0; i < q->places; i++) {
    print_text_row(&rows[i], q->every_s);
    known += identifiable(&rows[i], q->every_s);
  }
  printf("\nfront: readings while the pulse comes up at the first sensor that sees it; fewer than %g are too coarse.\n",
         on_front_least);
  printf(known == q->places ? "Yes, everywhere in the search box, as well as that.\n"
         : known > 0        ? "Only in part: elsewhere no sensor below would see the pulse, or too coarsely.\n"
                            : "No: from nowhere in the search box.\n");
  if (session->river.hydraulics.velocity_m_s.certainty == HW_UNKNOWN) {
    printf("A velocity known within 15 %%, or a second sensor below the source, narrows the place most.\n");
  }
}

static void print_range(const char *name, hw_range range) {
  if (isfinite(range.lo)) {
    printf(", \"%s\": [%.6g, %.6g]", name, range.lo, range.hi);
  } else {
    printf(", \"%s\": null", name);
  }
}

static void print_json(const cli_session *session, const check_field_request *q, const row *rows) {
  printf("{\"schema\": \"headwater.check/1\", \"river\": ");
  cli_print_json_text(session->river.name);
  printf(", \"seed\": %llu, \"every_s\": %.9g, \"mass_g\": %.9g,\n \"places\": [", (unsigned long long)q->seed,
         q->every_s, q->mass_g);
  for (size_t i = 0; i < q->places; i++) {
    const hw_outlook *o = &rows[i].outlook;
    printf(
        "%s\n  {\"location_m\": %.9g, \"seen_by\": %zu, \"identifiable\": %s, \"bound\": null, \"ratios\": "
        "{\"level\": " CLI_TEXT(HW_DEFAULT_LEVEL),
        i ? "," : "", rows[i].location_m, o->visible, identifiable(&rows[i], q->every_s) ? "true" : "false");
    print_range("distance", o->distance);
    print_range("age", o->age);
    print_range("mass", o->mass);
    printf("}}");
  }
  printf("\n ],\n \"estimate\": null}\n");
}

int cli_check_field(const cli_session *session, const check_field_request *q) {
  const hw_box *box = &session->river.search;
  row *rows = calloc(q->places, sizeof *rows);
  hw_status status = rows ? HW_OK : HW_ENOMEM;
  for (size_t i = 0; status == HW_OK && i < q->places; i++) {
    const double share = q->places > 1 ? (double)i / (double)(q->places - 1) : 0.5;
    rows[i].location_m = box->lo.location_m + share * (box->hi.location_m - box->lo.location_m);
    const hw_source source = {q->mass_g, rows[i].location_m, 0.5 * (box->lo.time_s + box->hi.time_s)};
    status = hw_outlook_source(&session->river, &source, HW_DEFAULT_LEVEL, &rows[i].outlook);
  }
  if (status == HW_OK) {
    (q->json ? print_json : print_text)(session, q, rows);
  }
  free(rows);
  return status == HW_OK ? -1 : cli_fail(cli_exit_code(status), "check: %s", hw_status_text(status));
}
