#include "http/chunks.h"

#include <gnutls/gnutls.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Of the line with the size. */
static hw__chunks_state read_size(hw__chunks *chunks, char c) {
  const int value = digit(c);
  if (value < 0) {
    const hw__chunks_state next = c == '\r'                           ? HW_CHUNKS_SIZE_LF
                                  : c == ';' || c == ' ' || c == '\t' ? HW_CHUNKS_EXTENSION
                                                                      : HW_CHUNKS_BROKEN;
    return chunks->sized ? next : HW_CHUNKS_BROKEN;
  }
  if (chunks->left > SIZE_MAX / 32) {
    return HW_CHUNKS_BROKEN;
  }
  chunks->sized = true;
  chunks->left = 16 * chunks->left + (size_t)value;
  return HW_CHUNKS_SIZE;
}

static hw__chunks_state expect(char c, char wanted, hw__chunks_state next) {
  return c == wanted ? next : HW_CHUNKS_BROKEN;
}

static hw__chunks_state within_line(char c, hw__chunks_state same, hw__chunks_state end) {
  return c == '\r' ? end : c == '\n' ? HW_CHUNKS_BROKEN : same;
}

static hw__chunks_state read_one(hw__chunks *chunks, char c) {
  switch (chunks->state) {
    case HW_CHUNKS_SIZE:
      return read_size(chunks, c);
    case HW_CHUNKS_EXTENSION:
      return within_line(c, HW_CHUNKS_EXTENSION, HW_CHUNKS_SIZE_LF);
    case HW_CHUNKS_SIZE_LF:
      return expect(c, '\n', chunks->left ? HW_CHUNKS_DATA : HW_CHUNKS_TRAILER_START);
    case HW_CHUNKS_DATA_CR:
      return expect(c, '\r', HW_CHUNKS_DATA_LF);
    case HW_CHUNKS_DATA_LF:
      chunks->sized = false;
      return expect(c, '\n', HW_CHUNKS_SIZE);
    case HW_CHUNKS_TRAILER_START:
      return within_line(c, HW_CHUNKS_TRAILER, HW_CHUNKS_LAST_LF);
    case HW_CHUNKS_TRAILER:
      return within_line(c, HW_CHUNKS_TRAILER, HW_CHUNKS_TRAILER_LF);
    case HW_CHUNKS_TRAILER_LF:
      return expect(c, '\n', HW_CHUNKS_TRAILER_START);
    case HW_CHUNKS_LAST_LF:
      return expect(c, '\n', HW_CHUNKS_DONE);
    default:
      return chunks->state;
  }
}

void hw__chunks_read(hw__chunks *chunks, const char *data, size_t size) {
  for (size_t at = 0; at < size && chunks->state < HW_CHUNKS_DONE;) {
    if (chunks->state == HW_CHUNKS_DATA) {
      const size_t step = chunks->left < size - at ? chunks->left : size - at;
      chunks->left -= step;
      chunks->state = chunks->left ? HW_CHUNKS_DATA : HW_CHUNKS_DATA_CR;
      at += step;
    } else {
      chunks->state = read_one(chunks, data[at++]);
    }
  }
}

/* --- what a connection's thread receives --- */

static _Thread_local struct {
  bool seeing;            /* the library receives by the functions below */
  bool watching;          /* a body */
  bool encrypted;         /* GnuTLS is receiving, and what it receives is not yet what is meant */
  const char *from, *end; /* what came last since the last request, and where it lies; NULL: nothing */
  hw__chunks chunks;
} thread;

static void hear(const char *data, ssize_t size) {
  if (size > 0) {
    thread.seeing = true;
    thread.from = data;
    thread.end = data + size;
    if (thread.watching) {
      hw__chunks_read(&thread.chunks, data, (size_t)size);
    }
  }
}

bool hw__chunks_watch(const char *body) {
  if (!thread.seeing) {
    return true; /* whoever binds the library in another way has the connection closed behind the body, no more */
  }
  /* The head's end came with what came last: it would have been met before otherwise. */
  thread.watching =
      thread.from && (uintptr_t)body >= (uintptr_t)thread.from && (uintptr_t)body <= (uintptr_t)thread.end;
  thread.chunks = (hw__chunks){0};
  if (thread.watching) {
    hw__chunks_read(&thread.chunks, body, (size_t)(thread.end - body));
  }
  return thread.watching;
}

void hw__chunks_leave(void) {
  thread.watching = false;
  thread.from = thread.end = NULL;
}

bool hw__chunks_were_plain(void) {
  return !thread.watching || thread.chunks.state == HW_CHUNKS_DONE;
}

/* The headers' own declarations may come with checks that are inline functions; these have other names in C. */
ssize_t hw__recv(int from, void *data, size_t size, int flags) __asm__("recv");
ssize_t hw__record_recv(gnutls_session_t session, void *data, size_t size) __asm__("gnutls_record_recv");

ssize_t hw__recv(int from, void *data, size_t size, int flags) {
  const ssize_t got = recvfrom(from, data, size, flags, NULL, NULL);
  if (!thread.encrypted && !(flags & MSG_PEEK)) {
    hear(data, got);
  }
  return got;
}

ssize_t hw__record_recv(gnutls_session_t session, void *data, size_t size) {
  unsigned char number[8];
  thread.encrypted = true;
  const ssize_t got = gnutls_record_recv_seq(session, data, size, number);
  thread.encrypted = false;
  hear(data, got);
  return got;
}
