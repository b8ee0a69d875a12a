/* Every route the service answers, and the two that take something in. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/metrics.h"
#include "http/handlers.h"
#include "http/http.h"
#include "live/accept.h"
#include "live/show.h"

const hw__route hw__routes[] = {
    {"POST", "/v1/readings", HW_ROLE_INGEST, hw__post_readings, SIZE_MAX},
    {"GET", "/v1/rivers", HW_ROLE_READ, hw__get_rivers, 0},
    {"GET", "/v1/rivers/{}", HW_ROLE_READ, hw__get_river, 0},
    {"GET", "/v1/rivers/{}/readings", HW_ROLE_READ, hw__get_river_readings, 0},
    {"GET", "/v1/rivers/{}/places", HW_ROLE_READ, hw__get_places, 0},
    {"GET", "/v1/rivers/{}/centerline", HW_ROLE_READ, hw__get_centerline, 0},
    {"GET", "/v1/incidents", HW_ROLE_READ, hw__get_incidents, 0},
    {"POST", "/v1/incidents", HW_ROLE_ADMIN, hw__post_incident, 64 << 10},
    {"GET", "/v1/incidents/{}", HW_ROLE_READ, hw__get_incident, 0},
    {"POST", "/v1/incidents/{}/close", HW_ROLE_ADMIN, hw__post_close, 0},
    {"GET", "/v1/incidents/{}/readings", HW_ROLE_READ, hw__get_incident_readings, 0},
    {"GET", "/v1/incidents/{}/posterior", HW_ROLE_READ, hw__get_posterior, 0},
    {"GET", "/v1/incidents/{}/forecast", HW_ROLE_READ, hw__get_forecast, 0},
    {"GET", "/v1/incidents/{}/plume", HW_ROLE_READ, hw__get_plume, 0},
    {"GET", "/v1/incidents/{}/bulletin", HW_ROLE_READ, hw__get_bulletin, 0},
    {"GET", "/v1/incidents/{}/export", HW_ROLE_READ, hw__get_export, 0},
    {"GET", "/v1/events", HW_ROLE_READ, hw__get_events, 0},
    {"GET", "/v1/stream", HW_ROLE_READ, hw__get_stream, 0},
    {"GET", "/v1/methods", HW_ROLE_READ, hw__get_methods, 0},
    {"POST", "/v1/session", 0, hw__post_session, 0},
    {"GET", "/metrics", HW_ROLE_READ, hw__get_metrics, 0},
    {"GET", "/healthz", 0, hw__get_health, 0},
    {"GET", "/readyz", 0, hw__get_ready, 0},
    {"GET", "/", 0, hw__get_asset, 0},
    {"GET", "/{}", 0, hw__get_asset, 0},
    {"GET", "/assets/{}", 0, hw__get_asset, 0},
    {0},
};

/* Line protocol counts time in ticks; ?precision= says how long one is. */
static double tick_ns(const hw__request *request) {
  const char *precision = hw__query(request, "precision");
  return !precision || strcmp(precision, "ns") == 0 ? 1
         : strcmp(precision, "us") == 0             ? 1e3
         : strcmp(precision, "ms") == 0             ? 1e6
         : strcmp(precision, "s") == 0              ? 1e9
                                                    : 0;
}

static hw__reply report_ingest(const hw__ingest *ingest) {
  uint64_t rejected = 0;
  for (int fate = HW_FATE_CONFLICT; fate < HW_FATE_COUNT; fate++) {
    rejected += ingest->tally[fate];
  }
  json_t *list = json_array();
  for (size_t i = 0; i < ingest->reject_count; i++) {
    const hw__reject *r = &ingest->rejects[i];
    json_t *reason = json_string(r->reason);
    json_array_append_new(
        list, json_pack("{s:I, s:s, s:o}", "line", (json_int_t)r->line, "fate", hw__fate_label(r->fate), "reason",
                        reason ? reason : json_string("not UTF-8")));
  }
  json_t *root =
      json_pack("{s:I, s:I, s:I, s:I, s:o}", "accepted", (json_int_t)ingest->tally[HW_FATE_ACCEPTED], "duplicates",
                (json_int_t)ingest->tally[HW_FATE_DUPLICATE], "missing", (json_int_t)ingest->tally[HW_FATE_MISSING],
                "rejected_count", (json_int_t)rejected, "rejected", list);
  const bool nothing_else =
      !ingest->tally[HW_FATE_ACCEPTED] && !ingest->tally[HW_FATE_DUPLICATE] && !ingest->tally[HW_FATE_MISSING];
  return hw__reply_json(rejected && nothing_else ? 422 : 200, root);
}

