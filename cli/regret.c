/* regret: local and cumulative regret after every reading, per method. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/progress.h"

/* The optimum in hindsight is polished on all readings after each, so the work grows with the square. */
enum { MOST_READINGS = 20000 };
/* Learners that follow the readings; a batch baseline would solve afresh after every one. */
#define ONLINE_METHODS "tgd,atgd,aptgd,mtgd,mptgd,posterior,bandit"

typedef struct {
  cli_method_options method_options;
  const char *methods, *format;
  double step_ug; /* per (ug/l)^2 */
  size_t budget;  /* gradient steps; 0: not asked */
} regret_request;

typedef struct {
  const hw_method *methods[CLI_MOST_METHODS];
  hw_run *runs[CLI_MOST_METHODS];
  size_t count;
  hw_reading *readings;
  size_t reading_count;
  hw_regret_row *rows; /* per reading and method */
  hw_source hindsight;
  double hindsight_sum;
  hw_loss_constants constants;
  double delta; /* the learners' tolerance in the units of the losses, (g/m3)^2 per box width */
  size_t window;
} account;

static const double ug2 = 1e6, ug4 = 1e12; /* (ug/l)^2 and its square in (g/m3)^2 */

static hw_source first_point(const hw_river *river, const hw_options *options) {
  const hw_source *lo = &river->search.lo, *hi = &river->search.hi;
  const hw_source centre = {0.5 * (lo->mass_g + hi->mass_g), 0.5 * (lo->location_m + hi->location_m),
                            0.5 * (lo->time_s + hi->time_s)};
  return options->has_start ? options->start : centre;
}

/* Every method makes its choice, and only then sees the reading. */
static int play(const cli_session *session, const hw_options *options, hw_regret *regret, account *a) {
  hw_source played[CLI_MOST_METHODS];
  cli_progress progress;
  cli_progress_start(&progress, session->readings_path);
  for (size_t m = 0; m < a->count; m++) {
    played[m] = first_point(&session->river, options);
  }
  for (size_t n = 0; n < a->reading_count; n++) {
    hw_status status = hw_regret_add(regret, &a->readings[n], played, a->rows + n * a->count);
    for (size_t m = 0; status == HW_OK && m < a->count; m++) {
      hw_estimate estimate;
      status = hw_run_observe(a->runs[m], &a->readings[n]);
      if (status == HW_OK) {
        status = hw_run_estimate(a->runs[m], &estimate);
      }
      if (status == HW_OK && estimate.has_source) { /* without an estimate its last one counts */
        played[m] = estimate.source;
      }
    }
    if (status != HW_OK) {
      cli_progress_end(&progress);
      return cli_fail(cli_exit_code(status), "%s: reading %zu: %s", session->readings_path, n + 1,
                      hw_status_text(status));
    }
    cli_progress_update(&progress, cli_now_s(), 0, n + 1);
  }
  cli_progress_end(&progress);
  hw_regret_hindsight(regret, &a->hindsight, &a->hindsight_sum);
  return -1;
}

static double mean_square(const account *a) {
  double sum = 0;
  for (size_t i = 0; i < a->reading_count; i++) {
    const double c = a->readings[i].below_limit ? 0 : a->readings[i].concentration_g_m3;
    sum += c * c;
  }
  return sum / (double)a->reading_count;
}

/* The learners' tolerance as Theorem 3.2 wants it, (g/m3)^2 per box width. Resolved learners count in box widths and
 * mean squares of the readings; as printed they count in (ug/l)^2 per gram, metre or minute, of which a box width has
 * many. */
static double tolerance_of(const account *a, const hw_options *options, const hw_box *box) {
  if (options->variant == HW_RESOLVED) {
    return options->tolerance * mean_square(a);
  }
  const double mass = box->hi.mass_g - box->lo.mass_g, place = box->hi.location_m - box->lo.location_m,
               minutes = (box->hi.time_s - box->lo.time_s) / 60;
  return options->tolerance / ug2 * fmax(mass, fmax(place, minutes));
}

