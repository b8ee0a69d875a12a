/* A week as files, for headwater identify. */
#ifndef WEEKS_DUMP_H
#define WEEKS_DUMP_H

#include "weeks/week.h"

/* folder/week-INDEX/river.yaml, readings.csv and truth.txt: MASS_G,LOCATION_M,TIME_S as --truth takes it, the guilty
 * candidate (0: none), the faulty sensor, the strata. */
bool dump_week(const char *folder, uint64_t index, const week *w);

#endif
