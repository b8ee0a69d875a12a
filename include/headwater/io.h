/* Rivers, readings and results on paper: YAML in, CSV or NDJSON in, JSON out.
 *
 * Input is hostile until checked. A fault is one sentence in *error: FILE:LINE: what was found, what
 * was expected.
 */
#ifndef HEADWATER_IO_H
#define HEADWATER_IO_H

#include <stdint.h>
#include <stdio.h>

#include "headwater/method.h"
#include "headwater/reading.h"
#include "headwater/river.h"

/* Load and check a river file. Relative file names inside it count from its own folder.
 * Given:    path; warn(context, sentence) is called for what is odd but usable (NULL: not told)
 * Returned: *out filled, to be released with hw_river_free; untouched on failure
 * Status:   HW_EINPUT, HW_EIO, HW_ENOMEM, with *error filled */
typedef void (*hw_warn)(void *context, const char *sentence);
hw_status hw_river_load(const char *path, hw_warn warn, void *context, hw_river *out, hw_error *error);
/* The same from text in memory; name stands for the file in messages. */
hw_status hw_river_parse(const char *name, const char *text, size_t size, hw_warn warn, void *context, hw_river *out,
                         hw_error *error);

/* Readings, streamed: memory does not grow with the file. */
typedef struct hw_reader hw_reader;

typedef struct {
  uint64_t rows;         /* data rows met */
  uint64_t readings;     /* given out */
  uint64_t missing;      /* empty value */
  uint64_t duplicate;    /* same sensor and time as one met before */
  uint64_t out_of_order; /* given out, but earlier than a reading of the same sensor given out before */
} hw_reader_counts;

/* Opens path ("-": standard input); the format, CSV or NDJSON, is told by the first character.
 * The river is borrowed until hw_reader_free. */
hw_status hw_reader_open(const char *path, const hw_river *river, hw_reader **out, hw_error *error);
/* The same on an open stream, not closed by the reader; name stands for it in messages. */
hw_status hw_reader_stream(FILE *stream, const char *name, const hw_river *river, hw_reader **out, hw_error *error);
/* Next reading in file order. Status: HW_EEND after the last; HW_EINPUT with *error on a bad row. */
hw_status hw_reader_next(hw_reader *reader, hw_reading *out, hw_error *error);
const hw_reader_counts *hw_reader_count(const hw_reader *reader);
/* Calendar readings: true, and the instant (seconds since 1970, UTC) that time_s = 0 stands for: the
 * epoch itself when the river's search box is in calendar time too, else the first reading. */
bool hw_reader_calendar(const hw_reader *reader, double *origin_unix_s);
void hw_reader_free(hw_reader *reader);

/* ISO 8601 with `Z` or an offset. Returned: seconds since 1970-01-01T00:00:00Z.
 * Status: HW_EINPUT for anything else, an offset left out included. */
hw_status hw_time_parse(const char *text, double *unix_s);
/* "2026-03-01T08:15:00Z", with decimals only when the second is not whole. */
void hw_time_format(double unix_s, char *out, size_t size);

#endif
