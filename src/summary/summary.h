/* From weighted samples to what people read: medians, intervals, suspects, arrivals.
 *
 * Both models of the posterior engine end in an array of hw_sample; everything said here depends on
 * that array alone. Nothing is allocated: the caller lends the scratch space, once, at creation.
 */
#ifndef HW_SUMMARY_SUMMARY_H
#define HW_SUMMARY_SUMMARY_H

#include "headwater/method.h"

/* Room to sort in; value and weight hold capacity numbers each. */
typedef struct {
  double *value;
  double *weight;
  size_t capacity;
} hw__scratch;

/* Quantile of the first n values of the scratch after hw__scratch_sort; weights need not sum to 1. The
 * distribution function is linear between the middles of the steps; q in [0, 1].
 * NAN when n is 0 or no weight is positive. */
double hw__scratch_quantile(const hw__scratch *sorted, size_t n, double q);
/* Sorts the first n pairs by value, in place. */
void hw__scratch_sort(hw__scratch *scratch, size_t n);
/* Sorts, then the median and the equal-tailed interval of this level. */
hw_range hw__scratch_range(hw__scratch *scratch, size_t n, double level);

/* Numbers of one sample, for hw__summary_range. */
typedef double (*hw__sample_part)(const hw_sample *sample);
double hw__sample_mass(const hw_sample *sample);
double hw__sample_location(const hw_sample *sample);
double hw__sample_time(const hw_sample *sample);
double hw__sample_velocity(const hw_sample *sample);
double hw__sample_dispersion(const hw_sample *sample);
double hw__sample_duration(const hw_sample *sample);

/* Median and interval of one part of the samples. */
hw_range hw__summary_range(const hw_sample *samples, size_t n, hw__sample_part part, double level,
                           hw__scratch *scratch);

/* The source's marginal medians and intervals. Medians, not means: a marginal median always lies inside
 * its interval, says the same whether one counts in distance or in age, and is not dragged along the
 * long tail of the early posteriors. */
void hw__summary_source(const hw_sample *samples, size_t n, double level, hw__scratch *scratch, hw_source *median,
                        hw_box *interval);

enum { HW__MOST_REGIONS = 16 };
/* The shortest stretches inside the box that together hold `level` of the samples' places, most probable first.
 * Returned: how many of out[HW__MOST_REGIONS] (region.c) */
size_t hw__summary_regions(const hw_box *box, const hw_sample *samples, size_t n, double level, hw__scratch *scratch,
                           hw_region *out);

/* On a river without branches the release is on its one branch. */
extern const hw_branch_share hw__only_branch;

/* Prior density of the source's place, 1/m, that the samples were drawn under. */
typedef double (*hw__place_density)(void *context, double location_m);

/* How probable is each candidate, and none of them.
 *
 * Before any reading "none of these" has the probability river->none_prior, and the candidates share the rest by their
 * weights. A candidate says "the release was within extent_m of location_m, at a time when I was active"; "none of
 * these" says "anywhere and at any time, as the prior has it". By Bayes' rule the readings multiply a candidate's odds
 * by posterior density over prior density at the place (averaged over the extent), where a release inside its windows
 * counts by trust over the prior probability of the windows, plus 1 - trust, and one outside by 1 - trust; those of
 * "none of these" by 1. The posterior density is a weighted kernel estimate, its bandwidth Silverman's, the prior that
 * of `density` (NULL: uniform in the box). Candidates where the prior is 0 get 0.
 * Returned: out[0 .. candidate_count], most probable first; the number of rows, 0 without candidates. */
size_t hw__summary_suspicions(const hw_river *river, const hw_sample *samples, size_t n, hw__place_density density,
                              void *context, hw__scratch *scratch, hw_suspicion *out);
/* Most probable first; ties keep their order. */
void hw__sort_suspicions(hw_suspicion *rows, size_t count);

/* A candidate's weight among the candidates; 1 where none is given. */
double hw__candidate_weight(const hw_candidate *candidate);

/* One sample's passage at an intake. */
typedef struct {
  double first_s; /* NAN: the level is not passed */
  double peak_s;
  double last_s; /* when it is passed downwards; NAN as first_s */
  double peak_g_m3;
  double weight;
} hw__passage;

/* Times of first and last passing are conditional on passing, and NANs when that has a probability below
 * (1 - level) / 2. Samples that do not reach the intake at all (peak 0) count towards the peak's range
 * and the probability, not towards its time. */
hw_arrival hw__summary_arrival(const hw_intake *intake, size_t index, const hw__passage *passages, size_t n,
                               double level, hw__scratch *scratch);

#endif
