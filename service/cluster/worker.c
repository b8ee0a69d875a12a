#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cluster/worker_inside.h"

enum {
  TICK_MS = 250,
  LOOK_MS = 500,    /* between looks at the leases of others */
  LISTEN_MS = 1500, /* at the start, before anything is taken */
  TAKE_OVER_MS =
      2500, /* listening before another engine takes the cluster over; workers announce themselves every second */
  SILENT_WORKER_MS = 4000, /* a worker that was not heard of for this long is gone */
  SETTLED_MS = 2500,       /* partitions may move when the roster has not changed for this long */
  UNCLAIMED_MS = 3000,     /* a partition that was free for this long may be taken by any worker */
  FAILED_MS = 60000 /* after a partition failed here, how long it is not tried again and we do not announce ourselves */
};

/* --- who else is there --- */

/* "hw.worker.NAME.ENGINE"; the first version named no engine. Partitions are shared only with workers of our own
 * engine. */
static void hear(void *context, const char *subject) {
  hw__worker *w = context;
  char name[HW_ROSTER_NAME] = "";
  int64_t engine = 1;
  if (sscanf(subject, "hw.worker.%63[^.].%" SCNd64, name, &engine) < 1) {
    return;
  }
  pthread_mutex_lock(&w->lock);
  if (engine == HW_ENGINE) {
    hw__roster_hear(&w->roster, name, hw__clock_ms());
  } else if (!w->strange[0]) {
    memcpy(w->strange, name, sizeof name);
    w->strange_engine = engine;
    hw__log_fields(HW_LOG_ERROR, "another_engine", "{s:s, s:I, s:I}", "worker", name, "engine", (json_int_t)engine,
                   "expected", (json_int_t)HW_ENGINE);
  }
  pthread_mutex_unlock(&w->lock);
}

static hw_status listen_to_others(hw__worker *w) {
  w->listens = w->listens || hw__bus_listen(w->cluster.bus, "hw.worker.>", hear, w) == HW_BUS_OK;
  return w->listens ? HW_OK : HW_EIO;
}

/* The cluster was processed by an older engine. Listen before taking it over: with two engines at work every
 * incident would show two answers in turn. */
static hw_status take_over(hw__worker *w, hw_error *error) {
  if (listen_to_others(w) != HW_OK) {
    return HW_EIO;
  }
  hw__clock_nap_ms(TAKE_OVER_MS);
  pthread_mutex_lock(&w->lock);
  const bool alone = !w->strange[0];
  if (!alone) {
    snprintf(error->text, sizeof error->text,
             "worker %s has engine %lld, this program has engine %d: expected one engine in a cluster, stop the "
             "others first",
             w->strange, (long long)w->strange_engine, HW_ENGINE);
  }
  pthread_mutex_unlock(&w->lock);
  if (!alone) {
    return HW_EINPUT;
  }
  hw__logf(HW_LOG_INFO, "engine_taken_over", "former", "%lld", (long long)w->cluster.engine);
  return hw__cluster_take_over(&w->cluster) == HW_BUS_AWAY ? HW_EIO : HW_OK;
}

/* Returned: true when the assignment of partitions has not changed for a while. */
static bool think(hw__worker *w) {
  const int64_t now_ms = hw__clock_ms();
  pthread_mutex_lock(&w->lock);
  hw__roster_hear(&w->roster, w->name, now_ms);
  hw__roster_forget(&w->roster, now_ms - SILENT_WORKER_MS, now_ms);
  hw__rebalance(&w->roster, w->cluster.partitions, w->ought);
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    w->ought[p] = strcmp(w->roster.names[w->ought[p]], w->name) == 0; /* all that matters here: ours or not */
  }
  const bool settled = now_ms - w->roster.changed_ms > SETTLED_MS;
  atomic_store(&w->monitored.workers_known, (double)w->roster.count);
  pthread_mutex_unlock(&w->lock);
  return settled;
}

/* --- taking and leaving --- */

