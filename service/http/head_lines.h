/* The lines of a request's head, as they came over the wire.
 *
 * A line ends with CRLF (RFC 9112, 2.2). Who also takes a bare LF for an end, or goes on with a line that is folded,
 * may see other requests in the same bytes than the proxy in front does: one can be smuggled past it. */
#ifndef HW_HTTP_HEAD_LINES_H
#define HW_HTTP_HEAD_LINES_H

#include <microhttpd.h>

/* Where lines and the body end has to be said once and plainly, or a proxy in front may see another request than we do.
 * method and version as libmicrohttpd hands them to its callback. Returned: what is wrong, NULL: nothing. */
const char *hw__head_fault(struct MHD_Connection *connection, const char *method, const char *version);
/* Where the bytes behind the head lie; NULL where the library itself refuses bare line feeds between them. */
const char *hw__head_end(struct MHD_Connection *connection, const char *method);

#endif
