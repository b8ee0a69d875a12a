/* Every text that people write, with every one of its characters lost, doubled, mistaken for another, or the last: what
 * comes of it, value for value and sentence for sentence, is what came of it before. A change that is meant shows here
 * too: `HEADWATER_ACCEPT=1 build/tests/test_edits`
 * writes the expectations anew; read some of the outcomes that it prints before that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "headwater/headwater.h"
#include "io/flow_file.h"

enum { OUTCOME_SIZE = 1 << 16, ROWS = 60 };

/* What came of a text, as text. */
typedef struct {
  char text[OUTCOME_SIZE];
  size_t length;
} outcome;

__attribute__((format(printf, 2, 3))) static void say(outcome *o, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(o->text + o->length, sizeof o->text - o->length, format, arguments);
  va_end(arguments);
  assert_in_range(length, 0, sizeof o->text - o->length - 1);
  o->length += (size_t)length;
}

static void hear(void *context, const char *sentence) {
  say(context, "%s\n", sentence);
}

static void say_quantity(outcome *o, const char *name, const hw_quantity *q) {
  say(o, "%s %d %.9g %.9g %.9g\n", name, (int)q->certainty, q->value, q->factor, q->local);
}

static void say_reaches(outcome *o, const hw_reach *reaches, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const hw_reach *r = &reaches[i];
    say(o, " reach %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", r->to_m, r->velocity_m_s, r->dispersion_m2_s,
        r->area_m2, r->decay_per_s, r->discharge_m3_s, r->velocity_doubt.factor, r->velocity_doubt.local,
        r->dispersion_doubt.factor, r->dispersion_doubt.local);
  }
}

static void say_columns(outcome *o, const hw_columns *columns) {
  char *text = NULL;
  if (columns && hw_columns_write(columns, &text) == HW_OK) {
    say(o, "%s", text);
  }
  free(text);
}

static void say_places(outcome *o, const hw_river *r) {
  for (size_t i = 0; i < r->sensor_count; i++) {
    const hw_sensor *s = &r->sensors[i];
    say(o, "sensor %s %s %zu %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", s->id, s->name, s->branch,
        s->location_m, s->noise_relative, s->noise_absolute_g_m3, s->detection_limit_g_m3, s->background_g_m3,
        s->gain_factor, s->discharge_m3_s, s->section_velocity_m_s, s->width_m, s->depth_m);
  }
  for (size_t i = 0; i < r->candidate_count; i++) {
    const hw_candidate *c = &r->candidates[i];
    say(o, "candidate %s %s %zu %.9g %.9g %.9g %.9g", c->id, c->name, c->branch, c->location_m, c->extent_m, c->prior,
        c->active_trust);
    for (size_t k = 0; k < c->active_count; k++) {
      say(o, " %.9g..%.9g", c->active[k].from_s, c->active[k].to_s);
    }
    say(o, "\n");
  }
  for (size_t i = 0; i < r->intake_count; i++) {
    const hw_intake *k = &r->intakes[i];
    say(o, "intake %s %s %zu %.9g %.9g\n", k->id, k->name, k->branch, k->location_m, k->alarm_g_m3);
  }
  for (size_t i = 0; i < r->gauge_count; i++) {
    say(o, "gauge %s %zu %.9g\n", r->gauges[i].id, r->gauges[i].branch, r->gauges[i].location_m);
  }
}

