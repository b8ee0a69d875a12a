/* A first guess from the readings' moments. */
#ifndef HW_ONLINE_MOMENT_H
#define HW_ONLINE_MOMENT_H

#include <stdbool.h>

#include "loss/misfit.h"

/* What the readings have to offer: the largest, and how many lie above a twentieth of it. The count is 0 before there
 * are 6 readings, 5 of them such. */
typedef struct {
  double largest;
  size_t count;
} hw__moment;
hw__moment hw__moment_pulse(const hw__packed *packed);

/* Given:    packed readings with a pulse in them, and the box
 * Returned: *out, inside the box
 * Result:   false (and *out untouched) where the moments are not finite */
bool hw__moment_start(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, hw_source *out);

#endif
