#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete.h"

bool cli_number(const char *text, double *out) {
  return hw_number_parse(text, out) == HW_OK;
}

enum { TRIPLE_SIZE = 160 + HW_ID_SIZE };

static bool parse_whole(const char *text, uint64_t *out) {
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || errno) {
    return false;
  }
  *out = value;
  return true;
}

static bool parse_time(const char *text, cli_time *out) {
  cli_time time = {.given = true};
  if (!cli_number(text, &time.value)) {
    time.calendar = hw_time_parse(text, &time.value) == HW_OK;
    if (!time.calendar) {
      return false;
    }
  }
  *out = time;
  return true;
}

/* Cuts A,B,C into its parts, inside `copy`. */
static bool split_triple(const char *text, char copy[static TRIPLE_SIZE], char *parts[3]) {
  if (strlen(text) >= TRIPLE_SIZE) {
    return false;
  }
  memcpy(copy, text, strlen(text) + 1);
  parts[0] = copy;
  for (size_t i = 1; i < 3; i++) {
    parts[i] = strchr(parts[i - 1], ',');
    if (!parts[i]) {
      return false;
    }
    *parts[i]++ = '\0';
  }
  return true;
}

static bool parse_source(const char *text, cli_source *out) {
  char copy[TRIPLE_SIZE], *parts[3];
  cli_source source = {.given = true};
  if (!split_triple(text, copy, parts)) {
    return false;
  }
  char *place = strrchr(parts[1], ':');
  if (place) {
    *place++ = '\0';
    if (!parts[1][0] || strlen(parts[1]) >= sizeof source.branch) {
      return false;
    }
    memcpy(source.branch, parts[1], strlen(parts[1]) + 1);
    parts[1] = place;
  }
  if (!cli_number(parts[0], &source.mass_g) || !cli_number(parts[1], &source.location_m) ||
      !parse_time(parts[2], &source.time)) {
    return false;
  }
  *out = source;
  return true;
}

static bool parse_span(const char *text, cli_span *out) {
  char copy[TRIPLE_SIZE], *parts[3];
  cli_span span = {.given = true};
  double count = 0;
  if (!split_triple(text, copy, parts) || !cli_number(parts[0], &span.from_m) || !cli_number(parts[1], &span.to_m) ||
      !cli_number(parts[2], &count) || count != floor(count) || !(count >= 0 && count <= 1e6)) {
    return false;
  }
  span.count = (size_t)count;
  *out = span;
  return true;
}

static bool parse_choice(const cli_option *option, const char *text) {
  for (size_t i = 0; option->choices[i]; i++) {
    if (strcmp(option->choices[i], text) == 0) {
      *(const char **)option->target = option->choices[i];
      return true;
    }
  }
  return false;
}