static void take_river(const char *text, size_t size, outcome *o) {
  hw_river r;
  hw_error error = {""};
  if (hw_river_parse("r", text, size, hear, o, &r, &error) != HW_OK) {
    say(o, "%s\n", error.text);
    return;
  }
  const hw_hydraulics *h = &r.hydraulics;
  say(o, "%s %s %s\n", r.name, r.centerline ? r.centerline : "", r.flow_file ? r.flow_file : "");
  say_quantity(o, "velocity", &h->velocity_m_s);
  say_quantity(o, "dispersion", &h->dispersion_m2_s);
  say(o, "%.9g %.9g %.9g %.9g\n", h->area_m2, h->discharge_m3_s, h->decay_per_s, h->velocity_exponent);
  const hw_substance *s = &r.substance;
  say(o, "substance %s %.9g %.9g %.9g %.9g %.9g %.9g %d %.9g %.9g\n", s->name, s->decay_per_s.median,
      s->decay_per_s.factor, s->volatilisation_m_s.median, s->volatilisation_m_s.factor, s->retardation.median,
      s->retardation.factor, s->dye_losses, s->guideline_g_m3, s->loss_factor);
  say(o, "box %.9g %.9g %.9g %.9g %.9g %.9g %d when %.9g %.9g none %.9g\n", r.search.lo.mass_g, r.search.hi.mass_g,
      r.search.lo.location_m, r.search.hi.location_m, r.search.lo.time_s, r.search.hi.time_s, r.search_is_calendar,
      r.when.median_s, r.when.sd_s, r.none_prior);
  say_reaches(o, r.reaches, r.reach_count);
  for (size_t i = 0; i < r.branch_count; i++) {
    const hw_branch *b = &r.branches[i];
    say(o, "branch %s %s %.9g %zd %.9g %.9g %.9g %s\n", b->id, b->name, b->head_m, (ptrdiff_t)b->joins, b->joins_at_m,
        b->search_lo_m, b->search_hi_m, b->centerline ? b->centerline : "");
    say_reaches(o, b->reaches, b->reach_count);
  }
  say_places(o, &r);
  say_columns(o, r.import);
  hw_river_free(&r);
}

static void take_mapping(const char *text, size_t size, outcome *o) {
  hw_columns *columns = NULL;
  hw_error error = {""};
  if (hw_columns_parse("m", text, size, &columns, &error) != HW_OK) {
    say(o, "%s\n", error.text);
  }
  say_columns(o, columns);
  hw_columns_free(columns);
}

static hw_sensor sensors[] = {{.id = "s1", .location_m = 37.5}, {.id = "b \"2\"", .location_m = 141.2}};

static void hear_flow(void *context, const hw_flow *flow) {
  say(context, "flow %zu %.12g %.9g\n", flow->gauge, flow->time_s, flow->discharge_m3_s);
}

/* Ours, or a table of another program that tells what it is taken for. */
static void read_table(const char *text, size_t size, bool ours, const hw_columns *columns, outcome *o) {
  static hw_gauge gauges[] = {{.id = "g1", .location_m = 10}, {.id = "g2", .location_m = 20}};
  const hw_river river = {
      .sensors = sensors, .sensor_count = 2, .gauges = gauges, .gauge_count = 2, .search_is_calendar = !ours};
  const hw_reader_options options = {.columns = columns,
                                     .timezone = ours ? NULL : "+01:30",
                                     .tell = ours ? NULL : hear,
                                     .context = o,
                                     .take_flow = hear_flow,
                                     .flow_context = o};
  hw_reader *reader = NULL;
  hw_reading x;
  hw_error error = {""};
  hw_status status = hw_reader_memory_with(text, size, "t", &river, &options, &reader, &error);
  if (status != HW_OK) {
    say(o, "%s\n", error.text);
    return;
  }
  for (int i = 0; i < ROWS && (status = hw_reader_next(reader, &x, &error)) != HW_EEND; i++) {
    if (status == HW_OK) {
      say(o, "%zu %.12g %.12g %d %d\n", x.sensor, x.time_s, x.concentration_g_m3, x.below_limit, x.above_limit);
    } else {
      say(o, "%s\n", error.text);
    }
  }
  const hw_reader_counts *c = hw_reader_count(reader);
  double origin_s = 0;
  const bool dated = hw_reader_calendar(reader, &origin_s);
  say(o, "%zu rows %zu %zu %zu %zu %d line %zu byte %zu %d %.12g\n", (size_t)c->rows, (size_t)c->readings,
      (size_t)c->missing, (size_t)c->duplicate, (size_t)c->out_of_order, c->unterminated,
      (size_t)hw_reader_line(reader), (size_t)hw_reader_offset(reader), dated, origin_s);
  hw_reader_free(reader);
}

static void take_readings(const char *text, size_t size, outcome *o) {
  read_table(text, size, true, NULL, o);
}

