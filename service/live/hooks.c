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

#include "base/log.h"
#include "base/metrics.h"
#include "base/rest.h"
#include "live/show.h"

enum { PAGE = 32, TRIES = 5, COMMAND_S = 30, WEBHOOK_S = 10 };

static const char cursor_name[] = "hooks";

struct hw__hooks {
  hw__service *service;
  pthread_t thread;
  int64_t cursor;
};

static size_t swallow(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static bool post(const char *url, const char *body) {
  CURL *curl = curl_easy_init();
  struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
  long code = 0;
  bool ok = curl && headers;
  if (ok) {
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)WEBHOOK_S);
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

/* Wait for the child, but not for ever and not against a stop. */
static bool reap(const hw__service *service, pid_t child) {
  int code = 0;
  for (int tenths = 0; tenths < 10 * COMMAND_S && !atomic_load(&service->stopping); tenths++) {
    if (waitpid(child, &code, WNOHANG) == child) {
      return WIFEXITED(code) && WEXITSTATUS(code) == 0;
    }
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, &code, 0);
  return false;
}

/* No shell: the program gets the event on its standard input and nothing from it on its command line. */
static bool run_command(const hw__service *service, const char *program, const char *body) {
  extern char **environ;
  int ends[2];
  if (pipe(ends) != 0) {
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawn_file_actions_adddup2(&actions, 2, 1); /* our standard output is for the address alone */
  char *const arguments[] = {(char *)program, NULL};
  pid_t child = 0;
  const int fault = posix_spawn(&child, program, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
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

static bool tell_once(const hw__service *service, const char *body, bool *webhook_done, bool *command_done) {
  const hw_serve_options *o = &service->options;
  *webhook_done = *webhook_done || !o->webhook || post(o->webhook, body);
  *command_done = *command_done || !o->command || run_command(service, o->command, body);
  return *webhook_done && *command_done;
}

static void tell(const hw__service *service, const hw__event *event) {
  json_t *root = hw__show_event(service, event);
  char *body = root ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  bool webhook_done = false, command_done = false, told = body == NULL;
  for (int try = 0; try < TRIES && !told && !atomic_load(&service->stopping); try++) {
    told = tell_once(service, body, &webhook_done, &command_done);
    hw__metric_add(told ? HW_METRIC_HOOKS : HW_METRIC_HOOK_FAILURES, 1);
    if (!told && try + 1 < TRIES) {
      hw__rest(&service->stopping, 1000 << try);
    }
  }
  if (!told) {
    hw__logf(HW_LOG_ERROR, "hook_failed", "event", "%lld", (long long)event->id);
  }
  free(body);
}

static hw__db_status run_cursor(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_put_cursor(db, cursor_name, *(const int64_t *)context);
}

static void *tell_all(void *argument) {
  hw__hooks *hooks = argument;
  hw__service *service = hooks->service;
  uint64_t seen = UINT64_MAX;
  while (!atomic_load(&service->stopping)) {
    const uint64_t version = hw__store_wait(service->store, seen, 1000);
    hw__event events[PAGE];
    size_t count = 0;
    hw__db *db = hw__store_reader(service->store);
    if (db) {
      hw__db_events(db, hooks->cursor, false, events, PAGE, &count);
      hw__store_return(service->store, db);
    }
    for (size_t i = 0; i < count; i++) {
      if (!atomic_load(&service->stopping)) {
        tell(service, &events[i]);
      }
      if (!atomic_load(&service->stopping)) {
        hooks->cursor = events[i].id;
        hw__store_write(service->store, run_cursor, &hooks->cursor);
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

/* Where a former run stopped telling, or, the first time, now. */
static hw__db_status find_cursor(hw__hooks *hooks) {
  hw__db *db = hw__store_reader(hooks->service->store);
  hw__db_status status = db ? hw__db_cursor(db, cursor_name, &hooks->cursor) : HW_DB_IO;
  if (status == HW_DB_ABSENT) {
    status = hw__db_last_event(db, &hooks->cursor);
  }
  if (db) {
    hw__store_return(hooks->service->store, db);
  }
  return status == HW_DB_OK ? hw__store_write(hooks->service->store, run_cursor, &hooks->cursor) : status;
}

hw_status hw__hooks_start(hw__service *service, hw__hooks **out, hw_error *error) {
  *out = NULL;
  hw_status status = check(&service->options, error);
  if (status != HW_OK) {
    return status;
  }
  hw__hooks *hooks = calloc(1, sizeof *hooks);
  if (!hooks) {
    return HW_ENOMEM;
  }
  hooks->service = service;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (find_cursor(hooks) != HW_DB_OK || pthread_create(&hooks->thread, NULL, tell_all, hooks) != 0) {
    free(hooks);
    snprintf(error->text, sizeof error->text, "hooks do not start");
    return HW_EIO;
  }
  *out = hooks;
  return HW_OK;
}

void hw__hooks_stop(hw__hooks *hooks) {
  if (hooks) {
    pthread_join(hooks->thread, NULL);
    curl_global_cleanup();
    free(hooks);
  }
}
