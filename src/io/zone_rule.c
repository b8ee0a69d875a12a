#include "io/zone_rule.h"

#include <math.h>
#include <string.h>

#include "io/time.h"

typedef struct {
  const char *next, *end;
} cursor;

static bool take(cursor *c, char wanted) {
  if (c->next < c->end && *c->next == wanted) {
    c->next++;
    return true;
  }
  return false;
}

static bool take_number(cursor *c, int most, int *out) {
  int value = 0;
  const char *first = c->next;
  while (c->next < c->end && *c->next >= '0' && *c->next <= '9' && value <= most) {
    value = value * 10 + (*c->next++ - '0');
  }
  *out = value;
  return c->next > first && value <= most;
}

/* "CET" or "<+0330>" */
static bool take_name(cursor *c) {
  const char *first = c->next;
  if (take(c, '<')) {
    while (c->next < c->end && *c->next != '>') {
      c->next++;
    }
    return take(c, '>');
  }
  while (c->next < c->end && ((*c->next | 32) >= 'a' && (*c->next | 32) <= 'z')) {
    c->next++;
  }
  return c->next - first >= 3;
}

/* "-1", "3:30", "167:59:59" */
static bool take_clock(cursor *c, int32_t *seconds) {
  const bool minus = take(c, '-');
  if (!minus) {
    take(c, '+');
  }
  int hours, minutes = 0, rest = 0;
  if (!take_number(c, 167, &hours) || (take(c, ':') && !take_number(c, 59, &minutes)) ||
      (take(c, ':') && !take_number(c, 59, &rest))) {
    return false;
  }
  *seconds = (minus ? -1 : 1) * (hours * 3600 + minutes * 60 + rest);
  return true;
}

static bool take_turn(cursor *c, hw__zone_turn *out) {
  hw__zone_turn turn = {.form = 'n', .seconds = 7200};
  bool good;
  if (take(c, 'M')) {
    turn.form = 'M';
    good = take_number(c, 12, &turn.month) && turn.month >= 1 && take(c, '.') && take_number(c, 5, &turn.week) &&
           turn.week >= 1 && take(c, '.') && take_number(c, 6, &turn.day);
  } else {
    turn.form = take(c, 'J') ? 'J' : 'n';
    good = take_number(c, 365, &turn.day);
  }
  if (good && take(c, '/')) {
    good = take_clock(c, &turn.seconds);
  }
  *out = turn;
  return good;
}

bool hw__zone_rule_parse(hw__slice text, hw__zone_rule *out) {
  cursor c = {text.text, text.text + text.size};
  hw__zone_rule rule = {0};
  int32_t west;
  if (!take_name(&c) || !take_clock(&c, &west)) {
    return false;
  }
  rule.standard_s = rule.summer_s = -west;
  if (c.next < c.end) {
    rule.has_summer = true;
    rule.summer_s = rule.standard_s + 3600;
    if (!take_name(&c)) {
      return false;
    }
    if (c.next < c.end && *c.next != ',') {
      if (!take_clock(&c, &west)) {
        return false;
      }
      rule.summer_s = -west;
    }
    if (!take(&c, ',') || !take_turn(&c, &rule.begin) || !take(&c, ',') || !take_turn(&c, &rule.end)) {
      return false;
    }
  }
  *out = rule;
  return c.next == c.end;
}

/* Seconds since 1970 on the local clock. */
static double turn_at(const hw__zone_turn *turn, int64_t year) {
  int64_t days = hw__days_from_civil(year, 1, 1);
  if (turn->form == 'M') {
    const int64_t first = hw__days_from_civil(year, turn->month, 1);
    const int64_t next =
        turn->month == 12 ? hw__days_from_civil(year + 1, 1, 1) : hw__days_from_civil(year, turn->month + 1, 1);
    const int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    days = first + (turn->day - weekday + 7) % 7 + 7 * (turn->week - 1);
    days -= days >= next ? 7 : 0;
  } else if (turn->form == 'J') { /* 29 February is never counted */
    const bool leap = hw__days_from_civil(year, 3, 1) - days == 60;
    days += turn->day - 1 + (leap && turn->day >= 60 ? 1 : 0);
  } else {
    days += turn->day;
  }
  return (double)days * 86400 + turn->seconds;
}

int32_t hw__zone_rule_offset(const hw__zone_rule *rule, double unix_s) {
  if (!rule->has_summer) {
    return rule->standard_s;
  }
  const double days = floor((unix_s + rule->standard_s) / 86400);
  const int64_t year = hw__year_of_days((int64_t)fmin(fmax(days, -1e12), 1e12)); /* a table may hold any number */
  const double begin = turn_at(&rule->begin, year) - rule->standard_s;
  const double end = turn_at(&rule->end, year) - rule->summer_s;
  const bool summer = begin < end ? unix_s >= begin && unix_s < end : unix_s >= begin || unix_s < end;
  return summer ? rule->summer_s : rule->standard_s;
}