static void take_table(const char *text, size_t size, outcome *o) {
  read_table(text, size, false, NULL, o);
}

static void take_mapped_table(const char *text, size_t size, outcome *o) {
  static const char mapping[] =
      "{header: 1, separator: ';', decimal: ',', time: [day, clock], time_as: dmy, sensor: place, value: '*_c', "
      "unit: ppb, quality: q, good: [A, ''], missing: [none, '-99'], names: {s1: Elm, 'b \"2\"': '7'}}";
  hw_columns *columns = NULL;
  hw_error error = {""};
  assert_int_equal(hw_columns_parse("m", mapping, strlen(mapping), &columns, &error), HW_OK);
  read_table(text, size, false, columns, o);
  hw_columns_free(columns);
}

/* A body as it is posted to the service. */
static void read_body(const char *text, size_t size, hw_rows_format format, const hw_river *river, outcome *o) {
  hw_rows *rows = NULL;
  hw_row x;
  hw_error error = {""};
  assert_int_equal(hw_rows_create(text, size, format, river, &rows), HW_OK);
  hw_status status;
  for (int i = 0; i < ROWS && (status = hw_rows_next(rows, &x, &error)) != HW_EEND; i++) {
    if (status == HW_OK) {
      say(o, "%d %d %d '%.*s' '%.*s' %.12g %.12g %d %d %.9g", x.calendar, x.discharge, x.missing, (int)x.river_size,
          x.river ? x.river : "", (int)x.sensor_size, x.sensor ? x.sensor : "", x.reading.time_s,
          x.missing ? 0 : x.reading.concentration_g_m3, x.reading.below_limit, x.reading.above_limit, x.discharge_m3_s);
    } else {
      say(o, "%d %s", status, error.text);
    }
    say(o, " line %zu\n", (size_t)hw_rows_line(rows));
  }
  hw_rows_free(rows);
}

static void take_csv_body(const char *text, size_t size, outcome *o) {
  read_body(text, size, HW_ROWS_CSV, NULL, o);
}

static void take_ndjson_body(const char *text, size_t size, outcome *o) {
  read_body(text, size, HW_ROWS_NDJSON, NULL, o);
}

/* Of a river whose tables are written another way. */
static void take_foreign_body(const char *text, size_t size, outcome *o) {
  static const char mapping[] =
      "{header: 1, separator: ';', decimal: ',', time: when, time_as: dmy, timezone: '+01:00', sensor: place, value: "
      "c, "
      "unit: ug/l, missing: [none]}";
  hw_river river = {.sensors = sensors, .sensor_count = 2};
  hw_error error = {""};
  assert_int_equal(hw_columns_parse("m", mapping, strlen(mapping), &river.import, &error), HW_OK);
  read_body(text, size, HW_ROWS_CSV, &river, o);
  hw_columns_free(river.import);
}

static void take_flow(const char *text, size_t size, outcome *o) {
  static const char river[] =
      "hydraulics: {velocity_m_s: 1.42, dispersion_m2_s: 37, discharge_m3_s: 9}\n"
      "search: {mass_g: [10, 20], location_m: [-3000, 12], time_s: [-240, 870]}\n"
      "sensors: [{id: s1, location_m: 14.2}]\ngauges: [{id: g1, location_m: 0}, {id: 'g 2', location_m: 500}]\n";
  char path[] = "/tmp/headwater-edits-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0 && write(file, text, size) == (ssize_t)size && close(file) == 0);
  hw_river r;
  hw_error error = {""};
  assert_int_equal(hw_river_parse("r", river, strlen(river), NULL, NULL, &r, &error), HW_OK);
  r.flow_file = path;
  const hw_status status = hw__flow_load(&r, hear, o, &error);
  unlink(path);
  /* Without the file's own name, which differs from run to run. */
  const char *sentence = strncmp(error.text, path, strlen(path)) == 0 ? error.text + strlen(path) : error.text;
  for (char *at = o->text; (at = strstr(at, path));) {
    memset(at, '#', strlen(path));
  }
  say(o, "%s\n", status == HW_OK ? "" : sentence);
  for (size_t i = 0; status == HW_OK && i < r.flow_count; i++) {
    say(o, "%zu %.12g %.9g\n", r.flow[i].gauge, r.flow[i].time_s, r.flow[i].discharge_m3_s);
  }
  r.flow_file = NULL;
  hw_river_free(&r);
}

