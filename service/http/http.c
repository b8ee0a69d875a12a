#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/metrics.h"
#include "http/chunks.h"
#include "http/connections.h"
#include "http/deflate.h"
#include "http/head_lines.h"
#include "http/host_header.h"
#include "http/inflate.h"
#include "http/rate_limit.h"

/* One request from its head to its answer. */
typedef struct {
  hw__request request;
  const hw__route *route;
  size_t capacity; /* of the body, taken from the budget */
  bool too_large, no_room, refused;
  hw__encoding encoding;
} exchange;

/* Does the path fit the route? Segments for {} are copied out. */
static bool fits(const char *pattern, const char *path, hw__request *request) {
  size_t captures = 0;
  while (*pattern && *path) {
    if (strncmp(pattern, "{}", 2) == 0 && captures < HW_CAPTURES) {
      const size_t length = strcspn(path, "/");
      if (length == 0 || length >= sizeof request->captured[0]) {
        return false;
      }
      memcpy(request->captured[captures], path, length);
      request->captured[captures++][length] = '\0';
      pattern += 2;
      path += length;
    } else if (*pattern++ != *path++) {
      return false;
    }
  }
  return !*pattern && !*path;
}

static const char *cookie_token(struct MHD_Connection *connection) {
  return MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, "headwater");
}

/* `Bearer TOKEN`; `Token TOKEN` as clients of Influx have it; or a name and a password, which is the token. */
static unsigned header_roles(hw__auth *auth, const char *header, struct MHD_Connection *connection) {
  if (strncasecmp(header, "Basic ", 6) == 0) {
    char *password = NULL;
    char *name = MHD_basic_auth_get_username_password(connection, &password);
    const unsigned roles = hw__auth_roles(auth, password ? password : "");
    MHD_free(name);
    MHD_free(password);
    return roles;
  }
  const size_t scheme = strncasecmp(header, "Bearer ", 7) == 0 ? 7 : strncasecmp(header, "Token ", 6) == 0 ? 6 : 0;
  return hw__auth_roles(auth, scheme ? header + scheme : "");
}

/* A cookie is good for reading only: a page elsewhere cannot make a browser change anything. */
static unsigned roles_of(const hw__service *service, struct MHD_Connection *connection) {
  const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
  if (header) {
    return header_roles(service->auth, header, connection);
  }
  return hw__auth_roles(service->auth, cookie_token(connection)) & (service->auth ? HW_ROLE_READ : HW_ROLE_ALL);
}

/* Without tokens the loopback address is the only guard: refuse a browser that was led here by another
 * site, be it through its form or through a name that points at this machine. */
static bool is_foreign(const hw__service *service, struct MHD_Connection *connection) {
  const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
  const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
  if (!host) {
    return origin != NULL; /* no browser leaves it out */
  }
  hw__authority asked_for;
  if (!hw__authority_parse(host, &asked_for) || (origin && !hw__authority_is_origin(&asked_for, origin))) {
    return true;
  }
  return !service->auth && !hw__authority_is_loopback(&asked_for);
}

static const hw__route *find_route(hw__request *request, bool *path_known) {
  *path_known = false;
  for (const hw__route *route = hw__routes; route->path; route++) {
    if (fits(route->path, request->path, request)) {
      *path_known = true;
      const bool head = strcmp(request->method, "HEAD") == 0 && strcmp(route->method, "GET") == 0;
      if (head || strcmp(route->method, request->method) == 0) {
        return route;
      }
    }
  }
  return NULL;
}

/* May this be asked, by whoever asks? Looked at before a body is taken. Returned: true, or why not. */
static bool is_permitted(const hw__request *request, unsigned role, hw__reply *refusal) {
  if (is_foreign(request->service, request->connection)) {
    *refusal = hw__reply_error(403, "a request from another site");
    return false;
  }
  const unsigned roles = roles_of(request->service, request->connection);
  if (role && !(roles & role)) {
    *refusal = roles ? hw__reply_error(403, "this token may not do that")
                     : hw__reply_error(401, "a token is needed: Authorization: Bearer TOKEN");
    return false;
  }
  return true;
}

/* What comes behind such a body is never taken for a request, so that nothing can be smuggled in by a line between its
 * chunks that is not seen for what it is. */
static bool is_chunked(struct MHD_Connection *connection) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != NULL;
}

static bool is_of_health(const hw__request *request) {
  return strcmp(request->path, "/healthz") == 0 || strcmp(request->path, "/readyz") == 0;
}

