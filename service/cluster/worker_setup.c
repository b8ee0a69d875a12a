#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/worker_inside.h"
#include "store/retention.h"

void hw__worker_fill_defaults(hw_worker_options *o) {
  hw__processing_fill_defaults(&o->processing);
  o->copy_s = o->copy_s > 0 ? o->copy_s : HW_DEFAULT_COPY_S;
  o->threads = o->threads ? o->threads : HW_DEFAULT_WORKER_THREADS;
}

static hw_status set_names(hw__worker *w, hw_error *error) {
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
  if (!w->name[0] || w->name[strspn(w->name, plain)] ||
      (w->options.name && strlen(w->options.name) >= HW_ROSTER_NAME)) {
    snprintf(error->text, sizeof error->text, "--name %.80s: expected at most %d letters, digits, '_' or '-'",
             w->options.name ? w->options.name : w->name, HW_ROSTER_NAME - 1);
    return HW_EDOMAIN;
  }
  if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance) {
    return HW_EIO;
  }
  /* Two processes with the same name must not look like one owner. */
  snprintf(w->owner, sizeof w->owner, "%s/%016llx", w->name, (unsigned long long)chance);
  snprintf(w->voice, sizeof w->voice, "hw.worker.%s.%d", w->name, HW_ENGINE);
  return HW_OK;
}

/* One worker per folder, because two would open each other's files. The lock ends with the process. */
static hw_status lock_folder(hw__worker *w, hw_error *error) {
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

hw_status hw__worker_load(hw__worker *w, hw_error *error) {
  const hw_worker_options *o = &w->options;
  hw_status status = hw__river_files_list(o->rivers, o->river_count, &w->rivers, error);
  if (status == HW_OK) {
    status = hw__catalog_create(&w->catalog);
  }
  for (size_t i = 0; i < w->rivers.count && status == HW_OK; i++) {
    status = hw__catalog_load(w->catalog, w->rivers.arguments[i], NULL, NULL, error);
  }
  if (status == HW_OK) {
    status = hw__processing_check(&o->processing, error);
  }
  if (status == HW_OK && (!o->nats.servers || !o->dir)) {
    snprintf(error->text, sizeof error->text, "--%s: expected %s", o->nats.servers ? "dir" : "nats",
             o->nats.servers ? "a folder for the databases" : "URL[,URL...]");
    status = HW_EDOMAIN;
  }
  if (status == HW_OK && o->retention_days > 0) {
    status = hw__retention_check(o->retention_days, error);
  }
  if (status == HW_OK) {
    status = lock_folder(w, error);
  }
  if (status != HW_OK) {
    return status;
  }
  return set_names(w, error);
}
