/* Options by table: one row is the option, its check, its help line and its completion. */
#ifndef HW_CLI_OPTIONS_H
#define HW_CLI_OPTIONS_H

#include "cli/cli.h"

/* A number as it stands in the source, as text: for defaults in help lines. */
#define CLI_TEXT(number)  CLI_TEXT_(number)
#define CLI_TEXT_(number) #number

typedef enum {
  OPTION_FLAG,     /* bool */
  OPTION_TEXT,     /* const char * */
  OPTION_NUMBER,   /* double, finite */
  OPTION_POSITIVE, /* double > 0 */
  OPTION_AMOUNT,   /* double >= 0 */
  OPTION_SHARE,    /* double between 0 and 1, both excluded */
  OPTION_COUNT,    /* size_t >= 1 */
  OPTION_THREADS,  /* size_t from 1 to CLI_MOST_THREADS */
  OPTION_SEED,     /* uint64_t */
  OPTION_CHOICE,   /* const char *, one of `choices` */
  OPTION_SOURCE,   /* cli_source: MASS_G,[BRANCH:]LOCATION_M,TIME_S */
  OPTION_SPAN,     /* cli_span: FROM_M,TO_M,COUNT */
  OPTION_TIME      /* cli_time: seconds or an ISO 8601 instant */
} option_kind;

/* A time as typed: which clock it is on shows once the river is known. */
typedef struct {
  bool given, calendar;
  double value;
} cli_time;

/* A release as typed: which branch is meant shows once the river is known. */
typedef struct {
  bool given;
  char branch[HW_ID_SIZE]; /* empty: the one that joins nothing */
  double mass_g, location_m;
  cli_time time;
} cli_source;

/* So many places along a stretch of the river, both ends among them. */
typedef struct {
  bool given;
  double from_m, to_m;
  size_t count;
} cli_span;

typedef struct {
  const char *name; /* without the dashes */
  option_kind kind;
  void *target;
  const char *argument; /* as shown in the help; NULL for flags */
  const char *help;
  const char *const *choices; /* NULL-terminated, for OPTION_CHOICE */
} cli_option;

typedef struct {
  const cli_verb *verb;
  const char *usage;             /* "RIVER READINGS [options]" */
  const char *about;             /* a paragraph for --help */
  const char *const *positional; /* names of the operands, NULL-terminated */
  const cli_option *options;     /* without --help, which every verb has */
  size_t option_count;
} cli_usage;

enum { CLI_MOST_OPERANDS = 4096 };
/* More of them help nobody, and take what the other programs of the machine need to start theirs. */
#define CLI_MOST_THREADS 1024

/* Parses argv[1..]. Operands land in operands[], as many as usage->positional names: those in brackets, which come
 * last, may be missing and are NULL then. With `more` there may be further ones, up to CLI_MOST_OPERANDS, and *more is
 * how many there are. Returned: -1 to go on; otherwise the exit code to end with (help was printed, or a fault
 * reported).
 */
int cli_parse(const cli_usage *usage, int argc, char **argv, const char **operands, size_t *more);

/* On the river's clock. False, with a fault reported, when an instant meets a river without calendar. */
bool cli_resolve_time(const hw_river *river, const char *river_path, const cli_time *time, double *time_s);
bool cli_resolve_source(const hw_river *river, const char *river_path, const cli_source *source, hw_source *out);

/* A whole text as one finite number. */
bool cli_number(const char *text, double *out);

#endif
