/* Readings, streamed: the source's lines, split by their format, checked and turned into SI. */
#include "io/reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/sensor_index.h"
#include "io/time.h"

struct hw_reader {
  const hw_river *river;
  char *name;
  hw__lines lines;
  bool ndjson;
  hw__header header;
  bool row_pending; /* the first NDJSON line was read to tell the format */
  hw__slice pending;
  hw__sensor_index index;
  double *latest_s; /* per sensor; -inf before the first */
  hw__seen *seen;
  bool kind_known, calendar, has_origin;
  double origin_unix_s;
  char scratch[3][HW__SCRATCH_SIZE];
  hw_reader_counts counts;
};

/* "NAME:LINE: " in front of the sentence. */
static hw_status fail_here(const hw_reader *reader, const hw_error *sentence, hw_error *error) {
  return hw__fail(error, HW_EINPUT, "%s:%llu: %s", reader->name, (unsigned long long)reader->lines.line,
                  sentence->text);
}

/* The next line with something on it. */
static hw_status next_line(hw_reader *reader, hw__slice *line, hw_error *error) {
  for (;;) {
    hw__slice raw = {0};
    const hw_status status = hw__lines_next(&reader->lines, &raw);
    reader->counts.unterminated = reader->lines.unterminated;
    if (status == HW_EDOMAIN) {
      return hw__fail(error, HW_EINPUT, "%s:%llu: a line of more than %d bytes, expected one reading", reader->name,
                      (unsigned long long)reader->lines.line, HW__LONGEST_LINE);
    }
    if (status == HW_EIO && errno == EISDIR) {
      return hw__fail_file(error, reader->name, "a file of readings");
    }
    if (status == HW_EIO) {
      return hw__fail(error, HW_EIO, "%s:%llu: %s", reader->name, (unsigned long long)reader->lines.line + 1,
                      strerror(errno));
    }
    if (status != HW_OK) {
      return status;
    }
    const hw__slice text = hw__slice_trim(raw);
    if (text.size && text.text[0] != '#') {
      *line = reader->ndjson ? text : raw;
      return HW_OK;
    }
  }
}

static bool looks_binary(hw__slice line) {
  for (size_t i = 0; i < line.size; i++) {
    const unsigned char c = (unsigned char)line.text[i];
    if (c < 0x20 && c != '\t') {
      return true;
    }
  }
  return false;
}

/* Told by the first line: an object is NDJSON, anything else must be a CSV header. */
static hw_status read_header(hw_reader *reader, hw_error *error) {
  hw__slice line = {0};
  const hw_status status = next_line(reader, &line, error);
  if (status == HW_EEND) {
    return hw__fail(error, HW_EINPUT, "%s:1: an empty file, expected readings as CSV or NDJSON", reader->name);
  }
  if (status != HW_OK) {
    return status;
  }
  if (reader->lines.line == 1 && line.size >= 3 && memcmp(line.text, "\xef\xbb\xbf", 3) == 0) {
    line.text += 3;
    line.size -= 3;
    if (!hw__slice_trim(line).size || line.text[0] == '#') {
      return read_header(reader, error);
    }
  }
  hw_error sentence;
  if (looks_binary(line)) {
    hw__fail(&sentence, HW_EINPUT, "binary data, expected readings as CSV or NDJSON text");
    return fail_here(reader, &sentence, error);
  }
  const hw__slice text = hw__slice_trim(line);
  if (text.text[0] == '{') {
    reader->ndjson = true;
    reader->row_pending = true;
    reader->pending = text;
    return HW_OK;
  }
  if (hw__csv_header(line, &reader->header, &sentence) != HW_OK) {
    return fail_here(reader, &sentence, error);
  }
  return HW_OK;
}

/* Where the river's search box is on the calendar, so must be the readings; and one file keeps to one kind. */
static hw_status settle_time_kind(hw_reader *reader, const hw__column *column, hw_error *sentence) {
  if (reader->kind_known) {
    if (reader->calendar != column->calendar) {
      return hw__fail(sentence, HW_EINPUT, "%s after %s, expected one kind of time in one file", column->name,
                      reader->calendar ? "calendar time" : "times in numbers");
    }
    return HW_OK;
  }
  if (reader->river->search_is_calendar && !column->calendar) {
    return hw__fail(sentence, HW_EINPUT,
                    "times as %s where the river's search.time_s is on the calendar, expected a column named time",
                    column->name);
  }
  reader->kind_known = true;
  reader->calendar = column->calendar;
  return HW_OK;
}

