/* Rivers, readings and results on paper: YAML in, CSV or NDJSON in, JSON out.
 *
 * Input is hostile until checked. A fault is one sentence in *error: FILE:LINE: what was found, what
 * was expected.
 */
#ifndef HEADWATER_IO_H
#define HEADWATER_IO_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "headwater/columns.h"
#include "headwater/estimate.h"
#include "headwater/reading.h"
#include "headwater/river.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Load and check a river file, and the flow file it names. Relative file names inside it count from its own folder.
 * Given:    path; warn(context, sentence) is called for what is odd but usable (NULL: not told)
 * Returned: *out filled, to be released with hw_river_free; untouched on failure
 * Status:   HW_EINPUT, HW_EIO, HW_ENOMEM, with *error filled */
typedef void (*hw_warn)(void *context, const char *sentence);
hw_status hw_river_load(const char *path, hw_warn warn, void *context, hw_river *out, hw_error *error);
/* The same from text in memory, which opens no other file; name stands for the file in messages. */
hw_status hw_river_parse(const char *name, const char *text, size_t size, hw_warn warn, void *context, hw_river *out,
                         hw_error *error);

/* Readings, streamed: memory does not grow with the file, whatever its length.
 *
 *   hw_reader *reader = NULL;
 *   hw_reader_open("readings.csv", &river, &reader, &error);
 *   while ((status = hw_reader_next(reader, &reading, &error)) == HW_OK) { use the reading }
 *   hw_reader_free(reader);                  status is HW_EEND when all went well
 *
 * A header names the columns: one of time (ISO 8601 with offset), time_s, time_min, time_h; sensor; one of
 * concentration_g_m3, concentration_mg_l, concentration_ug_l, concentration_ng_l. NDJSON uses the same names as keys.
 * The format is told by the first character. Lines may be 65536 bytes long. */
typedef struct hw_reader hw_reader;

typedef struct {
  uint64_t rows;         /* data rows met */
  uint64_t readings;     /* given out */
  uint64_t missing;      /* empty value: passed over */
  uint64_t duplicate;    /* same sensor and time as one among (at least) the last 65536 readings: passed over */
  uint64_t out_of_order; /* given out, but earlier than a reading of the same sensor given out before */
  bool unterminated;     /* the line read last had no line end: the file may have been cut short */
} hw_reader_counts;

/* Opens path ("-": standard input). The river is borrowed until hw_reader_free.
 * Status: HW_EINPUT for a header that is not one, HW_EIO, HW_ENOMEM, with *error filled */
hw_status hw_reader_open(const char *path, const hw_river *river, hw_reader **out, hw_error *error);
/* The same on an open stream from which nothing was read yet; the reader does not close it. name stands
 * for it in messages. A live pipe gives each reading as soon as its line has come. */
hw_status hw_reader_stream(FILE *stream, const char *name, const hw_river *river, hw_reader **out, hw_error *error);
/* The same on text in memory, borrowed until hw_reader_free: the body of a request, say. */
hw_status hw_reader_memory(const char *text, size_t size, const char *name, const hw_river *river, hw_reader **out,
                           hw_error *error);
/* The same for tables that are not written our way: the river's `import`, these columns, and what the table shows of
 * itself say how to read it. */
typedef void (*hw_take_flow)(void *context, const hw_flow *flow);
typedef struct {
  const hw_columns *columns; /* borrowed while opening. NULL: the river's, or found out */
  const char *timezone;      /* of times that do not say theirs, before that of the columns. NULL: none */
  hw_warn tell;              /* hears what was taken for what. NULL: nothing is guessed, and such a table refused */
  void *context;
  hw_take_flow take_flow; /* hears discharges that stand among the readings. NULL: rows without a concentration are
                           * missing readings, whatever else they hold */
  void *flow_context;
} hw_reader_options;
hw_status hw_reader_open_with(const char *path, const hw_river *river, const hw_reader_options *options,
                              hw_reader **out, hw_error *error);
hw_status hw_reader_memory_with(const char *text, size_t size, const char *name, const hw_river *river,
                                const hw_reader_options *options, hw_reader **out, hw_error *error);

/* Looks at a table and completes a mapping for it.
 * Given:    given may be NULL, and so may the river; tell and doubt hear what was taken and what could not be
 * Returned: *out, as far as it came, also with doubts; to be released with hw_columns_free. NULL for a table that is
 *           written our way
 * Status:   HW_EINPUT with the first doubt in *error, HW_EIO, HW_ENOMEM */
