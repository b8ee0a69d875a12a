/* Streams, key-value buckets, and messages that are not stored. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bus/connection.h"

enum { SILENT_MS = 4000 };

/* --- streams --- */

static natsStatus add_stream(hw__bus *bus, const hw__bus_stream *stream, int64_t replicas, jsErrCode *code) {
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = stream->name;
  config.Subjects = &(const char *){stream->subjects};
  config.SubjectsLen = 1;
  config.Storage = js_FileStorage;
  config.Replicas = replicas;
  config.Duplicates = INT64_C(120000000000);
  config.MaxAge = (int64_t)(stream->keep_s * 1e9);
  if (stream->latest || stream->bucket) {
    config.MaxMsgsPerSubject = 1;
  }
  if (stream->bucket) {
    config.Discard = js_DiscardNew;
    config.AllowRollup = true;
    config.DenyDelete = true;
  }
  return js_AddStream(NULL, bus->js, &config, NULL, code);
}

/* An existing stream gets the maximal age that is asked for now. */
static hw__bus_status set_age(hw__bus *bus, const hw__bus_stream *stream) {
  jsStreamInfo *info = NULL;
  natsStatus s = js_GetStreamInfo(&info, bus->js, stream->name, NULL, NULL);
  const int64_t age = (int64_t)(stream->keep_s * 1e9);
  if (s == NATS_OK && info->Config->MaxAge != age) {
    info->Config->MaxAge = age;
    s = js_UpdateStream(NULL, bus->js, info->Config, NULL, NULL);
  }
  jsStreamInfo_Destroy(info);
  return s == NATS_OK ? HW_BUS_OK : HW_BUS_AWAY;
}

hw__bus_status hw__bus_make(hw__bus *bus, const hw__bus_stream *stream) {
  int64_t last;
  const hw__bus_status there = hw__bus_last(bus, stream->name, &last);
  if (there != HW_BUS_ABSENT) {
    return there == HW_BUS_OK && stream->keep_s > 0 ? set_age(bus, stream) : there;
  }
  jsErrCode code = 0;
  natsStatus s = add_stream(bus, stream, stream->replicas ? (int64_t)stream->replicas : 3, &code);
  if (s != NATS_OK && code == JSStreamReplicasNotSupportedErr && !stream->replicas) {
    s = add_stream(bus, stream, 1, &code);
  }
  return s == NATS_OK || code == JSStreamNameExistErr ? HW_BUS_OK : HW_BUS_AWAY;
}

hw__bus_status hw__bus_last(hw__bus *bus, const char *stream, int64_t *seq) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  const natsStatus s = js_GetStreamInfo(&info, bus->js, stream, NULL, &code);
  if (s == NATS_OK) {
    *seq = (int64_t)info->State.LastSeq;
  }
  jsStreamInfo_Destroy(info);
  return s == NATS_OK ? HW_BUS_OK : code == JSStreamNotFoundErr ? HW_BUS_ABSENT : HW_BUS_AWAY;
}

bool hw__bus_can_store(hw__bus *bus, const char *stream) {
  jsStreamInfo *info = NULL;
  if (js_GetStreamInfo(&info, bus->js, stream, NULL, NULL) != NATS_OK) {
    return false;
  }
  const int others = info->Cluster ? info->Cluster->ReplicasLen : 0;
  int well = 1; /* who answers leads */
  for (int i = 0; i < others; i++) {
    const jsPeerInfo *peer = info->Cluster->Replicas[i];
    well += !peer->Offline && peer->Active < SILENT_MS * INT64_C(1000000);
  }
  jsStreamInfo_Destroy(info);
  return 2 * well > others + 1;
}

/* The server does not tell clients its version. Streams can be compressed since 2.10, so that is what we test. */
bool hw__bus_may_fork(hw__bus *bus, const char *stream) {
  char subject[128];
  natsMsg *answer = NULL;
  snprintf(subject, sizeof subject, "$JS.API.STREAM.INFO.%s", stream);
  if (natsConnection_RequestString(&answer, bus->connection, subject, "", API_MS) != NATS_OK) {
    return false;
  }
  json_t *root = hw__json_read(natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer));
  const json_t *config = json_object_get(root, "config");
  const bool may =
      json_integer_value(json_object_get(config, "num_replicas")) > 1 && !json_object_get(config, "compression");
  json_decref(root);
  natsMsg_Destroy(answer);
  return may;
}

hw__bus_status hw__bus_get_message(hw__bus *bus, const char *stream, const char *subject, hw__bus_message *out) {
  natsMsg *message = NULL;
  jsErrCode code = 0;
  const natsStatus s = js_GetLastMsg(&message, bus->js, stream, subject, NULL, &code);
  if (s != NATS_OK) {
    return s == NATS_NOT_FOUND || code == JSNoMessageFoundErr ? HW_BUS_ABSENT : HW_BUS_AWAY;
  }
  *out = (hw__bus_message){.seq = (int64_t)natsMsg_GetSequence(message),
                           .time_us = natsMsg_GetTime(message) / 1000,
                           .subject = natsMsg_GetSubject(message),
                           .data = natsMsg_GetData(message),
                           .size = (size_t)natsMsg_GetDataLength(message),
                           .handle = message};
  return HW_BUS_OK;
}

void hw__bus_message_free(hw__bus_message *message) {
  natsMsg_Destroy(message->handle);
  message->handle = NULL;
}

/* --- keys --- */

hw__bus_status hw__bus_get(hw__bus *bus, const char *bucket, const char *key, char *value, size_t size,
                           int64_t *revision) {
  char stream[64], subject[160];
  hw__bus_message message;
  snprintf(stream, sizeof stream, "KV_%s", bucket);
  snprintf(subject, sizeof subject, "$KV.%s.%s", bucket, key);
  const hw__bus_status status = hw__bus_get_message(bus, stream, subject, &message);
  if (status == HW_BUS_OK) {
    snprintf(value, size, "%.*s", (int)message.size, message.data ? message.data : "");
    *revision = message.seq;
    hw__bus_message_free(&message);
  }
  return status;
}

hw__bus_status hw__bus_set(hw__bus *bus, const char *bucket, const char *key, const char *value, int64_t expected,
                           int64_t *revision) {
  char subject[160];
  snprintf(subject, sizeof subject, "$KV.%s.%s", bucket, key);
  hw__bus_letter letter = {
      .subject = subject, .data = value, .size = strlen(value), .guarded = true, .expected = expected};
  const hw__bus_status status = hw__bus_publish(bus, &letter, 1, API_MS);
  *revision = status == HW_BUS_OK ? letter.seq : *revision;
  return status;
}

/* --- words in passing --- */

static void on_word(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
  (void)connection;
  (void)subscription;
  const hw__bus *bus = context;
  bus->hear(bus->hear_context, natsMsg_GetSubject(message));
  natsMsg_Destroy(message);
}

void hw__bus_say(hw__bus *bus, const char *subject) {
  if (hw__bus_connected(bus)) {
    natsConnection_Publish(bus->connection, subject, NULL, 0);
  }
}

hw__bus_status hw__bus_listen(hw__bus *bus, const char *pattern, hw__bus_hear hear, void *context) {
  bus->hear = hear;
  bus->hear_context = context;
  return natsConnection_Subscribe(&bus->words, bus->connection, pattern, on_word, bus) == NATS_OK ? HW_BUS_OK
                                                                                                  : HW_BUS_AWAY;
}
