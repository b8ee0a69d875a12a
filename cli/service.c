#include "cli/service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const char *take(const char *name, const char *what, char *out, size_t size) {
  char variable[64];
  snprintf(variable, sizeof variable, "%s_%s", name, what);
  const char *value = getenv(variable);
  if (!value) {
    return NULL;
  }
  snprintf(out, size, "%s", value);
  unsetenv(variable);
  return out;
}

void cli_take_login(const char *name, cli_login *login, const char **user, const char **password) {
  *user = take(name, "USER", login->user, sizeof login->user);
  *password = take(name, "PASSWORD", login->password, sizeof login->password);
}

void cli_catch_signal(int number, void (*handler)(int number)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

void cli_catch_stop(void (*handler)(int number)) {
  cli_catch_signal(SIGTERM, handler);
  cli_catch_signal(SIGINT, handler);
  cli_catch_signal(SIGPIPE, SIG_IGN);
  cli_catch_signal(SIGXFSZ, SIG_IGN);
}

int cli_end_service(hw_status status, const hw_error *error) {
  if (status == HW_OK) {
    return cli_finish(EXIT_DONE);
  }
  return cli_fail(cli_exit_code(status), "%s", error->text[0] ? error->text : hw_status_text(status));
}
