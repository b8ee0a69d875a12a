/* What an answer found, as GeoJSON features, for maps of the command line and of the service. */
#ifndef HW_RIVERS_FOUND_H
#define HW_RIVERS_FOUND_H

#include <jansson.h>

#include "rivers/centerline.h"

/* The line of the branch that a place or source names; of a river without branches, or without a name, the first. */
const hw__centerline *hw__line_of(const hw_river *river, const hw__centerline *lines, const json_t *place);

/* Appends `source` with the stretch of its interval, `release` for every other release, and the stretches of
 * the `region`, or of those of both releases; nothing without an estimate.
 *
 * Given: lines, one per branch, may be empty; answer, the object of hw_result_json or an incident; about, what
 *        `source` has among its properties besides the estimate's, taken over */
void hw__add_found(json_t *features, const hw_river *river, const hw__centerline *lines, const json_t *answer,
                   json_t *about);

#endif
