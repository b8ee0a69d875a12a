/* How far the river may be off what its file says, place by place.
 *
 * Every reach has a doubt of its own, or the hydraulics'. All reaches are off together by the common part: one number,
 * which moves a reach by as much as that reach is in doubt. What a stretch across several reaches takes of it is the
 * mean over the stretch, weighed by travel time for the velocity and by temporal variance for the dispersion; of the
 * local part it is the root of the mean square. Means come from running integrals, as travel times do (river/along.h),
 * so a stretch costs two look-ups. Everything is a share of the largest doubt that a reach has: 1 where all are alike.
 */
#ifndef HW_POSTERIOR_DOUBTS_H
#define HW_POSTERIOR_DOUBTS_H

#include "river/along.h"
#include "river/doubt.h"

/* Of the largest doubt in ln velocity and ln dispersion, what a stretch has: of the common part and of the local one,
 * as it is at any one place. */
typedef struct {
  double common_v, common_d, local_v, local_d;
} hw__doubt_share;

/* Running integrals of these up to a place, the local ones' of their squares. */
typedef struct {
  double common_v, common_d, local_v, local_d;
} hw__doubt_sums;

typedef struct hw__doubts hw__doubts;

/* Of a river without branches. Status: HW_EHYDRAULICS, HW_ENOMEM */
hw_status hw__doubts_create(const hw_river *river, hw__doubts **out);
void hw__doubts_free(hw__doubts *doubts);

/* The largest that any reach has. */
hw__spread hw__doubts_velocity(const hw__doubts *doubts);
hw__spread hw__doubts_dispersion(const hw__doubts *doubts);
/* Whether every reach is as doubtful as every other: all shares are 1. */
bool hw__doubts_even(const hw__doubts *doubts);

hw__doubt_sums hw__doubts_at(const hw__doubts *doubts, double x_m);
/* At one place. */
hw__doubt_share hw__doubts_here(const hw__doubts *doubts, double x_m);

/* A place, with what is added up to it. */
typedef struct {
  const hw__integrals *at;
  const hw__doubt_sums *doubt;
} hw__doubt_end;
/* Of the stretch between two places; the local shares at least a fiftieth. */
hw__doubt_share hw__doubts_between(const hw__doubts *doubts, hw__doubt_end from, hw__doubt_end to);

#endif
