/* One case of the study of advice: what it offers to choose from, what is chosen, and what comes of it. */
#ifndef HW_EXPERIMENTS_ADVISE_TRIAL_H
#define HW_EXPERIMENTS_ADVISE_TRIAL_H

#include "headwater/headwater.h"
#include "releases.h"

enum { RULES = 3, BOTTLES_MOST = 512, CASES_MOST = 512, READINGS_MOST = 60000 };

/* One case: a run that has seen what it may, and the samples that could be taken. */
typedef struct {
  const hw_river *river;
  hw_run *run;
  double now_s;
  hw_source truth;
  hw_bottle bottles[BOTTLES_MOST]; /* to choose from at random */
  size_t count;
  hw_bottle fixed[RULES];
} trial;

/* The result of one case; smaller is better. */
typedef struct {
  double before[2], advised[2], fixed[RULES][2], random[2]; /* log2 region; entropy over candidates */
  bool covered, covers, fixed_covers[RULES];                /* the region before; after the samples */
  double seconds;
} outcome;

typedef struct {
  outcome list[CASES_MOST];
  size_t count, refused;
} results;

/* The true reading at any place; NAN where it is not known. */
typedef double (*reading_at)(void *context, const hw_bottle *where);

/* Both questions of one case, place and culprit. With `truth` the advised sample may be taken anywhere, else it is one
 * of the bottles. */
void trial_judge(const trial *t, reading_at truth, void *context, results *all);
/* When this sensor has fallen to half of its highest reading; NAN: it has not. */
double half_fallen(const hw_reading *readings, size_t count, size_t sensor);
/* Of these times, the one at which the run expects the most there. */
double expected_peak(hw_run *run, size_t branch, double x_m, const double *times, size_t count);

/* rivers.c: a tracer release of which the first sensor is read. */
void judge_release(const release *r, hw_rng *rng, results *all);
/* networks.c: a spill of our own in a river file. `readings` has room for READINGS_MOST. */
void judge_network(const char *path, uint64_t seed, hw_reading *readings, results *all);
/* table.c. Returned: false when the advised sample is shown to be worse than one at random. */
bool print_results(const char *name, const results *all);

#endif
