/* What the engine of a network is made of (network.h). */
#ifndef HW_POSTERIOR_NETWORK_INSIDE_H
#define HW_POSTERIOR_NETWORK_INSIDE_H

#include "posterior/ade.h"
#include "river/clock.h"
#include "river/course.h"

/* One branch as a river of its own. */
typedef struct {
  size_t branch;
  hw__course *course;
  hw_river river;   /* the way its water takes */
  hw_reach *steady; /* the reaches of its file, where the flow changes: `river` has them as that makes them spread */
  size_t steady_count;
  size_t *sensors;    /* of the network, by the course's */
  double length_m;    /* that is searched */
  double promise;     /* ln odds that a release on it could come to at most */
  double weight;      /* ln of its evidence and share of the channel; once all are asked, its probability */
  hw__ade *engine;    /* while it is in use */
  hw_sample *samples; /* HW__FINAL of the engine's, by the wall's clock and the network's places; with the engine */
} hw__part;

typedef struct {
  const hw_river *river;
  hw_options options;
  hw__tails tails;
  const hw__clock *clock; /* NULL: the flow is steady */
  hw__clock *own_clock;   /* the same, unless it is borrowed */
  hw__series *filed;      /* by sensor, as read; unused where the flow is steady */
  hw__series *series;     /* in the river's clock, as the steady river would have shown them */
  hw_sensor *sensors;     /* and what their noise is there */
  hw__fit *own;
  hw__view *view;
  bool *dirty, settled;
  bool single;     /* two releases are not looked for */
  hw__two two;     /* what came of it */
  size_t ways;     /* branches, or 1 */
  hw__part *parts; /* one a branch that is searched */
  size_t part_count;
  hw__part *best;    /* keeps its engine; NULL: nothing is seen */
  hw__rivals rivals; /* what the branches asked so far have come to */
  double searched_m, probability;
  hw_sample *samples; /* HW__FINAL, equally weighted when there is a best */
  size_t sample_count;
  double *odds; /* by candidate, against none of these */
  hw_suspicion *suspicions;
  hw_branch_share *shares;
  hw_region regions[HW__MOST_REGIONS];
  size_t region_count;
  hw_arrival *arrivals;
  double *exceeds; /* by intake of the network */
  hw__scratch sorting;
  hw__warnings warnings;
  size_t bytes;
} hw__network;

/* Everything up to the weights, shares and samples, from what is filed; or two releases. Status: HW_ENOMEM,
 * HW_EHYDRAULICS */
hw_status hw__network_settle(hw__network *n);
extern const hw__asked hw__network_asked;
/* The engine of a branch and its samples are given up. */
void hw__part_forget(hw__part *part);

/* network_flow.c: the river's own clock at the door and at the window. */
/* A sensor's series as the steady river would have shown it, and the sensor with it. */
void hw__network_warp(hw__network *n, size_t sensor);
double hw__network_wall_s(const hw__network *n, size_t branch, double x_m, double tau_s);
/* The samples of a part as the network tells them. Returned: ln of what that does to the evidence. */
double hw__network_tell(const hw__network *n, hw__part *part);
/* The course's reaches as they spread what passes at the time of the pulses. Status: HW_ENOMEM */
hw_status hw__network_spread(const hw__network *n, hw__part *part);
/* The course's sensors and hydraulics with what the flow leaves in doubt; before and after its engine is there. */
void hw__network_doubt_sensors(const hw__network *n, hw__part *part);
void hw__network_doubt_water(const hw__network *n, const hw__part *part, hw__doubt *doubt);

/* network_weigh.c: from the branches' evidence to what is said of them together. */
void hw__network_combine(hw__network *n);
/* Of all candidates and none of them. */
double hw__network_all_odds(const hw__network *n);

/* network_promise.c: ln odds that a release on this branch can come to at most; 0: nothing is seen on its course. */
double hw__part_promise(const hw__network *n, const hw__part *part);

/* network_branches.c: the branches that can have been it, asked one by one. */
double hw__part_log_share(const hw__network *n, const hw__part *part);
hw_status hw__network_ask(hw__network *n);

#endif
