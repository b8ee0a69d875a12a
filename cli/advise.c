/* advise: where and when to take the next sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"

enum { WORD = 96 };

typedef struct {
  hw_options options;
  const char *question, *format;
  cli_time now;
  double delay_s, horizon_s;
  size_t crews;
  cli_import import;
} advise_request;

static const char *const questions[] = {
#define ROW(name, word, text) word,
    HW_QUESTION_LIST(ROW)
#undef ROW
        NULL};

static hw_question question_of(const char *word) {
  size_t q = 0;
  while (questions[q + 1] && strcmp(questions[q], word) != 0) {
    q++;
  }
  return (hw_question)q;
}

/* The clock of the readings: seconds from an origin, or the calendar. */
typedef struct {
  bool calendar;
  double origin_unix_s;
} reading_clock;

/* --- as text --- */

static const char *clock_text(reading_clock clock, double time_s, char out[WORD]) {
  if (clock.calendar) {
    hw_time_format(round((time_s + clock.origin_unix_s) / 60) * 60, out, WORD);
  } else {
    const double minutes = round(fabs(time_s) / 60);
    snprintf(out, WORD, "%s%.0f h %02.0f min", time_s < 0 ? "-" : "", floor(minutes / 60), fmod(minutes, 60));
  }
  return out;
}

/* Three digits, and never as a power of ten. */
static const char *digits_text(double value, char out[WORD]) {
  snprintf(out, WORD, value >= 999.5 ? "%.0f" : value < 1e-3 ? "%.6f" : "%.3g", value);
  return value < 5e-7 ? "0" : out;
}

static const char *branch_text(const hw_river *river, size_t branch) {
  return branch < river->branch_count ? river->branches[branch].id : "";
}

static void print_stretch(const hw_river *river, const hw_spot *s) {
  const char *branch = branch_text(river, s->branch);
  printf("%s%skm %.2f", branch, *branch ? " " : "", s->from_m / 1000);
  if (s->to_m > s->from_m) {
    printf(" to km %.2f", s->to_m / 1000);
  }
}

static void print_spot(const hw_river *river, reading_clock clock, size_t rank, const hw_spot *s) {
  char from[WORD], to[WORD], best[WORD];
  printf("%4zu  ", rank);
  print_stretch(river, s);
  printf(", %s", clock_text(clock, s->from_s, from));
  if (s->to_s > s->from_s) {
    printf(" to %s", clock_text(clock, s->to_s, to));
  }
  printf("\n      best km %.2f at %s; %.2f bit", s->location_m / 1000, clock_text(clock, s->time_s, best), s->bits);
  if (isfinite(s->region_m)) {
    printf("; 90 %% region then about %.1f km", s->region_m / 1000);
  }
  const bool high = s->expected_g_m3.mid >= 0.1;
  const double scale = high ? 1 : 1e3;
  char mid[WORD], low[WORD], top[WORD];
  printf("\n      expect %s %s (%s to %s), above the detection limit with %.0f %%\n",
         digits_text(s->expected_g_m3.mid * scale, mid), high ? "mg/l" : "ug/l",
         digits_text(s->expected_g_m3.lo * scale, low), digits_text(s->expected_g_m3.hi * scale, top), 100 * s->seen);
}

static void print_text(const cli_session *session, const advise_request *request, const hw_advice *advice,
                       reading_clock clock) {
  printf("%s\n%s, to learn %s\n\n", session->river.name,
         request->crews > 1 ? "Where the crews should sample next" : "Where to sample next, best first",
         hw_question_text(question_of(request->question)));
  for (size_t i = 0; i < hw_advice_count(advice); i++) {
    print_spot(&session->river, clock, i + 1, hw_advice_spot(advice, i));
  }
  printf("\nThe question is open by %.2f bit", hw_advice_entropy(advice));
  if (isfinite(hw_advice_region(advice))) {
    printf(", the 90 %% region is %.1f km", hw_advice_region(advice) / 1000);
  }
  printf("; one bit halves it.%s\nSeed %llu.\n",
         hw_advice_provisional(advice) ? " The answer is provisional so far, and so is this." : "",
         (unsigned long long)request->options.seed);
}

/* --- as JSON --- */

static void print_time(const char *name, reading_clock clock, double time_s) {
  char text[WORD] = "null";
  if (clock.calendar) {
    hw_time_format(time_s + clock.origin_unix_s, text, sizeof text);
  }
  const char *quote = clock.calendar ? "\"" : "";
  printf("\"%s_s\": %.17g, \"%s\": %s%s%s", name, time_s, name, quote, text, quote);
}

static void print_spot_json(const hw_river *river, reading_clock clock, const hw_spot *s) {
  printf("    {\"branch\": ");
  if (s->branch < river->branch_count) {
    cli_print_json_text(river->branches[s->branch].id);
  } else {
    printf("null");
  }
  printf(", \"location_m\": %.17g, \"stretch_m\": [%.17g, %.17g], ", s->location_m, s->from_m, s->to_m);
  print_time("time", clock, s->time_s);
  printf(", ");
  print_time("from", clock, s->from_s);
  printf(", ");
  print_time("until", clock, s->to_s);
  printf(",\n     \"bits\": %.17g, \"expected_g_m3\": [%.17g, %.17g, %.17g], \"seen\": %.17g, \"region_m\": ", s->bits,
         s->expected_g_m3.lo, s->expected_g_m3.mid, s->expected_g_m3.hi, s->seen);
  printf(isfinite(s->region_m) ? "%.17g}" : "null}", s->region_m);
}

