/* What importance draws are made from (posterior/mixture.h), draws of several proposals as one sample
 * (posterior/draws.h), and the way from the prior to the posterior by them (posterior/anneal.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "posterior/anneal.h"
#include "posterior/mixture.h"
#include "posterior/moves.h"

enum { POINTS = 2000 };
static double first[POINTS], second[POINTS], weight[POINTS], room[POINTS * HW__MEMBERS];
static double *const columns[] = {first, second};

/* Two normals, 5 either side of 1.42, three tenths of the points on the left; second coordinate half as wide and tied
 * to the first. Returned: the share of the points drawn on the left. */
static double two_modes(void) {
  hw_rng rng;
  hw_rng_seed(&rng, 14, 37);
  double left = 0;
  for (size_t i = 0; i < POINTS; i++) {
    const bool is_left = hw_rng_uniform(&rng) < 0.3;
    first[i] = 1.42 + (is_left ? -5 : 5) + hw_rng_normal(&rng);
    second[i] = 0.37 * first[i] + 0.5 * hw_rng_normal(&rng);
    weight[i] = 1.0 / POINTS;
    left += is_left ? weight[i] : 0;
  }
  return left;
}

static double density_at(const hw__mixture *mixture, double x, double y) {
  double density;
  hw__mixture_log_densities(mixture, 1, (double *const[]){&x, &y}, &density);
  return exp(density);
}

/* Midpoint sums of a function whose poles lie 0.15 of the sample's standard deviation (5.1) times sqrt 6 off the real
 * line: at this step exact but for the tails that are cut off, which fall with the sixth power. */
static void test_the_density_integrates_to_one_in_one_dimension(void **state) {
  (void)state;
  hw__mixture mixture;
  two_modes();
  hw__mixture_fit(1, POINTS, columns, weight, room, &mixture);
  double sum = 0;
  for (double x = -300; x < 300; x += 0.05) {
    sum += 0.05 * density_at(&mixture, x, 0);
  }
  check_near(sum, 1, 1e-8); /* (sqrt 6 * 6 / 300)^6 beyond */
}

static void test_the_density_integrates_to_one_in_two_dimensions(void **state) {
  (void)state;
  hw__mixture mixture;
  two_modes();
  hw__mixture_fit(2, POINTS, columns, weight, room, &mixture);
  double sum = 0;
  for (double x = -60; x < 60; x += 0.3) {
    for (double y = -25; y < 25; y += 0.15) {
      sum += 0.3 * 0.15 * density_at(&mixture, x, y);
    }
  }
  check_near(sum, 1, 1e-4); /* (sqrt 6 * 2.3 / 25)^6 beyond the second coordinate's range */
}

static void test_draws_in_one_dimension_fall_where_the_density_says(void **state) {
  (void)state;
  enum { BINS = 24, DRAWS = 20000 };
  hw__mixture mixture;
  hw_rng rng;
  double expected[BINS] = {0}, met[BINS] = {0}, chi = 0;
  two_modes();
  hw__mixture_fit(1, POINTS, columns, weight, room, &mixture);
  for (size_t k = 0; k < BINS; k++) {
    for (int i = 0; i < 400; i++) {
      expected[k] += DRAWS * 0.0025 * density_at(&mixture, -10.58 + (double)k + 0.0025 * (i + 0.5), 0);
    }
  }
  hw_rng_seed(&rng, 3, 7);
  for (int i = 0; i < DRAWS; i++) {
    double x;
    hw__mixture_draw(&mixture, &rng, &x);
    const double bin = floor(x + 10.58);
    if (bin >= 0 && bin < BINS) {
      met[(size_t)bin] += 1;
    }
  }
  for (size_t k = 0; k < BINS; k++) {
    chi += (met[k] - expected[k]) * (met[k] - expected[k]) / expected[k];
  }
  assert_true(chi < 51.2); /* chi-square of 24 degrees of freedom, one in a thousand */
}

