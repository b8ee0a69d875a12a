/* The lines of a request's head, as they came over the wire.
 *
 * A line ends with CRLF (RFC 9112, 2.2). Who also takes a bare LF for an end, or goes on with a line that is folded,
 * may see other requests in the same bytes than the proxy in front does: one can be smuggled past it. */
#ifndef HW_HTTP_HEAD_LINES_H
#define HW_HTTP_HEAD_LINES_H

#include <microhttpd.h>
#include <stdbool.h>

/* Are these exactly a request line, header lines and an empty line, each ended by CRLF? method and version as
 * libmicrohttpd hands them to its callback. */
bool hw__head_is_plain(struct MHD_Connection *connection, const char *method, const char *version);

#endif