static const struct {
  const char *name;
  void (*take)(const char *text, size_t size, outcome *o);
  const char *text;
} originals[] = {
    {"river", take_river,
     "name: \"Ache, upper\"\n"
     "hydraulics: {velocity_m_s: {median: 1.42, factor: 1.15, local: 1.1}, dispersion_m2_s: 37, area_m2: 60, "
     "decay_per_s: 1.7e-5}\n"
     "search: {mass_g: [10, 2.5e4], location_m: [-3000, 12], time_s: [-24000, -8700]}\n"
     "reaches:\n  - {to_m: -700, velocity_m_s: 0.9, area_m2: 50}\n  - {to_m: 90, dispersion_m2_s: {median: 30, factor: "
     "1.5}}\n"
     "sensors:\n  - {id: 7, name: Elm, location_m: 14.2, noise_relative: 0.07, noise_absolute_g_m3: 2e-5,\n"
     "     detection_limit_g_m3: 3e-5, background_g_m3: 1e-6, gain_factor: 1.1}\n  - {id: b, location_m: 99}\n"
     "candidates: [{id: mill, location_m: -210, extent_m: 40, prior: 0.3, active: [[-900, 37], [50, 60]], "
     "active_trust: 0.8}]\n"
     "none_of_these: {prior: 0.25}\nintakes: [{id: k, location_m: 219, alarm_g_m3: 0.001}]\n"},
    {"network", take_river,
     "hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30, velocity_exponent: 0.4}\n"
     "branches:\n"
     "  - {id: stem, head_m: -40, reaches: [{to_m: -20, discharge_m3_s: 6}, {to_m: 0}]}\n"
     "  - {id: ash, head_m: -12, joins: {branch: stem, at_m: -19}, reaches: [{to_m: 0, discharge_m3_s: 2}]}\n"
     "search: {mass_g: [100, 1e5], time_s: [-7200, 7200], locations: {ash: [-11, -2]}}\n"
     "sensors: [{id: up, branch: stem, location_m: -25}, {id: low, branch: ash, location_m: -5}]\n"
     "candidates: [{id: m, branch: ash, location_m: -8}]\nintakes: [{id: t, location_m: -1}]\n"
     "gauges: [{id: g1, location_m: -10}, {id: g2, branch: ash, location_m: -1}]\n"},
    {"calendar", take_river,
     "hydraulics: {velocity_m_s: unknown, dispersion_m2_s: unknown, discharge_m3_s: 30}\n"
     "substance: {name: goo, decay_per_s: {median: 1e-5, factor: 1.5}, volatilisation_m_s: 1e-6, retardation: 1.1}\n"
     "search: {mass_g: [100, 5e3], location_m: [-90, -10], time_s: {median: 2026-03-01T02:00:00Z, sd_s: 3600}}\n"
     "sensors: [{id: s1, location_m: 3, section_velocity_m_s: 1.2, width_m: 30, depth_m: 1.1}]\n"
     "candidates: [{id: m, location_m: -57, active: [[2026-03-01T00:00:00Z, 2026-03-01T03:00:00+01:00]]}]\n"
     "import: {time: [a, b], time_as: dmy, timezone: UTC, value: c, sensor: d, unit: ug/l, missing: [x, '']}\n"},
    {"short mapping", take_mapping, "time=Datum,sensor=Ort,value=a\"b\\,unit=ug/l,decimal=.,twice=first"},
    {"mapping", take_mapping,
     "import:\n  encoding: utf-8\n  separator: tab\n  decimal: \",\"\n  header: 3\n  skip: 1\n  time: [D, \"U: Z\"]\n"
     "  time_as: dmy\n  timezone: Europe/Berlin\n  sensors: {s1: \"K [\xc2\xb5g/l]\", s2: \"7\"}\n  missing: [NA, "
     "\"-9\"]\n"},
    {"csv", take_readings,
     "# by hand\r\nnote,concentration_ug_l,\"sensor\",time_min\r\n\r\n\"a, b\",<0.02,\"b \"\"2\"\"\",1.5\r\n"
     "x,-2.5e1,s1,2 # spike\r\n,>14.37, s1 ,-2.25\ny,,s1,3\nz,7,s1,2\n"},
    {"dated csv", take_readings,
     "time,sensor,concentration_mg_l\n2026-03-01T08:15:00+01:00,s1,0.125\n2026-02-28T23:59:60Z,s1,12\n"},
    {"csv with flow", take_readings,
     "time_s,sensor,concentration_g_m3,gauge,discharge_m3_s,below_limit\n10,s1,0.5,,,0\n20,,,g2,37.5,\n30,s1,0.2,,,"
     "1\n"},
    {"ndjson", take_readings,
     "{\"time_s\": 14.2, \"sensor\": \"b \\\"2\\\"\", \"concentration_mg_l\": 0.37, \"t\": {\"a\": [1, "
     "\"}\\u00e9\"]}}\n"
     "{\"sensor\":\"s\\u0031\",\"concentration_ug_l\":\"<20\",\"time_s\":3e1,\"b\":[true,null]}\n"
     "{\"sensor\":\"s1\",\"concentration_ug_l\":null,\"time_s\":31}\n"},
    {"german table", take_table,
     "Bericht;;\nDatum;Uhrzeit;Messstelle;Konz [\xc2\xb5g/l];Bem\n01.03.2026;08:15;s1;0,02;\n"
     "01.03.2026;08:30;s1;1.014,5;\"x;\"\n02.03.2026;08:45;s1;< 0,37;a\n"},
    {"american table", take_table,
     "Timestamp,Station,Conc (ppb)\n3/13/2026 8:15 AM,s1,0.41\n3/13/2026 12:30 PM,s1,1.5\n3/14/2026 1:45 pm,s1,14.2\n"},
    {"logger", take_table,
     "\"TOA5\",\"Elm\",\"CR1\",\"12\"\n\"TIMESTAMP\",\"RECORD\",\"Batt\",\"Dye_s1\"\n\"TS\",\"RN\",\"V\",\"ug/L\"\n"
     "\"\",\"\",\"Min\",\"Avg\"\n\"2026-03-01 08:15:00\",1,12.9,0.41\n\"2026-03-01 08:30:00\",2,12.9,\"NAN\"\n"
     "\"2026-03-01 08:45:00\",3,12.9,14.2\n"},
    {"wide table", take_table,
     "Time\ts1 mg/l\tb \"2\" mg/l\n46082.25\t0.37\t<0.02\n46082.5\t>1.2\t\n46082.75\tn/a\t14\n"},
    {"mapped table", take_mapped_table,
     "day;clock;place;e_c;q\n1.3.26;8:15;Elm;1.037,5;A\n1.3.26;8:30 pm;7;none;A\n2.3.26;0:15;Elm;<2;\n"
     "2.3.26;0:30;7;-99;A\n2.3.26;0:45;7;14;B\n"},
    {"csv body", take_csv_body,
     "\xef\xbb\xbftime,river,sensor,concentration_ug_l,gauge,discharge_m3_s\n2026-03-01T08:15:00+01:00,demo,s1,>14.2,,"
     "\n"
     "2026-03-01T08:16:00Z,demo,\"b \"\"2\"\"\",,,\n# "
     "x\n2026-03-01T08:17:00Z,,,,g1,37.5\n2026-03-01T08:18:00Z,,,,g1,\n"},
    {"ndjson body", take_ndjson_body,
     "{\"time_min\": 14.5, \"sensor\": \"s\\u0031\\\\\", \"concentration_mg_l\": 0.37, \"below_limit\": true}\n"
     "{\"river\":\"demo\",\"sensor\":\"s1\",\"concentration_ug_l\":\"12\",\"time_h\":3,\"above_limit\":true}\n"
     "{\"time_s\": 7, \"gauge\": \"g1\", \"discharge_m3_s\": 12.5}\n"},
    {"foreign body", take_foreign_body,
     "when;place;c\n1.3.2026 8:15;s1;0,37\n1.3.2026 8:30;s2;none\n2.3.2026 8:45;s1;<14,2\n"},
    {"flow", take_flow, "time_min,gauge,discharge_m3_s\n-5,g1,8\n0,\"g 2\",9.5\n0,g1,10.25\n\n# x\n75,g1,12\n"},
};

