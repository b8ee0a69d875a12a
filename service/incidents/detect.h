/* Has a sensor left its background?
 *
 * Per sensor, from its own readings and nothing else: the background mu, the noise sd sigma and the
 * lag-one correlation rho of the noise are learned online; a one-sided cumulative sum (Page, 1954)
 *
 *   S <- max(0, S + min(z, 5) - 1),   z = (c - mu) / sigma * sqrt((1 - rho) / (1 + rho))
 *
 * raises the alarm when S passes 12. With white noise and a background known exactly the expected time between false
 * alarms is about 1e11 readings; the threshold is that high because real backgrounds have to be learned, drift and
 * are not Gaussian (`make study-detect` measures it, docs/detection.md has the figures). A reading counts at most 5
 * sd, so no single spike opens an incident: it takes four in a row. The correlation factor keeps slowly wandering
 * noise from adding up as if it were news.
 *
 * It reads no clock, draws no random number and allocates nothing: the same readings give the same bits.
 */
#ifndef HW_INCIDENTS_DETECT_H
#define HW_INCIDENTS_DETECT_H

#include <stdint.h>

#include "headwater/river.h"

typedef enum {
  HW_DETECT_LEARNING, /* background not yet known */
  HW_DETECT_QUIET,
  HW_DETECT_RAISED,  /* this reading raised the alarm */
  HW_DETECT_ALARM,   /* the alarm of an earlier reading holds */
  HW_DETECT_CLEARED, /* this reading ended it */
  HW_DETECT_LATE     /* older than the sensor's latest reading: ignored */
} hw__detection;

/* Plain data: a snapshot is a copy. Start from hw__detect_init. */
typedef struct {
  double background_g_m3;
  double variance;   /* of the noise */
  double covariance; /* of neighbouring readings' noise */
  double residual;   /* of the last reading */
  double sum;        /* S */
  double onset_s;    /* time of the last reading with S = 0: when the rise began */
  double latest_s;   /* time and value of the last reading */
  double latest_g_m3;
  double previous_g_m3; /* as it counted: a non-detect is no more than the background */
  double finest_g_m3;   /* smallest change between readings seen, 0 before the first: the sensor's digits */
  double interval_s;    /* between readings, on average; for noticing silence */
  uint64_t readings;
  uint64_t learned; /* readings the background rests on */
  uint64_t alarm_readings;
  uint32_t calm; /* readings in a row back at the background */
  uint32_t alarm;
} hw__detector;

void hw__detect_init(hw__detector *detector);
/* Take one reading. below_limit: concentration_g_m3 is the limit it stayed below. */
hw__detection hw__detect_step(hw__detector *detector, const hw_sensor *sensor, double time_s, double concentration_g_m3,
                              bool below_limit);
/* Noise sd in use, g/m3. */
double hw__detect_noise(const hw__detector *detector, const hw_sensor *sensor);

#endif
