/* Rows of readings in memory, CSV or NDJSON, before anybody asks which river they belong to.
 *
 * The grammar is that of hw_reader (io.h), which reads files on top of it: the same columns and keys, numbers, times
 * and limits. Beside them a row may name its river, and an NDJSON object may say
 * "below_limit": true or "above_limit": true. A row that has discharge_m3_s and no concentration is what a gauge
 * measured; its id is under gauge, or under sensor. For services that take in bodies of requests: one bad row does not
 * spoil its neighbours.
 */
#ifndef HEADWATER_ROWS_H
#define HEADWATER_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "headwater/reading.h"
#include "headwater/river.h"
#include "headwater/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names are borrowed until the next call and do not end in a zero byte; size 0: not there. */
typedef struct {
  const char *river, *sensor;
  size_t river_size, sensor_size;
  bool calendar;  /* time_s counts from 1970 */
  bool missing;   /* no value: nothing was measured */
  bool discharge; /* of a gauge, named as the sensor here; the reading has no more than its time then */
  double discharge_m3_s;
  hw_reading reading; /* all but its sensor */
} hw_row;

/* Is this the name of a time, and of which unit? */
bool hw_row_names_time(const char *name, bool *calendar, double *unit_s);
/* Is this the name of a concentration, and how many of its unit make 1 g/m3? */
bool hw_row_names_value(const char *name, double *per_g_m3);

/* Is this the name of a discharge, in m3/s? */
bool hw_row_names_discharge(const char *name);

typedef enum { HW_ROWS_CSV, HW_ROWS_NDJSON } hw_rows_format;

typedef struct hw_rows hw_rows;

/* The text is borrowed until hw_rows_free, and so is the river: where it has an `import` with nothing left open, a CSV
 * whose header is not ours is read by that. NULL: our own way only. Status: HW_ENOMEM */
hw_status hw_rows_create(const char *text, size_t size, hw_rows_format format, const hw_river *river, hw_rows **out);
/* Status: HW_EEND after the last; HW_EINPUT with a sentence in *error for a row at fault: the next call goes on
 * behind it. Of a CSV whose header lacks a column only that fault is reported. */
hw_status hw_rows_next(hw_rows *rows, hw_row *out, hw_error *error);
/* Number of the line read last, from 1. */
uint64_t hw_rows_line(const hw_rows *rows);
void hw_rows_free(hw_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
