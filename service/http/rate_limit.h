/* How often one address may ask. A bucket of tokens per address: filled at the rate, four seconds deep. */
#ifndef HW_HTTP_RATE_LIMIT_H
#define HW_HTTP_RATE_LIMIT_H

#include <microhttpd.h>
#include <stdbool.h>

typedef struct hw_limiter hw_limiter;

hw_limiter *hw__limit_create(double rate_per_s); /* NULL without memory */
void hw__limit_free(hw_limiter *limiter);
/* May this connection's address ask now? */
bool hw__limit_admit(hw_limiter *limiter, struct MHD_Connection *connection);

#endif
