/* Whom a browser believes it talks to: HOST[:PORT] of the headers Host and Origin, taken apart and compared exactly.
 *
 * A page elsewhere may have a name that begins like ours (127.0.0.1.example, localhost:1.example) and points at this
 * machine (DNS rebinding): only a whole name or address counts. */
#ifndef HW_HTTP_HOST_HEADER_H
#define HW_HTTP_HOST_HEADER_H

#include <stdbool.h>

typedef struct {
  char host[256]; /* without the brackets of an IPv6 address */
  unsigned port;  /* 0: none told */
  bool v6;        /* stood in brackets */
} hw__authority;

/* False for anything that is not NAME, IPv4 or [IPv6], with or without a port. */
bool hw__authority_parse(const char *text, hw__authority *out);
/* localhost, an address of 127.0.0.0/8, or [::1]. */
bool hw__authority_is_loopback(const hw__authority *authority);
/* Is `origin` (http://HOST[:PORT] or https://) the place that `host` names? A port left out is that of the scheme. */
bool hw__authority_is_origin(const hw__authority *host, const char *origin);

#endif
