/* An answer as good as the readings allow, to see that what is asked of the engine can be had.
 *
 * The true likelihood and the prior of the river file, sampled by differential evolution (ter Braak, 2006) from a start
 * at the truth; nothing of the engine. Unknown besides the source: where the hydraulics are doubtful, what velocity and
 * dispersion are on average over each stretch between sensors (ideal_doubt.h); where the background is not stated, each
 * sensor's, any not negative being as likely. For weeks with up to four sensors then, the discharge given, no spikes
 * and no drift. */
#ifndef WEEKS_IDEAL_H
#define WEEKS_IDEAL_H

#include "weeks/answer.h"

bool ideal_can(const week *w);

/* False: not such a week, or out of memory. */
bool ideal_answer(const week *w, answer *out);

#endif
