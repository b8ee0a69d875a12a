/* The equation with hydraulics in wider doubt than the river file states them.
 *
 * A file's velocity and dispersion may be wrong by more than it says: still water along the banks, a flow that nobody
 * measured, a dispersion copied from another river. Where the pulses tell so, the same readings are asked again with
 * every stretch free to be a good deal faster, slower or more mixed than stated, with pulses more or less lopsided than
 * the equation has them, and with a discharge that may be off. What the sensors tell of the water between them then
 * takes the place of what the file said. */
#ifndef HW_POSTERIOR_LOOSER_H
#define HW_POSTERIOR_LOOSER_H

#include "posterior/ade.h"

typedef struct {
  hw_river river; /* borrows all but sensors and reaches */
  hw__ade *ade;
} hw__looser;

/* The readings of `stated`, which has settled, asked again. Free it whatever comes of it.
 * Status: HW_ENOMEM, HW_EHYDRAULICS */
hw_status hw__looser_ask(const hw__ade *stated, hw__looser *out);
/* Does it explain the pulses, and, where the stated hydraulics do too, plainly better? */
bool hw__looser_explains(const hw__looser *looser, const hw__ade *stated);
void hw__looser_free(hw__looser *looser);

#endif
