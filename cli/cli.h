/* What every verb of the command line shares. The program uses the library through its public headers only. */
#ifndef HW_CLI_CLI_H
#define HW_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headwater/headwater.h"

/* How the program ends; scripts rely on these (docs/manual.md). */
enum {
  EXIT_DONE = 0,
  EXIT_INPUT = 1,   /* a file says something it must not */
  EXIT_USAGE = 2,   /* the command line does */
  EXIT_MACHINE = 3, /* I/O, memory, network */
  EXIT_INTERRUPTED = 130
};

typedef struct {
  const char *name;
  const char *summary;               /* one line */
  int (*run)(int argc, char **argv); /* argv[0] is the verb; returns an exit code */
} cli_verb;

/* Every verb there is. Adding one is adding its file, its lines in meson.build and one line here. */
#define CLI_VERB_LIST(X) \
  X(identify)            \
  X(advise)              \
  X(columns)             \
  X(compare)             \
  X(simulate)            \
  X(regret)              \
  X(plan)                \
  X(check)               \
  X(reproduce)           \
  X(serve)               \
  X(export)              \
  X(import)              \
  X(verify)              \
  X(work)                \
  X(methods)

#define CLI_VERB_EXTERN(name) extern const cli_verb cli_verb_##name;
CLI_VERB_LIST(CLI_VERB_EXTERN)
#undef CLI_VERB_EXTERN

/* One line on stderr, `headwater: ` in front; hands the code back, so that failing is one statement. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, `headwater: warning: `, and no code. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, `headwater: note: `: what was taken for what. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Which exit code a status stands for. */
int cli_exit_code(hw_status status);

/* The word of `words` nearest to `typed`, or NULL when none is near enough to be meant. */
const char *cli_nearest(const char *typed, const char *const *words, size_t count);

/* Writes to stdout; failures show at cli_finish. */
void cli_print(const char *text);
/* Flushes stdout. A write that failed, now or before, turns `code` into EXIT_MACHINE with a message. */
int cli_finish(int code);

/* Set by SIGINT once cli_catch_interrupt was called; a second SIGINT ends the program at once. */
extern volatile sig_atomic_t cli_interrupted;
void cli_catch_interrupt(void);

/* Seconds on a clock that never jumps. */
double cli_now_s(void);

#endif
