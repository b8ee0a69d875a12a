/* Is an answer right about its own doubt, on ordinary records? Random weeks (week.h) through the engine as its users
 * reach it (answer.h), one table by stratum (table.h).
 *
 * A line per week goes to the results' file. Started again with the same program, seed and file, the study goes on
 * where it was; another program begins anew, since its engine is another. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weeks/ideal.h"
#include "weeks/table.h"

typedef struct {
  uint64_t seed;
  size_t cases, jobs;
  stratum only; /* STRATA: all */
  const char *results, *dump;
  bool candidates, brief, ideal, report;
  uint64_t single; /* index of the only week, with is_single */
  bool is_single;
} request;

typedef struct {
  result *row;
  size_t count, capacity;
} collection;

static int fail(const char *what) {
  fprintf(stderr, "study_weeks: %s: %s\n", what, strerror(errno));
  return 3;
}

/* What results belong to: the program, the seed, who answers. */
static uint64_t fingerprint(const request *q) {
  uint64_t hash = 14695981039346656037u ^ (2 * q->seed + q->ideal);
  FILE *self = fopen("/proc/self/exe", "rb");
  for (int c; self && (c = getc(self)) != EOF;) {
    hash = (hash ^ (uint64_t)c) * 1099511628211u;
  }
  if (self) {
    fclose(self);
  }
  return hash;
}

static bool collect(collection *all, const result *r) {
  if (all->count == all->capacity) {
    const size_t more = 2 * all->capacity + 256;
    result *row = realloc(all->row, more * sizeof *row);
    if (!row) {
      return false;
    }
    all->row = row;
    all->capacity = more;
  }
  all->row[all->count++] = *r;
  return true;
}