static void take(hw__worker *w, size_t p) {
  hw__lease *lease = &w->leases[p];
  if (hw__lease_take(lease) != HW_BUS_OK) {
    return;
  }
  hw__metric_add(HW_METRIC_LEASES_TAKEN, 1);
  hw__log_fields(HW_LOG_INFO, "lease_taken", "{s:I, s:I}", "partition", (json_int_t)p, "fence",
                 (json_int_t)lease->fence);
  if (hw__partition_start(&w->plan, lease, &w->partitions[p]) != HW_OK) {
    hw__lease_release(lease);
  }
}

static void look_around(hw__worker *w) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    hw__lease *lease = &w->leases[p];
    if (w->partitions[p] || hw__clock_ms() < w->not_before_ms[p]) {
      continue;
    }
    if (hw__lease_look(lease) != HW_BUS_OK) {
      w->began_ms = hw__clock_ms(); /* the cluster did not answer, so we did not hear the other workers either: renew,
                                       and listen before taking anything */
      return;
    }
    if (hw__lease_is_free(lease) && (w->ought[p] || hw__lease_free_ms(lease) > UNCLAIMED_MS)) {
      take(w, p);
    }
  }
}

/* Those that stopped, and those whose lease went. */
static void sweep(hw__worker *w) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    hw__lease *lease = &w->leases[p];
    if (w->partitions[p] && hw__partition_ended(w->partitions[p])) {
      if (hw__partition_failed(w->partitions[p])) {
        w->not_before_ms[p] = hw__clock_ms() + FAILED_MS;
      }
      hw__partition_free(w->partitions[p]);
      w->partitions[p] = NULL;
      if (hw__lease_holds(lease)) {
        hw__log_fields(HW_LOG_INFO, "lease_released", "{s:I, s:I}", "partition", (json_int_t)p, "fence",
                       (json_int_t)lease->fence);
        hw__lease_release(lease);
      } else {
        atomic_store(&lease->held, false);
        hw__metric_add(HW_METRIC_LEASES_LOST, 1);
        hw__log_fields(HW_LOG_WARNING, "lease_lost", "{s:I, s:I}", "partition", (json_int_t)p, "fence",
                       (json_int_t)lease->fence);
      }
    }
  }
}

static void show(hw__worker *w) {
  size_t held = 0;
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    held += w->partitions[p] != NULL && hw__lease_holds(&w->leases[p]);
  }
  atomic_store(&w->monitored.partitions_held, (double)held);
  atomic_store(&w->monitored.connected, hw__bus_connected(w->cluster.bus));
}

/* After a failure here, such as a full disk, this worker gives back what it has and does not announce itself, so
 * that the others take over its share. */
static bool is_unwell(const hw__worker *w, int64_t now_ms) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    if (now_ms < w->not_before_ms[p]) {
      return true;
    }
  }
  return false;
}

static void tick(hw__worker *w) {
  const int64_t now_ms = hw__clock_ms();
  const bool unwell = is_unwell(w, now_ms);
  if (now_ms - w->said_ms >= HW_LEASE_RENEW_MS && !unwell) {
    w->said_ms = now_ms;
    hw__bus_say(w->cluster.bus, w->voice);
  }
  if (now_ms - w->renewed_ms >= HW_LEASE_RENEW_MS) {
    w->renewed_ms = now_ms;
    hw__lease_renew(w->leases, w->cluster.partitions);
  }
  sweep(w);
  const bool settled = think(w);
  if (settled || unwell) {
    for (size_t p = 0; p < w->cluster.partitions; p++) {
      if (w->partitions[p] && (!w->ought[p] || unwell)) {
        hw__partition_ask_stop(w->partitions[p]);
      }
    }
  }
  if (!unwell && now_ms - w->began_ms > LISTEN_MS && now_ms - w->looked_ms >= LOOK_MS) {
    w->looked_ms = now_ms;
    look_around(w);
  }
  show(w);
}

/* --- life --- */

