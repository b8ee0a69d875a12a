/* The log is checked in the background: once after a start, then every so many hours. What is found is logged
 * (log_fault) and counted; there is a pause after each block, so that nobody waits for it. */
#ifndef HW_STORE_VERIFY_LOOP_H
#define HW_STORE_VERIFY_LOOP_H

#include <stdatomic.h>

#include "store/store.h"

typedef struct hw__verify_loop hw__verify_loop;

/* *stopping is borrowed: true ends it. Status: HW_ENOMEM. */
hw_status hw__verify_loop_start(hw__store *store, double hours, const atomic_bool *stopping, hw__verify_loop **out);
/* After *stopping was set. */
void hw__verify_loop_stop(hw__verify_loop *loop);

#endif