static int by_index(const void *a, const void *b) {
  const result *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

/* What the file holds of this program and seed (0: of any); false when it is another's. */
static bool load(const char *path, uint64_t print, collection *all) {
  char line[RESULT_LINE];
  uint64_t found = 0;
  FILE *in = fopen(path, "r");
  const bool ours =
      in && fgets(line, sizeof line, in) && sscanf(line, "# %" SCNx64, &found) == 1 && (found == print || print == 0);
  while (ours && fgets(line, sizeof line, in)) {
    result r;
    if (result_read(line, &r) && !collect(all, &r)) {
      break;
    }
  }
  if (in) {
    fclose(in);
  }
  qsort(all->row, all->count, sizeof *all->row, by_index);
  return ours;
}

static const result *find(const collection *all, uint64_t index) {
  const result key = {.index = index};
  return all->count ? bsearch(&key, all->row, all->count, sizeof key, by_index) : NULL;
}

static result judge(const request *q, uint64_t index, const week *w) {
  result r = {.index = index,
              .strata = w->strata,
              .distance_m = w->distance_m,
              .travel_s = w->travel_s,
              .fallen = w->fallen,
              .guilty = w->guilty,
              .rows = w->rows};
  unpack(&w->truth, r.truth);
  r.failed = !(q->ideal ? ideal_answer(w, &r.answer) : answer_week(w, &r.answer));
  if (r.failed) {
    r.answer.trust = TRUST_NONE;
  }
  return r;
}

static bool write_file(const char *folder, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *out = fopen(path, "w");
  return out && fputs(text, out) >= 0 && fclose(out) == 0;
}

/* A folder per week: river.yaml, readings.csv, truth.txt. */
static bool dump_week(const char *folder, uint64_t index, const week *w) {
  char path[4000], truth[4096];
  snprintf(path, sizeof path, "%s/week-%" PRIu64, folder, index);
  int at = snprintf(truth, sizeof truth, "%.10g,%.10g,%.10g\ncandidate %d\nfaulty %s\nstrata", w->truth.mass_g,
                    w->truth.location_m, w->truth.time_s, w->guilty + 1, w->faulty[0] ? w->faulty : "none");
  for (size_t s = 0; s < STRATA; s++) {
    if (w->strata & stratum_bit((stratum)s)) {
      at += snprintf(truth + at, sizeof truth - (size_t)at, " %s", stratum_name((stratum)s));
    }
  }
  snprintf(truth + at, sizeof truth - (size_t)at, "\n");
  mkdir(folder, 0777);
  mkdir(path, 0777);
  return write_file(path, "river.yaml", w->river) && write_file(path, "readings.csv", w->readings) &&
         write_file(path, "truth.txt", truth);
}

/* One line, in one piece, also when another process writes. */
static bool append(int file, const result *r) {
  char line[RESULT_LINE];
  result_write(r, line);
  const size_t size = strlen(line);
  return write(file, line, size) == (ssize_t)size;
}

/* The weeks number `job` modulo `jobs`. */
static int work(const request *q, const collection *done, size_t job, int file) {
  size_t met = 0;
  const size_t wanted = q->cases / q->jobs + (job < q->cases % q->jobs);
  for (uint64_t index = job; met < wanted; index += q->jobs) {
    const result *known = find(done, index);
    if (known ? !(q->only == STRATA || known->strata & stratum_bit(q->only)) : !week_may_be(index, q->only)) {
      continue;
    }
    week w = {0};
    if (!known && !week_make(q->seed, index, &w)) {
      return fail("a week");
    }
    const bool meant =
        known || ((q->only == STRATA || (w.strata & stratum_bit(q->only))) && (!q->ideal || ideal_can(&w)));
    met += meant;
    bool ok = true;
    if (!known && meant && q->dump) {
      ok = dump_week(q->dump, index, &w);
    } else if (!known && meant) {
      const result r = judge(q, index, &w);
      ok = append(file, &r);
    }
    week_free(&w);
    if (!ok) {
      return fail("writing a week");
    }
    if (job == 0 && meant && (met % 50 == 0 || isatty(2))) {
      fprintf(stderr, isatty(2) ? "\r%zu of %zu weeks" : "%zu of %zu weeks\n", met * q->jobs, q->cases);
    }
  }
  return 0;
}

/* Every job a process of its own: a crash costs one job, and is told. */
static int work_all(const request *q, const collection *done, int file) {
  for (size_t job = 0; job < q->jobs; job++) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(work(q, done, job, file));
    }
    if (child < 0) {
      return fail("fork");
    }
  }
  int worst = 0;
  for (size_t job = 0; job < q->jobs; job++) {
    int status = 0;
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
      fprintf(stderr, "study_weeks: a job ended early (status %d)\n", status);
      worst = 3;
    }
  }
  fprintf(stderr, isatty(2) ? "\n" : "");
  return worst;
}

/* Only what was asked for this time: a file may hold more. */
static void keep_asked(const request *q, collection *all) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count && kept < q->cases; i++) {
    if (q->only == STRATA || all->row[i].strata & stratum_bit(q->only)) {
      all->row[kept++] = all->row[i];
    }
  }
  all->count = kept;
}

/* Returned: 1 when something asked for is not met. */
static int report(const request *q, uint64_t print) {
  collection all = {0};
  load(q->results, print, &all);
  keep_asked(q, &all);
  size_t outside = table_print(all.row, all.count);
  if (q->candidates) {
    table_candidates(all.row, all.count);
  }
  if (q->brief) {
    outside = table_check(all.row, all.count);
    printf("%zu figures outside what is asked of few weeks\n", outside);
  }
  free(all.row);
  return outside > 0;
}

static int study(const request *q) {
  collection done = {0};
  const uint64_t print = fingerprint(q);
  const bool ours = load(q->results, print, &done);
  const int file = open(q->results, O_WRONLY | O_CREAT | O_APPEND | (ours ? 0 : O_TRUNC), 0666);
  if (file < 0) {
    return fail(q->results);
  }
  if (!ours) {
    dprintf(file, "# %" PRIx64 " seed %" PRIu64 "\n", print, q->seed);
  }
  const int code = work_all(q, &done, file);
  close(file);
  free(done.row);
  const int met = report(q, print);
  return code ? code : met;
}

