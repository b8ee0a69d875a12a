#include "io/date.h"

#include <string.h>

#include "io/time.h"
#include "io/zone.h"

typedef struct {
  const char *next, *end;
} cursor;

/* One part of a date: a number with its count of digits, or a month by name. */
typedef struct {
  int64_t value;
  int digits; /* 0: a name */
} part;

static void skip_blanks(cursor *c) {
  while (c->next < c->end && *c->next == ' ') {
    c->next++;
  }
}

static bool is_letter(char c) {
  return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool take_month_name(cursor *c, part *out) {
  static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
  if (c->end - c->next < 3) {
    return false;
  }
  for (int month = 0; month < 12; month++) {
    const char *name = names + 3 * month;
    if ((c->next[0] | 32) == name[0] && (c->next[1] | 32) == name[1] && (c->next[2] | 32) == name[2]) {
      while (c->next < c->end && is_letter(*c->next)) {
        c->next++;
      }
      *out = (part){month + 1, 0};
      return true;
    }
  }
  return false;
}

static bool take_part(cursor *c, part *out) {
  if (c->next < c->end && is_letter(*c->next)) {
    return take_month_name(c, out);
  }
  part found = {0};
  while (c->next < c->end && *c->next >= '0' && *c->next <= '9' && found.digits < 5) {
    found.value = found.value * 10 + (*c->next++ - '0');
    found.digits++;
  }
  *out = found;
  return found.digits > 0;
}

/* Three parts in the order of the form as a day that exists. */
static bool settle_date(const part parts[3], hw_time_form form, bool short_year_fits, int64_t *days) {
  static const int order[][3] = {[HW_TIME_YMD] = {0, 1, 2}, [HW_TIME_DMY] = {2, 1, 0}, [HW_TIME_MDY] = {2, 0, 1}};
  const part year = parts[order[form][0]], month = parts[order[form][1]], day = parts[order[form][2]];
  const bool short_year = short_year_fits && year.digits == 2;
  if ((year.digits != 4 && !short_year) || month.digits > 2 || day.digits < 1 || day.digits > 2) {
    return false;
  }
  const int64_t y = short_year ? year.value + (year.value < 70 ? 2000 : 1900) : year.value;
  if (month.value < 1 || month.value > 12 || day.value < 1 || day.value > hw__days_in_month(y, month.value)) {
    return false;
  }
  *days = hw__days_from_civil(y, month.value, day.value);
  return true;
}

static bool take_date(cursor *c, hw_time_form form, int64_t *days) {
  part parts[3];
  char mark = 0;
  for (int i = 0; i < 3; i++) {
    if (i > 0) {
      const char found = c->next < c->end ? *c->next : 0;
      if (!found || !strchr("./- ", found) || (mark && found != mark)) {
        return false;
      }
      mark = found;
      c->next++;
    }
    if (!take_part(c, &parts[i])) {
      return false;
    }
  }
  return settle_date(parts, form, form != HW_TIME_YMD, days);
}

/* "AM", "PM", "a.m." at the cursor: 0 or 12 hours; -1 when there is none. */
static int take_half_day(cursor *c) {
  cursor p = *c;
  skip_blanks(&p);
  const int half = p.next < p.end && (*p.next | 32) == 'a' ? 0 : p.next < p.end && (*p.next | 32) == 'p' ? 12 : -1;
  if (half < 0) {
    return -1;
  }
  p.next++;
  const bool dotted = p.next < p.end && *p.next == '.';
  p.next += dotted;
  if (p.next == p.end || (*p.next | 32) != 'm') {
    return -1;
  }
  p.next++;
  p.next += dotted && p.next < p.end && *p.next == '.';
  *c = p;
  return half;
}

static bool take_clock(cursor *c, double *seconds) {
  part found[3] = {{0, 0}};
  int count = 0;
  double fraction = 0;
  do {
    if (!take_part(c, &found[count]) || found[count].digits < 1 || found[count].digits > 2) {
      return false;
    }
    count++;
  } while (count < 3 && c->next < c->end && *c->next == ':' && c->next++);
  if (count < 2) {
    return false;
  }
  if (count == 3 && c->next < c->end && (*c->next == '.' || *c->next == ',')) {
    double weight = 0.1;
    for (c->next++; c->next < c->end && *c->next >= '0' && *c->next <= '9'; c->next++, weight /= 10) {
      fraction += weight * (*c->next - '0');
    }
  }
  int64_t hour = found[0].value;
  const int half = take_half_day(c);
  if (half >= 0) {
    if (hour < 1 || hour > 12) {
      return false;
    }
    hour = hour % 12 + half;
  }
  *seconds = (double)(hour * 3600 + found[1].value * 60 + found[2].value) + fraction;
  return hour <= 24 && found[1].value <= 59 && found[2].value <= 60 && *seconds <= 86400;
}

bool hw__clock_parse(hw__slice text, double *seconds) {
  cursor c = {text.text, text.text + text.size};
  return take_clock(&c, seconds) && c.next == c.end;
}

/* An offset or zone up to the end, or nothing. */
static bool take_offset(cursor *c, hw__date *date) {
  skip_blanks(c);
  if (c->next == c->end) {
    return true;
  }
  date->has_offset = hw__zone_offset_named((hw__slice){c->next, (size_t)(c->end - c->next)}, &date->offset_s);
  return date->has_offset;
}

bool hw__date_parse(hw__slice text, hw_time_form form, hw__date *out) {
  cursor c = {text.text, text.text + text.size};
  hw__date date = {0};
  int64_t days;
  double clock_s = 0;
  if (form < HW_TIME_YMD || form > HW_TIME_MDY || !take_date(&c, form, &days)) {
    return false;
  }
  if (c.next < c.end && (*c.next == 'T' || *c.next == 't' || *c.next == ' ' || *c.next == ',')) {
    c.next++;
    skip_blanks(&c);
    if (!take_clock(&c, &clock_s) || !take_offset(&c, &date)) {
      return false;
    }
    date.has_clock = true;
    c.next = c.end;
  }
  date.local_s = (double)days * 86400 + clock_s;
  *out = date;
  return c.next == c.end;
}

static size_t count_digits(const cursor *c) {
  size_t count = 0;
  while (c->next + count < c->end && c->next[count] >= '0' && c->next[count] <= '9') {
    count++;
  }
  return count;
}

static part take_digits(cursor *c, int digits) {
  part found = {0, digits};
  for (int i = 0; i < digits; i++) {
    found.value = found.value * 10 + (*c->next++ - '0');
  }
  return found;
}

static bool take_clock_digits(cursor *c, double *seconds) {
  const size_t digits = count_digits(c);
  if (digits != 4 && digits != 6) {
    return false;
  }
  const int64_t hour = take_digits(c, 2).value, minute = take_digits(c, 2).value;
  const int64_t second = digits == 6 ? take_digits(c, 2).value : 0;
  *seconds = (double)(hour * 3600 + minute * 60 + second);
  return hour <= 24 && minute <= 59 && second <= 60 && *seconds <= 86400;
}

bool hw__clock_parse_digits(hw__slice text, double *seconds) {
  cursor c = {text.text, text.text + text.size};
  return take_clock_digits(&c, seconds) && c.next == c.end;
}

bool hw__date_parse_digits(hw__slice text, hw_time_form form, hw__date *out) {
  cursor c = {text.text, text.text + text.size};
  hw__date date = {0};
  int64_t days;
  double clock_s = 0;
  const size_t digits = count_digits(&c);
  const bool with_clock = digits == 12 || digits == 14;
  if (form < HW_TIME_YMD || form > HW_TIME_MDY || (digits != 6 && digits != 8 && !with_clock)) {
    return false;
  }
  const int year = digits == 6 ? 2 : 4;
  const part first = take_digits(&c, form == HW_TIME_YMD ? year : 2), second = take_digits(&c, 2);
  const part parts[3] = {first, second, take_digits(&c, form == HW_TIME_YMD ? 2 : year)};
  if (!settle_date(parts, form, true, &days)) {
    return false;
  }
  if (c.next < c.end) {
    c.next += !with_clock && (*c.next == 'T' || *c.next == 't' || *c.next == ' ');
    cursor marked = c;
    if (take_clock_digits(&c, &clock_s)) {
      date.has_clock = true;
    } else if (!with_clock && take_clock(&marked, &clock_s)) {
      c = marked;
      date.has_clock = true;
    }
    if (!date.has_clock || !take_offset(&c, &date)) {
      return false;
    }
  }
  date.local_s = (double)days * 86400 + clock_s;
  *out = date;
  return true;
}
