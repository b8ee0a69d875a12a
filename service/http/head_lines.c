/* From 0.9.77 on libmicrohttpd refuses bare line feeds and folded lines when it is asked to (listen.c does). Before, it
 * takes them and has no option against it, but the head is still there: the texts it hands out lie in the head as it
 * was received, with a zero in place of each byte of a line's end. So two zeros stand where CRLF stood, and the next
 * line begins right behind them; everything is compared with the size that libmicrohttpd tells of the head. */
#include "http/head_lines.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

bool hw__head_is_plain(struct MHD_Connection *connection, const char *method, const char *version) {
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
