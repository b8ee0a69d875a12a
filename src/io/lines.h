/* Lines of a file, a stream or a text in memory, decoded to UTF-8. */
#ifndef HW_IO_LINES_H
#define HW_IO_LINES_H

#include <signal.h>

#include "headwater/io.h"
#include "io/encoding.h"
#include "io/number.h"

/* Where lines come from: a descriptor, a stdio stream without one, or memory. */
typedef struct {
  int fd;       /* -1: none */
  FILE *stream; /* NULL: none */
  bool owns;    /* close the stream at the end */
  char *buffer; /* NULL for memory */
  const char *data;
  size_t begin, scanned, end; /* data[begin, end) is unread; no newline before scanned */
  uint64_t dropped;           /* bytes that came before data[0] */
  bool finished;              /* nothing more will come */
  uint64_t line;              /* number of the line given out last */
  bool unterminated;          /* the last line had no newline */
  bool skipping;              /* the rest of a line that was too long is still to be passed over */
  hw_encoding encoding;       /* of what comes in; data are UTF-8 */
  char *raw;                  /* not decoded yet; NULL when there is nothing to decode */
  size_t raw_size;
  uint64_t decoded; /* bytes that went from raw into data */
  const volatile sig_atomic_t *stop;
} hw__lines;

enum { HW__LONGEST_LINE = 65536 };

/* A file to be read, "-" for standard input, `what` it is expected to be; and what to call it. Status: HW_EINPUT,
 * HW_EIO with *error filled */
hw_status hw__lines_of_file(const char *path, const char *what, hw__lines *out, hw_error *error);
const char *hw__lines_name(const char *path);
hw_status hw__lines_open(hw__lines *lines);
/* The next line without its line end. Status: HW_EEND, HW_EIO, or HW_EDOMAIN for a line that is too long; the next
 * call continues with the line after it. */
hw_status hw__lines_next(hw__lines *lines, hw__slice *line);
void hw__lines_close(hw__lines *lines);
/* Skips a byte-order mark at the very beginning, and decodes the text after it accordingly. Status: HW_EIO,
 * HW_ENOMEM */
hw_status hw__lines_mark(hw__lines *lines);
/* Everything from here on is in this encoding. Status: HW_ENOMEM */
hw_status hw__lines_decode(hw__lines *lines, hw_encoding encoding);
/* What comes next, without taking it: at most `count` lines, fewer when they are long or nothing more comes.
 * Valid until the next call. Status: HW_EIO */
hw_status hw__lines_head(hw__lines *lines, size_t count, hw__slice *out);
/* A sentence for what went wrong there: FILE:LINE and the machine's reason. */
hw_status hw__lines_fault(const hw__lines *lines, const char *name, hw_status status, hw_error *error);
/* Bytes of the source used so far. */
uint64_t hw__lines_offset(const hw__lines *lines);

#endif
