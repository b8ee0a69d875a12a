/* ISO 8601 instants. Days are counted by the proleptic Gregorian calendar from 1970-01-01 (Hinnant's
 * days_from_civil: years that begin in March make the leap day the last of the year). No time zone
 * database and no libc calendar: an instant carries its own offset. */
#include "io/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "headwater/io.h"

int64_t hw__days_from_civil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void civil_from_days(int64_t days, int64_t *year, int64_t *month, int64_t *day) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t of_era = days - era * 146097;
  const int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
  const int64_t from_march = (5 * of_year + 2) / 153;
  *day = of_year - (153 * from_march + 2) / 5 + 1;
  *month = from_march < 10 ? from_march + 3 : from_march - 9;
  *year = years + era * 400 + (*month <= 2);
}

int64_t hw__year_of_days(int64_t days) {
  int64_t year, month, day;
  civil_from_days(days, &year, &month, &day);
  return year;
}

int hw__days_in_month(int64_t year, int64_t month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && leap);
}

/* Reads `digits` digits at *p, and moves on. */
static bool take_digits(const char **p, const char *end, int digits, int64_t *out) {
  int64_t value = 0;
  for (int i = 0; i < digits; i++, (*p)++) {
    if (*p >= end || **p < '0' || **p > '9') {
      return false;
    }
    value = value * 10 + (**p - '0');
  }
  *out = value;
  return true;
}

static bool take(const char **p, const char *end, char c) {
  if (*p < end && **p == c) {
    (*p)++;
    return true;
  }
  return false;
}

static bool take_date(const char **p, const char *end, int64_t *days) {
  int64_t year, month, day;
  if (!take_digits(p, end, 4, &year) || !take(p, end, '-') || !take_digits(p, end, 2, &month) || !take(p, end, '-') ||
      !take_digits(p, end, 2, &day)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > hw__days_in_month(year, month)) {
    return false;
  }
  *days = hw__days_from_civil(year, month, day);
  return true;
}

/* A leap second, 23:59:60, counts as the second after it. */
static bool take_clock(const char **p, const char *end, double *seconds) {
  int64_t hour, minute, second = 0;
  double fraction = 0;
  if (!take_digits(p, end, 2, &hour) || !take(p, end, ':') || !take_digits(p, end, 2, &minute)) {
    return false;
  }
  if (take(p, end, ':')) {
    if (!take_digits(p, end, 2, &second)) {
      return false;
    }
    if (take(p, end, '.') || take(p, end, ',')) {
      const char *first = *p;
      double weight = 0.1;
      for (; *p < end && **p >= '0' && **p <= '9'; (*p)++, weight /= 10) {
        fraction += weight * (**p - '0');
      }
      if (*p == first) {
        return false;
      }
    }
  }
  *seconds = (double)(hour * 3600 + minute * 60 + second) + fraction;
  return hour <= 23 && minute <= 59 && second <= 60;
}

bool hw__time_take_offset(const char **p, const char *end, double *seconds) {
  if (take(p, end, 'Z') || take(p, end, 'z')) {
    *seconds = 0;
    return true;
  }
  const bool west = take(p, end, '-');
  int64_t hours, minutes = 0;
  if ((!west && !take(p, end, '+')) || !take_digits(p, end, 2, &hours)) {
    return false;
  }
  const bool colon = take(p, end, ':');
  if ((colon || *p < end) && !take_digits(p, end, 2, &minutes)) {
    return false;
  }
  *seconds = (double)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
  return hours <= 23 && minutes <= 59;
}

bool hw__time_parse(hw__slice slice, double *unix_s) {
  const char *p = slice.text, *end = slice.text + slice.size;
  int64_t days;
  double clock_s, offset_s;
  if (!take_date(&p, end, &days) || !(take(&p, end, 'T') || take(&p, end, 't') || take(&p, end, ' ')) ||
      !take_clock(&p, end, &clock_s) || !hw__time_take_offset(&p, end, &offset_s) || p != end) {
    return false;
  }
  *unix_s = (double)days * 86400 + clock_s - offset_s;
  return true;
}

hw_status hw_time_parse(const char *text, double *unix_s) {
  return hw__time_parse((hw__slice){text, strlen(text)}, unix_s) ? HW_OK : HW_EINPUT;
}

void hw_time_format(double unix_s, char *out, size_t size) {
  /* Years 0000 to 9999; dates outside of them are not written. */
  if (!(unix_s >= -62167219200.0 && unix_s < 253402300799.5)) {
    snprintf(out, size, "%s", "?");
    return;
  }
  const int64_t thousandths = (int64_t)llround(unix_s * 1000);
  int64_t days = thousandths / 86400000, rest = thousandths % 86400000;
  if (rest < 0) {
    rest += 86400000;
    days--;
  }
  int64_t year, month, day;
  civil_from_days(days, &year, &month, &day);
  const int64_t second = rest / 1000;
  int length = snprintf(out, size, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64 ":%02" PRId64,
                        year, month, day, second / 3600, second / 60 % 60, second % 60);
  if (length > 0 && (size_t)length < size) {
    if (rest % 1000) {
      snprintf(out + length, size - (size_t)length, ".%03" PRId64 "Z", rest % 1000);
    } else {
      snprintf(out + length, size - (size_t)length, "Z");
    }
  }
}
