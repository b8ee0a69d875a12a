/* The engine's inner loops and closed forms: against the transport, against numerical integration, and the two compiled
 * versions against each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "headwater/headwater.h"
#include "paper_river.h"
#include "posterior/cloud.h"
#include "posterior/evidence.h"
#include "river/along.h"

enum { COUNT = HW__BLOCK };

static const hw__kernel_table *kernels[2];
static size_t kernel_count;

static int find_kernels(void **state) {
  (void)state;
  kernels[kernel_count++] = &hw__kernel_portable;
  if (hw__kernel() != &hw__kernel_portable) {
    kernels[kernel_count++] = hw__kernel();
  }
  return 0;
}

static hw_reach reaches[] = {{-24000, 1.7, 33, 48, 2e-6}, {-16000, 0.9, 52, 80, 1e-5}, {-9000, 1.2, 21, 55, 0}};

/* A cloud drawn from the prior of the paper's river, made uncertain. */
static void make_cloud(hw_river *river, hw_transport **transport, hw__cloud *cloud) {
  const bool sums[4] = {true, true, true, true};
  hw_rng rng;
  hw_rng_seed(&rng, 3, 0);
  river->hydraulics.velocity_m_s = (hw_quantity){HW_UNCERTAIN, 1.3, 1.2};
  river->hydraulics.dispersion_m2_s = (hw_quantity){HW_UNCERTAIN, 41.7, 2.7};
  river->search.hi.location_m = 5000; /* some sources lie below the first sensors */
  assert_int_equal(hw_transport_create(river, NULL, transport), HW_OK);
  assert_true(hw__cloud_create(COUNT, sums, river->sensor_count, cloud));
  hw__cloud_draw(cloud, river, *transport, 1, &rng);
}

static hw__point point_at(const hw_river *river, const hw_transport *transport, double x_m, double time_s) {
  const hw__integrals at = hw__transport_integrals(transport, x_m);
  const double q = hw_transport_leg(transport, x_m, x_m).discharge_m3_s;
  const bool follows = hw__river_discharge_follows(river, x_m);
  return (hw__point){time_s, at.theta, at.variance, at.decay, follows ? 0 : 1 / q, follows ? 1 / q : 0};
}

static void check_response(hw_river *river) {
  hw_transport *base, *own;
  hw__cloud cloud;
  make_cloud(river, &base, &cloud);
  const hw__view view = hw__cloud_view(&cloud, 0);
  double g[COUNT] __attribute__((aligned(64)));
  const double places[] = {-14210.5, 0, -8000}, times[] = {-9321, 12, 3377};
  for (size_t which = 0; which < kernel_count * 3; which++) {
    const hw__point point = point_at(river, base, places[which % 3], times[which % 3]);
    kernels[which / 3]->response(&view, COUNT, &point, g);
    for (size_t i = 0; i < COUNT; i++) {
      const hw_hydraulic_scale scale = {exp(cloud.column[HW__LN_VELOCITY][i]), exp(cloud.column[HW__LN_DISPERSION][i])};
      assert_int_equal(hw_transport_create(river, &scale, &own), HW_OK);
      const hw_leg leg = hw_transport_leg(own, cloud.column[HW__LOCATION][i], places[which % 3]);
      const double want = hw_leg_response(&leg, point.time_s - cloud.column[HW__RELEASE][i]);
      hw_transport_free(own);
      /* exp to 3e-10, the root's 1e-10 times the exponent; far tails (e^-340) are cut off */
      check_near(g[i], want, 1e-7 * want + 1e-140);
    }
  }
  hw__cloud_free(&cloud);
  hw_transport_free(base);
}

static void test_response_is_the_transports_in_a_uniform_river(void **state) {
  (void)state;
  hw_river river = paper_river();
  check_response(&river);
  river.hydraulics.discharge_m3_s = 71.3;
  river.hydraulics.area_m2 = 0;
  check_response(&river);
  hw_river_free(&river);
}

static void test_response_is_the_transports_over_reaches(void **state) {
  (void)state;
  hw_river river = paper_river();
  river.reaches = reaches;
  river.reach_count = 3;
  check_response(&river);
  river.reaches = NULL;
  hw_river_free(&river);
}

