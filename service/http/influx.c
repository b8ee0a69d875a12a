/* Readings in, as clients of InfluxDB send them: POST /write of its version 1, POST /api/v2/write of its version 2.
 *
 * Line protocol whatever the Content-Type says. The bucket (or db) names the river of lines without a `river` tag where
 * there is a river of that name; org, rp and consistency are passed over. 204 and nothing else when every line was
 * taken. A line that was refused makes the answer a partial write, 400 or 422, in the words of the version asked: what
 * could be taken is stored all the same, so that a client that drops the batch loses no more than the lines told of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/accept.h"

/* How long a tick of the timestamps is; version 1 has other names for some, and two more. 0: no such precision. */
static double tick_ns(const hw__request *request, bool first) {
  static const struct {
    const char *name;
    double nanoseconds;
    bool first_only;
  } ticks[] = {{"", 1, false}, {"ns", 1, false}, {"us", 1e3, false},      {"ms", 1e6, false}, {"s", 1e9, false},
               {"n", 1, true}, {"u", 1e3, true}, {"\xC2\xB5", 1e3, true}, {"m", 60e9, true},  {"h", 3600e9, true}};
  const char *precision = hw__query(request, "precision");
  for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
    if (strcmp(precision ? precision : "", ticks[i].name) == 0 && (first || !ticks[i].first_only)) {
      return ticks[i].nanoseconds;
    }
  }
  return 0;
}

/* Which lines were not taken, in one sentence; the first of them with its reason. */
static hw__reply partial_write(const hw__ingest *ingest, bool first) {
  const uint64_t rejected = hw__rejected(ingest);
  const hw__reject *r = ingest->rejects;
  const bool malformed = ingest->tally[HW_FATE_MALFORMED] == rejected;
  return hw__reply_error(first || malformed ? 400 : 422, "partial write: %sline %zu: %s dropped=%llu",
                         malformed ? "unable to parse: " : "", ingest->reject_count ? r->line : 0,
                         ingest->reject_count ? r->reason : "", (unsigned long long)rejected);
}

static hw__reply write_lines(hw__request *request, bool first) {
  hw__service *service = request->service;
  hw__ingest ingest = hw__accept_begin(service);
  const char *named = hw__query(request, first ? "db" : "bucket"), *river = hw__query(request, "river");
  ingest.river = river ? river : named && hw__catalog_find(service->catalog, named) >= 0 ? named : NULL;
  ingest.nanoseconds = tick_ns(request, first);
  if (ingest.nanoseconds <= 0) {
    return hw__reply_error(400, "precision, expected %s", first ? "ns, us, ms, s, m or h" : "ns, us, ms or s");
  }
  if (river && hw__catalog_find(service->catalog, river) < 0) {
    return hw__reply_error(404, "no river '%.64s'", river);
  }
  hw__reply reply;
  if (hw__take_readings(request, HW_BODY_LINE, &ingest, &reply)) {
    reply = hw__rejected(&ingest) ? partial_write(&ingest, first) : hw__reply_text(204, NULL, strdup(""));
  }
  hw__ingest_clear(&ingest);
  return reply;
}

hw__reply hw__post_influx_1(hw__request *request) {
  return write_lines(request, true);
}

hw__reply hw__post_influx_2(hw__request *request) {
  return write_lines(request, false);
}

/* Version 2 says {"code": word, "message": sentence}; version 1 has {"error": sentence}, as we do. */
void hw__influx_fault(hw__reply *reply) {
  static const struct {
    unsigned status;
    const char *word;
  } words[] = {{400, "invalid"},     {401, "unauthorized"},         {403, "forbidden"},
               {404, "not found"},   {405, "method not allowed"},   {413, "request too large"},
               {415, "invalid"},     {422, "unprocessable entity"}, {429, "too many requests"},
               {503, "unavailable"}, {507, "unavailable"}};
  const char *word = "internal error";
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    word = words[i].status == reply->code ? words[i].word : word;
  }
  json_t *root = reply->text ? json_loads(reply->text, 0, NULL) : NULL;
  const char *sentence = json_string_value(json_object_get(root, "error"));
  json_t *told = json_pack("{s:s, s:s}", "code", word, "message", sentence ? sentence : word);
  char *text = told ? json_dumps(told, JSON_COMPACT) : NULL;
  json_decref(told);
  json_decref(root);
  if (text) {
    free(reply->text);
    reply->text = text;
    reply->size = strlen(text);
  }
}