/* One week, in full: what is asked when a row of the table looks wrong. */
static int show(const request *q) {
  week w;
  if (!week_make(q->seed, q->single, &w)) {
    return fail("a week");
  }
  if (q->dump) {
    const bool ok = dump_week(q->dump, q->single, &w);
    week_free(&w);
    return ok ? 0 : fail(q->dump);
  }
  const result r = judge(q, q->single, &w);
  table_print(&r, 1);
  for (size_t u = 0; u < UNKNOWNS; u++) {
    static const char *const names[] = {"mass_g", "location_m", "time_s"};
    printf("%-10s %12.6g in %12.6g .. %-12.6g rank %.3f\n", names[u], r.truth[u], r.answer.lo[u], r.answer.hi[u],
           r.answer.rank[u]);
  }
  week_free(&w);
  return 0;
}

static const char usage[] =
    "study_weeks [--cases N] [--seed S] [--jobs J] [--results FILE] [--stratum NAME] [--candidates] [--brief] "
    "[--ideal]\n"
    "            [--case INDEX] [--dump FOLDER]\n"
    "  --stratum     only weeks of this stratum, N of them\n"
    "  --candidates  also how often a candidate that was given a probability did it\n"
    "  --brief       exit 1 only for what few weeks can tell: the kinds of week as a whole\n"
    "  --ideal       the best answer there is instead of the engine's, where it can be had\n"
    "  --report      only the table of what the results' file holds, whichever program made it\n"
    "  --case        one week in full\n"
    "  --dump        write the weeks' files instead, for headwater identify\n";

static bool parse(int argc, char **argv, request *q) {
  static const struct option options[] = {
      {"cases", required_argument, NULL, 'n'},   {"seed", required_argument, NULL, 's'},
      {"jobs", required_argument, NULL, 'j'},    {"results", required_argument, NULL, 'r'},
      {"stratum", required_argument, NULL, 'o'}, {"candidates", no_argument, NULL, 'c'},
      {"brief", no_argument, NULL, 'k'},         {"ideal", no_argument, NULL, 'b'},
      {"report", no_argument, NULL, 't'},        {"case", required_argument, NULL, 'i'},
      {"dump", required_argument, NULL, 'd'},    {NULL, 0, NULL, 0}};
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (c) {
      case 'n':
        q->cases = strtoul(optarg, NULL, 10);
        break;
      case 's':
        q->seed = strtoull(optarg, NULL, 10);
        break;
      case 'j':
        q->jobs = strtoul(optarg, NULL, 10);
        break;
      case 'r':
        q->results = optarg;
        break;
      case 'o':
        q->only = stratum_find(optarg);
        if (q->only == STRATA) {
          fprintf(stderr, "study_weeks: no stratum of this name: %s\n", optarg);
          return false;
        }
        break;
      case 'c':
        q->candidates = true;
        break;
      case 'k':
        q->brief = true;
        break;
      case 'b':
        q->ideal = true;
        break;
      case 't':
        q->report = true;
        break;
      case 'i':
        q->single = strtoull(optarg, NULL, 10);
        q->is_single = true;
        break;
      case 'd':
        q->dump = optarg;
        break;
      default:
        return false;
    }
  }
  return optind == argc && q->cases > 0 && q->jobs > 0;
}

int main(int argc, char **argv) {
  request q = {.seed = 1, .cases = 2000, .jobs = 2, .only = STRATA, .results = "weeks.txt"};
  if (!parse(argc, argv, &q)) {
    fputs(usage, stderr);
    return 2;
  }
  if (q.is_single) {
    return show(&q);
  }
  if (q.report) {
    return report(&q, 0);
  }
  return q.dump ? work_all(&q, &(collection){0}, -1) : study(&q);
}
