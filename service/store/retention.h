/* Retention: old readings are removed, `--keep DAYS`.
 *
 * A reading may go when it was received longer ago than that, detection's stored state is past it, and no
 * incident needs it: one that is open, or was closed less than DAYS ago, keeps all it was worked out from, its
 * lead-in included. So an incident's readings go together, and what can be worked out again at all comes to
 * the same bits. They go from the oldest on, in small steps between other writes. Results, histories and events
 * of incidents stay; of an incident whose readings are gone the estimate events go too, and questions
 * to its engine are answered with HW_DB_FORGOTTEN. The latest reading always stays: numbers are never given twice.
 */
#ifndef HW_STORE_RETENTION_H
#define HW_STORE_RETENTION_H

#include <stdatomic.h>

#include "store/store.h"

typedef struct hw__retention hw__retention;

/* *stopping is borrowed: true ends it. Status: HW_EDOMAIN for fewer days than one, HW_ENOMEM, with *error. */
hw_status hw__retention_start(hw__store *store, double days, const atomic_bool *stopping, hw__retention **out,
                              hw_error *error);
/* After *stopping was set. */
void hw__retention_stop(hw__retention *retention);

#endif
