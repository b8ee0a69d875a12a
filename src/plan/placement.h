/* Inside a placement: what every source and site tells, gathered once (place.c); choices of sites are scored
 * (place_score.c) and looked for (place_choose.c) by adding it up. */
#ifndef HW_PLAN_PLACEMENT_H
#define HW_PLAN_PLACEMENT_H

#include "headwater/fisher.h"
#include "headwater/plan.h"
#include "plan/place_field.h"

typedef struct {
  double m[HW_FISHER_SIZE][HW_FISHER_SIZE];
} hw__matrix;

struct hw_placement {
  size_t site_count, source_count;
  size_t size; /* unknowns that count: 3, and the uncertain ones of velocity and dispersion */
  double width[HW_FISHER_SIZE];
  double log_det_prior;
  hw__matrix prior;
  hw__matrix *base;        /* per source: the prior and the information of the existing sensors */
  hw__matrix *information; /* per source and site */
  bool *downstream;        /* per source and site */
  double *sites_m;
  size_t branch_count; /* 0: the river has none */
  size_t *branch;      /* of each source */
  uint64_t *seen_by;   /* per source: a hash of the set of existing sensors that see it; 0: none */
  uint64_t *sets;      /* the same with the chosen sites, while a choice is looked at */

  hw__field_sites *field; /* used instead of all the above where the dispersion is unknown */
};

/* Cholesky factor in place of the lower triangle. Every matrix here is a positive prior plus information, so pivots are
 * positive up to rounding; a clamp keeps them so. Returned: ln of the determinant. */
double hw__matrix_factorise(hw__matrix *a, size_t n);
/* A number for the fact that sensor k sees a source; sums of these tell sets of sensors apart. */
uint64_t hw__placement_mark(size_t k);
/* Mean information gain of a choice over the sources, in nats. */
double hw__placement_gain(const hw_placement *placement, const size_t *chosen, size_t count);

#endif
