/* How many sensors a river needs, and where.
 *
 * How many (hw_plan_sequence): the paper's sequential installation, Algorithm 4. Identify the source from
 * each sensor alone; the spread across sensors gives a Student interval for the mean; install until the
 * interval is as short as asked for. Rounds start afresh, nothing is uninstalled.
 *
 * Where (hw_placement): choose sites from a pool by what they would tell about sources drawn from the search box.
 */
#ifndef HEADWATER_PLAN_H
#define HEADWATER_PLAN_H

#include "headwater/method.h"
#include "headwater/river.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means the default. */
typedef struct {
  hw_source accepted; /* full interval lengths asked for: g, m, s; required, > 0 */
  double level;       /* confidence of the intervals; default 0.9 */
  size_t rounds;      /* default 100 */
  size_t first;       /* sensors installed before the first round, >= 2; default 3 */
  size_t pool;        /* most sensors that can be installed; default 50 */
  hw_variant variant; /* HW_PRINTED: half lengths (the formula lacks its factor 2) and uninstalling, as printed;
                         HW_CORRECTED: with the factor, uninstalling */
} hw_plan_settings;

/* What sensor `sensor` (0 .. pool-1) alone says after round `round` (0 ..). */
typedef hw_status (*hw_plan_identify)(void *context, size_t round, size_t sensor, hw_source *out);

typedef struct {
  size_t required[3]; /* by mass, place and time */
  size_t installed;   /* after this round */
  size_t cycles;      /* inner searches that were left because they began to repeat themselves */
} hw_plan_round;

/* Algorithm 4. Per dimension and for n = 2 .. installed sensors: m = n;
 *   n_hat = max(2, ceil((2 t_{alpha/2, m-1} S_m / d)^2)),  m' = ceil((m + n_hat) / 2);
 * stop with m' when m' exceeds what is installed, when n_hat = m, or when m' was met before (the printed
 * search can cycle for ever); else m = m'. The least m' over n is the dimension's number, the largest over
 * dimensions is installed, never fewer than before and never more than the pool.
 * Returned: out[0 .. rounds-1]
 * Status:   HW_EDOMAIN for settings out of range; whatever identify returns; HW_ENOMEM */
hw_status hw_plan_sequence(const hw_plan_settings *settings, hw_plan_identify identify, void *context,
                           hw_plan_round *out);

/* The same question answered directly, when the spread of single-sensor identifications is known: the
 * least m >= 2 with 2 t_{alpha/2, m-1} spread / sqrt(m) <= accepted, per dimension.
 * Returned: required[3], 0 where even a million sensors would not do
 * Status:   HW_EDOMAIN */
hw_status hw_plan_direct(const hw_plan_settings *settings, const hw_source *spread, size_t required[3]);

/* Mean and Student interval across sensors, eq. (8) of the paper.
 * Given:    count >= 2 identifications, level
 * Returned: *mean, *interval (not clipped to any box), *spread the sample standard deviations (may be NULL)
 * Status:   HW_EDOMAIN */
hw_status hw_plan_interval(const hw_source *identified, size_t count, double level, hw_source *mean, hw_box *interval,
                           hw_source *spread);

/* ---- Where ---- */

/* Zero means the default. */
typedef struct {
  const double *sites_m;  /* the pool: places that could hold a sensor, growing downstream (on their branch); borrowed
                           * for the call */
  const size_t *branches; /* of each site, those of a branch together; NULL: a river without branches */
  bool beside;            /* the river's own sensors stay, and those chosen stand beside them */
  size_t site_count;      /* >= 1 */
  hw_sensor sensor;       /* what would be installed: noise, gain, background; its place is not used */
  double every_s;         /* time between readings; default 300 */
  size_t sources;         /* drawn evenly from the search box; default 200 */
  uint64_t seed;          /* default 1 */
} hw_place_settings;

/* How to choose. */
typedef enum {
  HW_PLACE_GREEDY, /* one site after the other; at least 63 % (1 - 1/e) of the best possible gain */
  HW_PLACE_EXACT,  /* every choice tried */
  HW_PLACE_EVEN    /* evenly spaced over the pool: what one would do without computing */
} hw_place_kind;

/* What a choice of sites is worth, averaged over the sources. */
typedef struct {
  double gain_nats; /* expected information: log of how much the volume of doubt shrinks */
  hw_source sd;     /* expected posterior standard deviations */
  double seen;      /* share of the sources that at least one sensor lies downstream of */
  double branch;    /* share of the sources whose branch is told by which sensors see them and which do not */
} hw_place_score;

/* The pool's information about every source drawn. Criterion: the mean over sources of
 *
 *   1/2 ln det(B + sum_{chosen} J_site) - 1/2 ln det B,
 *
 * J the Fisher information (fisher.h) and B the search box as a prior (variance width^2 / 12, and what the
 * river file says of velocity and dispersion). It grows with every sensor and its increments shrink
 * (submodular), which is what the greedy guarantee rests on (Nemhauser, Wolsey and Fisher, 1978).
 *
 * With branches the question is where: the mean of ln(sd before / sd after) of the place along its branch, and what the
 * sensors tell of the branch, the mutual information between the branch and the set of sensors that see the release at
 * all. That sum need not be submodular: the guarantee is for rivers without branches. */
typedef struct hw_placement hw_placement;

/* Where the dispersion is unknown there is no such information. Then the criterion is the mean of ln sqrt(1 + v / s2),
 * v the variance of the place in the search box and s2 that to expect of it by how much rivers differ (outlook.h), from
 * the first sensor that sees the pulse come up over two readings or more and the number that do. The greedy choice has
 * no guarantee there.
 *
 * Status: HW_EHYDRAULICS where the dispersion is given and velocity or area is not; HW_EUNSUPPORTED for branches with
 *         the dispersion unknown; HW_EDOMAIN for settings out of range or sites not growing downstream; HW_ENOMEM */
hw_status hw_placement_create(const hw_river *river, const hw_place_settings *settings, hw_placement **out);
/* Returned: chosen[0 .. count-1], indices into the pool, growing downstream
 * Status:   HW_EDOMAIN unless 1 <= count <= site_count; HW_EUNSUPPORTED for HW_PLACE_EXACT with more than
 *           200,000 choices; HW_ENOMEM */
hw_status hw_placement_choose(const hw_placement *placement, hw_place_kind kind, size_t count, size_t *chosen);
void hw_placement_score(const hw_placement *placement, const size_t *chosen, size_t count, hw_place_score *out);
void hw_placement_free(hw_placement *placement);

#ifdef __cplusplus
}
#endif

#endif