static int complain_choice(const cli_option *option, const char *text) {
  char list[200] = "";
  size_t count = 0, length = 0;
  for (; option->choices[count] && length < sizeof list; count++) {
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", count ? ", " : "", option->choices[count]);
  }
  const char *nearest = cli_nearest(text, option->choices, count);
  return cli_fail(EXIT_USAGE, "--%s '%s', expected one of %s%s%s%s", option->name, text, list,
                  nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* Checks and stores one value. */
static int store(const cli_option *option, const char *text) {
  double number = 0;
  uint64_t whole = 0;
  const char *expected = NULL;
  switch (option->kind) {
    case OPTION_FLAG:
      *(bool *)option->target = true;
      return -1;
    case OPTION_TEXT:
      *(const char **)option->target = text;
      expected = text[0] ? NULL : "some text";
      break;
    case OPTION_NUMBER:
      expected = cli_number(text, &number) ? NULL : "a number";
      break;
    case OPTION_POSITIVE:
      expected = cli_number(text, &number) && number > 0 ? NULL : "a positive number";
      break;
    case OPTION_AMOUNT:
      expected = cli_number(text, &number) && number >= 0 ? NULL : "a number of 0 or more";
      break;
    case OPTION_SHARE:
      expected = cli_number(text, &number) && number > 0 && number < 1 ? NULL : "a number between 0 and 1";
      break;
    case OPTION_COUNT:
      expected = parse_whole(text, &whole) && whole > 0 && whole <= SIZE_MAX ? NULL : "a whole number of 1 or more";
      break;
    case OPTION_THREADS:
      expected = parse_whole(text, &whole) && whole > 0 && whole <= CLI_MOST_THREADS
                     ? NULL
                     : "a whole number from 1 to " CLI_TEXT(CLI_MOST_THREADS);
      break;
    case OPTION_SEED:
      expected = parse_whole(text, &whole) && whole > 0 ? NULL : "a whole number of 1 or more";
      break;
    case OPTION_CHOICE:
      return parse_choice(option, text) ? -1 : complain_choice(option, text);
    case OPTION_SOURCE:
      expected = parse_source(text, option->target) ? NULL : "MASS_G,[BRANCH:]LOCATION_M,TIME_S";
      break;
    case OPTION_SPAN:
      expected = parse_span(text, option->target) ? NULL : "FROM_M,TO_M,COUNT";
      break;
    case OPTION_TIME:
      expected = parse_time(text, option->target) ? NULL : "seconds or an instant such as 2026-03-01T08:15:00Z";
      break;
  }
  if (expected) {
    return cli_fail(EXIT_USAGE, "--%s '%s', expected %s", option->name, text, expected);
  }
  if (option->kind >= OPTION_NUMBER && option->kind <= OPTION_SHARE) {
    *(double *)option->target = number;
  } else if (option->kind == OPTION_COUNT || option->kind == OPTION_THREADS) {
    *(size_t *)option->target = (size_t)whole;
  } else if (option->kind == OPTION_SEED) {
    *(uint64_t *)option->target = whole;
  }
  return -1;
}

static void print_option(const char *name, const char *argument, const char *help) {
  char left[64];
  snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
  printf("  %-28s  %s\n", left, help);
}

static int print_help(const cli_usage *usage) {
  printf("headwater %s: %s\n\nusage: headwater %s %s\n\n%s\n\n", usage->verb->name, usage->verb->summary,
         usage->verb->name, usage->usage, usage->about);
  for (size_t i = 0; i < usage->option_count; i++) {
    print_option(usage->options[i].name, usage->options[i].argument, usage->options[i].help);
  }
  print_option("help", NULL, "this text");
  return cli_finish(EXIT_DONE);
}

static int unknown_option(const cli_usage *usage, const char *typed) {
  const char *words[64] = {"help"};
  size_t count = 1;
  for (size_t i = 0; i < usage->option_count && count < 64; i++) {
    words[count++] = usage->options[i].name;
  }
  const char *nearest = cli_nearest(typed + strspn(typed, "-"), words, count);
  return cli_fail(EXIT_USAGE, "%s: no option %s, expected one of those in 'headwater %s --help'%s%s%s",
                  usage->verb->name, typed, usage->verb->name, nearest ? "; did you mean --" : "",
                  nearest ? nearest : "", nearest ? "?" : "");
}

/* One argument that begins with a dash; *at moves past a value of its own. */
static int take_option(const cli_usage *usage, int argc, char **argv, int *at) {
  const char *typed = argv[*at];
  const char *name = typed + 2;
  const char *equals = strchr(typed, '=');
  const size_t length = equals ? (size_t)(equals - name) : strlen(name);
  if (strncmp(typed, "--", 2) != 0) {
    return strcmp(typed, "-h") == 0 ? print_help(usage) : unknown_option(usage, typed);
  }
  if (strcmp(name, "help") == 0) {
    return print_help(usage);
  }
  if (strcmp(name, "complete") == 0) {
    return cli_complete_options(usage);
  }
  for (size_t i = 0; i < usage->option_count; i++) {
    const cli_option *option = &usage->options[i];
    if (strlen(option->name) != length || strncmp(option->name, name, length) != 0) {
      continue;
    }
    if (option->kind == OPTION_FLAG) {
      return equals ? cli_fail(EXIT_USAGE, "--%s with a value, expected none", option->name) : store(option, "");
    }
    if (equals) {
      return store(option, equals + 1);
    }
    if (*at + 1 >= argc) {
      return cli_fail(EXIT_USAGE, "--%s without its value, expected --%s %s", option->name, option->name,
                      option->argument);
    }
    return store(option, argv[++*at]);
  }
  return unknown_option(usage, typed);
}

int cli_parse(const cli_usage *usage, int argc, char **argv, const char **operands, size_t *more) {
  size_t wanted = 0, named = 0, count = 0;
  for (; usage->positional[named]; named++) {
    wanted += usage->positional[named][0] != '[';
    operands[named] = NULL;
  }
  const size_t most = more ? CLI_MOST_OPERANDS : named;
  bool only_operands = false;
  for (int i = 1; i < argc; i++) {
    if (!only_operands && strcmp(argv[i], "--") == 0) {
      only_operands = true;
    } else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
      const int code = take_option(usage, argc, argv, &i);
      if (code >= 0) {
        return code;
      }
    } else if (count == most) {
      return cli_fail(EXIT_USAGE, "%s: '%s' left over, expected: headwater %s %s", usage->verb->name, argv[i],
                      usage->verb->name, usage->usage);
    } else {
      operands[count++] = argv[i];
    }
  }
  if (count < wanted) {
    return cli_fail(EXIT_USAGE, "%s: no %s given, expected: headwater %s %s", usage->verb->name,
                    usage->positional[count], usage->verb->name, usage->usage);
  }
  if (more) {
    *more = count;
  }
  return -1;
}

bool cli_resolve_time(const hw_river *river, const char *river_path, const cli_time *time, double *time_s) {
  if (time->calendar && !river->search_is_calendar) {
    cli_fail(EXIT_USAGE, "an instant on the command line, but %s counts search.time_s in seconds; expected seconds",
             river_path);
    return false;
  }
  *time_s = time->value;
  return true;
}

static bool resolve_branch(const hw_river *river, const char *river_path, const cli_source *source, size_t *branch) {
  *branch = source->branch[0] ? hw_river_branch(river, source->branch) : hw_river_outlet(river);
  if (*branch == HW_OUTLET) {
    cli_fail(EXIT_USAGE, "branch '%s' on the command line, expected one of those in %s", source->branch, river_path);
    return false;
  }
  if (river->branch_count && source->location_m < river->branches[*branch].head_m) {
    cli_fail(EXIT_USAGE, "a release at %g m, above the head of branch %s; expected %g m or more", source->location_m,
             river->branches[*branch].id, river->branches[*branch].head_m);
    return false;
  }
  return true;
}

bool cli_resolve_source(const hw_river *river, const char *river_path, const cli_source *source, hw_source *out) {
  hw_source resolved = {.mass_g = source->mass_g, .location_m = source->location_m};
  if (!resolve_branch(river, river_path, source, &resolved.branch)) {
    return false;
  }
  if (!cli_resolve_time(river, river_path, &source->time, &resolved.time_s)) {
    return false;
  }
  *out = resolved;
  return true;
}
