#ifndef HW_IO_TIME_H
#define HW_IO_TIME_H

#include <stdint.h>

#include "io/number.h"

/* hw_time_parse of a slice; false for anything but an instant with its offset. */
bool hw__time_parse(hw__slice slice, double *unix_s);

/* "Z", "+01", "+01:00" or "+0100" at *p, which moves behind it. */
bool hw__time_take_offset(const char **p, const char *end, double *seconds);

/* Days since 1970-01-01 of a date of the Gregorian calendar, and the year a day is in. */
int64_t hw__days_from_civil(int64_t year, int64_t month, int64_t day);
int64_t hw__year_of_days(int64_t days);
int hw__days_in_month(int64_t year, int64_t month);

#endif
