#include "live/hooks.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rest.h"
#include "live/show.h"

enum { PAGE = 32, TRIES = 5, COMMAND_S = 30, WEBHOOK_MS = 5000, PATIENCE_MS = 15000 };

/* A receiver of events. Returned: true when it took the event. */
typedef bool (*teller)(const hw__service *service, const char *body, int64_t patience_ms);

typedef struct {
  hw__service *service;
  const char *name; /* of the cursor */
  teller tell;
  pthread_t thread;
  int64_t cursor;
} receiver;

struct hw__hooks {
  receiver receivers[2];
  size_t count;
};

static size_t swallow(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static int stop_with_service(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)a, (void)b, (void)c, (void)d;
  return atomic_load(&((const hw__service *)context)->stopping);
}

static bool post(const hw__service *service, const char *body, int64_t patience_ms) {
  CURL *curl = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  long code = 0;
  bool ok = curl && headers;
  if (ok) {
    curl_easy_setopt(curl, CURLOPT_URL, service->options.webhook);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(patience_ms < WEBHOOK_MS ? patience_ms : WEBHOOK_MS));
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_with_service);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, service);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, swallow);
    ok = curl_easy_perform(curl) == CURLE_OK && curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK &&
         code >= 200 && code < 300;
  }
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return ok;
}

