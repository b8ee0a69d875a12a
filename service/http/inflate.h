/* Bodies that come compressed: Content-Encoding: gzip (RFC 1952), one member or several, taken apart within a bound. */
#ifndef HW_HTTP_INFLATE_H
#define HW_HTTP_INFLATE_H

#include <stdbool.h>

#include "base/budget.h"

typedef enum {
  HW_INFLATE_DONE,
  HW_INFLATE_BROKEN,    /* not gzip, cut short, or followed by something else */
  HW_INFLATE_TOO_LARGE, /* more than the bound once inflated */
  HW_INFLATE_NO_ROOM    /* the budget is spent, or there is no memory */
} hw__inflate_status;

/* What a Content-Encoding asks for. */
typedef enum { HW_ENCODING_NONE, HW_ENCODING_GZIP, HW_ENCODING_UNKNOWN } hw__encoding;

/* header NULL: none was sent. */
hw__encoding hw__encoding_of(const char *header);

typedef struct {
  char *text; /* zero-terminated, to be freed */
  size_t size;
  size_t capacity; /* taken from the budget, to be given back by whoever frees the text */
} hw__inflated;

/* Given:    packed, size; most bytes that may come of it
 * Returned: *out, untouched unless done
 * Status:   HW_INFLATE_DONE or why not; then nothing is kept */
hw__inflate_status hw__inflate(const char *packed, size_t size, size_t most, hw__budget *budget, hw__inflated *out);

#endif
