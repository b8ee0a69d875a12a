#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "metrics.h"
#include "partition.h"
#include "share.h"
#include "watch.h"

enum {
  TICK_MS = 250,
  LOOK_MS = 500,           /* between looks at the leases of others */
  LISTEN_MS = 1500,        /* at the start, before anything is taken */
  SILENT_WORKER_MS = 4000, /* not heard of for so long: gone */
  SETTLED_MS = 2500,       /* the roster has not changed for so long: partitions may move */
  UNCLAIMED_MS = 3000,     /* free for so long: anybody's */
  FAILED_MS = 60000        /* a partition that failed here is not tried again before, and others are not told of us */
};

typedef struct {
  hw_worker_options options;
  hw_rivers rivers;
  hw_catalog *catalog;
  hw_cluster cluster;
  hw_partition_plan plan;
  char name[HW_SHARE_NAME], owner[HW_OWNER_SIZE], voice[HW_SHARE_NAME + 16];
  int lock_file;
  pthread_mutex_t lock; /* roster */
  hw_roster roster;
  hw_lease *leases;
  hw_partition **partitions; /* NULL where not ours */
  size_t *ought;
  int64_t *not_before_ms; /* a partition that failed here is left alone, and to others, for a while */
  hw_watched watched;
  hw_watch *watch;
  int64_t said_ms, looked_ms, renewed_ms, began_ms;
} worker;

static void fill_defaults(hw_worker_options *o) {
  o->method = o->method ? o->method : "posterior";
  o->seed = o->seed ? o->seed : 1;
  o->candidate_probability = o->candidate_probability > 0 ? o->candidate_probability : 0.8;
  o->intake_probability = o->intake_probability > 0 ? o->intake_probability : 0.5;
  o->lead_in_s = o->lead_in_s > 0 ? o->lead_in_s : 6 * 3600;
  o->quiet_s = o->quiet_s > 0 ? o->quiet_s : 6 * 3600;
  o->copy_s = o->copy_s > 0 ? o->copy_s : 30;
  o->threads = o->threads ? o->threads : 1;
}

/* --- who else is there --- */

static void hear(void *context, const char *subject) {
  worker *w = context;
  const char *name = strrchr(subject, '.');
  if (name && name[1]) {
    pthread_mutex_lock(&w->lock);
    hw__roster_hear(&w->roster, name + 1, hw__bus_now_ms());
    pthread_mutex_unlock(&w->lock);
  }
}

/* Returned: the idea of who ought to have what has stood for a while. */
static bool think(worker *w) {
  const int64_t now_ms = hw__bus_now_ms();
  pthread_mutex_lock(&w->lock);
  hw__roster_hear(&w->roster, w->name, now_ms);
  hw__roster_forget(&w->roster, now_ms - SILENT_WORKER_MS, now_ms);
  hw__share(&w->roster, w->cluster.partitions, w->ought);
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    w->ought[p] = strcmp(w->roster.names[w->ought[p]], w->name) == 0; /* all that matters here: ours or not */
  }
  const bool settled = now_ms - w->roster.changed_ms > SETTLED_MS;
  atomic_store(&w->watched.workers_known, (double)w->roster.count);
  pthread_mutex_unlock(&w->lock);
  return settled;
}

/* --- taking and leaving --- */

static void take(worker *w, size_t p) {
  hw_lease *lease = &w->leases[p];
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

static void look_around(worker *w) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    hw_lease *lease = &w->leases[p];
    if (w->partitions[p] || hw__bus_now_ms() < w->not_before_ms[p]) {
      continue;
    }
    if (hw__lease_look(lease) != HW_BUS_OK) {
      w->began_ms = hw__bus_now_ms(); /* away, and with it the others: renew, and listen before taking */
      return;
    }
    if (hw__lease_is_free(lease) && (w->ought[p] || hw__lease_free_ms(lease) > UNCLAIMED_MS)) {
      take(w, p);
    }
  }
}

