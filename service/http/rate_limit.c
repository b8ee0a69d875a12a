#include "http/rate_limit.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A fixed table: addresses that fall on one bucket share it, so an attacker cannot grow our memory. */
enum { BUCKETS = 4096 };
static const double depth_s = 4, reserve_s = 1;

typedef struct {
  double tokens, filled_s;
} bucket;

struct hw__rate_limiter {
  double rate_per_s;
  pthread_mutex_t lock;
  bucket buckets[BUCKETS];
};

hw__rate_limiter *hw__rate_limit_create(double rate_per_s) {
  hw__rate_limiter *limiter = calloc(1, sizeof *limiter);
  if (limiter) {
    limiter->rate_per_s = rate_per_s;
    pthread_mutex_init(&limiter->lock, NULL);
  }
  return limiter;
}

void hw__rate_limit_free(hw__rate_limiter *limiter) {
  free(limiter);
}

hw__network hw__rate_limit_network(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const struct sockaddr *address = info ? info->client_addr : NULL;
  hw__network network = {{0}};
  if (address && address->sa_family == AF_INET) {
    struct sockaddr_in v4;
    memcpy(&v4, address, sizeof v4);
    memcpy(network.bytes, &v4.sin_addr, 4);
  } else if (address && address->sa_family == AF_INET6) {
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    memcpy(network.bytes, &v6.sin6_addr, 8);
  }
  return network;
}

static size_t bucket_of(struct MHD_Connection *connection) {
  const hw__network network = hw__rate_limit_network(connection);
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < sizeof network.bytes; i++) {
    h = (h ^ network.bytes[i]) * UINT64_C(0x100000001b3);
  }
  return (size_t)((h ^ (h >> 29)) % BUCKETS);
}

bool hw__rate_limit_admit(hw__rate_limiter *limiter, struct MHD_Connection *connection, bool of_health) {
  const double now_s = hw__clock_s();
  bucket *b = &limiter->buckets[bucket_of(connection)];
  pthread_mutex_lock(&limiter->lock);
  const double most = limiter->rate_per_s * depth_s;
  b->tokens = b->filled_s > 0 ? b->tokens + (now_s - b->filled_s) * limiter->rate_per_s : most;
  b->tokens = b->tokens > most ? most : b->tokens;
  b->filled_s = now_s;
  /* A debt, which the others' next tokens pay. */
  const bool admitted = b->tokens >= (of_health ? 1 - limiter->rate_per_s * reserve_s : 1);
  b->tokens -= admitted;
  pthread_mutex_unlock(&limiter->lock);
  return admitted;
}