/* The mean of a known density over the mixture's, at the mixture's draws, is one: draws and density agree in two
 * dimensions, ties between them included. */
static void test_draws_in_two_dimensions_weigh_a_known_density_to_one(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  hw__mixture mixture;
  hw_rng rng;
  two_modes();
  hw__mixture_fit(2, POINTS, columns, weight, room, &mixture);
  hw_rng_seed(&rng, 3, 7);
  double sum = 0, squares = 0, middle = 0;
  for (int i = 0; i < DRAWS; i++) {
    double x[2];
    hw__mixture_draw(&mixture, &rng, x);
    const double u = (x[0] - 5.9) / 1.3, v = (x[1] - 0.37 * x[0]) / 0.6;
    const double w = exp(-0.5 * (u * u + v * v)) / (2 * M_PI * 1.3 * 0.6) / density_at(&mixture, x[0], x[1]);
    sum += w / DRAWS;
    squares += w * w / DRAWS;
    middle += w * x[0] / DRAWS;
  }
  const double error = sqrt((squares - sum * sum) / DRAWS);
  assert_true(error < 0.02);                            /* heavy tails: no draw out of proportion */
  check_near(sum, 1, 3 * error);                        /* Monte Carlo */
  check_near(middle, 5.9, 3 * hypot(5.9, 1.3) * error); /* the same weights times x */
}

static void test_a_fit_recovers_two_modes_and_their_shares(void **state) {
  (void)state;
  hw__mixture mixture;
  const double share = two_modes();
  hw__mixture_fit(1, POINTS, columns, weight, room, &mixture);
  double left = 0, mean = 0;
  for (double x = -300; x < 1.42; x += 0.02) {
    left += 0.02 * density_at(&mixture, x, 0);
    mean += 0.02 * x * density_at(&mixture, x, 0);
  }
  /* A member keeps a share of 0.03 even where it has no points, and tails reach across the valley: 0.01. */
  check_near(left, share, 0.04);
  check_near(mean / left, 1.42 - 5, 0.3); /* of 600 points: 0.04; the tails across the valley */
  const double valley = density_at(&mixture, 1.42, 0);
  assert_true(valley < 0.1 * density_at(&mixture, 1.42 - 5, 0));
  assert_true(valley < 0.1 * density_at(&mixture, 1.42 + 5, 0));
}

static void test_points_without_weight_do_not_move_a_fit(void **state) {
  (void)state;
  hw__mixture with, without;
  two_modes();
  for (size_t i = 0; i < POINTS; i++) {
    weight[i] = i < POINTS / 2 ? 2.0 / POINTS : 0;
  }
  hw__mixture_fit(2, POINTS, columns, weight, room, &with);
  hw__mixture_fit(2, POINTS / 2, columns, weight, room, &without);
  for (double x = -9; x < 12; x += 1.37) { /* the same sums in the same order; 0 is added at most */
    check_near(density_at(&with, x, 0.37 * x), density_at(&without, x, 0.37 * x), 1e-12);
  }
}

/* A Gaussian likelihood in a uniform box: its evidence is (2 pi)^(3/2) det L / volume. */
enum { DIMS = 3 };
static const double box = 30, centre[DIMS] = {3.7, -1.42, 11};
static const double root[DIMS][DIMS] = {{0.3, 0, 0}, {0.9, 0.7, 0}, {-1.1, 0.4, 2.1}};

typedef struct {
  bool possible;
  size_t phases_met;
} gauss;

static void start(void *context, hw_rng *rng, size_t n, double *const *x, double *log_proposal) {
  (void)context;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < DIMS; k++) {
      x[k][i] = box * (2 * hw_rng_uniform(rng) - 1);
    }
    log_proposal[i] = -DIMS * log(2 * box);
  }
}

