/* Would the equation explain the pulses if the search reached further up and back? Then it is the box that is wrong,
 * and no other model may answer from inside it.
 */
#ifndef HW_POSTERIOR_WIDER_H
#define HW_POSTERIOR_WIDER_H

#include "posterior/ade.h"

/* Asks a box three times as large, with what is filed and fitted already. Status: HW_ENOMEM, HW_EHYDRAULICS */
hw_status hw__wider_ask(const hw__ade *stated, bool *explained);

#endif