static int measure(cli_session *session, const regret_request *request, account *a) {
  hw_options filled = request->method_options.options;
  hw_options *options = &filled;
  int code = cli_collect(session, MOST_READINGS, &a->readings, &a->reading_count);
  if (code >= 0) {
    return code;
  }
  const hw_problem problem = {.river = &session->river};
  for (size_t m = 0; m < a->count; m++) {
    const hw_status status = hw_run_create(a->methods[m], &problem, options, &a->runs[m]);
    if (status != HW_OK) {
      return cli_explain_create(status, a->methods[m], session);
    }
  }
  hw_options_fill(&filled); /* what the runs were created with: the regret is that of their own loss */
  a->window = options->window;
  const hw_regret_options settings = {
      .readings = a->reading_count, .learners = a->count, .window = a->window, .step = request->step_ug * ug2};
  hw_regret *regret = NULL;
  hw_status status = hw_regret_create(&session->river, &settings, &regret);
  if (status == HW_OK) {
    status = hw_regret_constants(&session->river, a->readings, a->reading_count, &a->constants);
  }
  a->delta = tolerance_of(a, options, &session->river.search);
  a->rows = calloc(a->reading_count * a->count, sizeof *a->rows);
  if (status == HW_OK && !a->rows) {
    status = HW_ENOMEM;
  }
  code = status == HW_OK ? play(session, options, regret, a)
                         : cli_fail(cli_exit_code(status), "%s: %s", session->river_path, hw_status_text(status));
  hw_regret_free(regret);
  return code;
}

/* The bound after n readings, for every n, without the square of the work. */
static double bound_term(const account *a, size_t n) {
  const double term = a->delta + 2 * a->constants.lipschitz / (double)(n < a->window ? n : a->window);
  return term * term;
}

/* An explanation for somebody who has never heard of regret. */
static const char *const in_words =
    "Before every reading each method stood by one source; regret says how much worse those predicted the readings "
    "than "
    "the one source that fits all of them best, known only afterwards.";

static void print_csv(const account *a, const regret_request *request) {
  printf("# %s\n", in_words);
  printf(
      "# regret of what each method stood at before it saw the reading; coordinates in widths of the search box\n"
      "# local_regret: (ug/l)^4, projected gradient at the common step %g per (ug/l)^2, window %zu; local_bound: "
      "Theorem 3.2\n"
      "# cumulative_regret: (ug/l)^2, against the optimum in hindsight of the readings so far\n"
      "# kappa %.6g (ug/l)^2 per box width, smoothness %.6g, Hessian-Lipschitz %.6g (estimates from below), best "
      "window %zu, seed %llu\n",
      request->step_ug, a->window, a->constants.lipschitz * ug2, a->constants.smoothness * ug2,
      a->constants.hessian_lipschitz * ug2, hw_regret_best_window(&a->constants, a->delta, a->reading_count),
      (unsigned long long)request->method_options.options.seed);
  printf("reading,time_s,method,local_regret,local_per_reading,local_bound,cumulative_regret,cumulative_per_reading\n");
  double bound = 0;
  for (size_t n = 0; n < a->reading_count; n++) {
    const double readings = (double)(n + 1);
    bound += bound_term(a, n + 1);
    for (size_t m = 0; m < a->count; m++) {
      const hw_regret_row *row = &a->rows[n * a->count + m];
      printf("%zu,%.10g,%s,%.9g,%.9g,%.9g,%.9g,%.9g\n", n + 1, a->readings[n].time_s, a->methods[m]->name,
             row->local * ug4, row->local * ug4 / readings, bound * ug4, row->cumulative * ug2,
             row->cumulative * ug2 / readings);
    }
  }
}

/* Growth over the second half as a share of the first: 1 is linear, less is better. NAN: the first half has none. */
static double growth(const account *a, size_t m, bool local) {
  const hw_regret_row *half = &a->rows[(a->reading_count / 2 ? a->reading_count / 2 - 1 : 0) * a->count + m];
  const hw_regret_row *end = &a->rows[(a->reading_count - 1) * a->count + m];
  const double before = local ? half->local : half->cumulative, after = local ? end->local : end->cumulative;
  return before > 0 ? (after - before) / before : NAN;
}

