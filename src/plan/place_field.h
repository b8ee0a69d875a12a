/* Sites where the river's dispersion is unknown: what they would tell by the field model (outlook.h).
 *
 * There a place is known to within a factor of the distance from the first sensor that sees the pulse, and the
 * factor is the narrower the more sensors see it. So for one release a choice of sites is worth what follows from
 * the first site that sees it and from the number of sites that do; the pulse must come up over at least two
 * readings there, as for `check`. Criterion: the mean over releases of ln sqrt(1 + box variance / variance of the
 * place). Time and mass are shown; they follow the same sensor.
 */
#ifndef HW_PLAN_PLACE_FIELD_H
#define HW_PLAN_PLACE_FIELD_H

#include "headwater/plan.h"

typedef struct hw__field_sites hw__field_sites;

/* Given:  the river with the sites for its sensors, and behind them those that stay; settings with nothing left to
 * default Status: HW_EUNSUPPORTED with branches, which the field model does not know; HW_EDOMAIN for releases without
 * mass; HW_ENOMEM */
hw_status hw__field_sites_create(const hw_river *pool, const hw_place_settings *settings, hw__field_sites **out);
double hw__field_sites_gain(const hw__field_sites *sites, const size_t *chosen, size_t count);
void hw__field_sites_score(const hw__field_sites *sites, const size_t *chosen, size_t count, hw_place_score *out);
void hw__field_sites_free(hw__field_sites *sites);

#endif
