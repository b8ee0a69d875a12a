/* What flows together at a confluence flows on below it: discharges that a file leaves out. */
#ifndef HW_RIVER_CONTINUITY_H
#define HW_RIVER_CONTINUITY_H

#include "headwater/river.h"

/* Told of what is odd, with the branch that is meant. */
typedef void (*hw__network_warn)(void *context, size_t branch, const char *sentence);

/* Cuts the reaches of every branch at the confluences and fills in area and discharge of each piece.
 *
 * Given:    a river whose branches pass hw__branch_check apart from area and discharge, which a reach may leave out:
 *           area_m2 NAN and discharge_m3_s 0. A discharge given for a reach holds below the confluences within it.
 * Returned: every reach with a positive area, and a discharge of its own unless the area is what was given. A branch
 * that has no reaches, no confluences and only the hydraulics' discharge keeps none. *lacking is HW_OUTLET; where
 *           a discharge cannot be known it is the first branch without one, and the branches are left as they are.
 * Status:   HW_ENOMEM
 *
 * In this order: what the reach says; what continuity makes of its neighbours; at a head the hydraulics' discharge, or
 * their area times the velocity; at a confluence of which only the sum is known, equal shares, with a warning. Given
 * discharges that contradict continuity by more than 20 % stay as they are, with a warning that names the confluence.
 */
hw_status hw__river_continue(hw_river *river, hw__network_warn warn, void *context, size_t *lacking);

#endif