/* The first phase is ten times wider. */
static void evaluate(void *context, size_t phase, const uint64_t *chance, size_t n, double *const *x, double *log_prior,
                     double *log_likelihood) {
  (void)chance;
  gauss *g = context;
  g->phases_met = phase + 1;
  for (size_t i = 0; i < n; i++) {
    double z[DIMS], square = 0;
    bool inside = g->possible;
    for (size_t a = 0; a < DIMS; a++) {
      z[a] = x[a][i] - centre[a];
      for (size_t b = 0; b < a; b++) {
        z[a] -= root[a][b] * z[b];
      }
      z[a] /= root[a][a];
      square += z[a] * z[a];
      inside = inside && fabs(x[a][i]) <= box;
    }
    log_prior[i] = inside ? -DIMS * log(2 * box) : -INFINITY;
    log_likelihood[i] = -0.5 * square * (phase == 0 ? 0.01 : 1);
  }
}

static hw__target target_at(gauss *g) {
  return (hw__target){.dims = DIMS,
                      .phases = 2,
                      .stage = HW__STAGE,
                      .final = HW__FINAL,
                      .led = 1,
                      .context = g,
                      .start = start,
                      .evaluate = evaluate};
}

static double gauss_evidence(void) {
  return 1.5 * log(2 * M_PI) + log(root[0][0] * root[1][1] * root[2][2]) - DIMS * log(2 * box);
}

static void check_moments(const hw__draws *draws, double effective) {
  for (size_t k = 0; k < DIMS; k++) {
    double mean = 0, square = 0;
    const double sd = sqrt(root[k][0] * root[k][0] + root[k][1] * root[k][1] + root[k][2] * root[k][2]);
    for (size_t i = 0; i < HW__FINAL; i++) {
      mean += draws->weight[i] * draws->x[k][i];
      square += draws->weight[i] * (draws->x[k][i] - centre[k]) * (draws->x[k][i] - centre[k]);
    }
    check_near(mean, centre[k], 3.5 * sd / sqrt(effective)); /* Monte Carlo: 15 such checks */
    check_near(sqrt(square), sd, 3.5 * sd / sqrt(2 * effective));
  }
}

static void test_annealing_finds_evidence_mean_and_spread_of_a_gaussian(void **state) {
  (void)state;
  hw__draws draws;
  assert_true(hw__draws_create(&draws));
  double evidence = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    gauss g = {.possible = true};
    const hw__target target = target_at(&g);
    const hw__annealed found = hw__anneal(&target, seed, 37, NULL, false, &draws);
    assert_true(found.found);
    assert_int_equal(g.phases_met, 2);
    assert_true(found.effective > 0.45 * HW__FINAL); /* the share from which it refines no further */
    check_moments(&draws, found.effective);
    evidence += exp(found.log_evidence - gauss_evidence()) / 5;
  }
  hw__draws_free(&draws);
  /* The mean of 5 * 4096 weights of which 45 in 100 are effective: sqrt(1 / 0.45 - 1) / sqrt(5 * 4096) = 0.8 %. */
  check_near(evidence, 1, 0.03);
}

/* From a proposal that is near, the last phase alone: the same answer from fewer looks. */
static void test_annealing_from_a_near_proposal_agrees_with_fewer_evaluations(void **state) {
  (void)state;
  hw__draws draws;
  gauss g = {.possible = true};
  const hw__target target = target_at(&g);
  assert_true(hw__draws_create(&draws));
  const hw__annealed cold = hw__anneal(&target, 3, 7, NULL, false, &draws);
  const hw__annealed warm = hw__anneal(&target, 4, 7, &cold.proposal, false, &draws);
  assert_true(warm.found && warm.evaluations < cold.evaluations);
  check_moments(&draws, warm.effective);
  check_near(warm.log_evidence, gauss_evidence(), 0.06); /* 3.5 times 1.7 %, of one run's weights */
  hw__draws_free(&draws);
}

