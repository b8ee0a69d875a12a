/* Dates and times as loggers, spreadsheets and people write them. */
#ifndef HW_IO_DATE_H
#define HW_IO_DATE_H

#include "headwater/columns.h"
#include "io/number.h"

typedef struct {
  double local_s; /* the calendar read as if it were UTC */
  bool has_clock; /* false: a date alone, taken as midnight */
  bool has_offset;
  double offset_s; /* east of UTC, where the text says it */
} hw__date;

/* A date in this order of day, month and year, and behind it a clock, AM or PM, and an offset or zone. False for
 * anything else, including dates that do not exist. */
bool hw__date_parse(hw__slice text, hw_time_form form, hw__date *out);
/* The same without marks: 20260301, 030126 0815, 20260301T081500Z. Any number with that many digits could be one, so
 * use it only for what is known to be a time. */
bool hw__date_parse_digits(hw__slice text, hw_time_form form, hw__date *out);
/* A clock without a date: seconds of the day; without marks 0815 or 081500. */
bool hw__clock_parse(hw__slice text, double *seconds);
bool hw__clock_parse_digits(hw__slice text, double *seconds);

#endif
