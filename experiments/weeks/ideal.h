/* An answer as good as the readings allow, to see that what is asked of the engine can be had.
 *
 * The true likelihood and the prior of the river file, sampled by differential evolution (ter Braak, 2006) from a start
 * at the truth. For weeks with exactly known hydraulics, a stated background and no spikes; nothing of the engine. */
#ifndef WEEKS_IDEAL_H
#define WEEKS_IDEAL_H

#include "weeks/answer.h"

bool ideal_can(const week *w);

/* False: out of memory. */
bool ideal_answer(const week *w, answer *out);

#endif
