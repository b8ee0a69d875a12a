/* From 0.9.77 on libmicrohttpd refuses bare line feeds and folded lines when it is asked to (listen.c does). Before, it
 * takes them and has no option against it, but the head is still there: the texts it hands out lie in the head as it
 * was received, with a zero in place of each byte of a line's end. So two zeros stand where CRLF stood, and the next
 * line begins right behind them; everything is compared with the size that libmicrohttpd tells of the head. */
#include "http/head_lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct {
  const char *at;  /* where the next line has to begin */
  const char *end; /* of the head */
  bool plain;
} walk;

/* A line's text ends here: two zeros, and the next line behind them. */
static void end_line(walk *w, const char *at) {
  w->plain = w->plain && w->end - at >= 2 && !at[0] && !at[1];
  w->at = w->plain ? at + 2 : w->at;
}

static enum MHD_Result pass_header(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                   const char *value, size_t value_size) {
  (void)kind;
  (void)name_size;
  walk *w = context;
  const uintptr_t from = (uintptr_t)w->at, to = (uintptr_t)w->end;
  /* The value of a header without one may be no text at all. */
  w->plain = w->plain && name == w->at && value && (uintptr_t)value >= from && (uintptr_t)value + value_size <= to;
  if (w->plain) {
    end_line(w, value + value_size);
  }
  return w->plain ? MHD_YES : MHD_NO;
}

static bool library_is_strict(void) {
  unsigned major = 0, minor = 0, patch = 0;
  const int told = sscanf(MHD_get_version(), "%u.%u.%u", &major, &minor, &patch);
  return told == 3 && (major > 0 || minor > 9 || patch >= 77);
}

const char *hw__head_end(struct MHD_Connection *connection, const char *method) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info && !library_is_strict() ? method + info->header_size : NULL;
}

/* Are these exactly a request line, header lines and an empty line, each ended by CRLF? */
static bool are_lines_plain(struct MHD_Connection *connection, const char *method, const char *version) {
  if (library_is_strict()) {
    return true;
  }
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (!info) {
    return false;
  }
  walk w = {.at = method, .end = method + info->header_size, .plain = true};
  end_line(&w, version + strlen(version));
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, pass_header, &w);
  if (w.plain) {
    end_line(&w, w.at); /* the empty one */
  }
  return w.plain && w.at == w.end;
}

typedef struct {
  size_t lengths, encodings, unknown, hosts, odd;
} framing;

/* A space before the colon hides a length from us that another may read; a lone CR ends a line for some. */
static bool is_odd(const char *name, size_t name_size, const char *value, size_t value_size) {
  static const char token[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~";
  bool odd = name_size == 0 || strspn(name, token) != name_size;
  for (size_t i = 0; i < value_size; i++) {
    const unsigned char c = (unsigned char)value[i];
    odd = odd || (c < 0x20 && c != '\t') || c == 0x7f;
  }
  return odd;
}

static enum MHD_Result count_framing(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                     const char *value, size_t value_size) {
  (void)kind;
  framing *f = context;
  const bool encoding = strcasecmp(name, "Transfer-Encoding") == 0;
  f->lengths += strcasecmp(name, "Content-Length") == 0;
  f->encodings += encoding;
  f->unknown += encoding && (!value || strcasecmp(value, "chunked") != 0);
  f->hosts += strcasecmp(name, "Host") == 0;
  f->odd += is_odd(name, name_size, value, value ? value_size : 0);
  return MHD_YES;
}

const char *hw__head_fault(struct MHD_Connection *connection, const char *method, const char *version) {
  framing f = {0};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, count_framing, &f);
  return f.odd                         ? "a header whose name is no word, or with a control character"
         : f.hosts > 1                 ? "Host more than once, expected it once"
         : f.lengths + f.encodings > 1 ? "Content-Length or Transfer-Encoding more than once, expected one of them"
         : f.unknown                   ? "a Transfer-Encoding that is not known here, expected chunked"
         : !are_lines_plain(connection, method, version)
             ? "a line of the head that does not end with CRLF, or is folded"
             : NULL;
}
