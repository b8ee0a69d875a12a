/* The connection, streams, keys. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus_connection.h"
#include "log.h"

enum { MOST_SERVERS = 32, API_MS = 1500, SILENT_MS = 4000 };

/* --- the connection --- */

static void on_lost(natsConnection *connection, void *context) {
  (void)connection;
  const hw_bus *bus = context;
  if (!atomic_load(&bus->closing)) {
    hw__log(HW_LOG_WARNING, "bus_disconnected", NULL, NULL);
  }
}

static void on_found(natsConnection *connection, void *context) {
  (void)context;
  char url[256] = "";
  natsConnection_GetConnectedUrl(connection, url, sizeof url);
  const char *host = strrchr(url, '@'); /* a password is nobody's business */
  hw__log(HW_LOG_INFO, "bus_connected", "server", host ? host + 1 : url);
}

static void on_fault(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
  (void)connection;
  (void)subscription;
  (void)context;
  hw__log(HW_LOG_DEBUG, "bus_fault", "reason", natsStatus_GetText(status));
}

static natsStatus set_servers(natsOptions *options, const char *list) {
  char *copy = strdup(list);
  const char *servers[MOST_SERVERS];
  int count = 0;
  char *rest = NULL;
  for (char *each = copy ? strtok_r(copy, ",", &rest) : NULL; each && count < MOST_SERVERS;
       each = strtok_r(NULL, ",", &rest)) {
    servers[count++] = each;
  }
  const natsStatus status = count ? natsOptions_SetServers(options, servers, count) : NATS_INVALID_ARG;
  free(copy);
  return status;
}

/* A server that is paused or cut off is noticed within about three seconds; we never give up. */
static natsStatus set_patience(natsOptions *o, hw_bus *bus) {
  natsStatus s = natsOptions_SetMaxReconnect(o, -1);
  s = s == NATS_OK ? natsOptions_SetReconnectWait(o, 200) : s;
  s = s == NATS_OK ? natsOptions_SetReconnectJitter(o, 100, 100) : s;
  s = s == NATS_OK ? natsOptions_SetTimeout(o, 2000) : s;
  s = s == NATS_OK ? natsOptions_SetPingInterval(o, 1000) : s;
  s = s == NATS_OK ? natsOptions_SetMaxPingsOut(o, 2) : s;
  s = s == NATS_OK ? natsOptions_SetWriteDeadline(o, 3000) : s;
  s = s == NATS_OK ? natsOptions_SetRetryOnFailedConnect(o, true, on_found, NULL) : s;
  s = s == NATS_OK ? natsOptions_SetDisconnectedCB(o, on_lost, bus) : s;
  s = s == NATS_OK ? natsOptions_SetReconnectedCB(o, on_found, NULL) : s;
  return s == NATS_OK ? natsOptions_SetErrorHandler(o, on_fault, NULL) : s;
}

static natsStatus connect_bus(hw_bus *bus, const hw_bus_options *options) {
  natsOptions *o = NULL;
  natsStatus s = natsOptions_Create(&o);
  s = s == NATS_OK ? set_servers(o, options->servers) : s;
  s = s == NATS_OK ? set_patience(o, bus) : s;
  s = s == NATS_OK ? natsOptions_SetName(o, options->name) : s;
  if (s == NATS_OK && options->credentials) {
    s = natsOptions_SetUserCredentialsFromFiles(o, options->credentials, NULL);
  }
  if (s == NATS_OK && strstr(options->servers, "tls://")) {
    s = natsOptions_SetSecure(o, true);
    s = s == NATS_OK && options->ca ? natsOptions_LoadCATrustedCertificates(o, options->ca) : s;
  }
  s = s == NATS_OK ? natsConnection_Connect(&bus->connection, o) : s;
  s = s == NATS_NOT_YET_CONNECTED ? NATS_OK : s;
  natsOptions_Destroy(o);
  return s;
}

static natsStatus set_up(hw_bus *bus) {
  jsOptions jetstream;
  natsInbox *inbox = NULL;
  natsStatus s = jsOptions_Init(&jetstream);
  jetstream.Wait = API_MS;
  s = s == NATS_OK ? natsConnection_JetStream(&bus->js, bus->connection, &jetstream) : s;
  s = s == NATS_OK ? natsInbox_Create(&inbox) : s;
  if (s == NATS_OK) {
    char pattern[80];
    snprintf(bus->inbox, sizeof bus->inbox, "%s", inbox);
    snprintf(pattern, sizeof pattern, "%s.*.*", bus->inbox);
    s = natsConnection_Subscribe(&bus->answers, bus->connection, pattern, hw__bus_on_answer, bus);
    s = s == NATS_OK ? natsSubscription_SetPendingLimits(bus->answers, -1, -1) : s;
  }
  natsInbox_Destroy(inbox);
  return s;
}

hw_status hw__bus_open(const hw_bus_options *options, hw_bus **out, hw_error *error) {
  *out = NULL;
  hw_bus *bus = calloc(1, sizeof *bus);
  if (!bus) {
    return HW_ENOMEM;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&bus->lock, NULL);
  pthread_cond_init(&bus->answered, &monotonic);
  pthread_condattr_destroy(&monotonic);
  natsStatus s = connect_bus(bus, options);
  s = s == NATS_OK ? set_up(bus) : s;
  if (s != NATS_OK) {
    snprintf(error->text, sizeof error->text, "--nats: %s, expected URL[,URL...] and files that can be read",
             natsStatus_GetText(s));
    hw__bus_close(bus);
    return HW_EINPUT;
  }
  *out = bus;
  return HW_OK;
}