static void print_growth(const account *a, size_t m, bool local, int width) {
  const double share = growth(a, m, local);
  if (isfinite(share)) {
    printf(" %*.3g", width, share);
  } else {
    printf(" %*s", width, "-");
  }
}

/* Readings that the loss is over in the end. */
static size_t full_window(const account *a) {
  return a->window < a->reading_count ? a->window : a->reading_count;
}

static void print_text(const account *a, const regret_request *request) {
  const double n = (double)a->reading_count;
  printf("%s\n\n", in_words);
  printf("%zu readings; optimum in hindsight %.1f g at %.0f m, %.0f s, summed loss %.4g (ug/l)^2\n", a->reading_count,
         a->hindsight.mass_g, a->hindsight.location_m, a->hindsight.time_s, a->hindsight_sum * ug2);
  printf("local regret at step %g per (ug/l)^2 in box widths, window %zu, tolerance %.3g; seed %llu\n\n",
         request->step_ug, a->window, a->delta * ug2, (unsigned long long)request->method_options.options.seed);
  printf("%-10s %14s %14s %16s %16s\n", "method", "local", "2nd/1st half", "cumulative", "2nd/1st half");
  for (size_t m = 0; m < a->count; m++) {
    const hw_regret_row *end = &a->rows[(a->reading_count - 1) * a->count + m];
    printf("%-10s %14.5g", a->methods[m]->name, end->local * ug4);
    print_growth(a, m, true, 14);
    printf(" %16.5g", end->cumulative * ug2);
    print_growth(a, m, false, 16);
    printf("\n");
  }
  const double bound = hw_regret_bound(&a->constants, a->delta, a->window, a->reading_count) * ug4;
  printf("\nTheorem 3.2's bound on the local regret: %.4g (%.4g per reading)\n", bound, bound / n);
  printf(
      "kappa %.4g, smoothness %.4g, Hessian-Lipschitz %.4g (ug/l)^2 per box width, width^2, width^3: estimates from "
      "below\n",
      a->constants.lipschitz * ug2, a->constants.smoothness * ug2, a->constants.hessian_lipschitz * ug2);
  printf("largest loss met, B of Assumption 2.3: %.4g (ug/l)^2\n", a->constants.largest * ug2);
  printf("best window by the theorem: %zu of %zu readings\n",
         hw_regret_best_window(&a->constants, a->delta, a->reading_count), a->reading_count);
  printf("gradient steps by Theorem 3.2 (ii), eq. 7, at steps of 1 / smoothness: at most %.3g\n",
         hw_regret_gradient_bound(&a->constants, a->delta, full_window(a), a->reading_count, 0, 0));
  if (request->budget) {
    printf("readings that %zu gradient steps are sure to last for: %.3g\n", request->budget,
           hw_regret_readings_within(&a->constants, a->delta, full_window(a), (double)request->budget, 0, 0));
  }
}

static void print_series(const account *a, size_t m, const char *key, bool local) {
  printf("     \"%s\": [", key);
  for (size_t n = 0; n < a->reading_count; n++) {
    const hw_regret_row *row = &a->rows[n * a->count + m];
    printf("%s%.9g", n ? ", " : "", local ? row->local * ug4 : row->cumulative * ug2);
  }
  printf("]");
}

