#include "store/upkeep.h"

#include <stdio.h>

/* A check without a rest would do nothing but fill the log. */
static const double least_hours = 0.01;

hw_status hw__upkeep_start(hw__store *store, double retention_days, double verify_hours, const atomic_bool *stopping,
                           hw__upkeep *out, hw_error *error) {
  if (retention_days > 0) {
    const hw_status status = hw__retention_start(store, retention_days, stopping, &out->retention, error);
    if (status != HW_OK) {
      return status;
    }
  }
  if (verify_hours > 0 && verify_hours < least_hours) {
    snprintf(error->text, sizeof error->text, "--verify %g: expected 0 or at least %g hours", verify_hours,
             least_hours);
    return HW_EDOMAIN;
  }
  if (verify_hours > 0 && hw__verify_loop_start(store, verify_hours, stopping, &out->verifying) != HW_OK) {
    snprintf(error->text, sizeof error->text, "the log cannot be checked: %s", hw_status_text(HW_ENOMEM));
    return HW_ENOMEM;
  }
  return HW_OK;
}

void hw__upkeep_stop(hw__upkeep *upkeep) {
  hw__retention_stop(upkeep->retention);
  hw__verify_loop_stop(upkeep->verifying);
  *upkeep = (hw__upkeep){0};
}