hw__reply hw__post_readings(hw__request *request) {
  hw__service *service = request->service;
  const char *type = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Type");
  const hw__body_kind kind = hw__ingest_kind(type);
  if (kind == HW_BODY_UNKNOWN) {
    return hw__reply_error(415,
                           "Content-Type %.60s, expected text/csv, application/x-ndjson, application/json or "
                           "text/plain (line protocol)",
                           type ? type : "missing");
  }
  const char *encoding = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Encoding");
  if (encoding && strcasecmp(encoding, "identity") != 0) {
    return hw__reply_error(415, "Content-Encoding %.40s, expected a body as it is", encoding);
  }
  hw__ingest ingest = hw__accept_begin(service);
  ingest.river = hw__query(request, "river");
  ingest.nanoseconds = tick_ns(request);
  ingest.budget = &service->bodies;
  if (ingest.nanoseconds <= 0) {
    return hw__reply_error(400, "precision, expected ns, us, ms or s");
  }
  if (ingest.river && hw__catalog_find(service->catalog, ingest.river) < 0) {
    return hw__reply_error(404, "no river '%.64s'", ingest.river);
  }
  hw__metric_add(HW_METRIC_INGEST_BYTES, request->size);
  const hw_status parsed = hw__ingest_body(&ingest, kind, request->body ? request->body : "", request->size);
  const hw__db_status stored = parsed == HW_OK ? hw__accept_readings(service, &ingest) : HW_DB_MEMORY;
  hw__reply reply;
  if (parsed != HW_OK) {
    reply = hw__reply_later("no memory for this body now, nothing of it was stored: send it again");
  } else if (stored != HW_DB_OK) {
    reply = hw__reply_db(stored); /* nothing of this body was stored */
  } else {
    hw__fate_count(ingest.tally);
    reply = report_ingest(&ingest);
  }
  hw__ingest_clear(&ingest);
  return reply;
}

/* For browsers, whose event streams cannot carry a header: the token becomes a cookie scripts cannot
 * read, good for reading only. */
hw__reply hw__post_session(hw__request *request) {
  const char *header = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Authorization");
  const char *token = header && strncmp(header, "Bearer ", 7) == 0 ? header + 7 : "";
  if (!(hw__auth_roles(request->service->auth, token) & HW_ROLE_READ)) {
    return hw__reply_error(401, "a token for reading is needed: Authorization: Bearer TOKEN");
  }
  char cookie[512];
  const int length = snprintf(cookie, sizeof cookie, "headwater=%s; Path=/; HttpOnly; SameSite=Strict%s", token,
                              request->service->tls_cert ? "; Secure" : "");
  if (length < 0 || (size_t)length >= sizeof cookie || strpbrk(token, ";, \"\\")) {
    return hw__reply_error(400, "a token that cannot be a cookie");
  }
  static char empty[] = "{}";
  struct MHD_Response *response = MHD_create_response_from_buffer(2, empty, MHD_RESPMEM_PERSISTENT);
  if (response) {
    MHD_add_response_header(response, "Set-Cookie", cookie);
    MHD_add_response_header(response, "Content-Type", "application/json");
  }
  return response ? (hw__reply){.code = 200, .response = response} : hw__reply_error(500, "out of memory");
}

hw__reply hw__get_methods(hw__request *request) {
  (void)request;
  size_t count = 0;
  const hw_method *const *methods = hw_methods(&count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(list, json_pack("{s:s, s:s}", "name", methods[i]->name, "summary", methods[i]->summary));
  }
  return hw__reply_json(200, json_pack("{s:o}", "methods", list));
}
