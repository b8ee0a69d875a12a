#ifndef HW_IO_TIME_H
#define HW_IO_TIME_H

#include "io/number.h"

/* hw_time_parse of a slice; false for anything but an instant with its offset. */
bool hw__time_parse(hw__slice slice, double *unix_s);

#endif
