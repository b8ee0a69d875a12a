/* Faults, output and interruption: how the program speaks to people and scripts. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

volatile sig_atomic_t cli_interrupted = 0;

static bool colour_on_stderr(void) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return isatty(STDERR_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

static void say(const char *label, const char *format, va_list arguments) {
  const bool colour = colour_on_stderr();
  fprintf(stderr, "%sheadwater:%s %s", colour ? "\033[1m" : "", colour ? "\033[0m" : "", label);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int cli_fail(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("", format, arguments);
  va_end(arguments);
  return code;
}

void cli_warn(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("warning: ", format, arguments);
  va_end(arguments);
}

void cli_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("note: ", format, arguments);
  va_end(arguments);
}

int cli_exit_code(hw_status status) {
  switch (status) {
    case HW_OK:
    case HW_EEND:
      return EXIT_DONE;
    case HW_EINPUT:
    case HW_EHYDRAULICS:
    case HW_EEMPTY:
      return EXIT_INPUT;
    case HW_EDOMAIN:
    case HW_ENAME:
    case HW_EUNSUPPORTED:
      return EXIT_USAGE;
    case HW_ENOMEM:
    case HW_EIO:
    case HW_ENONFINITE:
      break;
  }
  return EXIT_MACHINE;
}

/* Edit distance with swaps of neighbours counted once, over words of at most 32 letters. */
static size_t distance(const char *a, const char *b) {
  enum { LONGEST = 32 };
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST) {
    return LONGEST;
  }
  size_t cost[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++) {
    for (size_t j = 0; j <= m; j++) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      size_t best = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      best = cost[i - 1][j] + 1 < best ? cost[i - 1][j] + 1 : best;
      best = cost[i][j - 1] + 1 < best ? cost[i][j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && cost[i - 2][j - 2] + 1 < best) {
        best = cost[i - 2][j - 2] + 1;
      }
      cost[i][j] = best;
    }
  }
  return cost[n][m];
}

const char *cli_nearest(const char *typed, const char *const *words, size_t count) {
  const char *nearest = NULL;
  size_t least = strlen(typed) / 3 + 2; /* one or two typing errors; more would be another word */
  for (size_t i = 0; i < count; i++) {
    const size_t d = distance(typed, words[i]);
    const bool begun = strlen(typed) >= 3 && strncmp(typed, words[i], strlen(typed)) == 0;
    if (d < least || (begun && !nearest)) {
      least = d < least ? d : least;
      nearest = words[i];
    }
  }
  return nearest;
}

void cli_print(const char *text) {
  fputs(text, stdout);
}

int cli_finish(int code) {
  errno = 0;
  const bool failed = ferror(stdout);
  if (fflush(stdout) != 0 || failed) {
    return cli_fail(EXIT_MACHINE, "standard output: %s", errno ? strerror(errno) : "writing failed");
  }
  return code;
}

static void on_interrupt(int signal) {
  (void)signal;
  cli_interrupted = 1;
}

void cli_catch_interrupt(void) {
  /* No SA_RESTART: a read that waits for a pipe must return. SA_RESETHAND: the second one kills. */
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}

double cli_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