/* Where fewer draws leave enough effective fewer are made; on the way to an answer no last sample at all. */
/* Against others that have come to more, the stages end as soon as that is plain; against less they do not notice. */
static void test_annealing_ends_where_others_are_plainly_ahead(void **state) {
  (void)state;
  hw__draws draws;
  gauss g = {.possible = true};
  hw__target target = target_at(&g);
  assert_true(hw__draws_create(&draws));
  const hw__annealed alone = hw__anneal(&target, 3, 7, NULL, false, &draws);
  target.contested = true;
  target.least = gauss_evidence() - 3;
  const hw__annealed ahead = hw__anneal(&target, 3, 7, NULL, false, &draws);
  assert_true(ahead.log_evidence == alone.log_evidence && ahead.evaluations == alone.evaluations);
  target.least = gauss_evidence() + 9;
  const hw__annealed behind = hw__anneal(&target, 3, 7, NULL, false, &draws);
  assert_true(behind.found && behind.log_evidence < target.least);
  assert_true(behind.evaluations < alone.evaluations - HW__FINAL);
  hw__draws_free(&draws);
}

static void test_annealing_draws_no_more_than_is_ample(void **state) {
  (void)state;
  hw__draws draws;
  gauss g = {.possible = true};
  hw__target target = target_at(&g);
  assert_true(hw__draws_create(&draws));
  const hw__annealed all = hw__anneal(&target, 3, 7, NULL, false, &draws);
  target.ample = 700;
  const hw__annealed fewer = hw__anneal(&target, 3, 7, NULL, false, &draws);
  assert_true(all.drawn == HW__FINAL && fewer.drawn < HW__FINAL / 2 && fewer.effective > 600);
  assert_int_equal(all.evaluations - fewer.evaluations, all.drawn - fewer.drawn);
  check_near(fewer.log_evidence, gauss_evidence(), 0.12); /* 3.5 times 3.4 % */
  const hw__annealed brief = hw__anneal(&target, 3, 7, NULL, true, &draws);
  assert_true(brief.found && brief.drawn == HW__STAGE && brief.evaluations < fewer.evaluations);
  check_near(brief.log_evidence, gauss_evidence(), 0.25); /* 3.5 times 7 %: a fifth of a stage is effective */
  hw__draws_free(&draws);
}

/* A bent target that no mixture comes near: x normal, and each of the others normal about x^2, far narrower than that
 * bends. Its density is 1 in all: so is its evidence. E[x] = 0, E[x^2] = 1, E[y] = 1, E[y^2] = 3 + narrow^2. */
static const double narrow = 0.2;

static void evaluate_bent(void *context, size_t phase, const uint64_t *chance, size_t n, double *const *x,
                          double *log_prior, double *log_likelihood) {
  (void)context;
  (void)phase;
  (void)chance;
  for (size_t i = 0; i < n; i++) {
    double square = x[0][i] * x[0][i];
    for (size_t k = 1; k < DIMS; k++) {
      const double off = (x[k][i] - x[0][i] * x[0][i]) / narrow;
      square += off * off;
    }
    log_prior[i] = 0;
    log_likelihood[i] = -0.5 * square - 0.5 * DIMS * log(2 * M_PI) - (DIMS - 1) * log(narrow);
  }
}

static void test_draws_walk_along_a_bent_target(void **state) {
  (void)state;
  hw__draws draws;
  hw__target target = target_at(NULL);
  target.phases = 1;
  target.evaluate = evaluate_bent;
  assert_true(hw__draws_create(&draws));
  double evidence = 0, mean = 0, square = 0, along = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    const hw__annealed near = hw__anneal(&target, seed, 11, NULL, false, &draws);
    hw_rng rng;
    hw_rng_seed(&rng, seed, 14);
    const hw__moved found = hw__moves(&target, &near.proposal, 1000, &rng, &draws);
    assert_true(found.effective > 400);
    evidence += found.log_evidence / 5;
    double total = 0;
    for (size_t i = 0; i < HW__FINAL; i++) {
      const double w = draws.weight[i] / 5, x = draws.x[0][i];
      total += draws.weight[i];
      mean += w * x;
      square += w * x * x;
      along += w * draws.x[2][i];
    }
    check_near(total, 1, 1e-12);
  }
  hw__draws_free(&draws);
  check_near(mean, 0, 0.2); /* five runs of some hundred walkers that know each other */
  check_near(square, 1, 0.25);
  check_near(along, square, 0.02); /* they stand on the bend */
  check_near(evidence, 0, 0.3);
}