static enum MHD_Result send_reply(const hw__service *service, struct MHD_Connection *connection, hw__reply *reply) {
  const bool packed = !reply->response && hw__takes_gzip(connection) && hw__reply_deflate(reply);
  struct MHD_Response *response =
      reply->response ? reply->response
                      : MHD_create_response_from_buffer(reply->size, reply->text, MHD_RESPMEM_MUST_FREE);
  if (!response) {
    free(reply->text);
    return MHD_NO;
  }
  if (!reply->response && reply->size) {
    MHD_add_response_header(response, "Content-Type", reply->type ? reply->type : "application/json");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Vary", "Accept-Encoding");
  }
  if (packed) {
    MHD_add_response_header(response, "Content-Encoding", "gzip");
  }
  char policy[512];
  snprintf(policy, sizeof policy,
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:%s%s; "
           "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
           "form-action 'none'; frame-ancestors 'none'",
           service->tiles_origin[0] ? " " : "", service->tiles_origin);
  MHD_add_response_header(response, "Content-Security-Policy", policy);
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "X-Frame-Options", "DENY");
  MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  if (service->tls_cert) {
    MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
  }
  if (reply->code == 401) {
    MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
  }
  if (reply->close || is_chunked(connection)) {
    MHD_add_response_header(response, "Connection", "close");
  }
  if (reply->retry_after_s) {
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", reply->retry_after_s);
    MHD_add_response_header(response, "Retry-After", seconds);
  }
  hw__metric_add(HW_METRIC_HTTP_REQUESTS, 1);
  hw__metric_add(HW_METRIC_HTTP_ERRORS, reply->code >= 500);
  const enum MHD_Result queued = MHD_queue_response(connection, reply->code, response);
  MHD_destroy_response(response);
  return queued;
}

static void retell(const hw__route *route, hw__reply *reply) {
  if (reply->code >= 400 && route && route->retell) {
    route->retell(reply);
  }
}

static enum MHD_Result refuse(exchange *e, hw__reply reply) {
  const hw__service *service = e->request.service;
  e->refused = true;
  hw__metric_add(HW_METRIC_HTTP_REFUSED, 1);
  hw__connections_step(service->connections, e->request.connection, HW_STEP_ANSWER);
  retell(e->route, &reply);
  return send_reply(service, e->request.connection, &reply);
}

static const char too_large[] = "the body is too large", too_many[] = "too many bodies at once, send it again";

static size_t body_most(const exchange *e) {
  const size_t limit = e->request.service->options.body_limit;
  return e->route->body_bytes < limit ? e->route->body_bytes : limit;
}

/* The head is there: what it asks for, whether it may, and whether there is room for what follows. */
static enum MHD_Result begin(exchange *e, const char *version) {
  hw__request *request = &e->request;
  hw__service *service = request->service;
  struct MHD_Connection *connection = request->connection;
  hw__connections_step(service->connections, connection, HW_STEP_BODY);
  if (!hw__rate_limit_admit(service->limiter, connection, is_of_health(request))) {
    return refuse(e, hw__reply_error(429, "too many requests from this address"));
  }
  bool path_known = false;
  hw__reply refusal;
  const char *fault = hw__head_fault(connection, request->method, version);
  if (fault) {
    refusal = hw__reply_error(400, "%s", fault);
    refusal.close = true;
    return refuse(e, refusal);
  }
  const char *body = is_chunked(connection) ? hw__head_end(connection, request->method) : NULL;
  if (body && !hw__chunks_watch(body)) {
    refusal = hw__reply_error(400, "a chunked body behind a request that was not answered yet");
    refusal.close = true;
    return refuse(e, refusal);
  }
  e->route = find_route(request, &path_known);
  if (!e->route) {
    return refuse(e, path_known ? hw__reply_error(405, "not with %s", request->method)
                                : hw__reply_error(404, "nothing here; see docs/api.md"));
  }
  if (!is_permitted(request, e->route->role, &refusal)) {
    return refuse(e, refusal);
  }
  const char *encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Encoding");
  e->encoding = hw__encoding_of(encoding);
  if (e->route->body_bytes && e->encoding == HW_ENCODING_UNKNOWN) {
    return refuse(e, hw__reply_error(415, "Content-Encoding %.40s, expected gzip, or a body as it is", encoding));
  }
  const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
  const unsigned long long announced = length ? strtoull(length, NULL, 10) : 0;
  if (announced > service->options.body_limit || (e->route->body_bytes && announced > body_most(e))) {
    return refuse(e, hw__reply_error(413, "%s", too_large));
  }
  if (e->route->body_bytes && announced > atomic_load(&service->bodies.left_bytes)) {
    return refuse(e, hw__reply_later(too_many));
  }
  return MHD_YES;
}

