/* What a week may be like. An ordinary week belongs to several strata, a special one only to its own.
 *
 * One list gives the enum, the names (for the table and for --stratum) and what is asked of each. */
#ifndef WEEKS_STRATA_H
#define WEEKS_STRATA_H

#include <stdint.h>

#define STRATA_LIST(X)                                     \
  X(ALL_SOUND, "sound", SOUND)                             \
  X(HYDRAULICS_KNOWN, "hydraulics-known", SOUND)           \
  X(HYDRAULICS_DOUBTFUL, "hydraulics-doubtful", SOUND)     \
  X(REACHES, "reaches", SOUND)                             \
  X(REACHES_DOUBTFUL, "reaches-of-own-doubt", SOUND)       \
  X(AREA_GIVEN, "area-given", SOUND)                       \
  X(DISCHARGE_GIVEN, "discharge-given", SOUND)             \
  X(SENSORS_1, "sensors-1", SOUND)                         \
  X(SENSORS_2_4, "sensors-2-4", SOUND)                     \
  X(SENSORS_5_12, "sensors-5-12", SOUND)                   \
  X(SENSORS_13_30, "sensors-13-30", SOUND)                 \
  X(SENSORS_31_60, "sensors-31-60", SOUND)                 \
  X(SENSORS_ABOVE, "sensors-above-source", SOUND)          \
  X(EVERY_1_5, "every-1-5-min", SOUND)                     \
  X(EVERY_5_20, "every-5-20-min", SOUND)                   \
  X(EVERY_20_60, "every-20-60-min", SOUND)                 \
  X(BEGINS_DAYS, "begins-half-a-day-before", SOUND)        \
  X(BEGINS_MINUTES, "begins-shortly-before", SOUND)        \
  X(ENDS_PEAK, "ends-at-peak", SOUND)                      \
  X(ENDS_AFTER, "ends-after-peak", SOUND)                  \
  X(ENDS_LAST, "ends-after-last-sensor", SOUND)            \
  X(NOISE_LARGE, "noise-peak/20-100", SOUND)               \
  X(NOISE_MIDDLE, "noise-peak/100-600", SOUND)             \
  X(NOISE_SMALL, "noise-peak/600-3000", SOUND)             \
  X(CENSORED, "censored", SOUND)                           \
  X(UNCENSORED, "uncensored", SOUND)                       \
  X(BACKGROUND_DECLARED, "background-declared", SOUND)     \
  X(BACKGROUND_LEARNED, "background-learned", SOUND)       \
  X(BACKGROUND_DRIFTING, "background-drifting", SOUND)     \
  X(MASS_1_2, "mass-box-1-2-decades", SOUND)               \
  X(MASS_2_3, "mass-box-2-3-decades", SOUND)               \
  X(MASS_3_4, "mass-box-3-4-decades", SOUND)               \
  X(GAPS, "gaps", SOUND)                                   \
  X(DUPLICATES, "duplicates", SOUND)                       \
  X(LATE, "late-readings", SOUND)                          \
  X(SPIKES, "spikes", SOUND)                               \
  X(NO_CANDIDATE, "truth-at-no-candidate", SOUND)          \
  X(BEGINS_INSIDE, "begins-inside-the-pulse", SOUND)       \
  X(LARGE_BACKGROUND, "signal-small-on-background", SOUND) \
  X(GRABS, "sparse-grabs", SOUND)                          \
  X(ALL_BROKEN, "broken", BROKEN)                          \
  X(FAULT_CLIPPED, "clipped-at-60-%", BROKEN)              \
  X(FAULT_GAIN, "gain-x0.7", BROKEN)                       \
  X(FAULT_GAIN_SMALL, "gain-20-%-off", BROKEN)             \
  X(FAULT_UNIT, "gain-x1000", BROKEN)                      \
  X(FAULT_DEAD, "dead-sensor", BROKEN)                     \
  X(FAULT_DRIFT, "drifting-sensor", BROKEN)                \
  X(FAULT_CLOCK, "clock-shifted", BROKEN)                  \
  X(FAULT_CORRELATED, "correlated-noise-0.8", BROKEN)      \
  X(NOISE_UNSTATED, "noise-not-stated", WRONG)             \
  X(HYDRAULICS_UNKNOWN, "hydraulics-unknown", WRONG)       \
  X(WRONG_DISPERSION, "dispersion-wrong-by-5", WRONG)      \
  X(STORAGE, "storage-zones", WRONG)                       \
  X(SWINGING, "velocity-swings-30-%", WRONG)               \
  X(LASTING, "release-of-0.5-1.5-h", WRONG)                \
  X(LASTING_LONG, "release-of-2-24-h", WRONG)              \
  X(EMPTY_ZEROS, "no-spill-zeros", EMPTY)                  \
  X(EMPTY_NOISE, "no-spill-noise", EMPTY)                  \
  X(EMPTY_NONDETECTS, "no-spill-non-detects", EMPTY)       \
  X(OTHER_SEASON, "box-of-another-season", EMPTY)

/* SOUND: calibrated. BROKEN: a sensor or the noise is not what the file says. WRONG: the file or the equation is not
 * what the river does. EMPTY: there is no answer, and none must be given. */
typedef enum { SOUND, BROKEN, WRONG, EMPTY } stratum_kind;

typedef enum {
#define STRATA_ENUM(id, name, kind) id,
  STRATA_LIST(STRATA_ENUM)
#undef STRATA_ENUM
      STRATA,
  ORDINARY = STRATA, /* a week that is not special */
  FIRST_SPECIAL = BEGINS_INSIDE
} stratum;

_Static_assert(STRATA <= 64, "a bit for each");

static inline uint64_t stratum_bit(stratum s) {
  return (uint64_t)1 << s;
}

const char *stratum_name(stratum s);
stratum_kind stratum_kind_of(stratum s);
/* STRATA when there is none of this name. */
stratum stratum_find(const char *name);

#endif