/* As above, but with so much chance in a point's likelihood that whoever was lucky stays where it is. */
static void evaluate_by_luck(void *context, size_t phase, const uint64_t *chance, size_t n, double *const *x,
                             double *log_prior, double *log_likelihood) {
  evaluate_bent(context, phase, chance, n, x, log_prior, log_likelihood);
  for (size_t i = 0; i < n; i++) {
    hw_rng rng;
    hw_rng_seed(&rng, chance[i], 3);
    log_likelihood[i] += 4 * hw_rng_normal(&rng);
  }
}

static void test_walkers_that_stand_on_few_points_are_worth_few(void **state) {
  (void)state;
  hw__draws draws;
  hw__target target = target_at(NULL);
  target.phases = 1;
  target.evaluate = evaluate_by_luck;
  assert_true(hw__draws_create(&draws));
  const hw__annealed near = hw__anneal(&target, 1, 11, NULL, true, &draws);
  hw_rng rng;
  hw_rng_seed(&rng, 1, 14);
  const hw__moved found = hw__moves(&target, &near.proposal, 1000, &rng, &draws);
  double squares = 0;
  for (size_t i = 0; i < HW__WALKERS; i++) {
    for (size_t j = 0; j < HW__WALKERS; j++) {
      squares += draws.x[0][i] == draws.x[0][j] && draws.x[1][i] == draws.x[1][j];
    }
  }
  assert_true(found.effective <= (double)HW__WALKERS * HW__WALKERS / squares * (1 + 1e-12));
  assert_true(found.effective < 100);
  hw__draws_free(&draws);
}

static void test_a_target_outside_its_prior_is_not_found(void **state) {
  (void)state;
  hw__draws draws;
  gauss g = {.possible = false};
  const hw__target target = target_at(&g);
  assert_true(hw__draws_create(&draws));
  const hw__annealed found = hw__anneal(&target, 3, 7, NULL, false, &draws);
  assert_false(found.found);
  assert_true(isinf(found.log_evidence) && found.log_evidence < 0);
  hw__draws_free(&draws);
}

/* Two proposals, the second one mostly where the first is not; 300 draws of one and 700 of the other. */
static void pool_two(hw__pooled *pooled, hw__mixture *both, hw__draws *draws) {
  hw_rng rng;
  hw_rng_seed(&rng, 37, 14);
  static const double from[] = {-5, 5};
  static const size_t given[] = {300, 700};
  pooled->sources = pooled->count = 0;
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < POINTS; i++) {
      first[i] = 0.6 * from[k] + 3.7 * hw_rng_normal(&rng);
      weight[i] = 1.0 / POINTS;
    }
    hw__mixture_fit(1, POINTS, columns, weight, room, &both[k]);
    hw__pooled_add(pooled, &both[k], &rng, given[k], draws);
  }
}

static void test_pooled_draws_have_the_density_of_all_their_proposals(void **state) {
  (void)state;
  hw__draws draws;
  hw__pooled pooled;
  hw__mixture both[2];
  assert_true(hw__draws_create(&draws));
  pool_two(&pooled, both, &draws);
  assert_int_equal(pooled.count, 1000);
  for (size_t i = 0; i < pooled.count; i += 37) {
    const double x = draws.x[0][i], expected = 0.3 * density_at(&both[0], x, 0) + 0.7 * density_at(&both[1], x, 0);
    check_near(exp(draws.log_proposal[i]), expected, 1e-9 * expected); /* densities are within 1e-10 */
  }
  hw__draws_free(&draws);
}