static hw_status join(hw__worker *w, const volatile sig_atomic_t *stop, hw_error *error) {
  const hw_nats_options *nats = &w->options.nats;
  const hw__bus_options connection = {nats->servers, nats->credentials, nats->ca, nats->user, nats->password, w->name};
  const hw__cluster_options wanted = {
      .partitions = nats->partitions, .replicas = nats->replicas, .retention_days = w->options.retention_days};
  hw_status status = hw__bus_open(&connection, &w->cluster.bus, error);
  bool told = false;
  while (status == HW_OK && (status = hw__cluster_join(&w->cluster, &wanted, error)) == HW_EIO && !*stop) {
    const bool older = w->cluster.engine > 0 && w->cluster.engine < HW_ENGINE;
    if (older && (status = take_over(w, error)) != HW_EIO) {
      continue;
    }
    if (!told) {
      hw__log(HW_LOG_WARNING, "cluster_not_joined", "reason", error->text);
      told = true;
    }
    hw__clock_nap_ms(500);
    status = HW_OK;
  }
  status = status == HW_EIO && *stop ? HW_OK : status; /* told to stop while waiting: no failure */
  if (status == HW_OK && !*stop) {
    hw__logf(HW_LOG_INFO, "cluster_joined", "partitions", "%zu", w->cluster.partitions);
  }
  return status;
}

static hw_status prepare(hw__worker *w) {
  const hw_worker_options *o = &w->options;
  const size_t n = w->cluster.partitions;
  w->leases = calloc(n, sizeof *w->leases);
  w->partitions = calloc(n, sizeof *w->partitions);
  w->ought = calloc(n, sizeof *w->ought);
  w->not_before_ms = calloc(n, sizeof *w->not_before_ms);
  if (!w->leases || !w->partitions || !w->ought || !w->not_before_ms) {
    return HW_ENOMEM;
  }
  for (size_t p = 0; p < n; p++) {
    hw__lease_init(&w->leases[p], w->cluster.bus, p, w->owner);
  }
  w->plan = (hw__partition_plan){.cluster = &w->cluster,
                                 .rivers = &w->rivers,
                                 .all = w->catalog,
                                 .dir = o->dir,
                                 .processing = o->processing,
                                 .threads = o->threads,
                                 .copy_s = o->copy_s,
                                 .retention_days = o->retention_days};
  w->began_ms = hw__clock_ms();
  return listen_to_others(w);
}

/* Gives back every lease, so that others need not wait. */
static void leave(hw__worker *w) {
  bool any = w->partitions != NULL;
  for (size_t p = 0; any && p < w->cluster.partitions; p++) {
    if (w->partitions[p]) {
      hw__partition_ask_stop(w->partitions[p]);
    }
  }
  while (any) {
    any = false;
    hw__lease_renew(w->leases, w->cluster.partitions);
    sweep(w);
    for (size_t p = 0; p < w->cluster.partitions; p++) {
      any = any || w->partitions[p];
    }
    hw__clock_nap_ms(any ? 100 : 0);
  }
}

hw_status hw_worker_run(const hw_worker_options *options, const volatile sig_atomic_t *stop, FILE *out,
                        hw_error *error) {
  hw__worker *w = calloc(1, sizeof *w);
  if (!w) {
    return HW_ENOMEM;
  }
  hw__json_watch_memory();
  w->options = *options;
  w->lock_file = -1;
  hw__worker_fill_defaults(&w->options);
  pthread_mutex_init(&w->lock, NULL);
  hw_status status = hw__worker_load(w, error);
  if (status == HW_OK && w->options.listen) {
    status = hw__monitor_start(w->options.listen, &w->monitored, &w->monitor, error);
  }
  if (status == HW_OK) {
    status = join(w, stop, error);
  }
  if (status == HW_OK && !*stop) {
    status = prepare(w);
    if (status == HW_OK && out) {
      fprintf(out, "worker %s: %zu rivers, %zu partitions\n", w->name, w->rivers.count, w->cluster.partitions);
      fflush(out);
    }
    while (status == HW_OK && !*stop) {
      tick(w);
      status = hw__bus_refused(w->cluster.bus, error) ? HW_EIO : HW_OK;
      hw__clock_nap_ms(TICK_MS);
    }
    hw__log(HW_LOG_INFO, "stopping", NULL, NULL);
    leave(w);
  }
  hw__monitor_stop(w->monitor);
  hw__bus_close(w->cluster.bus);
  hw__catalog_free(w->catalog);
  hw__river_files_free(&w->rivers);
  pthread_mutex_destroy(&w->lock);
  if (w->lock_file >= 0) {
    close(w->lock_file);
  }
  free(w->leases);
  free(w->partitions);
  free(w->ought);
  free(w->not_before_ms);
  free(w);
  return status;
}
