/* Sensors by id, for millions of rows. */
#ifndef HW_IO_SENSOR_INDEX_H
#define HW_IO_SENSOR_INDEX_H

#include "headwater/river.h"
#include "io/number.h"

/* Open addressing, at most half full. Release with free(slots). */
typedef struct {
  size_t *slots; /* index + 1; 0 is free */
  size_t mask;
  size_t last; /* most rows name the sensor of the row before */
} hw__sensor_index;

hw_status hw__sensor_index_create(const hw_river *river, hw__sensor_index *index);
/* Index of the sensor with this id, or -1. */
ptrdiff_t hw__sensor_index_find(const hw_river *river, hw__sensor_index *index, hw__slice id);

#endif