/* Those that stopped, and those whose lease went. */
static void sweep(worker *w) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    hw_lease *lease = &w->leases[p];
    if (w->partitions[p] && hw__partition_ended(w->partitions[p])) {
      if (hw__partition_failed(w->partitions[p])) {
        w->not_before_ms[p] = hw__bus_now_ms() + FAILED_MS;
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

static void show(worker *w) {
  size_t held = 0;
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    held += w->partitions[p] != NULL && hw__lease_holds(&w->leases[p]);
  }
  atomic_store(&w->watched.partitions_held, (double)held);
  atomic_store(&w->watched.connected, hw__bus_connected(w->cluster.bus));
}

/* A disk that is full, say. Who does not speak is given nothing: the others take what is his share. */
static bool is_unwell(const worker *w, int64_t now_ms) {
  for (size_t p = 0; p < w->cluster.partitions; p++) {
    if (now_ms < w->not_before_ms[p]) {
      return true;
    }
  }
  return false;
}

static void tick(worker *w) {
  const int64_t now_ms = hw__bus_now_ms();
  if (now_ms - w->said_ms >= HW_LEASE_RENEW_MS && !is_unwell(w, now_ms)) {
    w->said_ms = now_ms;
    hw__bus_say(w->cluster.bus, w->voice);
  }
  if (now_ms - w->renewed_ms >= HW_LEASE_RENEW_MS) {
    w->renewed_ms = now_ms;
    hw__lease_renew(w->leases, w->cluster.partitions);
  }
  sweep(w);
  const bool settled = think(w);
  if (settled) {
    for (size_t p = 0; p < w->cluster.partitions; p++) {
      if (w->partitions[p] && !w->ought[p]) {
        hw__partition_ask_stop(w->partitions[p]);
      }
    }
  }
  if (now_ms - w->began_ms > LISTEN_MS && now_ms - w->looked_ms >= LOOK_MS) {
    w->looked_ms = now_ms;
    look_around(w);
  }
  show(w);
}

/* --- life --- */

static hw_status set_names(worker *w, hw_error *error) {
  char host[40] = "worker";
  uint64_t chance = 0;
  gethostname(host, sizeof host - 1);
  if (w->options.name) {
    snprintf(w->name, sizeof w->name, "%s", w->options.name);
  } else {
    snprintf(w->name, sizeof w->name, "%.32s-%ld", host, (long)getpid());
    for (char *c = w->name; *c; c++) {
      *c = *c == '.' ? '-' : *c;
    }
  }
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  if (!w->name[0] || w->name[strspn(w->name, plain)] || (w->options.name && strlen(w->options.name) >= HW_SHARE_NAME)) {
    snprintf(error->text, sizeof error->text, "--name %.80s: expected at most %d letters, digits, '_' or '-'",
             w->options.name ? w->options.name : w->name, HW_SHARE_NAME - 1);
    return HW_EINPUT;
  }
  if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance) {
    return HW_EIO;
  }
  /* Another process of the same name is another owner. */
  snprintf(w->owner, sizeof w->owner, "%s/%016llx", w->name, (unsigned long long)chance);
  snprintf(w->voice, sizeof w->voice, "hw.worker.%s", w->name);
  return HW_OK;
}

/* One worker a folder: two would open each other's files. The lock goes with the process. */
static hw_status lock_folder(worker *w, hw_error *error) {
  const char *dir = w->options.dir;
  char path[512];
  snprintf(path, sizeof path, "%.400s/lock", dir);
  if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
    snprintf(error->text, sizeof error->text, "%.400s: %s", dir, strerror(errno));
    return HW_EIO;
  }
  w->lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (w->lock_file < 0 || flock(w->lock_file, LOCK_EX | LOCK_NB) != 0) {
    snprintf(error->text, sizeof error->text, "%.400s: %s", dir,
             errno == EWOULDBLOCK ? "another worker uses this folder, expected one each" : strerror(errno));
    return HW_EIO;
  }
  return HW_OK;
}

