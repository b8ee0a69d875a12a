/* Lines out of a descriptor, a stream or memory, in constant memory.
 *
 * A descriptor is read with read(2): it gives what a live pipe has, where stdio would wait for a full
 * buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/reader.h"

enum { BUFFER_SIZE = 4 * HW__LONGEST_LINE };

hw_status hw__lines_open(hw__lines *lines) {
  if (!lines->data) {
    lines->buffer = malloc(BUFFER_SIZE);
    lines->data = lines->buffer;
  }
  return lines->data ? HW_OK : HW_ENOMEM;
}

void hw__lines_close(hw__lines *lines) {
  free(lines->buffer);
  if (lines->owns) {
    fclose(lines->stream);
  }
}

static bool stopped(const hw__lines *lines) {
  return lines->stop && *lines->stop;
}

/* More bytes behind what is unread. */
static hw_status fill(hw__lines *lines) {
  const size_t unread = lines->end - lines->begin;
  memmove(lines->buffer, lines->buffer + lines->begin, unread);
  lines->scanned -= lines->begin;
  lines->dropped += lines->begin;
  lines->begin = 0;
  lines->end = unread;
  char *room = lines->buffer + unread;
  const size_t size = BUFFER_SIZE - unread;
  if (lines->fd < 0) {
    const size_t got = fread(room, 1, size, lines->stream);
    lines->finished = got == 0;
    lines->end += got;
    return got == 0 && ferror(lines->stream) ? HW_EIO : HW_OK;
  }
  ssize_t got;
  do {
    got = stopped(lines) ? 0 : read(lines->fd, room, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return HW_EIO;
  }
  lines->finished = got == 0;
  lines->end += (size_t)got;
  return HW_OK;
}

/* Drops the rest of a line that is too long, up to and with its newline. */
static hw_status skip_line(hw__lines *lines) {
  for (;;) {
    const char *newline = memchr(lines->data + lines->begin, '\n', lines->end - lines->begin);
    if (newline) {
      lines->begin = (size_t)(newline - lines->data) + 1;
      lines->scanned = lines->begin;
      return HW_OK;
    }
    lines->begin = lines->scanned = lines->end;
    if (lines->finished) {
      return HW_OK;
    }
    const hw_status status = fill(lines);
    if (status != HW_OK) {
      return status;
    }
  }
}

hw_status hw__lines_next(hw__lines *lines, hw__slice *line) {
  const char *newline = NULL;
  for (;;) {
    newline = memchr(lines->data + lines->scanned, '\n', lines->end - lines->scanned);
    lines->scanned = lines->end;
    if (newline || lines->finished || lines->end - lines->begin > HW__LONGEST_LINE) {
      break;
    }
    const hw_status status = fill(lines);
    if (status != HW_OK) {
      return status;
    }
  }
  if ((!newline && lines->begin == lines->end) || stopped(lines)) {
    return HW_EEND;
  }
  const char *begin = lines->data + lines->begin;
  const char *end = newline ? newline : lines->data + lines->end;
  lines->line++;
  if (end - begin > HW__LONGEST_LINE) {
    const hw_status status = skip_line(lines);
    return status == HW_OK ? HW_EDOMAIN : status;
  }
  lines->unterminated = !newline;
  lines->begin = (size_t)(end - lines->data) + (newline ? 1 : 0);
  lines->scanned = lines->begin;
  *line = (hw__slice){begin, (size_t)(end - begin)};
  if (line->size && line->text[line->size - 1] == '\r') {
    line->size--;
  }
  return HW_OK;
}
