/* The cluster that a service or a worker belongs to: its NATS servers, and how its streams are made. Zero or NULL means
 * the default. */
#ifndef HW_API_NATS_H
#define HW_API_NATS_H

#include <stddef.h>

#define HW_DEFAULT_PARTITIONS 16
#define HW_DEFAULT_REPLICAS   3 /* of a stream; 1 on a single server */

typedef struct {
  const char *servers;         /* URL[,URL...]; NULL: no cluster */
  const char *credentials;     /* file */
  const char *user, *password; /* for servers whose URL has none */
  const char *ca;              /* CA certificates for tls:// servers, PEM */
  size_t partitions, replicas; /* when the cluster is created, see cluster.h */
} hw_nats_options;

#endif
