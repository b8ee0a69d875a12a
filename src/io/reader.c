/* Readings, streamed: the source's lines, split by their format, checked and turned into SI. */
#include "io/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/import.h"
#include "io/time.h"

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
    if (status != HW_OK) {
      return status == HW_EEND ? status : hw__lines_fault(&reader->lines, reader->name, status, error);
    }
    const hw__slice text = hw__slice_trim(raw);
    const bool comment =
        reader->foreign ? hw__foreign_comment(raw, reader->columns->separator) : text.size && text.text[0] == '#';
    if (text.size && !comment) {
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
  hw_error sentence;
  if (looks_binary(line)) {
    hw__fail(&sentence, HW_EINPUT, "%s", hw__encoding_binary(line));
    return fail_here(reader, &sentence, error);
  }
  const hw__slice text = hw__slice_trim(line);
  if (text.text[0] == '{') {
    reader->ndjson = true;
    reader->row_pending = true;
    reader->pending = text;
    return HW_OK;
  }
  if (hw__csv_header(line, reader->take_flow, &reader->header, &sentence) != HW_OK) {
    return fail_here(reader, &sentence, error);
  }
  return HW_OK;
}

hw_status hw_reader_next(hw_reader *reader, hw_reading *out, hw_error *error) {
  for (;;) {
    hw__slice line = reader->pending;
    const bool half_read = reader->foreign && hw__foreign_pending(reader->foreign);
    if (!reader->row_pending && !half_read) {
      const hw_status status = next_line(reader, &line, error);
      if (status != HW_OK) {
        return status;
      }
    }
    reader->row_pending = false;
    hw_error sentence;
    hw__row row;
    bool keep = false;
    if (reader->foreign && !half_read) {
      if (hw__foreign_line(reader->foreign, line, &sentence) != HW_OK) {
        return fail_here(reader, &sentence, error);
      }
      if (!hw__foreign_pending(reader->foreign)) {
        continue;
      }
    }
    reader->counts.rows++;
    hw_status status = reader->foreign  ? hw__foreign_row(reader->foreign, reader->scratch, &row, &sentence)
                       : reader->ndjson ? hw__ndjson_row(line, reader->scratch, &row, &sentence)
                                        : hw__csv_row(&reader->header, line, reader->scratch, &row, &sentence);
    const bool flow = status == HW_OK && reader->take_flow && !reader->foreign && hw__row_is_discharge(&row);
    if (status == HW_OK && reader->ndjson && !(flow && row.time.text)) {
      status = hw__row_complete(&row, &sentence);
    }
    if (status == HW_OK && flow) {
      status = hw__reader_take_discharge(reader, &row, &sentence);
    } else if (status == HW_OK) {
      status = hw__reader_take_row(reader, &row, out, &keep, &sentence);
    }
    if (status != HW_OK) {
      return fail_here(reader, &sentence, error);
    }
    if (keep) {
      return HW_OK;
    }
  }
}

/* Keeps one more. *readings has a place for each of *count; the places double as they run out. */
static hw_status keep_reading(const hw_reading *reading, hw_reading **readings, size_t *count) {
  const bool full = (*count & (*count - 1)) == 0; /* 0, 1, 2, 4, ... */
  hw_reading *places = full ? realloc(*readings, (*count ? 2 * *count : 1) * sizeof *places) : *readings;
  if (!places) {
    return HW_ENOMEM;
  }
  places[(*count)++] = *reading;
  *readings = places;
  return HW_OK;
}

hw_status hw_reader_rest(hw_reader *reader, size_t most, hw_reading **out, size_t *count, hw_error *error) {
  hw_reading reading, *readings = NULL;
  size_t n = 0;
  *out = NULL;
  *count = 0;
  hw_status status = HW_OK;
  while (status == HW_OK && (status = hw_reader_next(reader, &reading, error)) == HW_OK) {
    if (most && n == most) {
      hw_error sentence;
      hw__fail(&sentence, HW_EINPUT, "more than %zu readings, expected fewer: they are all kept in memory", most);
      status = fail_here(reader, &sentence, error);
    } else {
      status = keep_reading(&reading, &readings, &n);
    }
  }
  if (status != HW_EEND) {
    free(readings);
    return status;
  }
  *out = readings;
  *count = n;
  return HW_OK;
}

static hw_status open_format(hw_reader *reader, const hw_reader_options *options, hw_error *error) {
  const hw__import import = {.lines = &reader->lines, .name = reader->name, .river = reader->river, .options = options};
  hw_status status = hw__import_begin(&import);
  bool foreign = false;
  if (status == HW_OK) {
    const bool mapped = options && (options->columns || options->timezone);
    const bool wanted = reader->river->import || (options && options->tell);
    status = mapped ? HW_OK : wanted ? hw__import_is_foreign(&reader->lines, &foreign) : HW_OK;
    foreign = foreign || mapped;
  }
  if (status != HW_OK) {
    return hw__lines_fault(&reader->lines, reader->name, status, error);
  }
  return foreign ? hw__import_open(&import, &reader->columns, &reader->foreign, error) : read_header(reader, error);
}

/* Takes over what `lines` holds, also on failure. */
static hw_status create(hw__lines lines, const char *name, const hw_river *river, const hw_reader_options *options,
                        hw_reader **out, hw_error *error) {
  *out = NULL;
  hw_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    hw__lines_close(&lines);
    return hw__fail(error, HW_ENOMEM, "%s: %s", name, hw_status_text(HW_ENOMEM));
  }
  reader->river = river;
  reader->lines = lines;
  reader->take_flow = options ? options->take_flow : NULL;
  reader->flow_context = options ? options->flow_context : NULL;
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
    status = open_format(reader, options, error);
  }
  if (status != HW_OK) {
    hw_reader_free(reader);
    return status;
  }
  *out = reader;
  return HW_OK;
}

hw_status hw_reader_stream(FILE *stream, const char *name, const hw_river *river, hw_reader **out, hw_error *error) {
  return create((hw__lines){.fd = fileno(stream), .stream = stream}, name, river, NULL, out, error);
}

hw_status hw_reader_memory_with(const char *text, size_t size, const char *name, const hw_river *river,
                                const hw_reader_options *options, hw_reader **out, hw_error *error) {
  return create((hw__lines){.fd = -1, .data = text ? text : "", .end = text ? size : 0, .finished = true}, name, river,
                options, out, error);
}

hw_status hw_reader_memory(const char *text, size_t size, const char *name, const hw_river *river, hw_reader **out,
                           hw_error *error) {
  return hw_reader_memory_with(text, size, name, river, NULL, out, error);
}

hw_status hw_reader_open_with(const char *path, const hw_river *river, const hw_reader_options *options,
                              hw_reader **out, hw_error *error) {
  *out = NULL;
  hw__lines lines;
  const hw_status status = hw__lines_of_file(path, "a file of readings", &lines, error);
  if (status != HW_OK) {
    return status;
  }
  return create(lines, hw__lines_name(path), river, options, out, error);
}

hw_status hw_reader_open(const char *path, const hw_river *river, hw_reader **out, hw_error *error) {
  return hw_reader_open_with(path, river, NULL, out, error);
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
  return hw__lines_offset(&reader->lines);
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
    hw__foreign_free(reader->foreign);
    hw_columns_free(reader->columns);
    free(reader->name);
    free(reader->index.slots);
    free(reader->latest_s);
    hw__seen_free(reader->seen);
    free(reader);
  }
}
