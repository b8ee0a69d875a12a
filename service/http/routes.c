/* Every route the service answers, and those that belong nowhere else. */
#include <stdio.h>
#include <string.h>

#include "http/description.h"
#include "http/handlers.h"
#include "http/http.h"

const hw__route hw__routes[] = {
    {"POST", "/v1/readings", HW_ROLE_INGEST, hw__post_readings, SIZE_MAX},
    {"POST", "/write", HW_ROLE_INGEST, hw__post_influx_1, SIZE_MAX},
    {"POST", "/api/v2/write", HW_ROLE_INGEST, hw__post_influx_2, SIZE_MAX, hw__influx_fault},
    {"GET", "/v1/overview", HW_ROLE_READ, hw__get_overview, 0},
    {"GET", "/v1/rivers", HW_ROLE_READ, hw__get_rivers, 0},
    {"GET", "/v1/rivers/{}", HW_ROLE_READ, hw__get_river, 0},
    {"GET", "/v1/rivers/{}/readings", HW_ROLE_READ, hw__get_river_readings, 0},
    {"GET", "/v1/rivers/{}/places", HW_ROLE_READ, hw__get_places, 0},
    {"GET", "/v1/rivers/{}/centerline", HW_ROLE_READ, hw__get_centerline, 0},
    {"GET", "/v1/centerlines", HW_ROLE_READ, hw__get_centerlines, 0},
    {"GET", "/v1/incidents", HW_ROLE_READ, hw__get_incidents, 0},
    {"POST", "/v1/incidents", HW_ROLE_ADMIN, hw__post_incident, 64 << 10},
    {"GET", "/v1/incidents/{}", HW_ROLE_READ, hw__get_incident, 0},
    {"POST", "/v1/incidents/{}/close", HW_ROLE_ADMIN, hw__post_close, 0},
    {"POST", "/v1/incidents/{}/acknowledge", HW_ROLE_ADMIN, hw__post_acknowledge, 64 << 10},
    {"GET", "/v1/incidents/{}/readings", HW_ROLE_READ, hw__get_incident_readings, 0},
    {"GET", "/v1/incidents/{}/posterior", HW_ROLE_READ, hw__get_posterior, 0},
    {"GET", "/v1/incidents/{}/forecast", HW_ROLE_READ, hw__get_forecast, 0},
    {"GET", "/v1/incidents/{}/plume", HW_ROLE_READ, hw__get_plume, 0},
    {"GET", "/v1/incidents/{}/advice", HW_ROLE_READ, hw__get_advice, 0},
    {"GET", "/v1/incidents/{}/bulletin", HW_ROLE_READ, hw__get_bulletin, 0},
    {"GET", "/v1/incidents/{}/export", HW_ROLE_READ, hw__get_export, 0},
    {"GET", "/v1/events", HW_ROLE_READ, hw__get_events, 0},
    {"GET", "/v1/stream", HW_ROLE_READ, hw__get_stream, 0},
    {"GET", "/v1/methods", HW_ROLE_READ, hw__get_methods, 0},
    {"GET", "/v1/openapi.json", 0, hw__get_description, 0},
    {"POST", "/v1/session", 0, hw__post_session, 0},
    {"GET", "/metrics", HW_ROLE_READ, hw__get_metrics, 0},
    {"GET", "/metrics/rivers", HW_ROLE_READ, hw__get_river_metrics, 0},
    {"GET", "/healthz", 0, hw__get_health, 0},
    {"GET", "/readyz", 0, hw__get_ready, 0},
    {"GET", "/", 0, hw__get_asset, 0},
    {"GET", "/{}", 0, hw__get_asset, 0},
    {"GET", "/assets/{}", 0, hw__get_asset, 0},
    {0},
};

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
  return response ? (hw__reply){.code = 200, .response = response} : hw__reply_later("out of memory, ask again");
}

hw__reply hw__get_description(hw__request *request) {
  (void)request;
  struct MHD_Response *response =
      MHD_create_response_from_buffer(hw__description_size, (void *)hw__description, MHD_RESPMEM_PERSISTENT);
  if (response) {
    MHD_add_response_header(response, "Content-Type", "application/json");
  }
  return response ? (hw__reply){.code = 200, .response = response} : hw__reply_later("out of memory, ask again");
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
