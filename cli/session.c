#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

const char *const cli_formats[] = {"text", "json", NULL};
const char *const cli_variants[] = {"resolved", "corrected", "printed", NULL};
static const hw_variant variants[] = {HW_RESOLVED, HW_CORRECTED, HW_PRINTED};
static const char *const searches[] = {"algorithm2", "armijo",   "generic",
                                       "exact",      "constant", NULL}; /* hw_line_search */

enum { MOST_NOTES = 100 };

static void add_note(cli_notes *notes, const char *sentence) {
  if (notes->count == MOST_NOTES) {
    return;
  }
  if (!notes->sentences) {
    notes->sentences = calloc(MOST_NOTES, sizeof *notes->sentences);
  }
  char *copy = notes->sentences ? strdup(sentence) : NULL;
  if (copy) {
    notes->sentences[notes->count++] = copy;
  } else {
    cli_warn("%s", sentence);
  }
}

static void free_notes(cli_notes *notes) {
  for (size_t i = 0; i < notes->count; i++) {
    free(notes->sentences[i]);
  }
  free(notes->sentences);
}

static void take_warning(void *context, const char *sentence) {
  add_note(context, sentence);
}

int cli_import_columns(const cli_import *import, hw_columns **out) {
  hw_error error;
  *out = NULL;
  if (!import || !import->columns) {
    return -1;
  }
  const char *text = import->columns;
  const bool inlined = strchr(text, '{') || strchr(text, '=');
  const hw_status status =
      inlined ? hw_columns_parse("--columns", text, strlen(text), out, &error) : hw_columns_load(text, out, &error);
  const int code = inlined && status == HW_EINPUT ? EXIT_USAGE : cli_exit_code(status);
  return status == HW_OK ? -1 : cli_fail(code, "%s", error.text);
}

int cli_session_open_as(cli_session *session, const char *river_path, const char *readings_path,
                        const cli_import *import) {
  *session = (cli_session){.river_path = river_path, .readings_path = readings_path};
  hw_river_init(&session->river);
  hw_columns *columns = NULL;
  const int code = cli_import_columns(import, &columns);
  if (code >= 0) {
    return code;
  }
  hw_error error;
  hw_status status = hw_river_load(river_path, take_warning, &session->notes, &session->river, &error);
  if (status == HW_OK && readings_path) {
    const hw_reader_options options = {.columns = columns,
                                       .timezone = import ? import->timezone : NULL,
                                       .tell = take_warning,
                                       .context = &session->taken};
    cli_catch_interrupt();
    status = hw_reader_open_with(readings_path, &session->river, &options, &session->reader, &error);
  }
  hw_columns_free(columns);
  for (size_t i = 0; status == HW_OK && i < session->taken.count; i++) { /* a fault is one line */
    cli_note("%s", session->taken.sentences[i]);
  }
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", error.text);
  }
  if (session->reader) {
    hw_reader_stop_at(session->reader, &cli_interrupted);
  }
  return -1;
}

int cli_session_open(cli_session *session, const char *river_path, const char *readings_path) {
  return cli_session_open_as(session, river_path, readings_path, NULL);
}

void cli_session_close(cli_session *session) {
  hw_reader_free(session->reader);
  hw_river_free(&session->river);
  free_notes(&session->notes);
  free_notes(&session->taken);
}