static void print_json(const cli_session *session, const advise_request *request, const hw_advice *advice,
                       reading_clock clock, double now_s) {
  printf("{\"schema\": \"headwater.advice/1\", \"river\": ");
  cli_print_json_text(session->river.name);
  printf(", \"question\": \"%s\", \"seed\": %llu, \"provisional\": %s,\n ", request->question,
         (unsigned long long)request->options.seed, hw_advice_provisional(advice) ? "true" : "false");
  print_time("now", clock, now_s);
  printf(", \"delay_s\": %.17g, \"crews\": %zu,\n \"entropy_bits\": %.17g, \"region_m\": ", request->delay_s,
         request->crews, hw_advice_entropy(advice));
  printf(isfinite(hw_advice_region(advice)) ? "%.17g" : "null", hw_advice_region(advice));
  printf(",\n \"places\": [\n");
  for (size_t i = 0; i < hw_advice_count(advice); i++) {
    print_spot_json(&session->river, clock, hw_advice_spot(advice, i));
    printf(i + 1 < hw_advice_count(advice) ? ",\n" : "\n");
  }
  printf(" ]}\n");
}

/* --- the work --- */

/* What takes the readings in. */
typedef struct {
  cli_session *session;
  hw_run *run;
  double latest_s; /* of all times seen */
} observation;

static int observe(void *context, const hw_reading *reading) {
  observation *on = context;
  const hw_status status = hw_run_observe(on->run, reading);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s:%llu: %s", on->session->readings_path,
                    (unsigned long long)hw_reader_line(on->session->reader), hw_status_text(status));
  }
  on->latest_s = fmax(on->latest_s, reading->time_s);
  return -1;
}

static int print_advice(cli_session *session, hw_run *run, const advise_request *request, reading_clock clock,
                        double now_s) {
  const hw_advice_options options = {.question = question_of(request->question),
                                     .now_s = now_s,
                                     .delay_s = request->delay_s,
                                     .horizon_s = request->horizon_s,
                                     .crews = request->crews,
                                     .seed = request->options.seed};
  hw_advice *advice = NULL;
  hw_error error = {""};
  const hw_status status = hw_advise(run, &session->river, &options, &advice, &error);
  if (status == HW_EEMPTY && *error.text) {
    return cli_fail(EXIT_INPUT, "%s: %s", session->readings_path, error.text);
  }
  if (status != HW_OK) {
    return status == HW_EHYDRAULICS ? cli_explain_hydraulics(session, "advise")
           : status == HW_EDOMAIN   ? cli_fail(EXIT_USAGE, "--crews, expected at most 8")
                                    : cli_fail(cli_exit_code(status), "advise: %s", hw_status_text(status));
  }
  if (strcmp(request->format, "json") == 0) {
    print_json(session, request, advice, clock, now_s);
  } else {
    print_text(session, request, advice, clock);
  }
  hw_advice_free(advice);
  return cli_finish(EXIT_DONE);
}

static int advise(cli_session *session, const advise_request *request) {
  const hw_problem problem = {.river = &session->river};
  const hw_method *method = cli_method(NULL);
  hw_run *run = NULL;
  const hw_status status = hw_run_create(method, &problem, &request->options, &run);
  if (status != HW_OK) {
    return cli_explain_create(status, method, session);
  }
  observation on = {session, run, -INFINITY};
  int code = cli_each_reading(session, observe, &on);
  double now_s = on.latest_s;
  reading_clock clock = {0};
  clock.calendar = hw_reader_calendar(session->reader, &clock.origin_unix_s);
  if (code < 0 && request->now.calendar && !clock.calendar) {
    code =
        cli_fail(EXIT_USAGE, "--now is an instant, but %s counts in seconds; expected seconds", session->readings_path);
  }
  if (code < 0 && request->now.given) {
    now_s = request->now.value - (clock.calendar ? clock.origin_unix_s : 0);
  }
  if (code < 0) {
    code = print_advice(session, run, request, clock, now_s);
  }
  hw_run_free(run);
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", "READINGS", NULL};
  advise_request request = {.options = {.seed = 1}, .question = "place", .format = "text", .crews = 1};
  const cli_option options[] = {
      {"for", OPTION_CHOICE, &request.question, "place|who|intake",
       "the question: where it came from, who it was, whether and when alarm levels at intakes are passed; default "
       "place",
       questions},
      {"crews", OPTION_COUNT, &request.crews, "N", "places for N crews at once; default 1", NULL},
      {"delay", OPTION_AMOUNT, &request.delay_s, "S", "seconds until the first sample can be taken; default 0", NULL},
      {"now", OPTION_TIME, &request.now, "T", "the present, in seconds or as an instant; default the latest reading",
       NULL},
      {"horizon", OPTION_POSITIVE, &request.horizon_s, "S",
       "how far ahead to look; default until the pulse has passed, two days at most", NULL},
      {"format", OPTION_CHOICE, &request.format, "text|json", "format of the answer; default text", cli_formats},
      {"seed", OPTION_SEED, &request.options.seed, "N", "seed of the random numbers; default 1", NULL},
      CLI_IMPORT_ROWS(request.import)};
  const cli_usage usage = {
      &cli_verb_advise,
      "RIVER READINGS [options]",
      "Says where and when to take the next sample: stretches of the river and times from now on, ranked by the\n"
      "information that a reading there is expected to give about the question. RIVER is a YAML file; READINGS\n"
      "a CSV or NDJSON file, or - for standard input.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[2];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  if (code >= 0) {
    return code;
  }
  cli_session session;
  code = cli_session_open_as(&session, operands[0], operands[1], &request.import);
  if (code < 0) {
    code = advise(&session, &request);
  }
  cli_session_close(&session);
  return code;
}

const cli_verb cli_verb_advise = {"advise", "where and when to take the next sample", run};
