/* What is in the water: how much of it is lost on the way, how far it lags behind, and from which concentration on it
 * must not be drunk.
 *
 * A river carries a conservative pollutant unless it says otherwise. Loading a river file puts the substance into the
 * river's own numbers: decay_per_s of hydraulics and reaches is then the sum of first-order decay and of volatilisation
 * over the depth, and velocities and dispersions are those of the pollutant. A river made by hand says those itself.
 */
#ifndef HEADWATER_SUBSTANCE_H
#define HEADWATER_SUBSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that may be in doubt: 68 % of the probability within median/factor .. median*factor. */
typedef struct {
  double median;
  double factor; /* 1: known */
} hw_doubtful;

enum { HW_SUBSTANCE_SIZE = 64 };

typedef struct {
  char name[HW_SUBSTANCE_SIZE];   /* "": none named, the pollutant is conservative */
  hw_doubtful decay_per_s;        /* first order, by the clock on the wall */
  hw_doubtful volatilisation_m_s; /* transfer velocity to the air; the rate is this over the depth */
  hw_doubtful retardation;        /* >= 1: the pollutant travels so many times slower than the water */
  bool dye_losses;                /* field model: losses as releases of rhodamine WT show them, in place of decay */
  double guideline_g_m3;          /* of drinking water, for intakes that give no alarm level; 0: none known */
  const char *guideline;          /* whose it is; NULL: none */
  double loss_factor;             /* doubt of the whole loss, set when loading: 1 where it is known */
} hw_substance;

/* Conservative, without a name. */
hw_substance hw_substance_none(void);
/* One of the table in docs/manual.md by its name; NULL when it has none of that name. */
const hw_substance *hw_substance_find(const char *name);
/* The i-th of the table; NULL behind the last. */
const hw_substance *hw_substance_at(size_t i);

#ifdef __cplusplus
}
#endif

#endif