const hw_method *cli_method(const char *name) {
  if (!name) {
    const hw_method *method = hw_method_find(CLI_DEFAULT_METHOD);
    return method ? method : hw_method_find(CLI_FALLBACK_METHOD);
  }
  const hw_method *method = hw_method_find(name);
  if (!method) {
    size_t count;
    const hw_method *const *methods = hw_methods(&count);
    const char *names[64];
    for (size_t i = 0; i < count && i < 64; i++) {
      names[i] = methods[i]->name;
    }
    const char *nearest = cli_nearest(name, names, count < 64 ? count : 64);
    cli_fail(EXIT_USAGE, "no method '%s', expected one of those in 'headwater methods'%s%s%s", name,
             nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
  }
  return method;
}

/* The line that begins with `key`, else 1: for a message only. */
static size_t line_of_key(const char *path, const char *key) {
  FILE *file = fopen(path, "r");
  char text[1024];
  size_t line = 0, found = 1;
  while (file && found == 1 && fgets(text, sizeof text, file)) {
    line++;
    found = strncmp(text, key, strlen(key)) == 0 ? line : 1;
  }
  if (file) {
    fclose(file);
  }
  return found;
}

/* The line of `key` in the file's hydraulics, else that of hydraulics itself, else 1: for a message only. */
static size_t line_of_hydraulics(const char *path, const char *key) {
  FILE *file = fopen(path, "r");
  char text[1024];
  size_t line = 0, found = 1;
  bool inside = false;
  while (file && fgets(text, sizeof text, file)) {
    line++;
    if (strncmp(text, "hydraulics:", 11) == 0) {
      inside = true;
      found = line;
    } else if (inside && text[0] != ' ' && text[0] != '#' && text[0] != '\n') {
      break;
    }
    if (inside && strstr(text, key)) {
      found = line;
      break;
    }
  }
  if (file) {
    fclose(file);
  }
  return found;
}

bool cli_is_one_steady_river(const hw_river *river) {
  return river->branch_count < 2 && river->flow_count == 0;
}

int cli_require_steady_river(const cli_session *session, const char *who) {
  if (cli_is_one_steady_river(&session->river)) {
    return -1;
  }
  const bool network = session->river.branch_count > 1;
  return cli_fail(EXIT_INPUT, "%s:%zu: %s, and %s stands on one river in steady flow: expected no %s",
                  session->river_path, line_of_key(session->river_path, network ? "branches:" : "flow:"),
                  network ? "branches" : "a flow file", who, network ? "branches" : "flow");
}

int cli_explain_hydraulics(const cli_session *session, const char *who) {
  const hw_hydraulics *h = &session->river.hydraulics;
  const char *key = h->velocity_m_s.certainty == HW_UNKNOWN      ? "velocity_m_s"
                    : h->dispersion_m2_s.certainty == HW_UNKNOWN ? "dispersion_m2_s"
                                                                 : "area_m2 or discharge_m3_s";
  return cli_fail(EXIT_INPUT, "%s:%zu: %s unknown, %s needs hydraulics: expected a number or {median: M, factor: F}",
                  session->river_path, line_of_hydraulics(session->river_path, key), key, who);
}

int cli_explain_create(hw_status status, const hw_method *method, const cli_session *session) {
  if (status == HW_EHYDRAULICS) {
    char who[80];
    snprintf(who, sizeof who, "method %s", method->name);
    return cli_explain_hydraulics(session, who);
  }
  return cli_fail(cli_exit_code(status), "%s: method %s: %s", session->river_path, method->name,
                  hw_status_text(status));
}

int cli_explain_empty(const cli_session *session) {
  return cli_fail(EXIT_INPUT, "%s:%llu: no readings, expected at least one", session->readings_path,
                  (unsigned long long)hw_reader_line(session->reader));
}

int cli_each_reading(cli_session *session, int (*take)(void *context, const hw_reading *reading), void *context) {
  cli_progress progress;
  cli_progress_start(&progress, session->readings_path);
  hw_reading reading;
  hw_error error;
  hw_status status = HW_OK;
  int code = -1;
  while (code < 0 && (status = hw_reader_next(session->reader, &reading, &error)) == HW_OK) {
    code = take(context, &reading);
    cli_progress_update(&progress, cli_now_s(), hw_reader_offset(session->reader),
                        hw_reader_count(session->reader)->rows);
  }
  cli_progress_end(&progress);
  if (code < 0 && status != HW_EEND) {
    return cli_fail(cli_exit_code(status), "%s", error.text);
  }
  return code < 0 && hw_reader_count(session->reader)->readings == 0 ? cli_explain_empty(session) : code;
}

void cli_method_rows(cli_method_options *target, cli_option rows[CLI_METHOD_ROWS]) {
  hw_options *o = &target->options;
  o->seed = HW_DEFAULT_SEED;
  o->per_sensor = true;
  o->steady = true; /* --each ends with the answer one gets without it, and the service with both */
  const cli_option table[CLI_METHOD_ROWS] = {
      {"seed", OPTION_SEED, &o->seed, "N", "seed of the random numbers; default " CLI_TEXT(HW_DEFAULT_SEED), NULL},
      {"level", OPTION_SHARE, &o->level, "P",
       "coverage of the intervals, between 0 and 1; default " CLI_TEXT(HW_DEFAULT_LEVEL), NULL},
      {"variant", OPTION_CHOICE, &target->variant, "resolved|corrected|printed",
       "the paper's learners made to work, with only the slips corrected, or as printed; default resolved",
       cli_variants},
      {"line-search", OPTION_CHOICE, &target->line_search, "RULE",
       "line search of corrected and printed: algorithm2, armijo, generic, exact, constant; default algorithm2",
       searches},
      {"window", OPTION_COUNT, &o->window, "N",
       "readings in the learners' loss; default " CLI_TEXT(HW_DEFAULT_WINDOW) ", corrected and printed 1", NULL},
      {"starts", OPTION_COUNT, &o->starts, "N", "paths of mtgd and mptgd; default " CLI_TEXT(HW_DEFAULT_STARTS), NULL},
      {"tolerance", OPTION_POSITIVE, &o->tolerance, "X",
       "tolerance of the projected gradient, box-scaled; default " CLI_TEXT(HW_DEFAULT_TOLERANCE), NULL},
      {"iterations", OPTION_COUNT, &o->iterations, "N",
       "most iterations of one solve; default " CLI_TEXT(HW_DEFAULT_ITERATIONS), NULL},
      {"perturbation", OPTION_POSITIVE, &o->perturbation, "R",
       "radius of the jumps of aptgd and mptgd, in box widths; default " CLI_TEXT(HW_DEFAULT_PERTURBATION), NULL},
      {"no-moment-start", OPTION_FLAG, &o->no_moment_start, NULL, "learners: never restart from the readings' moments",
       NULL},
      {"start", OPTION_SOURCE, &target->start, "M,L,T", "where single-path learners start; default the box's centre",
       NULL},
      {"evaluations", OPTION_COUNT, &o->evaluations, "N", "budget of the offline baselines; default per method", NULL},
      {"particles", OPTION_COUNT, &o->particles, "N",
       "accepted, and without effect: the posterior engine draws as many as it needs", NULL},
      CLI_IMPORT_ROWS(target->import),
      {"threads", OPTION_THREADS, &o->threads, "N",
       "number of threads; default one per core; results do not depend on it", NULL},
  };
  memcpy(rows, table, sizeof table);
}

int cli_method_settle(cli_method_options *target, const cli_session *session) {
  hw_options *o = &target->options;
  for (size_t i = 0; target->variant && cli_variants[i]; i++) {
    o->variant = target->variant == cli_variants[i] ? variants[i] : o->variant;
  }
  for (size_t i = 0; target->line_search && searches[i]; i++) {
    o->line_search = target->line_search == searches[i] ? (hw_line_search)i : o->line_search;
  }
  o->has_start = target->start.given;
  if (o->has_start && !cli_resolve_source(&session->river, session->river_path, &target->start, &o->start)) {
    return EXIT_USAGE;
  }
  return -1;
}

hw_result cli_result(const cli_session *session, const cli_worker *worker, const hw_options *options,
                     const hw_estimate *estimate) {
  hw_result result = {.river = &session->river,
                      .method = worker->method->name,
                      .seed = options->seed,
                      .estimate = estimate,
                      .counts = *hw_reader_count(session->reader),
                      .seconds = worker->timing.total_s,
                      .reading_us_median = cli_timing_quantile_us(&worker->timing, 0.5),
                      .reading_us_p99 = cli_timing_quantile_us(&worker->timing, 0.99),
                      .warnings = (const char *const *)session->notes.sentences,
                      .warning_count = session->notes.count};
  result.calendar = hw_reader_calendar(session->reader, &result.origin_unix_s);
  return result;
}

void cli_note_readings(cli_session *session) {
  char sentence[320];
  const unsigned long long line = hw_reader_line(session->reader);
  if (cli_interrupted) {
    snprintf(sentence, sizeof sentence, "interrupted: readings after line %llu were not used", line);
    add_note(&session->notes, sentence);
  } else if (hw_reader_count(session->reader)->unterminated) {
    snprintf(sentence, sizeof sentence, "%.200s:%llu: the last line has no line end; the file may have been cut short",
             session->readings_path, line);
    add_note(&session->notes, sentence);
  }
}