static void test_a_source_below_the_sensor_shows_exactly_nothing(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_transport *base;
  hw__cloud cloud;
  make_cloud(&river, &base, &cloud);
  const hw__view view = hw__cloud_view(&cloud, 0);
  const hw__point point = point_at(&river, base, -14210.5, 2e4);
  double g[COUNT] __attribute__((aligned(64)));
  size_t below = 0;
  for (size_t which = 0; which < kernel_count; which++) {
    kernels[which]->response(&view, COUNT, &point, g);
    for (size_t i = 0; i < COUNT; i++) {
      if (cloud.column[HW__LOCATION][i] >= -14210.5) {
        assert_true(g[i] == 0);
        below++;
      }
    }
  }
  assert_true(below > 50);
  hw__cloud_free(&cloud);
  hw_transport_free(base);
  hw_river_free(&river);
}

/* Sums of 5 readings one by one and as one bin, in a pulse about 900 s wide. */
static void test_a_bin_is_right_to_second_order(void **state) {
  (void)state;
  hw_river river = paper_river();
  hw_transport *base;
  hw__cloud cloud;
  make_cloud(&river, &base, &cloud);
  const hw__view view = hw__cloud_view(&cloud, 0);
  static double columns[6][COUNT] __attribute__((aligned(64)));
  const double step = 40, c[5] = {0.011, 0.013, 0.016, 0.018, 0.021};
  for (size_t which = 0; which < kernel_count; which++) {
    memset(columns, 0, sizeof columns);
    const hw__sums each = {columns[0], columns[1], columns[2]}, once = {columns[3], columns[4], columns[5]};
    hw__point point = point_at(&river, base, -14210.5, 0);
    double slope = 0, mean = 0;
    for (int i = 0; i < 5; i++) {
      const hw__bin bin = {2.5e9, c[i], 0, 0, 0};
      point.time_s = -6500 + step * (i - 2);
      kernels[which]->accumulate(&view, COUNT, &point, &bin, &each);
      mean += c[i] / 5;
      slope += step * (i - 2) * c[i] / 5;
    }
    const hw__bin bin = {5 * 2.5e9, mean, step * step, 5 * 2.5e9 * 2 * step * step, 5 * 2.5e9 * slope};
    point.time_s = -6500;
    kernels[which]->accumulate(&view, COUNT, &point, &bin, &once);
    double most = 0;
    for (size_t i = 0; i < COUNT; i++) {
      most = fmax(most, each.lambda[i]);
    }
    for (size_t i = 0; i < COUNT; i++) { /* (half the bin / width)^4 is 5e-3 here; a plain average is off by 7e-2 */
      const double variance = (point.variance - view.variance[i]) * view.spread[i];
      if (variance > 300 * 300) {
        check_near(once.lambda[i], each.lambda[i], 2e-3 * most);
        check_near(once.h[i], each.h[i], 2e-3 * sqrt(most * 5 * 2.5e9) * 0.02);
      }
    }
  }
  hw__cloud_free(&cloud);
  hw_transport_free(base);
  hw_river_free(&river);
}

/* ln of the integral over background b and gain deviation e (in grams) of the Gaussian likelihood of four readings,
 * on a lattice, at this mass. */
static double integrate_nuisances(const double *g, const double *c, double w, double mass, double sd_b, double sd_e) {
  enum { STEPS = 400 };
  double sum = 0;
  for (int i = 0; i < STEPS; i++) {
    const double b = sd_b > 0 ? sd_b * 8 * (2 * (i + 0.5) / STEPS - 1) : 0;
    for (int j = 0; j < STEPS; j++) {
      const double e = sd_e > 0 ? sd_e * 8 * (2 * (j + 0.5) / STEPS - 1) : 0;
      double q = (sd_b > 0 ? b * b / (sd_b * sd_b) : 0) + (sd_e > 0 ? e * e / (sd_e * sd_e) : 0);
      for (int k = 0; k < 4; k++) {
        const double off = c[k] - b - (mass + e) * g[k];
        q += w * off * off;
      }
      sum += exp(-0.5 * q);
    }
  }
  return log(sum);
}

