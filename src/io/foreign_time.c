#include "io/foreign_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/date.h"
#include "io/sensor_index.h"
#include "io/zone.h"

static const double excel_epoch_days = 25569; /* 1970-01-01 as Excel counts from 1899-12-30 */

struct hw__foreign_clock {
  const hw_columns *columns;
  const hw_river *river;
  hw__zone *zone; /* NULL: the times say it themselves */
  hw__sensor_index index;
  double *latest_s; /* instant of the last row of each sensor; -inf before the first */
};

hw_status hw__foreign_clock_create(const hw_columns *columns, const hw_river *river, hw__foreign_clock **out,
                                   hw_error *sentence) {
  *out = NULL;
  hw__foreign_clock *clock = calloc(1, sizeof *clock);
  if (!clock) {
    return hw__fail(sentence, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
  }
  clock->columns = columns;
  clock->river = river;
  clock->latest_s = malloc((river->sensor_count + 1) * sizeof *clock->latest_s);
  hw_status status = clock->latest_s ? hw__sensor_index_create(river, &clock->index) : HW_ENOMEM;
  if (status != HW_OK) {
    hw__fail(sentence, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
  } else {
    for (size_t i = 0; i < river->sensor_count; i++) {
      clock->latest_s[i] = -INFINITY;
    }
    status = columns->timezone[0] ? hw__zone_open(columns->timezone, &clock->zone, sentence) : HW_OK;
  }
  if (status != HW_OK) {
    hw__foreign_clock_free(clock);
    return status;
  }
  *out = clock;
  return HW_OK;
}

void hw__foreign_clock_free(hw__foreign_clock *clock) {
  if (clock) {
    hw__zone_free(clock->zone);
    free(clock->index.slots);
    free(clock->latest_s);
    free(clock);
  }
}

/* Which of the two passes of an hour that occurs twice is meant. */
static hw_status choose_pass(const hw__foreign_clock *clock, const double passes[2], double latest_s, hw__slice text,
                             double *unix_s, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE], first[40], second[40];
  switch (clock->columns->twice) {
    case HW_TWICE_FIRST:
      *unix_s = passes[0];
      return HW_OK;
    case HW_TWICE_SECOND:
      *unix_s = passes[1];
      return HW_OK;
    case HW_TWICE_BY_ORDER:
      *unix_s = passes[0] > latest_s ? passes[0] : passes[1];
      return HW_OK;
    default:
      hw_time_format(passes[0], first, sizeof first);
      hw_time_format(passes[1], second, sizeof second);
      return hw__fail(sentence, HW_EINPUT,
                      "time '%s' comes twice in %.40s, at %s and %s; add: twice: first, second or by order",
                      hw__excerpt(text, shown), clock->columns->timezone, first, second);
  }
}

/* A local time of the mapping's zone as an instant. */
static hw_status settle(const hw__foreign_clock *clock, double local_s, double latest_s, hw__slice text, double *unix_s,
                        hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE];
  if (!clock->zone) {
    return hw__fail(sentence, HW_EINPUT, "time '%s' without an offset; add: timezone: and one such as Europe/Berlin",
                    hw__excerpt(text, shown));
  }
  double passes[2];
  const size_t count = hw__zone_instants(clock->zone, local_s, passes);
  if (count == 0) {
    return hw__fail(sentence, HW_EINPUT, "time '%s' does not exist in %.40s: clocks were put forward over it",
                    hw__excerpt(text, shown), clock->columns->timezone);
  }
  *unix_s = passes[0];
  return count == 1 ? HW_OK : choose_pass(clock, passes, latest_s, text, unix_s, sentence);
}

static const char *expected_form(hw_time_form form) {
  return form == HW_TIME_YMD   ? "year, month, day and a clock such as 2026-03-01 08:15"
         : form == HW_TIME_DMY ? "day, month, year and a clock such as 01.03.2026 08:15"
                               : "month, day, year and a clock such as 03/01/2026 08:15";
}

