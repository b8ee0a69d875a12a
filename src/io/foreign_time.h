/* The times of somebody else's table as instants or seconds. */
#ifndef HW_IO_FOREIGN_TIME_H
#define HW_IO_FOREIGN_TIME_H

#include "io/row.h"

typedef struct hw__foreign_clock hw__foreign_clock;

/* Columns and river are borrowed. Status: HW_EINPUT for a time zone nobody knows, HW_ENOMEM */
hw_status hw__foreign_clock_create(const hw_columns *columns, const hw_river *river, hw__foreign_clock **out,
                                   hw_error *sentence);
void hw__foreign_clock_free(hw__foreign_clock *clock);

/* What a row says about its time. */
typedef struct {
  hw__slice date, clock, zone; /* the last two empty: none */
  hw__slice sensor;            /* whose clock it is */
} hw__foreign_time;

/* Fills the time of the row; its text may stand in scratch. */
hw_status hw__foreign_clock_read(hw__foreign_clock *clock, const hw__foreign_time *time, char scratch[HW__SCRATCH_SIZE],
                                 hw__row *row, hw_error *sentence);

#endif
