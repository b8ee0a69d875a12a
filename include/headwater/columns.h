/* Describes a table of another program: which column is the time, which the sensor, which the concentration, and how
 * they are written.
 *
 * Everything may be left open. What is open is found out from the table itself and reported; where it is in doubt,
 * the table is refused. The same keys stand under `import:` in a river file, in a file for --columns, and in what
 * `headwater columns` proposes (docs/import.md).
 */
#ifndef HEADWATER_COLUMNS_H
#define HEADWATER_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HW_COLUMN_SIZE = 160, HW_WORD_SIZE = 32, HW_COLUMN_ID_SIZE = 64 };

typedef enum { HW_ENCODING_OPEN, HW_UTF8, HW_UTF16LE, HW_UTF16BE, HW_WINDOWS1252 } hw_encoding;

/* How a time is written. */
typedef enum {
  HW_TIME_OPEN,
  HW_TIME_YMD,     /* 2026-03-01 08:15, 2026/3/1T08:15:00Z */
  HW_TIME_DMY,     /* 01.03.2026 08:15, 1-Mar-26 8:15 PM */
  HW_TIME_MDY,     /* 03/01/2026 8:15:00 AM */
  HW_TIME_EXCEL,   /* days since 1899-12-30 */
  HW_TIME_UNIX,    /* seconds since 1970-01-01T00:00:00Z */
  HW_TIME_SECONDS, /* on a clock of its own */
  HW_TIME_MINUTES,
  HW_TIME_HOURS
} hw_time_form;

/* How to read the hour that occurs twice in autumn. */
typedef enum {
  HW_TWICE_REFUSED,
  HW_TWICE_FIRST,
  HW_TWICE_SECOND,
  HW_TWICE_BY_ORDER /* the first pass until the sensor's clock steps back, then the second */
} hw_twice;

/* A sensor of the river, and the column that is its own or the name it has in the table. */
typedef struct {
  char id[HW_COLUMN_ID_SIZE];
  char name[HW_COLUMN_SIZE];
} hw_column_sensor;

typedef struct {
  hw_encoding encoding;
  char separator; /* one of , ; | and tab; 0: open */
  char decimal;   /* '.' or ','; 0: open */
  size_t header;  /* number of the line with the names, from 1; 0: open */
  size_t skip;    /* lines between the names and the first row: widths, units; counts when header is given */
  char time[2][HW_COLUMN_SIZE]; /* the second for a clock beside the date; empty: none */
  hw_time_form time_form;
  char timezone[HW_COLUMN_SIZE];      /* Europe/Berlin, UTC, +01:00; where the times do not say it themselves */
  char timezone_from[HW_COLUMN_SIZE]; /* a column with EST, CEST, +01:00 */
  hw_twice twice;
  char sensor[HW_COLUMN_SIZE]; /* a long table: one row a reading */
  char value[HW_COLUMN_SIZE];
  hw_column_sensor *sensors; /* or a wide one: a column a sensor */
  size_t sensor_count;
  char unit[HW_WORD_SIZE]; /* g/m3 mg/l ug/l ng/l ppm ppb */
  hw_column_sensor *names; /* what the table calls the river's sensors */
  size_t name_count;
  char (*missing)[HW_WORD_SIZE]; /* texts that stand for no reading */
  size_t missing_count;
  char quality[HW_COLUMN_SIZE]; /* a column of flags; rows with a flag other than these count as missing */
  char (*good)[HW_WORD_SIZE];
  size_t good_count;
} hw_columns;

/* The keys as YAML, `{time: Datum, unit: ug/l}` or one a line, or in short as `time=Datum,unit=ug/l`.
 * Given:    name stands for the text in messages
 * Returned: *out, to be released with hw_columns_free
 * Status:   HW_EINPUT, HW_ENOMEM, with *error filled */
hw_status hw_columns_parse(const char *name, const char *text, size_t size, hw_columns **out, hw_error *error);
/* The same from a file. Status: also HW_EIO */
hw_status hw_columns_load(const char *path, hw_columns **out, hw_error *error);
/* As lines under `import:`, what is open left out. Returned: *out, to be freed. Status: HW_ENOMEM */
hw_status hw_columns_write(const hw_columns *columns, char **out);
/* Status: HW_ENOMEM */
hw_status hw_columns_copy(const hw_columns *columns, hw_columns **out);
void hw_columns_free(hw_columns *columns);

#ifdef __cplusplus
}
#endif

#endif
