/* Lines out of a descriptor, a stream or memory, in constant memory; what is not UTF-8 is decoded on the way.
 *
 * A descriptor is read with read(2): it gives what a live pipe has, where stdio would wait for a full
 * buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text.h"
#include "io/lines.h"

enum { BUFFER_SIZE = 4 * HW__LONGEST_LINE };

const char *hw__lines_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard input" : path;
}

hw_status hw__lines_of_file(const char *path, const char *what, hw__lines *out, hw_error *error) {
  const bool standard = strcmp(path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(path, "rb");
  if (!stream) {
    return hw__fail_file(error, path, what);
  }
  *out = (hw__lines){.fd = fileno(stream), .stream = stream, .owns = !standard};
  return HW_OK;
}

hw_status hw__lines_open(hw__lines *lines) {
  if (!lines->data) {
    lines->buffer = malloc(BUFFER_SIZE);
    lines->data = lines->buffer;
  }
  return lines->data ? HW_OK : HW_ENOMEM;
}

void hw__lines_close(hw__lines *lines) {
  free(lines->buffer);
  free(lines->raw);
  if (lines->owns) {
    fclose(lines->stream);
  }
}

static bool stopped(const hw__lines *lines) {
  return lines->stop && *lines->stop;
}

/* What the source has, at most `size` bytes; *got is 0 at its end. */
static hw_status read_some(hw__lines *lines, char *room, size_t size, size_t *got) {
  if (lines->fd < 0) {
    *got = lines->stream ? fread(room, 1, size, lines->stream) : 0;
    return *got == 0 && lines->stream && ferror(lines->stream) ? HW_EIO : HW_OK;
  }
  ssize_t count;
  do {
    count = stopped(lines) ? 0 : read(lines->fd, room, size);
  } while (count < 0 && errno == EINTR);
  *got = count < 0 ? 0 : (size_t)count;
  return count < 0 ? HW_EIO : HW_OK;
}

/* As much of raw as there is room for behind what is unread. */
static void decode_some(hw__lines *lines) {
  const size_t most = (BUFFER_SIZE - lines->end) / HW__ENCODING_GROWTH;
  size_t used;
  lines->end +=
      hw__encoding_decode(lines->encoding, (hw__slice){lines->raw, lines->raw_size < most ? lines->raw_size : most},
                          &used, lines->buffer + lines->end);
  lines->raw_size -= used;
  lines->decoded += used;
  memmove(lines->raw, lines->raw + used, lines->raw_size);
}

/* More bytes behind what is unread. */
static hw_status fill(hw__lines *lines) {
  const size_t unread = lines->end - lines->begin;
  memmove(lines->buffer, lines->buffer + lines->begin, unread);
  lines->scanned -= lines->begin;
  lines->dropped += lines->begin;
  lines->begin = 0;
  lines->end = unread;
  size_t got = 0;
  if (!lines->raw) {
    const hw_status status = read_some(lines, lines->buffer + unread, BUFFER_SIZE - unread, &got);
    lines->finished = got == 0;
    lines->end += got;
    return status;
  }
  decode_some(lines);
  while (lines->end == unread && !lines->finished) {
    const hw_status status = read_some(lines, lines->raw + lines->raw_size, BUFFER_SIZE - lines->raw_size, &got);
    lines->finished = got == 0;
    lines->raw_size += got;
    if (status != HW_OK) {
      return status;
    }
    decode_some(lines);
  }
  return HW_OK;
}

hw_status hw__lines_decode(hw__lines *lines, hw_encoding encoding) {
  lines->encoding = encoding;
  if (encoding == HW_ENCODING_OPEN || encoding == HW_UTF8) {
    return HW_OK;
  }
  const hw__slice unread = {lines->data + lines->begin, lines->end - lines->begin};
  if (!lines->buffer) { /* memory is decoded whole */
    char *decoded = malloc(HW__ENCODING_GROWTH * unread.size + 1);
    if (!decoded) {
      return HW_ENOMEM;
    }
    size_t used;
    lines->end = hw__encoding_decode(encoding, unread, &used, decoded);
    lines->data = lines->buffer = decoded;
    lines->begin = lines->scanned = 0;
    return HW_OK;
  }
  lines->raw = malloc(BUFFER_SIZE);
  if (!lines->raw) {
    return HW_ENOMEM;
  }
  memcpy(lines->raw, unread.text, unread.size);
  lines->raw_size = unread.size;
  lines->finished = false; /* there is something to decode, even if nothing more to read */
  lines->decoded = lines->dropped + lines->begin;
  lines->end = lines->scanned = lines->begin;
  return HW_OK;
}

hw_status hw__lines_mark(hw__lines *lines) {
  while (!lines->finished && lines->end - lines->begin < 3) {
    const hw_status status = fill(lines);
    if (status != HW_OK) {
      return status;
    }
  }
  size_t size;
  const hw_encoding found =
      hw__encoding_mark((hw__slice){lines->data + lines->begin, lines->end - lines->begin}, &size);
  lines->begin += size;
  lines->scanned = lines->begin;
  return hw__lines_decode(lines, found);
}

/* Where the `count` first lines of what is unread end, or its end; *whole when they are all there. */
static size_t end_of_lines(const hw__lines *lines, size_t count, bool *whole) {
  size_t at = lines->begin;
  while (count > 0 && at < lines->end) {
    const char *newline = memchr(lines->data + at, '\n', lines->end - at);
    at = newline ? (size_t)(newline - lines->data) + 1 : lines->end;
    count -= newline ? 1 : 0;
    if (!newline) {
      break;
    }
  }
  *whole = count == 0;
  return at;
}

hw_status hw__lines_head(hw__lines *lines, size_t count, hw__slice *out) {
  bool whole;
  size_t end = end_of_lines(lines, count, &whole);
  while (!whole && !lines->finished && lines->end - lines->begin < HW__LONGEST_LINE) {
    const hw_status status = fill(lines);
    if (status != HW_OK) {
      return status;
    }
    end = end_of_lines(lines, count, &whole);
  }
  *out = (hw__slice){lines->data + lines->begin, end - lines->begin};
  return HW_OK;
}

hw_status hw__lines_fault(const hw__lines *lines, const char *name, hw_status status, hw_error *error) {
  const unsigned long long line = lines->line;
  if (status == HW_EDOMAIN) {
    return hw__fail(error, HW_EINPUT, "%s:%llu: a line of more than %d bytes, expected one reading", name, line,
                    HW__LONGEST_LINE);
  }
  if (status == HW_EIO && errno == EISDIR) {
    return hw__fail_file(error, name, "a file of readings");
  }
  if (status == HW_EIO) {
    return hw__fail(error, HW_EIO, "%s:%llu: %s", name, line + 1, strerror(errno));
  }
  return hw__fail(error, status, "%s: %s", name, hw_status_text(status));
}

uint64_t hw__lines_offset(const hw__lines *lines) {
  return lines->raw ? lines->decoded : lines->dropped + lines->begin;
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
  if (lines->skipping) {
    lines->skipping = false;
    const hw_status status = skip_line(lines);
    if (status != HW_OK) {
      return status;
    }
  }
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
    lines->skipping = true; /* by the next call, if there is one: the line may never end */
    return HW_EDOMAIN;
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
