/* What goes on in the background of every store, of one machine and of a partition alike: old readings are removed
 * (retention.h), and the log is compared with its checksums (verify_loop.h). */
#ifndef HW_STORE_UPKEEP_H
#define HW_STORE_UPKEEP_H

#include "store/retention.h"
#include "store/verify_loop.h"

typedef struct {
  hw__retention *retention;
  hw__verify_loop *verifying;
} hw__upkeep;

/* retention_days 0: nothing is removed; verify_hours 0 or less: nothing is checked. *stopping is borrowed: true ends
 * both. What was started is stopped by hw__upkeep_stop, also after a failure.
 * Status: HW_EDOMAIN for days or hours that make no sense, HW_ENOMEM, with *error */
hw_status hw__upkeep_start(hw__store *store, double retention_days, double verify_hours, const atomic_bool *stopping,
                           hw__upkeep *out, hw_error *error);
void hw__upkeep_stop(hw__upkeep *upkeep);

#endif
