/* The one way to the disk: group commit for those who write, a pool of handles for those who read,
 * and a signal for those who wait for news.
 *
 * Writers hand in a job and sleep until it is durable. One thread takes every job that is waiting,
 * runs them in one transaction and commits once: under load the cost of the disk's flush is shared by
 * hundreds of readings, idle it is one flush. When a transaction fails, it is rolled back and each job
 * tried alone, so that one bad job cannot take others with it.
 */
#ifndef HW_STORE_STORE_H
#define HW_STORE_STORE_H

#include "store/db.h"

typedef struct hw_store hw_store;

/* Opens (creates, migrates) and enrols the catalog. Failure: NULL in *out and a sentence. */
hw_db_status hw__store_open(const char *path, hw_catalog *catalog, hw_store **out, char *sentence, size_t size);
/* Finish what is waiting, then close. Nobody may use the store any more. */
void hw__store_close(hw_store *store);

/* What is stored can be had again from the bus (see hw__db_relax); before anybody writes. */
void hw__store_relax(hw_store *store);

/* What a job does inside the transaction. It may run more than once and must then do the same again;
 * *seq is the last number of the log. */
typedef hw_db_status (*hw_job_run)(hw_db *db, int64_t *seq, void *context);
/* Run it and return when it is durable, or failed. */
hw_db_status hw__store_write(hw_store *store, hw_job_run run, void *context);
/* Append readings durably; fates are settled, ingest->tally counts them, and conflicts are listed. */
hw_db_status hw__store_ingest(hw_store *store, hw_ingest *ingest);

/* Borrow a handle for reading; waits for one to come free. NULL only when the disk fails. */
hw_db *hw__store_reader(hw_store *store);
void hw__store_return(hw_store *store, hw_db *db);

/* Counts up with every commit and every hw__store_nudge. Wait until it differs from `seen`, or the
 * time is up, or the service stops. Returned: the present count. */
uint64_t hw__store_wait(hw_store *store, uint64_t seen, int timeout_ms);
void hw__store_nudge(hw_store *store);
/* From now on nobody waits. */
void hw__store_wake_for_stop(hw_store *store);

/* Last number of the log that is durable. */
int64_t hw__store_seq(hw_store *store);
/* How the last commit went: what readiness is made of. Once anybody has met a damaged page it stays
 * HW_DB_CORRUPT and nothing more is written, until the database is restored and the service started again. */
hw_db_status hw__store_health(hw_store *store);

/* Microseconds since 1970 that never run backwards, not when the wall clock is set back and not over
 * a restart: readings dated by the true clock must not look like the future because ours stepped. */
int64_t hw__store_now_us(hw_store *store);

#endif
