/* Every parser, fed whatever comes. One program per target, chosen by FUZZ_TARGET at compile time; with
 * libFuzzer it searches (`make fuzz`), with the main of replay.c it goes through the kept corpus (`make test`).
 *
 * Beside not crashing, each target checks what must hold for any input.
 */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/move.h"
#include "cluster/wire.h"
#include "ingest/ingest.h"
#include "io/flow_file.h"
#include "io/zone.h"
#include "mqtt/packet.h"
#include "rivers/centerline.h"
#include "service_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_river(const uint8_t *data, size_t size);
void fuzz_flow(const uint8_t *data, size_t size);
void fuzz_readings(const uint8_t *data, size_t size);
void fuzz_table(const uint8_t *data, size_t size);
void fuzz_columns(const uint8_t *data, size_t size);
void fuzz_zone(const uint8_t *data, size_t size);
void fuzz_csv(const uint8_t *data, size_t size);
void fuzz_ndjson(const uint8_t *data, size_t size);
void fuzz_line(const uint8_t *data, size_t size);
void fuzz_json(const uint8_t *data, size_t size);
void fuzz_mqtt(const uint8_t *data, size_t size);
void fuzz_centerline(const uint8_t *data, size_t size);
void fuzz_import(const uint8_t *data, size_t size);
void fuzz_wire(const uint8_t *data, size_t size);

static void require(bool truth) {
  if (!truth) {
    abort();
  }
}

static void hear(void *context, const char *sentence) {
  (void)context;
  require(sentence[0] != '\0');
}

void fuzz_river(const uint8_t *data, size_t size) {
  hw_river river;
  hw_error error = {{0}};
  const hw_status status = hw_river_parse("fuzz.yaml", (const char *)data, size, NULL, NULL, &river, &error);
  if (status == HW_OK) {
    require(hw_river_check(&river, NULL) == HW_OK);
    hw_river_free(&river);
  } else {
    require(error.text[0] != '\0');
  }
}

/* Discharges that are taken are discharges, in order of time; every fault has a sentence. */
void fuzz_flow(const uint8_t *data, size_t size) {
  static const char text[] =
      "hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, discharge_m3_s: 8}\n"
      "branches: [{id: stem, head_m: -900}, {id: ash, head_m: -90, joins: {branch: stem, at_m: -50}}]\n"
      "search: {mass_g: [1, 2], time_s: [0, 5]}\nsensors: [{id: s1, location_m: 3}]\n"
      "gauges: [{id: g1, location_m: -1}, {id: g2, branch: ash, location_m: -1}]\n";
  static FILE *file;
  char path[40];
  hw_river river;
  hw_error error = {{0}};
  file = file ? file : tmpfile();
  require(file && ftruncate(fileno(file), 0) == 0 && pwrite(fileno(file), data, size, 0) == (ssize_t)size);
  snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
  require(hw_river_parse("fuzz.yaml", text, sizeof text - 1, NULL, NULL, &river, &error) == HW_OK);
  river.flow_file = strdup(path);
  if (hw__flow_load(&river, hear, NULL, &error) != HW_OK) {
    require(error.text[0] != '\0' && !river.flow);
  }
  for (size_t i = 0; i < river.flow_count; i++) {
    const hw_flow *f = &river.flow[i];
    require(f->gauge < river.gauge_count && isfinite(f->time_s) && f->discharge_m3_s > 0 &&
            isfinite(f->discharge_m3_s));
    require(i == 0 || f->time_s >= f[-1].time_s);
  }
  hw_river_free(&river);
}

static const hw__catalog *catalog(void) {
  static hw__catalog *one;
  one = one ? one : fixture_catalog(1);
  return one;
}

/* Every reading that comes out is one, and every fault has a sentence. */
static void read_all(const char *text, size_t size, const hw_reader_options *options) {
  hw_reader *reader = NULL;
  hw_error error = {{0}};
  const hw_river *river = &hw__catalog_site(catalog(), 0)->river;
  if (hw_reader_memory_with(text, size, "fuzz", river, options, &reader, &error) != HW_OK) {
    require(error.text[0] != '\0');
    return;
  }
  hw_reading reading;
  hw_status status;
  while ((status = hw_reader_next(reader, &reading, &error)) != HW_EEND) {
    require(status == HW_OK || status == HW_EINPUT);
    if (status == HW_OK) {
      require(reading.sensor < river->sensor_count && isfinite(reading.time_s) && isfinite(reading.concentration_g_m3));
    }
  }
  hw_reader_free(reader);
}

