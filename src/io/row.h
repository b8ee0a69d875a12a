/* One row of readings as text: the columns we know, how CSV and NDJSON are split into them, and what their texts mean.
 */
#ifndef HW_IO_ROW_H
#define HW_IO_ROW_H

#include "headwater/io.h"
#include "io/number.h"

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
  bool below_limit, above_limit; /* another column says that the value is a limit */
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
/* Does the row hold a discharge and nothing else? Which gauge measured it; and the discharge in m3/s. */
bool hw__row_is_discharge(const hw__row *row);
hw__slice hw__row_gauge(const hw__row *row);
hw_status hw__row_discharge(const hw__row *row, double *out, hw_error *error);
/* The value of a row that has one: concentration and limits of *reading are set. */
hw_status hw__row_value(const hw__row *row, hw_reading *reading, hw_error *error);

#endif