hw_status hw_columns_propose(const char *path, const hw_river *river, const hw_reader_options *options, hw_warn doubt,
                             hw_columns **out, hw_error *error);

/* Next reading in file order.
 * Status: HW_EEND after the last; HW_EINPUT with *error on a bad row: the next call goes on behind it */
hw_status hw_reader_next(hw_reader *reader, hw_reading *out, hw_error *error);
/* All readings that are left, for those who want a record as a whole.
 * Given:    the most that may be kept; 0: as many as there are
 * Returned: *out, to be freed, and how many; NULL and 0 on failure
 * Status:   HW_EINPUT with *error on a bad row, and on one reading too many; HW_ENOMEM, HW_EIO */
hw_status hw_reader_rest(hw_reader *reader, size_t most, hw_reading **out, size_t *count, hw_error *error);
const hw_reader_counts *hw_reader_count(const hw_reader *reader);
/* Number of the line read last, from 1. */
uint64_t hw_reader_line(const hw_reader *reader);
/* Bytes used so far: how far a file of known size has come. */
uint64_t hw_reader_offset(const hw_reader *reader);
/* Calendar readings: true, and the instant (seconds since 1970, UTC) that time_s = 0 stands for: the
 * epoch itself when the river's search box is in calendar time too, else the first reading. False for
 * numeric times and before the first reading. */
bool hw_reader_calendar(const hw_reader *reader, double *origin_unix_s);
/* Let time_s = 0 stand for this instant instead; before the first hw_reader_next. For readings that
 * come in several pieces. */
void hw_reader_origin(hw_reader *reader, double unix_s);
/* Once *stop is not 0 the readings end (HW_EEND), also while waiting on a pipe if a signal set it. */
void hw_reader_stop_at(hw_reader *reader, const volatile sig_atomic_t *stop);
void hw_reader_free(hw_reader *reader);

/* A decimal number and nothing else: blanks, hexadecimals, inf and nan are none.
 * Returned: the nearest double. Status: HW_EINPUT */
hw_status hw_number_parse(const char *text, double *out);

/* ISO 8601 with `Z` or an offset. Returned: seconds since 1970-01-01T00:00:00Z.
 * Status: HW_EINPUT for anything else, an offset left out included. */
hw_status hw_time_parse(const char *text, double *unix_s);
/* "2026-03-01T08:15:00Z", with decimals only when the second is not whole. */
void hw_time_format(double unix_s, char *out, size_t size);

/* What a method found, with everything a reader of the result should know beside it. */
typedef struct {
  const hw_river *river;
  const char *method;
  uint64_t seed;
  const hw_estimate *estimate; /* NULL: there is none, and failure says why in a few words */
  const char *failure;
  hw_reader_counts counts;
  bool calendar; /* as hw_reader_calendar gave them */
  double origin_unix_s;
  double seconds;                           /* wall time of the whole run; NAN: not told */
  double reading_us_median, reading_us_p99; /* NAN: not measured */
  const char *const *warnings;              /* beside the estimate's own */
  size_t warning_count;
} hw_result;

/* The JSON object headwater.estimate/1 (docs/manual.md); every key always there, null where not known, numbers
 * such that they read back as the same doubles. one_line for NDJSON, else over several lines.
 * Returned: *out, to be freed. Status: HW_ENOMEM */
hw_status hw_result_json(const hw_result *result, bool one_line, char **out);
/* The answer in words for a person on duty. Status: HW_EEMPTY without an estimate, HW_ENOMEM */
hw_status hw_result_text(const hw_result *result, char **out);

/* Found minus true, in grams, metres and seconds; the place NAN on another branch. */
hw_source hw_source_error(const hw_source *found, const hw_source *truth);
/* How far off, as shares of what matters: the true mass, the distance from the true place to the first sensor below it,
 * the travel time there. Never of a place or time itself, whose zero is arbitrary. NAN where the share is not known (no
 * sensor below, velocity unknown). */
hw_source hw_relative_error(const hw_river *river, const hw_source *found, const hw_source *truth);
/* Several methods on the same readings: headwater.comparison/1, and as a table. truth may be NULL. */
hw_status hw_comparison_json(const hw_result *results, size_t count, const hw_source *truth, char **out);
hw_status hw_comparison_text(const hw_result *results, size_t count, const hw_source *truth, char **out);

#ifdef __cplusplus
}
#endif

#endif
