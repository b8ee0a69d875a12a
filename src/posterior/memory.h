/* How much of a reading's noise the next one keeps: the autocorrelation of the noise, told by quiet readings.
 *
 * Half the mean squared difference of neighbours is the noise's variance less what they have in common; that of
 * readings further apart is all of it, with what the level has drifted. A level that drifts enlarges both, so it is not
 * taken for memory, and the stated noise bounds what is left of it; noise that is simply smaller than stated has no
 * memory. Readings that are alike are worth fewer than there are: n of them with the autocorrelation r as much as
 * n (1 - r) / (1 + r).
 */
#ifndef HW_POSTERIOR_MEMORY_H
#define HW_POSTERIOR_MEMORY_H

#include "posterior/series.h"
#include "posterior/view.h"

/* Given: a series, the pulse it shows, the level it stands on, and the variance of a single reading there as stated.
 * Returned: 0 where the quiet readings do not plainly show any, or are too few, merged or hidden by a limit; at most
 * 0.9. */
double hw__memory_of(const hw__series *series, const hw__curve *pulse, double level_g_m3, double variance);

#endif