/* One edit of a text at one place; false where it changes nothing. */
static bool edit(const char *text, size_t size, size_t at, int kind, char *out, size_t *out_size) {
  static const char others[] = "0 9-:,.\"[x;\n{<'";
  memcpy(out, text, size);
  *out_size = size;
  if (kind == 0) { /* lost */
    memmove(out + at, text + at + 1, size - at - 1);
    *out_size = size - 1;
  } else if (kind == 1) { /* doubled */
    memmove(out + at + 1, text + at, size - at);
    *out_size = size + 1;
  } else if (kind == 2) { /* another */
    out[at] = others[(7 * at + size) % (sizeof others - 1)];
  } else { /* the last */
    *out_size = at;
  }
  return *out_size > 0;
}

/* Three digits for an outcome: of 4096 changes one goes unnoticed at one place. */
static unsigned digest(const outcome *o) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < o->length; i++) {
    h = (h ^ (unsigned char)o->text[i]) * UINT64_C(1099511628211);
  }
  return (unsigned)((h >> 20 ^ h >> 44) & 0xfff);
}

static const char *const kinds[] = {"lost", "doubled", "another", "the last"};

static void come_of(size_t which, size_t at, int kind, outcome *o) {
  const size_t size = strlen(originals[which].text);
  char edited[2000];
  size_t edited_size;
  assert_true(size + 1 < sizeof edited);
  o->length = 0;
  o->text[0] = '\0';
  if (edit(originals[which].text, size, at, kind, edited, &edited_size)) {
    char *exact = malloc(edited_size); /* the sanitizer sees a look behind it */
    assert_non_null(exact);
    memcpy(exact, edited, edited_size);
    originals[which].take(exact, edited_size, o);
    free(exact);
  }
}

