/* The only way to the database: group commit for writers, a pool of handles for readers, and a signal for those who
 * wait for something new.
 *
 * Writers hand in a job and sleep until it is durable. One thread takes every job that is waiting,
 * runs them in one transaction and commits once: under load the cost of the disk's flush is shared by
 * hundreds of readings, idle it is one flush. When a transaction fails, it is rolled back and each job
 * tried alone, so that one bad job cannot take others with it.
 */
#ifndef HW_STORE_STORE_H
#define HW_STORE_STORE_H

#include "store/db.h"
#include "store/guarded_clock.h"

typedef struct hw__store hw__store;

/* Opens (creates, migrates) and enrols the catalog. Failure: NULL in *out and a sentence. */
hw__db_status hw__store_open(const char *path, hw__catalog *catalog, hw__store **out, char *sentence, size_t size);
/* Finish what is waiting, then close. Nobody may use the store any more. */
void hw__store_close(hw__store *store);

/* What is stored can be read again from the bus (see hw__db_relax). Call it before anybody writes. */
void hw__store_relax(hw__store *store);

/* What a job does inside the transaction. It may run more than once and must then do the same again;
 * *seq is the last number of the log. */
typedef hw__db_status (*hw__job_run)(hw__db *db, int64_t *seq, void *context);
/* Run it and return when it is durable, or failed. */
hw__db_status hw__store_write(hw__store *store, hw__job_run run, void *context);
/* Append readings durably; fates are settled, ingest->tally counts them, and conflicts are listed. */
hw__db_status hw__store_ingest(hw__store *store, hw__ingest *ingest);

/* Borrow a handle for reading; waits for one to come free. Failure: NULL in *out, and why. */
hw__db_status hw__store_borrow(hw__store *store, hw__db **out);
/* The same for whoever has nobody to tell the reason. Returned: NULL on failure. */
hw__db *hw__store_reader(hw__store *store);
void hw__store_return(hw__store *store, hw__db *db);

/* Counts up with every commit and every hw__store_nudge. Wait until it differs from `seen`, or the
 * time is up, or the service stops. Returned: the present count. */
uint64_t hw__store_wait(hw__store *store, uint64_t seen, int timeout_ms);
void hw__store_nudge(hw__store *store);
/* From now on nobody waits. */
void hw__store_wake_for_stop(hw__store *store);

/* Last number of the log that is durable. */
int64_t hw__store_seq(hw__store *store);
/* How the last commit went; readiness is judged by it. Once anybody has found a damaged page it stays HW_DB_CORRUPT
 * and nothing more is written, until the database is restored and the service started again. */
hw__db_status hw__store_health(hw__store *store);

/* Microseconds since 1970 by the guarded clock, over restarts too: readings dated by the true clock must not look like
 * the future because ours stepped back, nor nonsense like the present because it stepped ahead. */
int64_t hw__store_now_us(hw__store *store);
/* The clock itself, looked at now. */
hw__guarded_clock hw__store_clock(hw__store *store);

#endif
