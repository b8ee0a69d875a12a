/* An ordinary week on an ordinary river: a river file, a record, and what truly happened.
 *
 * The river, its sensors and its search box come first, the truth is drawn from what the box says (place and time
 * uniform, mass uniform in its logarithm), and only then is the week kept or drawn again: by what the readings look
 * like (somebody saw the pulse), never by where the truth lies in the box. So the prior that the file states is the
 * prior of the truth, and a calibrated answer is possible.
 *
 * Five facilities stand in every file. In four weeks of five one of them did it, in the fifth nobody in the file. */
#ifndef WEEKS_WEEK_H
#define WEEKS_WEEK_H

#include "weeks/setting.h"

typedef struct {
  uint64_t strata;             /* stratum_bit of each it belongs to */
  hw_source truth;             /* its mass what has been released when the record ends */
  double distance_m, travel_s; /* from the source to the first sensor below it */
  bool fallen;                 /* some sensor has seen the pulse fall to half its height */
  char faulty[8];              /* the broken sensor's id, or empty */
  int guilty;                  /* the candidate, or -1 */
  char *river;                 /* YAML */
  char *readings;              /* CSV */
  size_t rows, sensors;
  double background_g_m3[RECORD_SENSORS]; /* of each sensor, and the way to it: mean and variance of the travel time */
  double leg_travel_s[RECORD_SENSORS], leg_variance_s2[RECORD_SENSORS];
} week;

/* Could this week belong to the stratum? Special weeks have their places among the numbers, so most can be left unmade.
 * With STRATA: yes. */
bool week_may_be(uint64_t index, stratum which);

/* Week number `index` of a seed; two of five are special. False: out of memory. */
bool week_make(uint64_t seed, uint64_t index, week *out);
void week_free(week *w);

#endif