void fuzz_readings(const uint8_t *data, size_t size) {
  read_all((const char *)data, size, NULL);
}

/* The same as a body for a river with this mapping. */
static void read_body(const char *text, size_t size, hw_columns *columns) {
  hw_river river = hw__catalog_site(catalog(), 0)->river;
  river.import = columns;
  hw_rows *rows = NULL;
  require(hw_rows_create(text, size, HW_ROWS_CSV, &river, &rows) == HW_OK);
  hw_row row;
  hw_error error = {{0}};
  hw_status status;
  while ((status = hw_rows_next(rows, &row, &error)) != HW_EEND) {
    require(status == HW_OK || (status == HW_EINPUT && error.text[0] != '\0'));
    require(status != HW_OK || isfinite(row.reading.time_s));
  }
  hw_rows_free(rows);
}

/* A table of somebody else's; up to a zero byte it may bring a mapping along. */
void fuzz_table(const uint8_t *data, size_t size) {
  const uint8_t *end = memchr(data, '\0', size < 400 ? size : 400);
  const size_t length = end ? (size_t)(end - data) : 0;
  hw_error error = {{0}};
  hw_columns *columns = NULL;
  if (length && hw_columns_parse("fuzz", (const char *)data, length, &columns, &error) != HW_OK) {
    require(error.text[0] != '\0' && !columns);
  }
  const size_t begin = columns ? length + 1 : 0;
  const hw_reader_options options = {.columns = columns, .timezone = "Europe/Berlin", .tell = hear};
  read_all((const char *)data + begin, size - begin, &options);
  if (columns) {
    read_body((const char *)data + begin, size - begin, columns);
  }
  hw_columns_free(columns);
}

/* A mapping that is accepted is written such that it is accepted again and written the same. */
void fuzz_columns(const uint8_t *data, size_t size) {
  hw_error error = {{0}};
  hw_columns *columns = NULL, *again = NULL;
  if (hw_columns_parse("fuzz", (const char *)data, size, &columns, &error) != HW_OK) {
    require(error.text[0] != '\0' && !columns);
    return;
  }
  char *text = NULL, *same = NULL;
  require(hw_columns_write(columns, &text) == HW_OK);
  if (strcmp(text, "import:\n") != 0) { /* nothing at all is no mapping */
    require(hw_columns_parse("fuzz", text, strlen(text), &again, &error) == HW_OK);
    require(hw_columns_write(again, &same) == HW_OK && strcmp(text, same) == 0);
  }
  free(text);
  free(same);
  hw_columns_free(columns);
  hw_columns_free(again);
}

void fuzz_zone(const uint8_t *data, size_t size) {
  hw__zone *zone = NULL;
  if (!hw__zone_parse(data, size, &zone)) {
    require(!zone);
    return;
  }
  for (double at = -3e9; at < 8e9; at += 1.7e8) {
    double found[2];
    const size_t count = hw__zone_instants(zone, at, found);
    require(count <= 2);
    for (size_t i = 0; i < count; i++) {
      require(found[i] + hw__zone_offset(zone, found[i]) == at);
    }
  }
  hw__zone_free(zone);
}

static void check_ingest(hw__ingest *ingest) {
  for (size_t i = 0; i < ingest->count; i++) {
    const hw__checked_reading *e = &ingest->entries[i];
    require(isfinite(e->time_s) && e->concentration_g_m3 <= 1e6 && e->concentration_g_m3 >= -1 && e->place.sensor < 2);
  }
  for (size_t i = 0; i < ingest->reject_count; i++) {
    require(ingest->rejects[i].reason[0] != '\0');
  }
  hw__ingest_clear(ingest);
}

static void fuzz_body(hw__body_kind kind, const uint8_t *data, size_t size) {
  hw__ingest ingest = {.catalog = catalog(), .now_unix_s = 1.8e9, .future_s = 300};
  require(hw__ingest_body(&ingest, kind, (const char *)data, size) == HW_OK);
  check_ingest(&ingest);
}

void fuzz_csv(const uint8_t *data, size_t size) {
  fuzz_body(HW_BODY_CSV, data, size);
}

void fuzz_ndjson(const uint8_t *data, size_t size) {
  fuzz_body(HW_BODY_NDJSON, data, size);
}

