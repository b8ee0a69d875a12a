/* The connection: made, kept, lost and found again, or refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "bus/connection.h"

enum { MOST_SERVERS = 32 };

static void on_lost(natsConnection *connection, void *context) {
  (void)connection;
  const hw__bus *bus = context;
  if (!atomic_load(&bus->closing)) {
    hw__log(HW_LOG_WARNING, "bus_disconnected", NULL, NULL);
  }
}

static void on_found(natsConnection *connection, void *context) {
  (void)context;
  char url[256] = "";
  natsConnection_GetConnectedUrl(connection, url, sizeof url);
  const char *host = strrchr(url, '@'); /* without passwords: this goes into a log */
  hw__log(HW_LOG_INFO, "bus_connected", "server", host ? host + 1 : url);
}

static void on_fault(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
  (void)connection;
  (void)subscription;
  (void)context;
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    hw__log(HW_LOG_WARNING, "bus_fault", "reason", natsStatus_GetText(status));
  }
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

/* A server that is paused or cut off is noticed within about three seconds. Reconnecting is tried for ever. */
static natsStatus set_patience(natsOptions *o, hw__bus *bus) {
  natsStatus s = natsOptions_SetMaxReconnect(o, -1);
  s = s == NATS_OK ? natsOptions_SetReconnectWait(o, 200) : s;
  s = s == NATS_OK ? natsOptions_SetReconnectJitter(o, 100, 100) : s;
  s = s == NATS_OK ? natsOptions_SetTimeout(o, 2000) : s;
  s = s == NATS_OK ? natsOptions_SetPingInterval(o, 1000) : s;
  s = s == NATS_OK ? natsOptions_SetMaxPingsOut(o, 2) : s;
  s = s == NATS_OK ? natsOptions_SetWriteDeadline(o, 3000) : s;
  s = s == NATS_OK ? natsOptions_SetDisconnectedCB(o, on_lost, bus) : s;
  s = s == NATS_OK ? natsOptions_SetReconnectedCB(o, on_found, NULL) : s;
  return s == NATS_OK ? natsOptions_SetErrorHandler(o, on_fault, NULL) : s;
}

static natsStatus set_options(natsOptions *o, hw__bus *bus, const hw__bus_options *options) {
  natsStatus s = set_servers(o, options->servers);
  s = s == NATS_OK ? set_patience(o, bus) : s;
  s = s == NATS_OK ? natsOptions_SetName(o, options->name) : s;
  if (s == NATS_OK && options->credentials) {
    s = natsOptions_SetUserCredentialsFromFiles(o, options->credentials, NULL);
  }
  if (s == NATS_OK && options->user) {
    s = natsOptions_SetUserInfo(o, options->user, options->password ? options->password : "");
  }
  if (s == NATS_OK && strstr(options->servers, "tls://")) {
    s = natsOptions_SetSecure(o, true);
    s = s == NATS_OK && options->ca ? natsOptions_LoadCATrustedCertificates(o, options->ca) : s;
  }
  return s;
}

/* The first attempt is made in the foreground, because only there the library says what is wrong; later ones are
 * made in the background. A server that refuses us will go on refusing. */
static natsStatus connect_bus(hw__bus *bus, const hw__bus_options *options, hw_error *error) {
  natsOptions *o = NULL;
  natsStatus s = natsOptions_Create(&o);
  s = s == NATS_OK ? set_options(o, bus, options) : s;
  if (s != NATS_OK) {
    snprintf(error->text, sizeof error->text, "--nats: %s, expected URL[,URL...] and files that can be read",
             natsStatus_GetText(s));
    natsOptions_Destroy(o);
    return s;
  }
  s = natsConnection_Connect(&bus->connection, o);
  if (s == NATS_CONNECTION_AUTH_FAILED || s == NATS_SSL_ERROR) {
    const char *words = nats_GetLastError(NULL);
    const char *place = words ? strstr(words, "): ") : NULL; /* where in the library */
    snprintf(error->text, sizeof error->text, "--nats: the server %s: %.200s",
             s == NATS_SSL_ERROR ? "cannot be trusted" : "refuses our credentials",
             place   ? place + 3
             : words ? words
                     : natsStatus_GetText(s));
  } else if (s != NATS_OK) {
    hw__log(HW_LOG_WARNING, "bus_not_connected", "reason", natsStatus_GetText(s));
    s = natsOptions_SetRetryOnFailedConnect(o, true, on_found, NULL);
    s = s == NATS_OK ? natsConnection_Connect(&bus->connection, o) : s;
    s = s == NATS_NOT_YET_CONNECTED ? NATS_OK : s;
    snprintf(error->text, sizeof error->text, "--nats: %s", natsStatus_GetText(s));
  }
  natsOptions_Destroy(o);
  return s;
}

static natsStatus set_up(hw__bus *bus) {
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

hw_status hw__bus_open(const hw__bus_options *options, hw__bus **out, hw_error *error) {
  *out = NULL;
  hw__bus *bus = calloc(1, sizeof *bus);
  if (!bus) {
    return HW_ENOMEM;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&bus->lock, NULL);
  pthread_cond_init(&bus->answered, &monotonic);
  pthread_condattr_destroy(&monotonic);
  const char *files[] = {options->credentials, options->ca};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    if (files[i] && access(files[i], R_OK) != 0) {
      snprintf(error->text, sizeof error->text, "%s: %s", files[i], strerror(errno));
      hw__bus_close(bus);
      return HW_EINPUT;
    }
  }
  natsStatus s = connect_bus(bus, options, error);
  if (s == NATS_OK && (s = set_up(bus)) != NATS_OK) {
    snprintf(error->text, sizeof error->text, "--nats: %s", natsStatus_GetText(s));
  }
  if (s != NATS_OK) {
    hw__bus_close(bus);
    return HW_EDOMAIN;
  }
  *out = bus;
  return HW_OK;
}

void hw__bus_close(hw__bus *bus) {
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

bool hw__bus_connected(const hw__bus *bus) {
  return natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED;
}

bool hw__bus_refused(const hw__bus *bus, hw_error *error) {
  const bool refused = natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CLOSED;
  if (refused) {
    snprintf(error->text, sizeof error->text, "--nats: the servers no longer accept our credentials");
  }
  return refused;
}