static void check_fold(double sd_b, double sd_e) {
  const double g[4] = {0.2, 0.9, 0.7, 0.1}, c[4] = {1.3, 3.1, 2.2, 1.0}, w = 4;
  static double columns[6][8] __attribute__((aligned(64)));
  double s0 = sd_b > 0 ? 1 / (sd_b * sd_b) : 0, s1 = 0;
  memset(columns, 0, sizeof columns);
  for (int k = 0; k < 4; k++) {
    s0 += w;
    s1 += w * c[k];
    for (int i = 0; i < 8; i++) {
      columns[0][i] += w * g[k] * g[k];
      columns[1][i] += w * g[k] * c[k];
      columns[2][i] += w * g[k];
    }
  }
  const hw__fold fold = {.per_s0 = sd_b > 0 ? 1 / s0 : 0, .s1 = s1, .gain2 = sd_e * sd_e};
  for (size_t which = 0; which < kernel_count; which++) {
    const hw__sums sums = {columns[0], columns[1], columns[2]};
    const hw__totals totals = {columns[3], columns[4], columns[5]};
    memset(columns[3], 0, 3 * sizeof columns[3]);
    kernels[which]->fold(8, &sums, &fold, &totals);
    /* As functions of the mass both must agree up to a constant: compare differences from mass 1. */
    const double lambda = totals.lambda[5], h = totals.h[5];
    for (double mass = 0.1; mass < 3; mass += 0.7) {
      const double closed = h * (mass - 1) - 0.5 * lambda * (mass * mass - 1);
      const double numeric =
          integrate_nuisances(g, c, w, mass, sd_b, sd_e) - integrate_nuisances(g, c, w, 1, sd_b, sd_e);
      check_near(closed, numeric, 1e-7); /* the lattice's error */
    }
  }
}

static void test_background_and_gain_fold_as_numerical_integration_has_it(void **state) {
  (void)state;
  check_fold(0.8, 0);
  check_fold(0, 0.6);
  check_fold(0.8, 0.6);
}

/* With two gains the offset matters: it weighs particles against each other. */
static void test_gain_offset_is_the_evidence_of_the_gain(void **state) {
  (void)state;
  static double columns[6][8] __attribute__((aligned(64)));
  const double lambdas[2] = {3.1, 0.4}, hs[2] = {2.2, -0.7}, q = 0.6;
  double closed[2], numeric[2];
  for (int p = 0; p < 2; p++) {
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 8; i++) {
      columns[0][i] = lambdas[p];
      columns[1][i] = hs[p];
    }
    const hw__sums sums = {columns[0], columns[1], columns[2]};
    const hw__totals totals = {columns[3], columns[4], columns[5]};
    const hw__fold fold = {.gain2 = q * q};
    hw__kernel()->fold(8, &sums, &fold, &totals);
    const double mass = 0.9;
    closed[p] = totals.h[0] * mass - 0.5 * totals.lambda[0] * mass * mass + totals.offset[0];
    double sum = 0;
    for (int i = 0; i < 4000; i++) {
      const double e = q * 9 * (2 * (i + 0.5) / 4000 - 1), s = mass + e;
      sum += exp(-0.5 * e * e / (q * q) + hs[p] * s - 0.5 * lambdas[p] * s * s);
    }
    numeric[p] = log(sum);
  }
  check_near(closed[0] - closed[1], numeric[0] - numeric[1], 1e-8);
}

static double numeric_evidence(double lambda, double h, double lo, double hi) {
  enum { STEPS = 200000 };
  const double best = lambda > 0 ? fmin(fmax(h / lambda, lo), hi) : h > 0 ? hi : lo;
  const double top = h * best - 0.5 * lambda * best * best;
  double sum = 0;
  for (int i = 0; i < STEPS; i++) {
    const double s = lo + (hi - lo) * (i + 0.5) / STEPS;
    sum += exp(h * s - 0.5 * lambda * s * s - top);
  }
  return top + log(sum * (hi - lo) / STEPS);
}

static void test_mass_evidence_matches_quadrature(void **state) {
  (void)state;
  const double cases[][4] = {{0.7, 2.1, 0.37, 14.2}, {0.7, 2.1, 4, 14.2},       {0.7, 2.1, 5, 5.5},
                             {0.7, -9, 0.37, 14.2},  {3e-9, 2e-9, 0.37, 14.2},  {1e-7, 0.3, 0.37, 14.2},
                             {0, 0, 0.37, 14.2},     {40, 40 * 20, 0.37, 14.2}, {5, 5 * 3.3, 0, 9}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double *c = cases[i];
    const double want = numeric_evidence(c[0], c[1], c[2], c[3]);
    check_near(hw__mass_evidence(c[0], c[1], c[2], c[3]), want, 1e-5 + 1e-8 * fabs(want));
  }
  check_near(hw__mass_evidence(0.7, 2.1, 3.3, 3.3), 2.1 * 3.3 - 0.35 * 3.3 * 3.3, 1e-12); /* mass known */
  check_near(hw__log_upper_tail(19.999), hw__log_upper_tail(20.001), 0.041);
  assert_true(isfinite(hw__mass_evidence(4, 4 * 1e5, 1, 2)) && isfinite(hw__mass_evidence(1e-300, 1e-300, 0, 1e9)));
}

