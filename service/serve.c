/* Starts the parts of the service in order and stops them in reverse. */
#include "api/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/log.h"
#include "http/http.h"
#include "live/hooks.h"
#include "live/replay.h"
#include "live/silence.h"
#include "mqtt/mqtt.h"
#include "rivers/river_files.h"
#include "store/upkeep.h"

static void fill_defaults(hw_serve_options *o) {
  o->listen = o->listen ? o->listen : HW_DEFAULT_LISTEN;
  o->store = o->store ? o->store : HW_DEFAULT_STORE;
  hw__processing_fill_defaults(&o->processing);
  o->speed = o->speed > 0 ? o->speed : HW_DEFAULT_SPEED;
  o->future_s = o->future_s > 0 ? o->future_s : HW_DEFAULT_FUTURE_S;
  o->body_limit = o->body_limit ? o->body_limit : HW_DEFAULT_BODY_LIMIT;
  o->rate_per_s = o->rate_per_s > 0 ? o->rate_per_s : HW_DEFAULT_RATE;
  o->connections = o->connections ? o->connections : HW_DEFAULT_CONNECTIONS;
  o->threads = o->threads ? o->threads : HW_DEFAULT_ENGINE_THREADS;
  o->verify_hours = o->verify_hours != 0 ? o->verify_hours : HW_DEFAULT_VERIFY_HOURS;
}

static void warn_of_river(void *context, const char *sentence) {
  (void)context;
  hw__log(HW_LOG_WARNING, "river", "warning", sentence);
}

static hw_status load_rivers(hw__service *service, hw_error *error) {
  const hw_serve_options *o = &service->options;
  hw__river_files rivers = {0};
  hw_status status = hw__river_files_list(o->rivers, o->river_count, &rivers, error);
  if (status == HW_OK) {
    status = hw__catalog_create(&service->catalog);
  }
  for (size_t i = 0; i < rivers.count && status == HW_OK; i++) {
    status = hw__catalog_load(service->catalog, rivers.arguments[i], warn_of_river, NULL, error);
  }
  hw__river_files_free(&rivers);
  if (status == HW_OK) {
    status = hw__processing_check(&o->processing, error);
  }
  if (status == HW_OK) {
    service->time_bases = calloc(hw__catalog_count(service->catalog), sizeof *service->time_bases);
    status = service->time_bases ? HW_OK : HW_ENOMEM;
  }
  if (status == HW_OK && o->token_file) {
    status = hw__auth_load(o->token_file, &service->auth, error);
  }
  return status;
}

static hw_status start_processing(hw__service *service, hw_error *error) {
  const hw_serve_options *o = &service->options;
  if (hw__store_open(o->store, service->catalog, &service->store, error->text, sizeof error->text) != HW_DB_OK) {
    return HW_EIO;
  }
  service->started_us = hw__store_now_us(service->store);
  hw_error why;
  const hw_status status = hw__processing_start(service->store, service->catalog, &o->processing, o->threads,
                                                o->nats.servers != NULL, &service->processing, &why);
  if (status != HW_OK) {
    char name[200];
    hw__db_name(o->store, name, sizeof name);
    snprintf(error->text, sizeof error->text, "%s: %.256s", name, why.text);
  }
  return status;
}

/* In a cluster detection and estimates are the workers' job; this service accepts readings and shows answers. */
static hw_status join_cluster(hw__service *service, hw_error *error) {
  const hw_serve_options *o = &service->options;
  const hw_nats_options *nats = &o->nats;
  const hw__bus_options connection = {nats->servers, nats->credentials, nats->ca,
                                      nats->user,    nats->password,    "headwater-serve"};
  const hw__cluster_options wanted = {.partitions = nats->partitions, .replicas = nats->replicas};
  hw__store_relax(service->store);
  const hw_status status = hw__bus_open(&connection, &service->bus, error);
  if (status != HW_OK) {
    return status;
  }
  return hw__follower_start(service->bus, &wanted, service->store, service->catalog, &service->follower);
}

