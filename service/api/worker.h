/* headwater work: some of a cluster's rivers, processed as one machine would.
 *
 * The rivers are cut into partitions; each is at any time worked by one worker, whoever holds its lease.
 * Workers hear of each other in passing and come to the same idea of who ought to have what; the leases
 * decide. All workers of a cluster are given the same rivers and the same options.
 *
 * Zero or NULL means the default, but for the rivers, the servers and the folder.
 */
#ifndef HW_API_WORKER_H
#define HW_API_WORKER_H

#include <signal.h>
#include <stdio.h>

#include "headwater/status.h"
#include "processing.h"

typedef struct {
  const char *const *rivers; /* FILE, ID=FILE or a folder */
  size_t river_count;
  const char *nats;                      /* URL[,URL...] */
  const char *nats_credentials;          /* file */
  const char *nats_user, *nats_password; /* for servers whose URL has none */
  const char *nats_ca;                   /* CA certificates for tls:// servers, PEM */
  const char *dir;                       /* for the partitions' databases */
  const char *name;                      /* of this worker; default host and process */
  const char *listen;                    /* ADDR:PORT for /metrics and /healthz; none by default */
  size_t partitions, replicas;           /* see cluster.h */
  hw_processing_options processing;
  double retention_days; /* readings received longer ago may go; default 0: all stay */
  double copy_s;         /* between copies of a partition to the cluster; default 30 */
  size_t threads;        /* for the engines of one partition; default 1 */
} hw_worker_options;

/* Run until *stop is not 0. Says on `out`, when not NULL, that it is ready, in one line.
 * Status: HW_EDOMAIN for what is asked for wrongly, HW_EINPUT for a river at fault, HW_EIO for the machine, with
 * *error. */
hw_status hw_worker_run(const hw_worker_options *options, const volatile sig_atomic_t *stop, FILE *out,
                        hw_error *error);

#endif
