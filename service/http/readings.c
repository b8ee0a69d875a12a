/* Readings in: a body of any kind, and what became of its rows. */
#include <string.h>

#include "base/metrics.h"
#include "http/handlers.h"
#include "live/accept.h"

uint64_t hw__rejected(const hw__ingest *ingest) {
  uint64_t rejected = 0;
  for (int fate = HW_FATE_CONFLICT; fate < HW_FATE_COUNT; fate++) {
    rejected += ingest->tally[fate];
  }
  return rejected;
}

bool hw__take_readings(const hw__request *request, hw__body_kind kind, hw__ingest *ingest, hw__reply *refusal) {
  hw__service *service = request->service;
  ingest->budget = &service->bodies;
  hw__metric_add(HW_METRIC_INGEST_BYTES, request->size);
  const hw_status parsed = hw__ingest_body(ingest, kind, request->body ? request->body : "", request->size);
  const hw__db_status stored = parsed == HW_OK ? hw__accept_readings(service, ingest) : HW_DB_MEMORY;
  if (parsed != HW_OK) {
    *refusal = hw__reply_later("no memory for this body now, nothing of it was stored: send it again");
    return false;
  }
  if (stored != HW_DB_OK) {
    *refusal = hw__reply_db(stored); /* nothing of this body was stored */
    return false;
  }
  hw__fate_count(ingest->tally);
  return true;
}

static hw__reply report_ingest(const hw__ingest *ingest) {
  const uint64_t rejected = hw__rejected(ingest);
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

/* Line protocol counts time in ticks; ?precision= says how long one is. */
static double tick_ns(const hw__request *request) {
  const char *precision = hw__query(request, "precision");
  return !precision || strcmp(precision, "ns") == 0 ? 1
         : strcmp(precision, "us") == 0             ? 1e3
         : strcmp(precision, "ms") == 0             ? 1e6
         : strcmp(precision, "s") == 0              ? 1e9
                                                    : 0;
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
  hw__ingest ingest = hw__accept_begin(service);
  ingest.river = hw__query(request, "river");
  ingest.nanoseconds = tick_ns(request);
  if (ingest.nanoseconds <= 0) {
    return hw__reply_error(400, "precision, expected ns, us, ms or s");
  }
  if (ingest.river && hw__catalog_find(service->catalog, ingest.river) < 0) {
    return hw__reply_error(404, "no river '%.64s'", ingest.river);
  }
  hw__reply reply;
  if (hw__take_readings(request, kind, &ingest, &reply)) {
    reply = report_ingest(&ingest);
  }
  hw__ingest_clear(&ingest);
  return reply;
}
