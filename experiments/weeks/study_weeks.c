/* Is an answer right about its own doubt, on ordinary records? Random weeks (week.h) through the engine as its users
 * reach it (answer.h), one table by stratum (table.h).
 *
 * A line per week goes to the results' file. Started again with the same program, seed and file, the study goes on
 * where it was; another program begins anew, since its engine is another. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weeks/collection.h"
#include "weeks/dump.h"
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

static bool is_meant(const request *q, uint64_t strata) {
  return q->only == STRATA || (strata & stratum_bit(q->only));
}

static bool deal_with(const request *q, uint64_t index, const week *w, int file) {
  if (q->dump) {
    return dump_week(q->dump, index, w);
  }
  const result r = judge(q, index, w);
  return collection_append(file, &r);
}

static void tell(const request *q, size_t weeks) {
  if (isatty(STDERR_FILENO)) {
    fprintf(stderr, "\r%zu of %zu weeks", weeks, q->cases);
  } else if (weeks % 100 == 0) {
    fprintf(stderr, "%zu of %zu weeks\n", weeks, q->cases);
  }
}

/* The weeks number `job` modulo `jobs`. */
static int work(const request *q, const collection *done, size_t job, int file) {
  const size_t wanted = q->cases / q->jobs + (job < q->cases % q->jobs);
  for (size_t index = job, met = 0; met < wanted; index += q->jobs) {
    const result *known = collection_find(done, index);
    week w = {0};
    bool meant = known ? is_meant(q, known->strata) : week_may_be(index, q->only);
    if (meant && !known) {
      if (!week_make(q->seed, index, &w)) {
        return fail("a week");
      }
      meant = is_meant(q, w.strata) && (!q->ideal || ideal_can(&w));
      const bool ok = !meant || deal_with(q, index, &w, file);
      week_free(&w);
      if (!ok) {
        return fail("writing a week");
      }
    }
    met += meant;
    if (meant && job == 0) {
      tell(q, met * q->jobs);
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
  if (isatty(STDERR_FILENO)) {
    fputc('\n', stderr);
  }
  return worst;
}

/* Only what was asked for this time: a file may hold more. */
static void keep_asked(const request *q, collection *all) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count && kept < q->cases; i++) {
    if (is_meant(q, all->row[i].strata)) {
      all->row[kept++] = all->row[i];
    }
  }
  all->count = kept;
}

/* Returned: 1 when something asked for is not met. */
static int report(const request *q, uint64_t print) {
  collection all;
  collection_load(q->results, print, &all);
  keep_asked(q, &all);
  size_t outside = table_print(all.row, all.count);
  if (q->candidates) {
    table_candidates(all.row, all.count);
  }
  if (q->brief) {
    outside = table_check(all.row, all.count);
    printf("%zu figures outside what is asked of few weeks\n", outside);
  }
  collection_free(&all);
  return outside > 0;
}

static int study(const request *q) {
  collection done;
  const uint64_t print = fingerprint(q);
  const bool ours = collection_load(q->results, print, &done);
  const int file = collection_open(q->results, print, ours);
  if (file < 0) {
    return fail(q->results);
  }
  const int code = work_all(q, &done, file);
  close(file);
  collection_free(&done);
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
