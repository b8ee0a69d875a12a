#include "headwater/columns.h"

#include <stdlib.h>
#include <string.h>

/* A list of its own; *good becomes false without memory. */
static void *copy_list(const void *list, size_t count, size_t size, bool *good) {
  void *copy = count ? malloc(count * size) : NULL;
  if (copy) {
    memcpy(copy, list, count * size);
  }
  *good = *good && (copy || !count);
  return copy;
}

hw_status hw_columns_copy(const hw_columns *columns, hw_columns **out) {
  *out = NULL;
  hw_columns *copy = malloc(sizeof *copy);
  if (!copy) {
    return HW_ENOMEM;
  }
  bool good = true;
  *copy = *columns;
  copy->sensors = copy_list(columns->sensors, columns->sensor_count, sizeof *copy->sensors, &good);
  copy->names = copy_list(columns->names, columns->name_count, sizeof *copy->names, &good);
  copy->missing = copy_list(columns->missing, columns->missing_count, sizeof *copy->missing, &good);
  copy->good = copy_list(columns->good, columns->good_count, sizeof *copy->good, &good);
  if (!good) {
    hw_columns_free(copy);
    return HW_ENOMEM;
  }
  *out = copy;
  return HW_OK;
}

void hw_columns_free(hw_columns *columns) {
  if (columns) {
    free(columns->sensors);
    free(columns->names);
    free(columns->missing);
    free(columns->good);
    free(columns);
  }
}
