/* How often one address may ask. A bucket of tokens per address: filled at the rate, four seconds deep, and one second
 * more that health checks alone may use: whoever supervises the service may ask from the same machine, or through the
 * same proxy, as those who ask too often. */
#ifndef HW_HTTP_RATE_LIMIT_H
#define HW_HTTP_RATE_LIMIT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hw__rate_limiter hw__rate_limiter;

/* Where a connection comes from: an IPv4 address, or the first half of an IPv6 one, a customer's whole network. */
typedef struct {
  uint8_t bytes[16];
} hw__network;

hw__network hw__rate_limit_network(struct MHD_Connection *connection);

hw__rate_limiter *hw__rate_limit_create(double rate_per_s); /* NULL without memory */
void hw__rate_limit_free(hw__rate_limiter *limiter);
/* May this connection's address ask now? `of_health`: for nothing but that. */
bool hw__rate_limit_admit(hw__rate_limiter *limiter, struct MHD_Connection *connection, bool of_health);

#endif
