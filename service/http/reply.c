/* What handlers answer with, and what they read in the query. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

enum { RETRY_S = 5 };

hw__reply hw__reply_text(unsigned code, const char *type, char *text) {
  static const char sentence[] = "{\"error\": \"out of memory\"}\n";
  if (!text) { /* not for good: what was asked for, or sent, may be again */
    char *copy = strdup(sentence);
    return (hw__reply){.code = 503, .text = copy, .size = copy ? sizeof sentence - 1 : 0, .retry_after_s = RETRY_S};
  }
  return (hw__reply){.code = code, .text = text, .size = strlen(text), .type = type};
}

hw__reply hw__reply_json(unsigned code, json_t *root) {
  char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  return hw__reply_text(code, "application/json", text);
}

hw__reply hw__reply_error(unsigned code, const char *format, ...) {
  char sentence[640];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  json_t *text = json_string(sentence);
  return hw__reply_json(code, json_pack("{s:o}", "error", text ? text : json_string("not UTF-8")));
}

hw__reply hw__reply_later(const char *sentence) {
  hw__reply reply = hw__reply_error(503, "%s", sentence);
  reply.retry_after_s = RETRY_S;
  return reply;
}

hw__reply hw__reply_db(hw__db_status status) {
  const unsigned code = status == HW_DB_ABSENT      ? 404
                        : status == HW_DB_FORGOTTEN ? 410
                        : status == HW_DB_FULL      ? 507
                                                    : 503;
  return status == HW_DB_CLOCK ? hw__reply_later(hw__db_text(status))
                               : hw__reply_error(code, "%s", hw__db_text(status));
}

const char *hw__query(const hw__request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

bool hw__query_number(const hw__request *request, const char *name, double fallback, double *out) {
  const char *text = hw__query(request, name);
  *out = fallback;
  return !text || hw_number_parse(text, out) == HW_OK;
}

bool hw__query_time(const hw__request *request, const char *name, double fallback, double *out) {
  const char *text = hw__query(request, name);
  return hw__query_number(request, name, fallback, out) || hw_time_parse(text, out) == HW_OK;
}
