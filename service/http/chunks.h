/* The lines between the chunks of a body, as they came over the wire.
 *
 * libmicrohttpd before 0.9.77 takes a bare LF there for a line's end, where a proxy in front may see none, has no
 * option against it, and hands out the chunks alone. So the bytes are looked at where it receives them: the program has
 * a `recv` and a `gnutls_record_recv` of its own, which a shared libmicrohttpd finds before those of the libraries.
 * They do what the libraries' own do. Each connection has a thread of its own, and so has what is kept here.
 */
#ifndef HW_HTTP_CHUNKS_H
#define HW_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  HW_CHUNKS_SIZE,      /* hexadecimal digits */
  HW_CHUNKS_EXTENSION, /* what follows them on their line */
  HW_CHUNKS_SIZE_LF,
  HW_CHUNKS_DATA,
  HW_CHUNKS_DATA_CR,
  HW_CHUNKS_DATA_LF,
  HW_CHUNKS_TRAILER_START,
  HW_CHUNKS_TRAILER,
  HW_CHUNKS_TRAILER_LF,
  HW_CHUNKS_LAST_LF,
  HW_CHUNKS_DONE,
  HW_CHUNKS_BROKEN /* a line that does not end with CRLF, or no size */
} hw__chunks_state;

/* Zeroed: before the first byte. */
typedef struct {
  hw__chunks_state state;
  size_t left; /* of this chunk */
  bool sized;  /* this line has a digit */
} hw__chunks;

/* Goes on with further bytes. */
void hw__chunks_read(hw__chunks *chunks, const char *data, size_t size);

/* A chunked body begins at `body`, right behind its head. False: the head came along with an earlier request, so that
 * nobody knows where the bytes behind it are by now. */
bool hw__chunks_watch(const char *body);
/* A request is through, whatever its body. */
void hw__chunks_leave(void);
/* At the end of a body: were all lines as they have to be? True where nothing was watched. */
bool hw__chunks_were_plain(void);

#endif