/* Written anew in place of what was expected. */
static void accept(void) {
  static outcome now;
  FILE *out = fopen(EDITS, "w");
  assert_non_null(out);
  for (size_t which = 0; which < sizeof originals / sizeof originals[0]; which++) {
    for (int kind = 0; kind < 4; kind++) {
      fprintf(out, "# %s: %s", originals[which].name, kinds[kind]);
      for (size_t at = 0; at < strlen(originals[which].text); at++) {
        come_of(which, at, kind, &now);
        fprintf(out, "%s%03x", at % 40 ? "" : "\n", digest(&now));
      }
      fprintf(out, "\n");
    }
  }
  assert_int_equal(fclose(out), 0);
}

static void test_what_comes_of_every_slip_is_what_came_of_it_before(void **state) {
  (void)state;
  static outcome now;
  if (getenv("HEADWATER_ACCEPT")) {
    accept();
  }
  FILE *expected = fopen(EDITS, "r");
  assert_non_null(expected);
  size_t wrong = 0;
  for (size_t which = 0; which < sizeof originals / sizeof originals[0]; which++) {
    for (int kind = 0; kind < 4; kind++) {
      char heading[120], found[120];
      snprintf(heading, sizeof heading, "%s: %s", originals[which].name, kinds[kind]);
      assert_int_equal(fscanf(expected, " # %119[^\n]", found), 1);
      assert_string_equal(found, heading);
      for (size_t at = 0; at < strlen(originals[which].text); at++) {
        unsigned was;
        come_of(which, at, kind, &now);
        assert_int_equal(fscanf(expected, "%3x", &was), 1);
        if (was != digest(&now)) {
          wrong++;
          print_message("%s: character %zu %s:\n%s\n", originals[which].name, at, kinds[kind],
                        wrong > 5 ? "" : now.text);
        }
      }
    }
  }
  fclose(expected);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_comes_of_every_slip_is_what_came_of_it_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
