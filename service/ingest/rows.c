#include <string.h>

#include "ingest/ingest.h"

/* Borrowed text as a string. False when it does not fit: no name is that long. */
static bool copy_name(const char *text, size_t size, char out[static 2 * HW_ID_SIZE]) {
  if (size >= 2 * HW_ID_SIZE || (size && memchr(text, '\0', size))) {
    return false;
  }
  if (size) {
    memcpy(out, text, size);
  }
  out[size] = '\0';
  return true;
}

static hw_status take(hw__ingest *ingest, size_t line, const hw_row *found) {
  char river[2 * HW_ID_SIZE], sensor[2 * HW_ID_SIZE];
  if (!copy_name(found->river, found->river_size, river) || !copy_name(found->sensor, found->sensor_size, sensor)) {
    return hw__ingest_reject(ingest, line, HW_FATE_UNKNOWN, "a name of %zu bytes, expected that of a sensor",
                             found->sensor_size > found->river_size ? found->sensor_size : found->river_size);
  }
  const hw__raw_row row = {.river = river,
                           .sensor = sensor,
                           .calendar = found->calendar,
                           .unit_s = 1,
                           .time_value = found->reading.time_s,
                           .has_time = true,
                           .value_number = found->discharge ? found->discharge_m3_s : found->reading.concentration_g_m3,
                           .discharge = found->discharge,
                           .has_value = !found->missing,
                           .below_limit = found->reading.below_limit,
                           .above_limit = found->reading.above_limit,
                           .per_g_m3 = 1};
  return hw__ingest_row(ingest, line, &row);
}

/* The river that rows without one of their own belong to; NULL: nobody said. */
static const hw_river *river_of(const hw__ingest *ingest) {
  const bool alone = hw__catalog_count(ingest->catalog) == 1;
  const bool named = ingest->river && *ingest->river;
  const ptrdiff_t site = named ? hw__catalog_find(ingest->catalog, ingest->river) : alone ? 0 : -1;
  return site < 0 ? NULL : &hw__catalog_site(ingest->catalog, (size_t)site)->river;
}

hw_status hw__ingest_rows(hw__ingest *ingest, hw_rows_format format, const char *body, size_t size) {
  hw_rows *rows = NULL;
  hw_status status = hw_rows_create(body, size, format, river_of(ingest), &rows);
  while (status == HW_OK) {
    hw_row found;
    hw_error error;
    status = hw_rows_next(rows, &found, &error);
    if (status == HW_OK) {
      status = take(ingest, (size_t)hw_rows_line(rows), &found);
    } else if (status == HW_EINPUT) {
      status = hw__ingest_reject(ingest, (size_t)hw_rows_line(rows), HW_FATE_MALFORMED, "%s", error.text);
    }
  }
  hw_rows_free(rows);
  return status == HW_EEND ? HW_OK : status;
}
