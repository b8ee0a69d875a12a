/* The estimate as data: what it is before a method has said anything, and the words for its parts. */
#include <math.h>

#include "headwater/estimate.h"

void hw_estimate_init(hw_estimate *estimate) {
  *estimate = (hw_estimate){.spill = NAN,
                            .has_source = true,
                            .duration_s = {NAN, NAN, NAN},
                            .still_flowing = NAN,
                            .rate_g_s = NAN,
                            .loss = NAN};
}

const char *hw_trust_text(hw_trust trust) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_TRUST_LIST(ROW)
#undef ROW
  };
  return (size_t)trust < sizeof texts / sizeof texts[0] ? texts[trust] : NULL;
}

bool hw_stop_converged(hw_stop stop) {
  return stop != HW_STOP_NONE && stop != HW_STOP_ITERATIONS && stop != HW_STOP_NONFINITE && stop != HW_STOP_BUDGET;
}

const char *hw_stop_text(hw_stop stop) {
  static const char *const texts[] = {
#define ROW(name, text) text,
      HW_STOP_LIST(ROW)
#undef ROW
  };
  return (size_t)stop < sizeof texts / sizeof texts[0] ? texts[stop] : "unknown reason";
}
