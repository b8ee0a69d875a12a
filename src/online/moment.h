/* A first guess from the readings' moments. */
#ifndef HW_ONLINE_MOMENT_H
#define HW_ONLINE_MOMENT_H

#include <stdbool.h>

#include "loss/misfit.h"

/* Given:    the readings of a view and the box
 * Returned: *out, inside the box
 * Result:   false (and *out untouched) before there are 6 readings, 5 of them above a twentieth of the
 *           largest: fewer have no shape */
bool hw__moment_start(hw__misfit *misfit, const hw__view *view, const hw_box *box, hw_source *out);

#endif