void hw__bus_close(hw_bus *bus) {
  if (bus) {
    atomic_store(&bus->closing, true);
    natsSubscription_Destroy(bus->answers);
    natsSubscription_Destroy(bus->words);
    jsCtx_Destroy(bus->js);
    natsConnection_Close(bus->connection);
    natsConnection_Destroy(bus->connection);
    nats_CloseAndWait(2000);
    pthread_mutex_destroy(&bus->lock);
    pthread_cond_destroy(&bus->answered);
    free(bus);
  }
}

bool hw__bus_connected(const hw_bus *bus) {
  return natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED;
}

/* --- streams --- */

static natsStatus add_stream(hw_bus *bus, const hw_bus_stream *stream, int64_t replicas, jsErrCode *code) {
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

/* A stream that is there gets the age asked for now. */
static hw_bus_status set_age(hw_bus *bus, const hw_bus_stream *stream) {
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

hw_bus_status hw__bus_make(hw_bus *bus, const hw_bus_stream *stream) {
  int64_t last;
  const hw_bus_status there = hw__bus_last(bus, stream->name, &last);
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

hw_bus_status hw__bus_last(hw_bus *bus, const char *stream, int64_t *seq) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  const natsStatus s = js_GetStreamInfo(&info, bus->js, stream, NULL, &code);
  if (s == NATS_OK) {
    *seq = (int64_t)info->State.LastSeq;
  }
  jsStreamInfo_Destroy(info);
  return s == NATS_OK ? HW_BUS_OK : code == JSStreamNotFoundErr ? HW_BUS_ABSENT : HW_BUS_AWAY;
}

bool hw__bus_can_store(hw_bus *bus, const char *stream) {
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

/* No version is told to clients; that a stream can be compressed came with 2.10. */
bool hw__bus_may_fork(hw_bus *bus, const char *stream) {
  char subject[128];
  natsMsg *answer = NULL;
  snprintf(subject, sizeof subject, "$JS.API.STREAM.INFO.%s", stream);
  if (natsConnection_RequestString(&answer, bus->connection, subject, "", API_MS) != NATS_OK) {
    return false;
  }
  json_t *root = json_loadb(natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer), 0, NULL);
  const json_t *config = json_object_get(root, "config");
  const bool may =
      json_integer_value(json_object_get(config, "num_replicas")) > 1 && !json_object_get(config, "compression");
  json_decref(root);
  natsMsg_Destroy(answer);
  return may;
}

hw_bus_status hw__bus_message(hw_bus *bus, const char *stream, const char *subject, hw_bus_message *out) {
  natsMsg *message = NULL;
  jsErrCode code = 0;
  const natsStatus s = js_GetLastMsg(&message, bus->js, stream, subject, NULL, &code);
  if (s != NATS_OK) {
    return s == NATS_NOT_FOUND || code == JSNoMessageFoundErr ? HW_BUS_ABSENT : HW_BUS_AWAY;
  }
  *out = (hw_bus_message){.seq = (int64_t)natsMsg_GetSequence(message),
                          .time_us = natsMsg_GetTime(message) / 1000,
                          .subject = natsMsg_GetSubject(message),
                          .data = natsMsg_GetData(message),
                          .size = (size_t)natsMsg_GetDataLength(message),
                          .handle = message};
  return HW_BUS_OK;
}

void hw__bus_message_free(hw_bus_message *message) {
  natsMsg_Destroy(message->handle);
  message->handle = NULL;
}

/* --- keys --- */

hw_bus_status hw__bus_get(hw_bus *bus, const char *bucket, const char *key, char *value, size_t size,
                          int64_t *revision) {
  char stream[64], subject[160];
  hw_bus_message message;
  snprintf(stream, sizeof stream, "KV_%s", bucket);
  snprintf(subject, sizeof subject, "$KV.%s.%s", bucket, key);
  const hw_bus_status status = hw__bus_message(bus, stream, subject, &message);
  if (status == HW_BUS_OK) {
    snprintf(value, size, "%.*s", (int)message.size, message.data ? message.data : "");
    *revision = message.seq;
    hw__bus_message_free(&message);
  }
  return status;
}

hw_bus_status hw__bus_set(hw_bus *bus, const char *bucket, const char *key, const char *value, int64_t expected,
                          int64_t *revision) {
  char subject[160];
  snprintf(subject, sizeof subject, "$KV.%s.%s", bucket, key);
  hw_bus_letter letter = {
      .subject = subject, .data = value, .size = strlen(value), .guarded = true, .expected = expected};
  const hw_bus_status status = hw__bus_publish(bus, &letter, 1, API_MS);
  *revision = status == HW_BUS_OK ? letter.seq : *revision;
  return status;
}

/* --- words in passing --- */

static void on_word(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
  (void)connection;
  (void)subscription;
  const hw_bus *bus = context;
  bus->hear(bus->hear_context, natsMsg_GetSubject(message));
  natsMsg_Destroy(message);
}

void hw__bus_say(hw_bus *bus, const char *subject) {
  if (hw__bus_connected(bus)) {
    natsConnection_Publish(bus->connection, subject, NULL, 0);
  }
}

hw_bus_status hw__bus_listen(hw_bus *bus, const char *pattern, hw_bus_hear hear, void *context) {
  bus->hear = hear;
  bus->hear_context = context;
  return natsConnection_Subscribe(&bus->words, bus->connection, pattern, on_word, bus) == NATS_OK ? HW_BUS_OK
                                                                                                  : HW_BUS_AWAY;
}