/* A standard normal about 1.42 has the evidence 1; neither proposal alone lies on it. */
static void test_pooled_draws_weigh_a_known_density_to_one(void **state) {
  (void)state;
  hw__draws draws;
  hw__pooled pooled;
  hw__mixture both[2];
  assert_true(hw__draws_create(&draws));
  pool_two(&pooled, both, &draws);
  double mean = 0;
  for (size_t i = 0; i < pooled.count; i++) {
    const double z = draws.x[0][i] - 1.42;
    draws.log_prior[i] = -0.5 * log(2 * acos(-1));
    draws.log_likelihood[i] = -0.5 * z * z;
  }
  const hw__weighing weighed = hw__draws_weigh(&draws, pooled.count, 1);
  for (size_t i = 0; i < pooled.count; i++) {
    mean += draws.weight[i] * draws.x[0][i];
  }
  check_near(weighed.log_mean, 0, 0.15); /* four standard errors, with 300 effective of 1000 */
  check_near(mean, 1.42, 0.25);
  assert_true(weighed.effective > 100 && weighed.effective < 1000);
  hw__draws_free(&draws);
}

static void test_a_full_pool_begins_anew(void **state) {
  (void)state;
  hw__draws draws;
  hw__pooled pooled;
  hw__mixture both[2];
  hw_rng rng;
  hw_rng_seed(&rng, 142, 0);
  assert_true(hw__draws_create(&draws));
  pool_two(&pooled, both, &draws);
  assert_int_equal(hw__pooled_add(&pooled, &both[0], &rng, HW__FINAL - 1000, &draws), 1000);
  assert_int_equal(pooled.count, HW__FINAL);
  assert_int_equal(hw__pooled_add(&pooled, &both[1], &rng, 256, &draws), 0);
  assert_int_equal(pooled.count, 256);
  const double x = draws.x[0][14], expected = density_at(&both[1], x, 0);
  check_near(exp(draws.log_proposal[14]), expected, 1e-9 * expected);
  for (size_t i = 1; i < HW__POOLED; i++) { /* many small proposals fill it too */
    assert_true(hw__pooled_add(&pooled, &both[0], &rng, 8, &draws) > 0);
  }
  assert_int_equal(hw__pooled_add(&pooled, &both[0], &rng, 8, &draws), 0);
  hw__draws_free(&draws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_density_integrates_to_one_in_one_dimension),
      cmocka_unit_test(test_the_density_integrates_to_one_in_two_dimensions),
      cmocka_unit_test(test_draws_in_one_dimension_fall_where_the_density_says),
      cmocka_unit_test(test_draws_in_two_dimensions_weigh_a_known_density_to_one),
      cmocka_unit_test(test_a_fit_recovers_two_modes_and_their_shares),
      cmocka_unit_test(test_points_without_weight_do_not_move_a_fit),
      cmocka_unit_test(test_annealing_finds_evidence_mean_and_spread_of_a_gaussian),
      cmocka_unit_test(test_annealing_from_a_near_proposal_agrees_with_fewer_evaluations),
      cmocka_unit_test(test_annealing_ends_where_others_are_plainly_ahead),
      cmocka_unit_test(test_annealing_draws_no_more_than_is_ample),
      cmocka_unit_test(test_draws_walk_along_a_bent_target),
      cmocka_unit_test(test_walkers_that_stand_on_few_points_are_worth_few),
      cmocka_unit_test(test_a_target_outside_its_prior_is_not_found),
      cmocka_unit_test(test_pooled_draws_have_the_density_of_all_their_proposals),
      cmocka_unit_test(test_pooled_draws_weigh_a_known_density_to_one),
      cmocka_unit_test(test_a_full_pool_begins_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
