/* The summed loss on a grid over place and time, mass profiled out, kept up to date reading by reading.
 *
 * For a source at (l, t) the prediction is mass times g_i, so the summed loss of readings 1..n is
 *
 *   sum c^2 - 2 s G + s^2 H,   G = sum g c,  H = sum g^2,   least at s = clip(G / H),
 *
 * and two running sums per cell are all that a further reading changes. The grid's axes are the passage
 * time of the plume at the first sensor and the release time, because the loss is narrow across the
 * first and broad along the second; cells outside the search box are left out.
 */
#ifndef HW_REGRET_GRID_H
#define HW_REGRET_GRID_H

#include "headwater/reading.h"
#include "headwater/transport.h"

typedef struct hw__grid hw__grid;

/* The transport is borrowed until hw__grid_free. Status: HW_ENOMEM */
hw_status hw__grid_create(const hw_river *river, const hw_transport *transport, hw__grid **out);
void hw__grid_free(hw__grid *grid);

/* A non-detect counts as zero here: the grid only proposes where to start. */
void hw__grid_add(hw__grid *grid, const hw_reading *reading);

/* The sources of the lowest local minima of the grid, best first.
 * Returned: how many, at most `most` (and at most HW__GRID_STARTS) */
enum { HW__GRID_STARTS = 8 };
size_t hw__grid_minima(const hw__grid *grid, hw_source *out, size_t most);

#endif
