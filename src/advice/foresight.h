/* What would be read at a place and time if a draw were the truth.
 *
 * A draw of the posterior says where, when, how much, and how fast it came from there to the sensors; not which
 * stretches were faster than others, nor how fast it goes on below. So the pulses that were seen well are landmarks:
 * every draw above a landmark passes it when and as wide as the run's own prediction has it there. It goes on below at
 * what of its velocity and dispersion all stretches share, as far as that can be told from the way it came (a share of
 * common variance in all, on the logarithm), and with what is left by chance; between the source and a landmark it is
 * as far on as the share of travel time says. Without landmarks the draw's own hydraulics carry it all the way.
 *
 * Dead water holds some of a pulse back (transient storage), and nobody knows how much: every draw has a tail of its
 * own, up to a thirtieth of its peak, that fades over five widths. So what is left long after the peak tells nothing
 * of where it came from, whatever the equation says of its last digits.
 *
 * Where there is no dispersion (the field model) pulses widen as Jobson found for 60 rivers: peak concentrations fall
 * with age^0.887 (Jobson 1996, USGS WRIR 96-4013), so the width grows with it; 1 / (1025e-6 s T^-0.887 sqrt(2 pi)) s at
 * T hours where none was seen.
 */
#ifndef HW_ADVICE_FORESIGHT_H
#define HW_ADVICE_FORESIGHT_H

#include "headwater/method.h"
#include "headwater/rng.h"
#include "headwater/transport.h"

/* One of equally probable draws, made ready. */
typedef struct {
  hw_source source;
  double duration_s;
  double velocity, dispersion; /* times the river's own, from the source to the sensors; dispersion NAN: none */
  double luck, spread_luck;    /* standard normal: how velocity and dispersion differ below the last landmark */
  double storage;              /* share of the peak that dead water holds back and lets go later */
  unsigned way;                /* bit i: landmark i is on its way */
} hw__draw_ahead;

/* A sensor that has seen its pulse. */
typedef struct {
  size_t branch;
  double x_m;
  double passage_s, variance_s2; /* of the pulse */
  double mass_g;                 /* that passed there */
} hw__landmark;

/* Standard deviations of a logarithm: what all stretches share, and what differs from one to the next. */
typedef struct {
  double common, local;
} hw__doubt_ahead;

typedef struct {
  hw_transport *transport;
  hw__draw_ahead *draws;
  size_t count;
  hw__landmark *landmarks;
  size_t landmark_count;
  hw__doubt_ahead velocity, dispersion;
  double discharge_slope; /* d ln discharge / d ln velocity at a place: 1 where the area is what is known, else 0 */
} hw__foresight;

/* Given:    the run after its estimate; at most `count` draws are kept, equally weighted
 * Returned: *out, to be released with hw__foresight_free
 * Status:   HW_ENOMEM, HW_EUNSUPPORTED, HW_EHYDRAULICS (no discharge), as hw_run_samples and hw_run_predict */
hw_status hw__foresight_create(hw_run *run, const hw_river *river, double now_s, size_t count, uint64_t seed,
                               hw__foresight *out);
void hw__foresight_free(hw__foresight *foresight);

/* A draw's pulse at one place. */
typedef struct {
  hw_leg leg;        /* travel_s not positive: it does not come here */
  double mass_g;     /* that comes */
  double duration_s; /* of the release; 0 also below a landmark, whose pulse is as wide as the release made it */
} hw__pulse_ahead;

/* One place, and its landmarks above and below; 0 travel: not so. */
enum { HW__LANDMARKS_MOST = 24 };
typedef struct {
  size_t branch;
  double x_m;
  hw_leg above[HW__LANDMARKS_MOST];
  double below_s[HW__LANDMARKS_MOST];
} hw__prospect;
void hw__foresight_look(const hw__foresight *f, size_t branch, double x_m, hw__prospect *out);

/* The pulse of draw `index` at this place. */
hw__pulse_ahead hw__foresight_pulse(const hw__foresight *f, size_t index, const hw__prospect *at);
/* Its concentration there at this time, g/m3, above the background. */
double hw__foresight_read(const hw__foresight *f, size_t index, const hw__pulse_ahead *pulse, double time_s);

#endif