static hw_status parse_time(hw_reader *reader, const hw__row *row, double *time_s, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE];
  const hw__column *column = row->time_column;
  const hw_status status = settle_time_kind(reader, column, sentence);
  if (status != HW_OK) {
    return status;
  }
  double value;
  if (!column->calendar) {
    if (!hw__number_parse(row->time, &value)) {
      return hw__fail(sentence, HW_EINPUT, "%s '%s', expected a number", column->name, hw__excerpt(row->time, shown));
    }
    *time_s = value * column->multiply;
    return isfinite(*time_s) ? HW_OK : hw__fail(sentence, HW_EINPUT, "%s too large, expected a time", column->name);
  }
  if (!hw__time_parse(row->time, &value)) {
    return hw__fail(sentence, HW_EINPUT, "time '%s', expected ISO 8601 with an offset such as 2026-03-01T08:15:00Z",
                    hw__excerpt(row->time, shown));
  }
  if (!reader->has_origin) {
    reader->has_origin = true;
    reader->origin_unix_s = reader->river->search_is_calendar ? 0 : value;
  }
  *time_s = value - reader->origin_unix_s;
  return HW_OK;
}

static hw_status parse_value(const hw__row *row, hw_reading *reading, hw_error *sentence) {
  hw__slice text = row->value;
  reading->below_limit = text.text[0] == '<';
  reading->above_limit = text.text[0] == '>';
  const bool limit = reading->below_limit || reading->above_limit;
  if (limit) {
    text = hw__slice_trim((hw__slice){text.text + 1, text.size - 1});
  }
  double value;
  if (!hw__number_parse(text, &value) || (limit && !(value >= 0))) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(sentence, HW_EINPUT, "%s '%s', expected a number, '<' or '>' and a limit, or nothing",
                    row->value_column->name, hw__excerpt(row->value, shown));
  }
  reading->concentration_g_m3 = value / row->value_column->divide;
  return HW_OK;
}

static hw_status unknown_sensor(const hw_river *river, hw__slice id, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE], known[200] = "";
  size_t length = 0;
  for (size_t i = 0; i < river->sensor_count && length < sizeof known - 2 * HW_ID_SIZE; i++) {
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", river->sensors[i].id);
    if (i + 1 < river->sensor_count && length >= sizeof known - 2 * HW_ID_SIZE) {
      snprintf(known + length, sizeof known - length, ", ...");
    }
  }
  return hw__fail(sentence, HW_EINPUT, "sensor '%s' is not in the river file, expected one of: %s",
                  hw__excerpt(id, shown), known);
}

/* *keep is false for a row that is counted and passed over. */
static hw_status row_to_reading(hw_reader *reader, const hw__row *row, hw_reading *out, bool *keep,
                                hw_error *sentence) {
  hw_reading reading = {0};
  hw_status status = parse_time(reader, row, &reading.time_s, sentence);
  if (status != HW_OK) {
    return status;
  }
  const ptrdiff_t sensor = hw__sensor_index_find(reader->river, &reader->index, row->sensor);
  if (sensor < 0) {
    return unknown_sensor(reader->river, row->sensor, sentence);
  }
  reading.sensor = (size_t)sensor;
  *keep = row->value.size > 0;
  if (!*keep) {
    reader->counts.missing++;
    return HW_OK;
  }
  status = parse_value(row, &reading, sentence);
  if (status != HW_OK) {
    return status;
  }
  *keep = !hw__seen_before(reader->seen, reading.sensor, reading.time_s);
  if (!*keep) {
    reader->counts.duplicate++;
    return HW_OK;
  }
  double *latest_s = &reader->latest_s[reading.sensor];
  reader->counts.out_of_order += reading.time_s < *latest_s;
  *latest_s = reading.time_s > *latest_s ? reading.time_s : *latest_s;
  reader->counts.readings++;
  *out = reading;
  return HW_OK;
}

