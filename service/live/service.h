/* The fields of a running service. */
#ifndef HW_LIVE_SERVICE_H
#define HW_LIVE_SERVICE_H

#include <stdatomic.h>

#include "api/serve.h"
#include "base/budget.h"
#include "cluster/follower.h"
#include "incidents/processing.h"
#include "store/store.h"

struct MHD_Daemon;
typedef struct hw__auth hw__auth;
typedef struct hw__rate_limiter hw__rate_limiter;
typedef struct hw__connections hw__connections;

typedef struct {
  hw_serve_options options;
  hw__catalog *catalog;
  hw__store *store;
  hw__processing processing;
  hw__bus *bus;           /* of a cluster; NULL: everything on this machine */
  hw__follower *follower; /* the same */
  hw__auth *auth;
  _Atomic int *time_bases; /* per river, once known; see hw__river_time_base */
  hw__rate_limiter *limiter;
  hw__connections *connections;
  hw__budget bodies; /* for request bodies and the rows read from them */
  struct MHD_Daemon *daemon;
  char *tls_cert, *tls_key; /* contents, held for the daemon */
  char host[128];
  char tiles_origin[200]; /* the host of map tiles, for the content security policy; "": none */
  unsigned port;
  bool loopback;
  int64_t started_us;
  atomic_bool stopping;
} hw__service;

#endif
