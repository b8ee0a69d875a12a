/* Down the river with a block of points of the hypothesis: from station to station, what each makes of it.
 *
 * A point's own factors bring it to the anchor, and to stations above it as far as a part of the way has what the whole
 * of it has. Below, each stretch has local factors too, which are no
 * coordinates: as far as pulses were seen the filter carries them (filter.h), beyond they are drawn from their prior.
 */
#ifndef HW_POSTERIOR_WALK_H
#define HW_POSTERIOR_WALK_H

#include "headwater/rng.h"
#include "posterior/curves.h"
#include "posterior/filter.h"
#include "posterior/spill.h"

enum { HW__BLOCK = 256, HW__FOURS = HW__BLOCK / HW__LANES };

/* Four points: what they suppose. */
typedef struct {
  hw__cargo cargo;               /* the area that of the station at hand */
  hw__v4 mass_g, longer;         /* longer: the shape's travel time over the water's */
  hw__v4 slower, wider;          /* by common factors, where all water is as doubtful: e^-ln v and e^(ln d - 3 ln v) */
  hw__v4 ln_v, ln_d;             /* of the water that is most in doubt */
  hw__v4 location_m;             /* of the source; INFINITY: not possible */
  hw__v4 theta, variance, decay; /* there, running */
  hw__v4 own_slower, own_wider;  /* by all factors from the source to the anchor */
  hw__v4 own[2], local[2];       /* the local factors there, ln, and their standard deviation */
  hw__v4 stray[2];               /* how far, in standard deviations, those of a part of that water are from them */
} hw__four;

struct hw__walk {
  hw__four four[HW__FOURS];

  /* At the station that the walk has come to. */
  hw__plume plume[HW__FOURS];
  hw__curves curve[HW__FOURS]; /* as expected there; area 0: it does not pass */
  hw__v4 log_likelihood[HW__FOURS];
  size_t station;

  const hw__spill *spill;
  size_t count, fours, last_seen; /* the station furthest down that the filter takes in */
  const hw__station *before;      /* the station that the walk came from, at the anchor or below */
  double middle_m;                /* of the stretch above it, and its local factors' standard deviation */
  double sd_before[2];
  uint64_t chance[HW__BLOCK]; /* of the points (anneal.h) */
  double ratio[HW__BLOCK];    /* ln of prior over density of what was drawn on the way */
  hw_rng rng[HW__BLOCK];
  hw__release release[HW__BLOCK];
  bool seeded[HW__BLOCK];
  bool filtered; /* the station's own pulse has been taken in, and log_likelihood is its readings' */
};
typedef struct hw__walk hw__walk;

/* Room for a walk, to be freed; NULL without memory. */
hw__walk *hw__walk_create(void);
/* n points, index[i] of the draws x and of their chances; the same points and chances, the same way. */
void hw__walk_begin(hw__walk *w, const hw__spill *spill, const uint64_t *chance, size_t n, const size_t *index,
                    double *const *x);
/* To the next station k. False: it is passed by. */
bool hw__walk_to(hw__walk *w, size_t k);
/* What point i makes of the station that the walk has come to. */
hw__sight hw__walk_sight(const hw__walk *w, size_t i);

/* The curve of a release that comes to a place, with these running integrals, in this state. */
hw__curve hw__release_curve(const hw__release *r, const hw__integrals *to, double travel, double variance, double area);
/* The curve at station k of what was seen there; travel time 0: it does not pass. */
hw__curve hw__sight_curve(const hw__spill *spill, const hw__release *release, size_t k, const hw__sight *sight);
/* The curve at a place below station k, drawn on from what is seen there (NULL: from the source). */
hw__curve hw__spill_carry(const hw__spill *spill, const hw__release *release, size_t k, const hw__sight *sight,
                          double x_m, hw_rng *rng);

/* Whether station k's own pulse is taken in by the filter. */
bool hw__spill_is_filtered(const hw__spill *spill, size_t k);
/* On a first look, sensors whose own pulse is no more than a sketch are passed by. */
bool hw__spill_is_passed_by(const hw__spill *spill, size_t k);

#endif
