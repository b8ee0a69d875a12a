/* Retention: old readings are removed, `--keep DAYS`.
 *
 * A reading is removed when it was received longer ago than that, detection's stored state has passed it, and no
 * incident needs it: an incident that is open, or was closed less than DAYS ago, keeps all readings it was computed
 * from, its lead-in included. So an incident's readings are removed together, and whatever can still be computed again
 * gives the same bits. Removal starts with the oldest readings, in small steps between other writes. Results, histories
 * and events of incidents stay. When an incident's readings were removed, the events of its estimates are removed too,
 * and queries to its engine return HW_DB_FORGOTTEN. The latest reading always stays, so that no number is given twice.
 */
#ifndef HW_STORE_RETENTION_H
#define HW_STORE_RETENTION_H

#include <stdatomic.h>

#include "store/store.h"

typedef struct hw__retention hw__retention;

/* Status: HW_EDOMAIN, with *error, unless it is a day or more and fits into the clocks of the stores. */
hw_status hw__retention_check(double days, hw_error *error);
/* *stopping is borrowed: true ends it. Status: as above, or HW_ENOMEM, with *error. */
hw_status hw__retention_start(hw__store *store, double days, const atomic_bool *stopping, hw__retention **out,
                              hw_error *error);
/* After *stopping was set. */
void hw__retention_stop(hw__retention *retention);

#endif