/* Waits for the child, but not for ever, and no longer once the service stops. */
static bool reap(const hw__service *service, pid_t child) {
  int code = 0;
  for (int tenths = 0; tenths < 10 * COMMAND_S && !atomic_load(&service->stopping); tenths++) {
    if (waitpid(child, &code, WNOHANG) == child) {
      return WIFEXITED(code) && WEXITSTATUS(code) == 0;
    }
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  kill(-child, SIGKILL); /* and whatever it waits for */
  waitpid(child, &code, 0);
  return false;
}

/* Variables that children must not see: where the data are, and passwords. */
static bool is_secret(const char *variable) {
  return strncmp(variable, "PG", 2) == 0 || strncmp(variable, "HEADWATER_", 10) == 0;
}

/* The environment without it; NULL without memory. The strings are borrowed. */
static char **environment_of_hooks(void) {
  extern char **environ;
  size_t count = 0, kept = 0;
  while (environ[count]) {
    count++;
  }
  char **out = calloc(count + 1, sizeof *out);
  for (size_t i = 0; out && i < count; i++) {
    if (!is_secret(environ[i])) {
      out[kept++] = environ[i];
    }
  }
  return out;
}

/* No shell: the program gets the event on its standard input and nothing from it on its command line. */
static bool run_command(const hw__service *service, const char *body, int64_t patience_ms) {
  (void)patience_ms; /* a program that sends mail takes the time it needs */
  char *program = (char *)service->options.command;
  char **environment = environment_of_hooks();
  int ends[2];
  if (!environment || pipe(ends) != 0) {
    free(environment);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_adddup2(&actions, 2, 1); /* our standard output is only for the address */
  posix_spawnattr_t group;                          /* of its own, with all that it starts */
  posix_spawnattr_init(&group);
  posix_spawnattr_setpgroup(&group, 0);
  posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
  char *const arguments[] = {program, NULL};
  pid_t child = 0;
  const int fault = posix_spawn(&child, program, &actions, &group, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&group);
  free(environment);
  close(ends[0]);
  bool ok = fault == 0;
  if (ok) {
    const size_t size = strlen(body);
    /* An event is far smaller than a pipe, so this cannot block; a program may ignore it. */
    const ssize_t put = write(ends[1], body, size);
    (void)put;
  }
  close(ends[1]);
  return ok && reap(service, child);
}

static void tell(const receiver *r, const hw__event *event) {
  const hw__service *service = r->service;
  json_t *root = hw__show_event(service, event);
  char *body = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  bool told = false;
  const int64_t until_ms = hw__clock_ms() + PATIENCE_MS;
  int64_t left_ms = PATIENCE_MS;
  for (int try = 0; try < TRIES && body && !told && left_ms > 0 && !atomic_load(&service->stopping); try++) {
    told = r->tell(service, body, left_ms);
    hw__metric_add(told ? HW_METRIC_HOOKS : HW_METRIC_HOOK_FAILURES, 1);
    left_ms = until_ms - hw__clock_ms();
    if (!told && try + 1 < TRIES && left_ms > 0) {
      hw__rest(&service->stopping, 1000 << try < left_ms ? 1000 << try : (int)left_ms);
    }
  }
  if (!told) {
    hw__logf(HW_LOG_ERROR, "hook_failed", "id", "%lld", (long long)event->id);
  }
  free(body);
}

typedef struct {
  const char *name;
  int64_t at;
} cursor_job;

static hw__db_status run_cursor(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const cursor_job *job = context;
  return hw__db_put_cursor(db, job->name, job->at);
}

static hw__db_status store_cursor(const receiver *r) {
  cursor_job job = {r->name, r->cursor};
  return hw__store_write(r->service->store, run_cursor, &job);
}

static void *tell_all(void *argument) {
  receiver *r = argument;
  hw__service *service = r->service;
  uint64_t seen = UINT64_MAX;
  while (!atomic_load(&service->stopping)) {
    const uint64_t version = hw__store_wait(service->store, seen, 1000);
    hw__event events[PAGE];
    size_t count = 0;
    hw__db *db = hw__store_reader(service->store);
    if (db) {
      hw__db_events(db, r->cursor, false, events, PAGE, &count);
      hw__store_return(service->store, db);
    }
    for (size_t i = 0; i < count; i++) {
      if (!atomic_load(&service->stopping)) {
        tell(r, &events[i]);
      }
      if (!atomic_load(&service->stopping)) {
        r->cursor = events[i].id;
        store_cursor(r);
      }
      free(events[i].body);
    }
    seen = count ? seen : version;
  }
  return NULL;
}

static hw_status check(const hw_serve_options *o, hw_error *error) {
  if (o->webhook && strncmp(o->webhook, "http://", 7) != 0 && strncmp(o->webhook, "https://", 8) != 0) {
    snprintf(error->text, sizeof error->text, "--webhook %.200s: expected http:// or https://", o->webhook);
    return HW_EDOMAIN;
  }
  if (o->command && access(o->command, X_OK) != 0) {
    snprintf(error->text, sizeof error->text, "--command %.200s: %s, expected the path of a program", o->command,
             strerror(errno));
    return HW_EDOMAIN;
  }
  return HW_OK;
}

/* The last event that an earlier run delivered or, the first time, the latest event there is. Earlier versions had
 * one cursor for all receivers. */
static hw__db_status find_cursor(receiver *r) {
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(r->service->store, &db);
  if (status == HW_DB_OK) {
    status = hw__db_cursor(db, r->name, &r->cursor);
  }
  if (status == HW_DB_ABSENT) {
    status = hw__db_cursor(db, "hooks", &r->cursor);
  }
  if (status == HW_DB_ABSENT) {
    status = hw__db_last_event(db, &r->cursor);
  }
  if (db) {
    hw__store_return(r->service->store, db);
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return store_cursor(r);
}

hw_status hw__hooks_start(hw__service *service, hw__hooks **out, hw_error *error) {
  const hw_serve_options *o = &service->options;
  *out = NULL;
  hw_status status = check(o, error);
  if (status != HW_OK) {
    return status;
  }
  hw__hooks *hooks = calloc(1, sizeof *hooks);
  if (!hooks) {
    return HW_ENOMEM;
  }
  const receiver wanted[] = {{.name = o->webhook ? "hooks webhook" : NULL, .tell = post},
                             {.name = o->command ? "hooks command" : NULL, .tell = run_command}};
  curl_global_init(CURL_GLOBAL_DEFAULT);
  *out = hooks;
  for (size_t i = 0; i < 2; i++) {
    receiver *r = &hooks->receivers[hooks->count];
    *r = wanted[i];
    r->service = service;
    if (r->name && (find_cursor(r) != HW_DB_OK || pthread_create(&r->thread, NULL, tell_all, r) != 0)) {
      snprintf(error->text, sizeof error->text, "hooks do not start");
      return HW_EIO; /* stopped together with those that did start */
    }
    hooks->count += r->name != NULL;
  }
  return HW_OK;
}

void hw__hooks_stop(hw__hooks *hooks) {
  if (hooks) {
    for (size_t i = 0; i < hooks->count; i++) {
      pthread_join(hooks->receivers[i].thread, NULL);
    }
    curl_global_cleanup();
    free(hooks);
  }
}