static void test_mass_quantiles_cut_the_density_where_they_say(void **state) {
  (void)state;
  const double cases[][4] = {
      {0.7, 2.1, 0.37, 14.2}, {0.7, -9, 0.37, 14.2}, {3e-9, 2e-9, 0.37, 14.2}, {40, 800, 0.37, 14.2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double *c = cases[i];
    for (double u = 0.1; u < 1; u += 0.2) {
      const double s = hw__mass_quantile(c[0], c[1], c[2], c[3], u);
      assert_true(s >= c[2] && s <= c[3]);
      const double share = exp(hw__mass_evidence(c[0], c[1], c[2], s) - hw__mass_evidence(c[0], c[1], c[2], c[3]));
      check_near(share, u, 2e-3); /* where the far tail is taken as exponential */
    }
  }
}

static void test_vector_evidence_is_the_closed_form_away_from_the_bounds(void **state) {
  (void)state;
  static double columns[5][8] __attribute__((aligned(64)));
  for (size_t which = 0; which < kernel_count; which++) {
    for (int i = 0; i < 8; i++) {
      columns[0][i] = pow(10, i - 4);
      columns[1][i] = columns[0][i] * 5000;
      columns[2][i] = 0.1 * i;
    }
    const hw__totals totals = {columns[0], columns[1], columns[2]};
    const size_t near = kernels[which]->evidence(8, &totals, 0, 1e4, columns[3], columns[4]);
    assert_int_equal(near, 0);
    for (int i = 0; i < 8; i++) {
      const double want = hw__mass_evidence(columns[0][i], columns[1][i], 0, 1e4) + columns[2][i];
      check_near(columns[3][i], want, 1e-10 * fabs(want) + 1e-9);
    }
    assert_int_equal(kernels[which]->evidence(8, &totals, 0, 5000, columns[3], columns[4]),
                     8); /* the best mass on the bound */
  }
}

static void test_portable_and_vector_kernels_agree_to_the_bits(void **state) {
  (void)state;
  if (kernel_count < 2) {
    skip();
  }
  hw_river river = paper_river();
  hw_transport *base;
  hw__cloud cloud;
  make_cloud(&river, &base, &cloud);
  const hw__view view = hw__cloud_view(&cloud, 0);
  static double out[2][10][COUNT] __attribute__((aligned(64)));
  for (size_t k = 0; k < 2; k++) {
    double(*o)[COUNT] = out[k];
    const hw__point point = point_at(&river, base, -14210.5, -6500);
    const hw__bin bin = {2.5e9, 0.017, 1600, 4e9, 3e7};
    const hw__sums sums = {o[0], o[1], o[2]};
    const hw__totals totals = {o[3], o[4], o[5]}, more = {o[6], o[7], o[8]};
    const hw__fold fold = {1e-9, 3e7, 0.4}, after = {0.9e-9, 3.1e7, 0.4};
    double g[COUNT] __attribute__((aligned(64))), pair[2];
    kernels[k]->accumulate(&view, COUNT, &point, &bin, &sums);
    kernels[k]->fold(COUNT, &sums, &fold, &totals);
    kernels[k]->response(&view, COUNT, &point, g);
    kernels[k]->couple(COUNT, g, 2e9, 0.02, &sums, &fold, &after, &totals, &more);
    kernels[k]->evidence(COUNT, &more, 100, 3000, o[9], o[0]);
    kernels[k]->weigh(COUNT, o[9], o[8], kernels[k]->largest(COUNT, o[9], o[8]), o[0], pair);
    o[1][0] = pair[0];
    o[1][1] = pair[1];
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
  hw__cloud_free(&cloud);
  hw_transport_free(base);
  hw_river_free(&river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_response_is_the_transports_in_a_uniform_river),
      cmocka_unit_test(test_response_is_the_transports_over_reaches),
      cmocka_unit_test(test_a_source_below_the_sensor_shows_exactly_nothing),
      cmocka_unit_test(test_a_bin_is_right_to_second_order),
      cmocka_unit_test(test_background_and_gain_fold_as_numerical_integration_has_it),
      cmocka_unit_test(test_gain_offset_is_the_evidence_of_the_gain),
      cmocka_unit_test(test_mass_evidence_matches_quadrature),
      cmocka_unit_test(test_mass_quantiles_cut_the_density_where_they_say),
      cmocka_unit_test(test_vector_evidence_is_the_closed_form_away_from_the_bounds),
      cmocka_unit_test(test_portable_and_vector_kernels_agree_to_the_bits),
  };
  return cmocka_run_group_tests(tests, find_kernels, NULL);
}
