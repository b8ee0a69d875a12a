/* A row of text becomes a reading or a discharge of this river. */
#include <stdio.h>

#include "core/text.h"
#include "io/reader.h"

/* Where the river's search box is on the calendar, so must be the readings; and one file keeps to one kind. */
static hw_status settle_time_kind(hw_reader *reader, const hw__column *column, hw_error *sentence) {
  if (reader->kind_known) {
    if (reader->calendar != column->calendar) {
      return hw__fail(sentence, HW_EINPUT, "%s after %s, expected one kind of time in one file", column->name,
                      reader->calendar ? "calendar time" : "times in numbers");
    }
    return HW_OK;
  }
  if (reader->river->search_is_calendar && !column->calendar) {
    return hw__fail(sentence, HW_EINPUT,
                    "times as %s where the river's search.time_s is on the calendar, expected a column named time",
                    column->name);
  }
  reader->kind_known = true;
  reader->calendar = column->calendar;
  return HW_OK;
}

static hw_status parse_time(hw_reader *reader, const hw__row *row, double *time_s, hw_error *sentence) {
  const hw__column *column = row->time_column;
  hw_status status = settle_time_kind(reader, column, sentence);
  if (status != HW_OK) {
    return status;
  }
  double value;
  status = hw__row_time(row, &value, sentence);
  if (status != HW_OK || !column->calendar) {
    *time_s = status == HW_OK ? value : *time_s;
    return status;
  }
  if (!reader->has_origin) {
    reader->has_origin = true;
    reader->origin_unix_s = reader->river->search_is_calendar ? 0 : value;
  }
  *time_s = value - reader->origin_unix_s;
  return HW_OK;
}

static hw_status unknown_sensor(const hw_river *river, hw__slice id, hw_error *sentence) {
  char shown[HW__EXCERPT_SIZE], known[200] = "";
  size_t length = 0;
  for (size_t i = 0; i < river->sensor_count && length < sizeof known - 2 * HW_ID_SIZE; i++) {
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", river->sensors[i].id);
    if (i + 1 < river->sensor_count && length >= sizeof known - 2 * HW_ID_SIZE) {
      snprintf(known + length, sizeof known - length, ", ...");
    }
  }
  return hw__fail(sentence, HW_EINPUT, "sensor '%s' is not in the river file, expected one of: %s",
                  hw__excerpt(id, shown), known);
}

hw_status hw__reader_take_row(hw_reader *reader, const hw__row *row, hw_reading *out, bool *keep, hw_error *sentence) {
  hw_reading reading = {0};
  hw_status status = parse_time(reader, row, &reading.time_s, sentence);
  if (status != HW_OK) {
    return status;
  }
  const ptrdiff_t sensor = hw__sensor_index_find(reader->river, &reader->index, row->sensor);
  if (sensor < 0) {
    return unknown_sensor(reader->river, row->sensor, sentence);
  }
  reading.sensor = (size_t)sensor;
  *keep = row->value.size > 0;
  if (!*keep) {
    reader->counts.missing++;
    return HW_OK;
  }
  status = hw__row_value(row, &reading, sentence);
  if (status != HW_OK) {
    return status;
  }
  *keep = !hw__seen_before(reader->seen, reading.sensor, reading.time_s);
  if (!*keep) {
    reader->counts.duplicate++;
    return HW_OK;
  }
  double *latest_s = &reader->latest_s[reading.sensor];
  reader->counts.out_of_order += reading.time_s < *latest_s;
  *latest_s = reading.time_s > *latest_s ? reading.time_s : *latest_s;
  reader->counts.readings++;
  *out = reading;
  return HW_OK;
}

hw_status hw__reader_take_discharge(hw_reader *reader, const hw__row *row, hw_error *sentence) {
  hw_flow flow = {0};
  const hw__slice id = hw__row_gauge(row);
  while (flow.gauge < reader->river->gauge_count && !hw__slice_is(id, reader->river->gauges[flow.gauge].id)) {
    flow.gauge++;
  }
  if (flow.gauge == reader->river->gauge_count) {
    char shown[HW__EXCERPT_SIZE];
    return hw__fail(sentence, HW_EINPUT, "gauge '%s' is not in the river file, expected one of its gauges",
                    hw__excerpt(id, shown));
  }
  hw_status status = parse_time(reader, row, &flow.time_s, sentence);
  if (status == HW_OK) {
    status = hw__row_discharge(row, &flow.discharge_m3_s, sentence);
  }
  if (status == HW_OK && !(flow.discharge_m3_s > 0)) {
    return hw__fail(sentence, HW_EINPUT, "discharge_m3_s %g, expected a positive number", flow.discharge_m3_s);
  }
  if (status == HW_OK) {
    reader->take_flow(reader->flow_context, &flow);
  }
  return status;
}

hw_status hw__row_complete(const hw__row *row, hw_error *sentence) {
  if (!row->time.text || !row->sensor.text || !row->value.text) {
    return hw__fail(sentence, HW_EINPUT, "an object without %s, expected all of time, sensor and concentration",
                    !row->time.text ? "time, time_s, time_min or time_h"
                    : !row->sensor.text
                        ? "sensor"
                        : "concentration_g_m3, concentration_mg_l, concentration_ug_l or concentration_ng_l");
  }
  return HW_OK;
}