static void print_json(const account *a, const regret_request *request, const hw_river *river) {
  printf("{\"schema\": \"headwater.regret/1\", \"river\": ");
  cli_print_json_text(river->name);
  printf(", \"seed\": %llu, \"readings\": %zu, \"window\": %zu, \"step_per_ug2_l2\": %.9g,\n",
         (unsigned long long)request->method_options.options.seed, a->reading_count, a->window, request->step_ug);
  printf(" \"hindsight\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g, \"summed_loss_ug2_l2\": %.9g},\n",
         a->hindsight.mass_g, a->hindsight.location_m, a->hindsight.time_s, a->hindsight_sum * ug2);
  printf(
      " \"constants\": {\"lipschitz\": %.9g, \"smoothness\": %.9g, \"hessian_lipschitz\": %.9g, \"largest\": %.9g},\n",
      a->constants.lipschitz * ug2, a->constants.smoothness * ug2, a->constants.hessian_lipschitz * ug2,
      a->constants.largest * ug2);
  printf(" \"gradient_bound\": %.9g,\n",
         hw_regret_gradient_bound(&a->constants, a->delta, full_window(a), a->reading_count, 0, 0));
  printf(" \"local_bound\": %.9g, \"best_window\": %zu,\n \"methods\": [",
         hw_regret_bound(&a->constants, a->delta, a->window, a->reading_count) * ug4,
         hw_regret_best_window(&a->constants, a->delta, a->reading_count));
  for (size_t m = 0; m < a->count; m++) {
    printf("%s\n    {\"method\": \"%s\",\n", m ? "," : "", a->methods[m]->name);
    print_series(a, m, "local_regret", true);
    printf(",\n");
    print_series(a, m, "cumulative_regret", false);
    printf("}");
  }
  printf("\n ]}\n");
}

static int work(cli_session *session, regret_request *request, account *a) {
  int code = cli_method_settle(&request->method_options, session);
  if (code < 0) {
    code = measure(session, request, a);
  }
  if (code < 0) {
    if (strcmp(request->format, "json") == 0) {
      print_json(a, request, &session->river);
    } else {
      (strcmp(request->format, "text") == 0 ? print_text : print_csv)(a, request);
    }
    code = cli_finish(EXIT_DONE);
  }
  for (size_t m = 0; m < a->count; m++) {
    hw_run_free(a->runs[m]);
  }
  free(a->readings);
  free(a->rows);
  return code;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", "READINGS", NULL};
  static const char *const formats[] = {"csv", "text", "json", NULL};
  regret_request request = {.methods = ONLINE_METHODS, .format = "csv", .step_ug = HW_REGRET_STEP / 1e6};
  cli_option options[4 + CLI_METHOD_ROWS] = {
      {"methods", OPTION_TEXT, &request.methods, "A,B,...", "methods to measure; default " ONLINE_METHODS, NULL},
      {"step", OPTION_POSITIVE, &request.step_ug, "ETA",
       "common step of the local regret, per (ug/l)^2 in box widths; default 0.001", NULL},
      {"budget", OPTION_COUNT, &request.budget, "T",
       "gradient steps; the summary says for how many readings they suffice at least", NULL},
      {"format", OPTION_CHOICE, &request.format, "csv|text|json", "a row per reading, or a summary; default csv",
       formats},
  };
  cli_method_rows(&request.method_options, options + 4);
  request.method_options.options.per_sensor = false;
  const cli_usage usage = {
      &cli_verb_regret,
      "RIVER READINGS [options]",
      "What each method lost by not knowing the future. Cumulative regret is the sum of the losses of its\n"
      "estimates, each taken before the reading it is judged by, less that of the best source in hindsight.\n"
      "Local regret says how far the estimates were from a stationary point, with one step for all methods.\n"
      "The paper's bound is printed beside them.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[2];
  int code = cli_parse(&usage, argc, argv, operands, NULL);
  account a = {0};
  if (code < 0) {
    code = cli_method_list(request.methods, a.methods, &a.count);
  }
  if (code < 0) {
    cli_session session;
    code = cli_session_open_as(&session, operands[0], operands[1], &request.method_options.import);
    if (code < 0) {
      code = cli_require_steady_river(&session, "the regret");
    }
    if (code < 0) {
      code = work(&session, &request, &a);
    }
    cli_session_close(&session);
  }
  return code;
}

const cli_verb cli_verb_regret = {"regret", "what each method lost by not knowing the future", run};
