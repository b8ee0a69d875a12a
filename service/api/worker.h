/* headwater work: some of a cluster's rivers, processed as one machine would.
 *
 * The rivers are divided into partitions; each is processed by one worker at a time, the one that holds its lease.
 * Workers announce themselves, and all compute the same assignment of partitions from that; the leases decide. All
 * workers of a cluster are given the same rivers and the same options.
 *
 * Zero or NULL means the default, but for the rivers, the servers and the folder.
 */
#ifndef HW_API_WORKER_H
#define HW_API_WORKER_H

#include <signal.h>
#include <stdio.h>

#include "headwater/status.h"
#include "nats.h"
#include "processing.h"

#define HW_DEFAULT_COPY_S         30
#define HW_DEFAULT_WORKER_THREADS 1

typedef struct {
  const char *const *rivers; /* FILE, ID=FILE or a folder */
  size_t river_count;
  hw_nats_options nats;
  const char *dir;    /* for the partitions' databases */
  const char *name;   /* of this worker; default host and process */
  const char *listen; /* ADDR:PORT for /metrics and /healthz; none by default */
  hw_processing_options processing;
  double retention_days; /* retention: older readings are removed; default 0: none are */
  double copy_s;         /* between copies of a partition to the cluster */
  size_t threads;        /* for the engines of one partition */
} hw_worker_options;

/* Run until *stop is not 0. Says on `out`, when not NULL, that it is ready, in one line.
 * Status: HW_EDOMAIN for a wrong option, HW_EINPUT for a faulty river file, HW_EIO when the machine fails; each with
 * *error. */
hw_status hw_worker_run(const hw_worker_options *options, const volatile sig_atomic_t *stop, FILE *out,
                        hw_error *error);

#endif