/* What does not fit is passed over and told at the end: the sender is still writing. */
static void take_body(exchange *e, const char *data, size_t size) {
  hw__request *request = &e->request;
  hw__budget *budget = &request->service->bodies;
  const size_t most = body_most(e);
  if (e->route->body_bytes == 0 || e->too_large || e->no_room) {
    return;
  }
  const size_t needed = request->size + size;
  if (needed > most) {
    e->too_large = true;
    return;
  }
  if (needed + 1 > e->capacity) {
    const size_t twice = 2 * needed + 1024, wanted = twice < most + 1 ? twice : most + 1;
    if (!hw__budget_take(budget, wanted - e->capacity)) {
      e->no_room = true;
      return;
    }
    char *grown = realloc(request->body, wanted);
    if (!grown) {
      hw__budget_give(budget, wanted - e->capacity);
      e->no_room = true;
      return;
    }
    request->body = grown;
    e->capacity = wanted;
  }
  memcpy(request->body + request->size, data, size);
  request->size = needed;
}

/* A compressed body becomes what it says, within the bounds of one that came as it is. False: *refusal says why. */
static bool unpack_body(exchange *e, hw__reply *refusal) {
  hw__request *request = &e->request;
  hw__budget *budget = &request->service->bodies;
  hw__inflated plain;
  switch (hw__inflate(request->body, request->size, body_most(e), budget, &plain)) {
    case HW_INFLATE_DONE:
      break;
    case HW_INFLATE_TOO_LARGE:
      *refusal = hw__reply_error(413, "%s once inflated, expected at most %zu bytes", too_large, body_most(e));
      return false;
    case HW_INFLATE_NO_ROOM:
      *refusal = hw__reply_later(too_many);
      return false;
    default:
      *refusal = hw__reply_error(400, "Content-Encoding gzip, but the body is not whole gzip");
      return false;
  }
  free(request->body);
  hw__budget_give(budget, e->capacity);
  request->body = plain.text;
  request->size = plain.size;
  e->capacity = plain.capacity;
  return true;
}

static enum MHD_Result answer(exchange *e) {
  hw__request *request = &e->request;
  hw__service *service = request->service;
  hw__reply reply;
  if (!hw__chunks_were_plain()) {
    return refuse(e, hw__reply_error(400, "a line between the chunks that does not end with CRLF"));
  }
  if (e->too_large || e->no_room) {
    reply = e->too_large ? hw__reply_error(413, "%s", too_large) : hw__reply_later(too_many);
    return refuse(e, reply);
  }
  if (request->body) {
    request->body[request->size] = '\0';
    /* A body takes its time: the token may have been withdrawn. */
    if (!is_permitted(request, e->route->role, &reply)) {
      return refuse(e, reply);
    }
  }
  hw__connections_step(service->connections, request->connection, HW_STEP_WORK);
  if (request->body && e->encoding == HW_ENCODING_GZIP && !unpack_body(e, &reply)) {
    return refuse(e, reply);
  }
  reply = e->route->handle(request);
  retell(e->route, &reply);
  if (!reply.stream) {
    hw__connections_step(service->connections, request->connection, HW_STEP_ANSWER);
  }
  return send_reply(service, request->connection, &reply);
}

enum MHD_Result hw__http_on_request(void *context, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data, size_t *data_size,
                                    void **state) {
  exchange *e = *state;
  if (!e) {
    *state = e = calloc(1, sizeof *e);
    if (!e) {
      return MHD_NO;
    }
    e->request = (hw__request){.service = context, .connection = connection, .method = method, .path = url};
    return begin(e, version);
  }
  if (e->refused) {
    return MHD_NO; /* about to stop, the library takes no answer, says that it did, and goes on */
  }
  if (*data_size) {
    take_body(e, data, *data_size);
    *data_size = 0;
    return MHD_YES;
  }
  return answer(e);
}

void hw__http_on_completed(void *context, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode code) {
  hw__service *service = context;
  (void)code;
  hw__chunks_leave();
  hw__connections_step(service->connections, connection, HW_STEP_HEAD);
  exchange *e = *state;
  if (e) {
    free(e->request.body);
    hw__budget_give(&service->bodies, e->capacity);
    free(e);
    *state = NULL;
  }
}