/* A faulty file changes nothing, so that a typing mistake locks nobody out. */
static void reload_tokens(hw__service *service) {
  hw_error error = {{0}};
  if (!service->auth) {
    hw__log(HW_LOG_WARNING, "tokens_not_reloaded", "reason", "there is no --token-file");
  } else if (hw__auth_reload(service->auth, &error) != HW_OK) {
    hw__log(HW_LOG_ERROR, "tokens_not_reloaded", "reason", error.text);
  } else {
    hw__log(HW_LOG_INFO, "tokens_reloaded", NULL, NULL);
    hw__store_nudge(service->store); /* open streams ask again */
  }
}

/* Waits for a signal, or until the cluster turns out to be the wrong one. */
static hw_status wait_for_stop(hw__service *service, hw_serve_signals *signals, hw_error *error) {
  while (!signals->stop) {
    const struct timespec wait = {0, 200000000};
    nanosleep(&wait, NULL); /* a signal ends it early */
    if (signals->reload) {
      signals->reload = 0;
      reload_tokens(service);
    }
    const hw_status refused = service->follower ? hw__follower_refused(service->follower, error) : HW_OK;
    if (refused != HW_OK) {
      return refused;
    }
    if (service->bus && hw__bus_refused(service->bus, error)) {
      return HW_EIO;
    }
  }
  return HW_OK;
}

static void announce(const hw__service *service, FILE *out) {
  const bool v6 = strchr(service->host, ':') != NULL;
  char address[192];
  snprintf(address, sizeof address, "%s://%s%s%s:%u/", service->tls_cert ? "https" : "http", v6 ? "[" : "",
           service->host, v6 ? "]" : "", service->port);
  hw__log(HW_LOG_INFO, "listening", "address", address);
  if (out) {
    fprintf(out, "%s\n", address);
    fflush(out);
  }
}

/* Everything beside the service itself that runs while it does. */
typedef struct {
  hw__silence *silence;
  hw__hooks *hooks;
  hw__upkeep upkeep;
  hw__mqtt *mqtt;
  hw__replay *replay;
} helpers;

static hw_status start(hw__service *service, helpers *h, FILE *out, hw_error *error) {
  const hw_serve_options *o = &service->options;
  hw_status status = load_rivers(service, error);
  if (status == HW_OK) {
    status = hw__http_prepare(service, error);
  }
  if (status == HW_OK) {
    status = start_processing(service, error);
  }
  if (status == HW_OK && o->nats.servers) {
    status = join_cluster(service, error);
  }
  if (status == HW_OK) {
    status = hw__http_start(service, error);
  }
  if (status == HW_OK) {
    status = hw__silence_start(service, &h->silence, error);
  }
  if (status == HW_OK && (o->webhook || o->command)) {
    status = hw__hooks_start(service, &h->hooks, error);
  }
  if (status == HW_OK) {
    status =
        hw__upkeep_start(service->store, o->retention_days, o->verify_hours, &service->stopping, &h->upkeep, error);
  }
  if (status == HW_OK && o->mqtt) {
    status = hw__mqtt_start(service, &h->mqtt, error);
  }
  if (status == HW_OK) {
    announce(service, out);
  }
  if (status == HW_OK && o->replay) {
    status = hw__replay_start(service, o->replay, o->speed, &h->replay, error);
  }
  return status;
}

/* First the parts that bring readings in, then those that process them, and the store last. */
static void stop(hw__service *service, helpers *h) {
  atomic_store(&service->stopping, true);
  if (service->store) {
    hw__store_wake_for_stop(service->store);
  }
  hw__replay_stop(h->replay);
  hw__mqtt_stop(h->mqtt);
  hw__http_stop(service);
  hw__silence_stop(h->silence);
  hw__upkeep_stop(&h->upkeep);
  hw__hooks_stop(h->hooks);
  hw__follower_stop(service->follower);
  hw__processing_stop(&service->processing);
  hw__store_close(service->store);
  hw__bus_close(service->bus);
  hw__auth_free(service->auth);
  hw__catalog_free(service->catalog);
  free((void *)service->time_bases);
}

hw_status hw_serve(const hw_serve_options *options, hw_serve_signals *signals, FILE *out, hw_error *error) {
  hw__service service = {.options = *options};
  helpers beside = {0};
  hw__json_watch_memory();
  fill_defaults(&service.options);
  hw_status status = start(&service, &beside, out, error);
  if (status == HW_OK) {
    status = wait_for_stop(&service, signals, error);
    hw__log(HW_LOG_INFO, "stopping", NULL, NULL);
  }
  stop(&service, &beside);
  return status;
}
