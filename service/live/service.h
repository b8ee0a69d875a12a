/* The live service as a whole, and how it is asked for. */
#ifndef HW_LIVE_SERVICE_H
#define HW_LIVE_SERVICE_H

#include <stdatomic.h>

#include "api/serve.h"
#include "cluster/follower.h"
#include "incidents/solver.h"
#include "incidents/tracker.h"
#include "store/store.h"

struct MHD_Daemon;
typedef struct hw_auth hw_auth;
typedef struct hw_limiter hw_limiter;

typedef struct {
  hw_serve_options options;
  hw_catalog *catalog;
  hw_store *store;
  hw_tracker *tracker;
  hw_solver *solver;
  hw_bus *bus;           /* of a cluster; NULL: everything on this machine */
  hw_follower *follower; /* the same */
  hw_auth *auth;
  _Atomic int *time_bases; /* per river, once known; see hw__time_base */
  hw_limiter *limiter;
  struct MHD_Daemon *daemon;
  char *tls_cert, *tls_key; /* contents, held for the daemon */
  char host[128];
  unsigned port;
  bool loopback;
  int64_t started_us;
  atomic_bool stopping;
} hw_service;

#endif