/* Date and clock side by side, as one text. */
static bool join(const hw__foreign_time *time, char scratch[HW__SCRATCH_SIZE], hw__slice *out) {
  *out = time->date;
  if (!time->clock.size) {
    return true;
  }
  if (time->date.size + 1 + time->clock.size > HW__SCRATCH_SIZE) {
    return false;
  }
  memcpy(scratch, time->date.text, time->date.size);
  scratch[time->date.size] = ' ';
  memcpy(scratch + time->date.size + 1, time->clock.text, time->clock.size);
  *out = (hw__slice){scratch, time->date.size + 1 + time->clock.size};
  return true;
}

static hw_status read_calendar(const hw__foreign_clock *clock, const hw__foreign_time *time, hw__slice text,
                               double latest_s, double *unix_s, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE];
  hw__date date;
  const hw_time_form form = clock->columns->time_form;
  if (!hw__date_parse(text, form, &date) && !hw__date_parse_digits(text, form, &date)) {
    return hw__fail(sentence, HW_EINPUT, "time '%s', expected %s", hw__excerpt(text, shown), expected_form(form));
  }
  if (!date.has_offset && time->zone.size) {
    date.has_offset = hw__zone_offset_named(time->zone, &date.offset_s);
    if (!date.has_offset) {
      return hw__fail(sentence, HW_EINPUT, "time zone '%s', expected an offset or a name such as EST",
                      hw__excerpt(time->zone, shown));
    }
  }
  if (date.has_offset) {
    *unix_s = date.local_s - date.offset_s;
    return HW_OK;
  }
  return settle(clock, date.local_s, latest_s, text, unix_s, sentence);
}

/* A number, with a decimal point as our grammar requires. */
static hw_status read_number(const hw__foreign_clock *clock, hw__slice text, char scratch[HW__SCRATCH_SIZE],
                             hw__slice *out, double *value, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE];
  const size_t size = text.size < HW__SCRATCH_SIZE ? text.size : 0; /* longer than any number */
  for (size_t i = 0; i < size; i++) {
    scratch[i] = text.text[i] == ',' && clock->columns->decimal == ',' ? '.' : text.text[i];
  }
  *out = (hw__slice){scratch, size};
  return hw__number_parse(*out, value)
             ? HW_OK
             : hw__fail(sentence, HW_EINPUT, "time '%s', expected a number", hw__excerpt(text, shown));
}

hw_status hw__foreign_clock_read(hw__foreign_clock *clock, const hw__foreign_time *time, char scratch[HW__SCRATCH_SIZE],
                                 hw__row *row, hw_error *sentence) {
  static const hw__slice names[] = {
      [HW_TIME_SECONDS] = {"time_s", 6}, [HW_TIME_MINUTES] = {"time_min", 8}, [HW_TIME_HOURS] = {"time_h", 6}};
  const hw_time_form form = clock->columns->time_form;
  const ptrdiff_t sensor = hw__sensor_index_find(clock->river, &clock->index, time->sensor);
  const double latest_s = sensor < 0 ? -INFINITY : clock->latest_s[sensor];
  hw__slice text;
  double value = 0, unix_s = 0;
  hw_status status = HW_OK;
  if (form >= HW_TIME_EXCEL) {
    status = read_number(clock, time->date, scratch, &text, &value, sentence);
    unix_s = form == HW_TIME_EXCEL ? round((value - excel_epoch_days) * 86400e3) / 1e3 : value;
    if (status == HW_OK && form == HW_TIME_EXCEL) {
      status = settle(clock, unix_s, latest_s, time->date, &unix_s, sentence);
    }
  } else {
    char joined[HW__SCRATCH_SIZE];
    status = join(time, joined, &text)
                 ? read_calendar(clock, time, text, latest_s, &unix_s, sentence)
                 : hw__fail(sentence, HW_EINPUT, "a time of more than %d characters", HW__SCRATCH_SIZE);
  }
  if (status != HW_OK) {
    return status;
  }
  if (form >= HW_TIME_SECONDS) {
    row->time_column = hw__column_find(names[form]);
    row->time = text;
    return HW_OK;
  }
  if (sensor >= 0) {
    clock->latest_s[sensor] = unix_s;
  }
  hw_time_format(unix_s, scratch, HW__SCRATCH_SIZE);
  row->time_column = hw__column_find((hw__slice){"time", 4});
  row->time = (hw__slice){scratch, strlen(scratch)};
  return HW_OK;
}
