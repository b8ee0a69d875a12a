/* Inside a reader: lines come from the source, a format splits them into a row of text, the row becomes
 * a reading. */
#ifndef HW_IO_READER_H
#define HW_IO_READER_H

#include <signal.h>

#include "headwater/io.h"
#include "io/encoding.h"
#include "io/number.h"
#include "io/seen.h"

/* Where lines come from: a descriptor, a stdio stream without one, or memory. */
typedef struct {
  int fd;       /* -1: none */
  FILE *stream; /* NULL: none */
  bool owns;    /* close the stream at the end */
  char *buffer; /* NULL for memory */
  const char *data;
  size_t begin, scanned, end; /* data[begin, end) is unread; no newline before scanned */
  uint64_t dropped;           /* bytes that came before data[0] */
  bool finished;              /* nothing more will come */
  uint64_t line;              /* number of the line given out last */
  bool unterminated;          /* the last line had no newline */
  bool skipping;              /* the rest of a line that was too long is still to be passed over */
  hw_encoding encoding;       /* of what comes in; data are UTF-8 */
  char *raw;                  /* not decoded yet; NULL when there is nothing to decode */
  size_t raw_size;
  uint64_t decoded; /* bytes that went from raw into data */
  const volatile sig_atomic_t *stop;
} hw__lines;

enum { HW__LONGEST_LINE = 65536 };

/* A file to be read, "-" for standard input; and what to call it. Status: HW_EINPUT, HW_EIO with *error filled */
hw_status hw__lines_of_file(const char *path, hw__lines *out, hw_error *error);
const char *hw__lines_name(const char *path);
hw_status hw__lines_open(hw__lines *lines);
/* The next line without its line end. Status: HW_EEND, HW_EIO, or HW_EDOMAIN for a line that is too
 * long; the call after that goes on with the line behind it. */
hw_status hw__lines_next(hw__lines *lines, hw__slice *line);
void hw__lines_close(hw__lines *lines);
/* Passes over a byte-order mark at the very beginning, and decodes what it stands before. Status: HW_EIO, HW_ENOMEM */
hw_status hw__lines_mark(hw__lines *lines);
/* Everything from here on is in this encoding. Status: HW_ENOMEM */
hw_status hw__lines_decode(hw__lines *lines, hw_encoding encoding);
/* What comes next, without taking it: at most `count` lines, fewer when they are long or nothing more comes.
 * Valid until the next call. Status: HW_EIO */
hw_status hw__lines_head(hw__lines *lines, size_t count, hw__slice *out);
/* A sentence for what went wrong there: FILE:LINE and the machine's reason. */
hw_status hw__lines_fault(const hw__lines *lines, const char *name, hw_status status, hw_error *error);
/* Bytes of the source used so far. */
uint64_t hw__lines_offset(const hw__lines *lines);

/* What a column or key holds. */
typedef enum {
  HW__IGNORED,
  HW__TIME,
  HW__SENSOR,
  HW__VALUE,
  HW__RIVER,
  HW__GAUGE,
  HW__DISCHARGE,
  HW__BELOW_LIMIT,
  HW__ABOVE_LIMIT,
  HW__ROLES
} hw__role;

typedef struct {
  const char *name;
  hw__role role;
  bool calendar;
  double multiply; /* to SI; exact, and so is divide */
  double divide;
} hw__column;

/* The column of this name; NULL when it is not one of ours. */
const hw__column *hw__column_find(hw__slice name);

/* One row as text. */
typedef struct {
  hw__slice time, sensor, value; /* text NULL: not there */
  hw__slice river;               /* only a service with several asks for it */
  hw__slice gauge, discharge;    /* in place of sensor and value */
  bool below_limit, above_limit; /* told beside the value: it is a limit */
  const hw__column *time_column, *value_column;
} hw__row;

enum { HW__MOST_COLUMNS = 1024, HW__SCRATCH_SIZE = 256, HW__ROW_TEXTS = 6 };

/* The CSV header: which column is which. */
typedef struct {
  char delimiter;
  size_t count;
  size_t time, sensor, value; /* column indices */
  size_t river;               /* SIZE_MAX: none; so for the next two, and for sensor and value beside those */
  size_t gauge, discharge;
  size_t last; /* the largest of time, sensor, value; beside them the others are extras */
  const hw__column *time_column, *value_column;
} hw__header;

/* All give one sentence without file and line in *error. HW_EEMPTY for a header that lacks a column of ours; with
 * `discharges` one without concentrations may have discharges. Quoted text with escapes is unfolded into scratch, which
 * must live as long as the row. */
hw_status hw__csv_header(hw__slice line, bool discharges, hw__header *out, hw_error *error);
hw_status hw__csv_row(const hw__header *header, hw__slice line, char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE],
                      hw__row *out, hw_error *error);
hw_status hw__ndjson_row(hw__slice line, char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE], hw__row *out, hw_error *error);

/* The time of a row in seconds, since 1970 where its column is on the calendar. */
hw_status hw__row_time(const hw__row *row, double *out, hw_error *error);
/* Does the row say a discharge, and nothing else? Who measured it; and how much, in m3/s. */
bool hw__row_is_discharge(const hw__row *row);
hw__slice hw__row_gauge(const hw__row *row);
hw_status hw__row_discharge(const hw__row *row, double *out, hw_error *error);
/* The value of a row that has one: concentration and limits of *reading are set. */
hw_status hw__row_value(const hw__row *row, hw_reading *reading, hw_error *error);

#endif
