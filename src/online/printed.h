/* The paper's pseudo-code, Algorithms 1 to 3 and 5 to 8, with a cap on every loop and a check that numbers stay finite.
 * docs/paper.md says what comes of it.
 *
 *   --variant printed     to the letter
 *   --variant corrected   with its obvious slips mended and nothing else: the sign in Armijo's rule, trial and step
 * alike, steps inverse to the moduli as the text says (the formula has them proportional), Algorithm 5's loop going on
 * from where it got to, its waiting time within the iterations there are, and the best path by the mean of the squares
 * (learner.c)
 */
#ifndef HW_ONLINE_PRINTED_H
#define HW_ONLINE_PRINTED_H

#include "online/learner.h"

/* Which of the two is the learner's option. */
void hw__printed_tgd(const hw__learner *learner, hw__path *path);   /* Algorithm 6; nothing to mend */
void hw__printed_atgd(const hw__learner *learner, hw__path *path);  /* Algorithm 1 */
void hw__printed_aptgd(const hw__learner *learner, hw__path *path); /* Algorithm 5 */
void hw__printed_mtgd(const hw__learner *learner, hw__path *path);  /* Algorithm 7, one path */
void hw__printed_mptgd(const hw__learner *learner, hw__path *path); /* Algorithm 8, one path */

/* What Algorithms 1 and 7, and 5 and 8, compute once for every reading. */
void hw__printed_measure_slopes(hw__learner *learner);
void hw__printed_measure_curvature(hw__learner *learner);

/* What the constants of Algorithm 5 come to, in the paper's units; the smoothness of F where the paper writes kappa. */
typedef struct {
  double smoothness, chi, radius, gradient_threshold, loss_threshold, time_threshold;
} hw__jin_constants;

/* Given:    how steep the window's loss is, delta, and F where the search stands, (microgram/l)^2
 * Result:   false where the loss is flat over the whole box and they have no value */
bool hw__printed_constants(const hw__steepness *steepness, double delta, double loss_at, hw__jin_constants *out);

#endif