hw_status hw_reader_next(hw_reader *reader, hw_reading *out, hw_error *error) {
  for (;;) {
    hw__slice line = reader->pending;
    if (!reader->row_pending) {
      const hw_status status = next_line(reader, &line, error);
      if (status != HW_OK) {
        return status;
      }
    }
    reader->row_pending = false;
    reader->counts.rows++;
    hw_error sentence;
    hw__row row;
    bool keep = false;
    hw_status status = reader->ndjson ? hw__ndjson_row(line, reader->scratch, &row, &sentence)
                                      : hw__csv_row(&reader->header, line, reader->scratch, &row, &sentence);
    if (status == HW_OK) {
      status = row_to_reading(reader, &row, out, &keep, &sentence);
    }
    if (status != HW_OK) {
      return fail_here(reader, &sentence, error);
    }
    if (keep) {
      return HW_OK;
    }
  }
}

/* Takes over what `lines` holds, also on failure. */
static hw_status create(hw__lines lines, const char *name, const hw_river *river, hw_reader **out, hw_error *error) {
  *out = NULL;
  hw_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    hw__lines_close(&lines);
    return hw__fail(error, HW_ENOMEM, "%s: %s", name, hw_status_text(HW_ENOMEM));
  }
  reader->river = river;
  reader->lines = lines;
  reader->name = strdup(name);
  reader->seen = hw__seen_create();
  reader->latest_s = malloc((river->sensor_count + 1) * sizeof *reader->latest_s);
  hw_status status = reader->name && reader->seen && reader->latest_s ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    for (size_t i = 0; i < river->sensor_count; i++) {
      reader->latest_s[i] = -INFINITY;
    }
    status = hw__sensor_index_create(river, &reader->index);
  }
  if (status == HW_OK) {
    status = hw__lines_open(&reader->lines);
  }
  if (status == HW_ENOMEM) {
    hw__fail(error, HW_ENOMEM, "%s: %s", name, hw_status_text(HW_ENOMEM));
  }
  if (status == HW_OK) {
    status = read_header(reader, error);
  }
  if (status != HW_OK) {
    hw_reader_free(reader);
    return status;
  }
  *out = reader;
  return HW_OK;
}

hw_status hw_reader_stream(FILE *stream, const char *name, const hw_river *river, hw_reader **out, hw_error *error) {
  return create((hw__lines){.fd = fileno(stream), .stream = stream}, name, river, out, error);
}

hw_status hw_reader_memory(const char *text, size_t size, const char *name, const hw_river *river, hw_reader **out,
                           hw_error *error) {
  return create((hw__lines){.fd = -1, .data = text ? text : "", .end = text ? size : 0, .finished = true}, name, river,
                out, error);
}

hw_status hw_reader_open(const char *path, const hw_river *river, hw_reader **out, hw_error *error) {
  if (strcmp(path, "-") == 0) {
    return hw_reader_stream(stdin, "standard input", river, out, error);
  }
  *out = NULL;
  FILE *stream = fopen(path, "rb");
  if (!stream) {
    return hw__fail_file(error, path, "a file of readings");
  }
  return create((hw__lines){.fd = fileno(stream), .stream = stream, .owns = true}, path, river, out, error);
}

void hw_reader_stop_at(hw_reader *reader, const volatile sig_atomic_t *stop) {
  reader->lines.stop = stop;
}

void hw_reader_origin(hw_reader *reader, double unix_s) {
  reader->has_origin = true;
  reader->origin_unix_s = unix_s;
}

const hw_reader_counts *hw_reader_count(const hw_reader *reader) {
  return &reader->counts;
}

uint64_t hw_reader_line(const hw_reader *reader) {
  return reader->lines.line;
}

uint64_t hw_reader_offset(const hw_reader *reader) {
  return reader->lines.dropped + reader->lines.begin;
}

bool hw_reader_calendar(const hw_reader *reader, double *origin_unix_s) {
  if (!reader->kind_known || !reader->calendar || !reader->has_origin) {
    return false;
  }
  *origin_unix_s = reader->origin_unix_s;
  return true;
}

void hw_reader_free(hw_reader *reader) {
  if (reader) {
    hw__lines_close(&reader->lines);
    free(reader->name);
    free(reader->index.slots);
    free(reader->latest_s);
    hw__seen_free(reader->seen);
    free(reader);
  }
}
