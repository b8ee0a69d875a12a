/* Verdicts over many seeds: how often a claim came true, how sure that is, and "undecided" where it is not. */
#ifndef HW_REPRODUCE_VERDICT_H
#define HW_REPRODUCE_VERDICT_H

#include <stddef.h>

#include "experiments/reproduce/page.h"

/* One entry a seed. */
typedef struct {
  size_t won, lost, tied;
} hw_tally;

/* Is a lower than b? Less than a hundredth apart is a tie: no reader of the paper's plots would tell them apart. */
void hw_tally_lower(hw_tally *tally, double a, double b);
void hw_tally_add(hw_tally *tally, bool won);

/* Ties count for neither side. Holds where the 95 % interval (Wilson's) of the share won lies above one half, fails
 * where it lies below, and is undecided in between or when all are ties. */
hw_verdict hw_tally_verdict(const hw_tally *tally);
/* "17 of 20 seeds (64 to 95 %)", and how many ties. Returned: out. */
const char *hw_tally_say(const hw_tally *tally, char *out, size_t size);

/* The claim judged by its tally; what was measured follows the count. */
void hw_judge(hw_page *page, const char *item, const char *claim, const hw_tally *tally, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The share-th quantile of count values, which are put in order. NAN without any. */
double hw_quantile(double *values, size_t count, double share);

#endif