void fuzz_line(const uint8_t *data, size_t size) {
  fuzz_body(HW_BODY_LINE, data, size);
}

void fuzz_json(const uint8_t *data, size_t size) {
  fuzz_body(HW_BODY_JSON, data, size);
}

/* A broker's bytes, packet by packet, payloads included. */
void fuzz_mqtt(const uint8_t *data, size_t size) {
  hw__ingest ingest = {.catalog = catalog(), .now_unix_s = 1.8e9, .future_s = 300};
  hw__mqtt_packet packet;
  size_t at = 0;
  while (hw__mqtt_next(data + at, size - at, 65536, &packet) > 0) {
    require(packet.size >= 2 && (packet.cut || packet.size <= size - at));
    at += packet.size <= size - at ? packet.size : size - at;
    hw__mqtt_message message;
    char river[HW_ID_SIZE], sensor[HW_ID_SIZE];
    if (packet.type == HW_MQTT_PUBLISH && !hw__mqtt_publish(&packet, &message) &&
        hw__mqtt_topic(message.topic, river, sensor, sizeof river)) {
      ingest.river = river;
      require(hw__ingest_payload(&ingest, sensor, (const char *)message.payload, message.payload_size) == HW_OK);
      ingest.river = NULL;
    }
  }
  check_ingest(&ingest);
}

void fuzz_centerline(const uint8_t *data, size_t size) {
  hw__centerline line = {0};
  hw_error error = {{0}};
  const hw_river *river = &hw__catalog_site(catalog(), 0)->river;
  if (hw__centerline_parse("fuzz", (const char *)data, size, river, 0, &line, &error) != HW_OK) {
    require(error.text[0] != '\0' && !line.points);
    return;
  }
  for (size_t i = 0; i < line.count; i++) {
    require(isfinite(line.points[i].at_m) && (i == 0 || line.points[i].at_m >= line.points[i - 1].at_m));
  }
  json_t *stretch = hw__centerline_stretch(&line, -1e4, 1e4);
  require(json_array_size(json_object_get(stretch, "coordinates")) >= 2);
  json_decref(stretch);
  hw__centerline_free(&line);
}

/* A stream is stored whole or refused with a sentence; the engine never fails on what the checks let pass. */
void fuzz_import(const uint8_t *data, size_t size) {
  FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
  hw_error error = {{0}};
  uint64_t rows = 0;
  if (in) {
    const hw_status status = hw_import(":memory:", "fuzz", in, NULL, &rows, &error);
    require(status == HW_OK || (status == HW_EINPUT && error.text[0] != '\0'));
    fclose(in);
  }
}

/* A message of the bus is a subject, a line's end, and a body that may be of any kind. */
void fuzz_wire(const uint8_t *data, size_t size) {
  char subject[HW_WIRE_SUBJECT];
  const uint8_t *end = memchr(data, '\n', size);
  const size_t length = end ? (size_t)(end - data) : 0;
  snprintf(subject, sizeof subject, "%.*s", (int)(length < sizeof subject ? length : 0), (const char *)data);
  hw__wire_address address;
  if (hw__wire_read_address(subject, &address)) {
    require(address.river[0] && address.kind[0] && strlen(address.river) < HW_ID_SIZE);
  }
  const char *body = (const char *)(end ? end + 1 : data);
  const size_t rest = end ? size - length - 1 : size;
  hw__ingest ingest = {.catalog = catalog(), .now_unix_s = 1.8e9, .future_s = 300};
  hw__wire_read_readings(body, rest, "demo", &ingest);
  for (size_t i = 0; i < ingest.count; i++) {
    require(ingest.entries[i].line < HW_WIRE_ROWS);
  }
  check_ingest(&ingest);
  hw__log_record command;
  char *note = NULL;
  if (hw__wire_read_command(body, rest, &command, &note) == HW_OK) {
    require(!command.method[0] || hw_method_find(command.method));
    free(note);
  }
  static hw__wire_news news;
  if (hw__wire_read_news(body, rest, catalog(), &news) == HW_OK) {
    require(news.incident.id > 0 && isfinite(news.incident.from_s) && news.track_count <= HW_WIRE_TRACKS);
    char *again = hw__wire_write_news(catalog(), &news);
    free(again);
    free(news.event.body);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FUZZ_TARGET(data, size);
  return 0;
}