static hw_status load(worker *w, hw_error *error) {
  const hw_worker_options *o = &w->options;
  hw_status status = hw__rivers_list(o->rivers, o->river_count, &w->rivers, error);
  status = status == HW_OK ? hw__catalog_create(&w->catalog) : status;
  for (size_t i = 0; i < w->rivers.count && status == HW_OK; i++) {
    status = hw__catalog_load(w->catalog, w->rivers.arguments[i], NULL, NULL, error);
  }
  if (status == HW_OK && !hw_method_find(o->method)) {
    snprintf(error->text, sizeof error->text, "--method %s: no such method (see headwater methods)", o->method);
    status = HW_EINPUT;
  }
  if (status == HW_OK && (!o->nats || !o->dir)) {
    snprintf(error->text, sizeof error->text, "--%s: expected %s", o->nats ? "dir" : "nats",
             o->nats ? "a folder for the databases" : "URL[,URL...]");
    status = HW_EINPUT;
  }
  if (status == HW_OK && o->keep_days > 0 && !(o->keep_days >= 1)) {
    snprintf(error->text, sizeof error->text, "--keep %g: expected a day or more", o->keep_days);
    status = HW_EINPUT;
  }
  status = status == HW_OK ? lock_folder(w, error) : status;
  return status == HW_OK ? set_names(w, error) : status;
}

static hw_status join(worker *w, const volatile sig_atomic_t *stop, hw_error *error) {
  const hw_bus_options connection = {w->options.nats, w->options.nats_credentials, w->options.nats_ca, w->name};
  const hw_cluster_options wanted = {
      .partitions = w->options.partitions, .replicas = w->options.replicas, .keep_days = w->options.keep_days};
  hw_status status = hw__bus_open(&connection, &w->cluster.bus, error);
  bool told = false;
  while (status == HW_OK && (status = hw__cluster_join(&w->cluster, &wanted, error)) == HW_EIO && !*stop) {
    if (!told) {
      hw__log(HW_LOG_WARNING, "cluster_not_joined", "reason", error->text);
      told = true;
    }
    hw__bus_pause_ms(500);
    status = HW_OK;
  }
  if (status == HW_OK && !*stop) {
    hw__logf(HW_LOG_INFO, "cluster_joined", "partitions", "%zu", w->cluster.partitions);
  }
  return status;
}

static hw_status prepare(worker *w) {
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
  w->plan = (hw_partition_plan){.cluster = &w->cluster,
                                .rivers = &w->rivers,
                                .all = w->catalog,
                                .dir = o->dir,
                                .tracking = {.seed = o->seed, .lead_in_s = o->lead_in_s, .quiet_s = o->quiet_s},
                                .solving = {.threads = o->threads,
                                            .level = o->level,
                                            .candidate_probability = o->candidate_probability,
                                            .intake_probability = o->intake_probability},
                                .copy_s = o->copy_s,
                                .keep_days = o->keep_days};
  snprintf(w->plan.tracking.method, sizeof w->plan.tracking.method, "%s", o->method);
  w->began_ms = hw__bus_now_ms();
  return hw__bus_listen(w->cluster.bus, "hw.worker.*", hear, w) == HW_BUS_OK ? HW_OK : HW_EIO;
}

/* Everything handed back, so that others need not wait. */
static void leave(worker *w) {
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
    hw__bus_pause_ms(any ? 100 : 0);
  }
}

hw_status hw_work_run(const hw_worker_options *options, const volatile sig_atomic_t *stop, FILE *out, hw_error *error) {
  worker *w = calloc(1, sizeof *w);
  if (!w) {
    return HW_ENOMEM;
  }
  w->options = *options;
  w->lock_file = -1;
  fill_defaults(&w->options);
  pthread_mutex_init(&w->lock, NULL);
  hw_status status = load(w, error);
  status =
      status == HW_OK && w->options.listen ? hw__watch_start(w->options.listen, &w->watched, &w->watch, error) : status;
  status = status == HW_OK ? join(w, stop, error) : status;
  if (status == HW_OK && !*stop) {
    status = prepare(w);
    if (status == HW_OK && out) {
      fprintf(out, "worker %s: %zu rivers, %zu partitions\n", w->name, w->rivers.count, w->cluster.partitions);
      fflush(out);
    }
    while (status == HW_OK && !*stop) {
      tick(w);
      hw__bus_pause_ms(TICK_MS);
    }
    hw__log(HW_LOG_INFO, "stopping", NULL, NULL);
    leave(w);
  }
  hw__watch_stop(w->watch);
  hw__bus_close(w->cluster.bus);
  hw__catalog_free(w->catalog);
  hw__rivers_free(&w->rivers);
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
