/* The window, the box, the misfit and the descent. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "check.h"
#include "headwater/headwater.h"
#include "loss/box.h"
#include "loss/lipschitz.h"
#include "loss/solve.h"
#include "online/moment.h"
#include "online/paper_units.h"
#include "online/printed.h"
#include "paper_river.h"

typedef struct {
  hw_river river;
  hw_transport *transport;
  double sensor_m[4];
  hw_reading *readings;
  size_t count;
  hw__window window;
  hw__packed packed;
  hw__misfit misfit;
} bench;

static void set_up(bench *b, size_t per_sensor, double noise) {
  memset(b, 0, sizeof *b);
  b->river = paper_river();
  b->count = paper_readings(&b->river, per_sensor, noise, 5, &b->readings);
  assert_int_equal(hw_transport_create(&b->river, NULL, &b->transport), HW_OK);
  assert_int_equal(hw__window_create(b->count, &b->window), HW_OK);
  assert_int_equal(hw__packed_create(b->count, 4, &b->packed), HW_OK);
  for (size_t m = 0; m < 4; m++) {
    b->sensor_m[m] = b->river.sensors[m].location_m;
  }
  b->misfit = (hw__misfit){.transport = b->transport, .sensor_m = b->sensor_m};
  for (size_t i = 0; i < b->count; i++) {
    hw__window_add(&b->window, &b->readings[i]);
  }
  hw__packed_fill(&b->packed, &b->window, b->count);
}

static void tear_down(bench *b) {
  hw__packed_free(&b->packed);
  hw__window_free(&b->window);
  hw_transport_free(b->transport);
  free(b->readings);
  hw_river_free(&b->river);
}

/* The loss as its definition reads, one reading after the other. */
static double plain_loss(const bench *b, size_t w, const hw_source *x) {
  const size_t n = w < b->window.count ? w : b->window.count;
  double sum = 0;
  for (size_t i = b->window.count - n; i < b->window.count; i++) {
    const hw_reading *r = hw__window_at(&b->window, i);
    double c = 0;
    hw_transport_concentration(b->transport, x, b->sensor_m[r->sensor], r->time_s, &c);
    const double e = r->below_limit ? fmax(c - r->concentration_g_m3, 0) : c - r->concentration_g_m3;
    sum += e * e;
  }
  return sum / (double)n;
}

static hw_source anywhere(const bench *b, hw_rng *rng) {
  return hw__box_draw(&b->river.search, rng);
}

/* Near the truth, where every sensor sees the plume and sums of residuals do not vanish. */
static hw_source nearby(hw_rng *rng) {
  const double phase = paper_truth.location_m - 80 / 60.0 * paper_truth.time_s + 2500 * (hw_rng_uniform(rng) - 0.5);
  const double t = paper_truth.time_s + 3000 * (hw_rng_uniform(rng) - 0.5);
  return (hw_source){1300 * (0.8 + 0.4 * hw_rng_uniform(rng)), phase + 80 / 60.0 * t, t};
}

static void test_loss_is_its_definition(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0.05);
  hw_rng rng;
  hw_rng_seed(&rng, 3, 0);
  for (int i = 0; i < 500; i++) {
    const hw_source x = i % 2 ? nearby(&rng) : anywhere(&b, &rng);
    const double expected = plain_loss(&b, b.count, &x);
    const double found = hw__misfit_value(&b.misfit, &b.packed, &x);
    assert_true(fabs(found - expected) <= 1e-12 * expected); /* order of summation */
    hw__slope slope;
    hw__misfit_slope(&b.misfit, &b.packed, &x, &slope);
    assert_true(fabs(slope.value - found) <= 1e-13 * found);
  }
  tear_down(&b);
}

/* Prediction minus reading, where positive and negative ones cancel: what Algorithm 7 squares as printed. */
static void test_mean_misfit_is_its_definition(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0.05);
  hw_rng rng;
  hw_rng_seed(&rng, 7, 0);
  for (int i = 0; i < 200; i++) {
    const hw_source x = i % 2 ? nearby(&rng) : anywhere(&b, &rng);
    double sum = 0, size = 0;
    for (size_t k = 0; k < b.count; k++) {
      const hw_reading *r = &b.readings[k];
      double c = 0;
      hw_transport_concentration(b.transport, &x, b.sensor_m[r->sensor], r->time_s, &c);
      sum += c - r->concentration_g_m3;
      size += fabs(c) + fabs(r->concentration_g_m3);
    }
    const double found = hw__misfit_mean(&b.misfit, &b.packed, &x);
    assert_true(fabs(found - sum / (double)b.count) <= 1e-12 * size / (double)b.count); /* order of summation */
  }
  tear_down(&b);
}

static void test_loss_divides_by_the_readings_there_are(void **state) {
  (void)state;
  bench b;
  set_up(&b, 7, 0.05);
  const hw_source x = {1371, -21900, -12700};
  for (size_t w = 1; w < 60; w += 4) {
    hw__packed_fill(&b.packed, &b.window, w);
    const double expected = plain_loss(&b, w, &x);
    assert_int_equal(b.packed.count, w < 28 ? w : 28);
    assert_true(fabs(hw__misfit_value(&b.misfit, &b.packed, &x) - expected) <= 1e-12 * expected + 1e-30);
  }
  tear_down(&b);
}

static void test_window_forgets_the_oldest(void **state) {
  (void)state;
  hw__window w = {0};
  assert_int_equal(hw__window_create(5, &w), HW_OK);
  for (size_t i = 0; i < 13; i++) {
    const hw_reading r = {0, (double)i, 0.37, false, false};
    hw__window_add(&w, &r);
  }
  assert_int_equal(w.count, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_true(hw__window_at(&w, i)->time_s == (double)(8 + i));
  }
  hw__window_free(&w);
}

static void test_gradient_matches_finite_differences(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0.05);
  for (size_t i = 0; i < b.count; i += 9) { /* some non-detects too */
    b.readings[i].below_limit = true;
    b.readings[i].concentration_g_m3 *= 0.7;
  }
  for (size_t i = 0; i < b.count; i++) {
    hw__window_add(&b.window, &b.readings[i]);
  }
  hw__packed_fill(&b.packed, &b.window, b.count);
  hw_rng rng;
  hw_rng_seed(&rng, 4, 0);
  const double step[3] = {0.05, 0.5, 0.4};
  for (int i = 0; i < 400; i++) {
    const hw_source x = nearby(&rng);
    hw__slope slope;
    hw__misfit_slope(&b.misfit, &b.packed, &x, &slope);
    for (int j = 0; j < 3; j++) {
      double v[3];
      hw__source_to(&x, v);
      v[j] += step[j];
      hw_source up = hw__source_from(v);
      v[j] -= 2 * step[j];
      hw_source down = hw__source_from(v);
      const double difference =
          (hw__misfit_value(&b.misfit, &b.packed, &up) - hw__misfit_value(&b.misfit, &b.packed, &down)) / (2 * step[j]);
      const double scale = fabs(difference) + slope.value / (j == 0 ? 1300 : 1000);
      /* (step / width)^2, and a step may cross the limit of a non-detect, where the slope bends */
      assert_true(fabs(slope.gradient[j] - difference) <= 1e-4 * scale);
    }
  }
  tear_down(&b);
}

static void test_hessian_matches_finite_differences(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0.05);
  const hw_source x = {1344, -21700, -12650};
  const double step[3] = {0.05, 0.5, 0.4}, unit[3] = {1300, 1000, 900};
  double hessian[3][3];
  hw__misfit_hessian(&b.misfit, &b.packed, &x, hessian);
  for (int j = 0; j < 3; j++) {
    double v[3];
    hw__slope up, down;
    hw__source_to(&x, v);
    v[j] += step[j];
    hw_source at = hw__source_from(v);
    hw__misfit_slope(&b.misfit, &b.packed, &at, &up);
    v[j] -= 2 * step[j];
    at = hw__source_from(v);
    hw__misfit_slope(&b.misfit, &b.packed, &at, &down);
    for (int k = 0; k < 3; k++) {
      const double difference = (up.gradient[k] - down.gradient[k]) / (2 * step[j]);
      assert_true(fabs(hessian[j][k] - difference) <= 1e-5 * (fabs(difference) + up.value / unit[j] / unit[k]));
    }
  }
  tear_down(&b);
}

/* The gradient method's own optimum must be the one a brute search over mass finds. */
static void test_best_mass_is_best(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0.05);
  hw_source x = {0, -21900, -12700};
  x.mass_g = hw__misfit_best_mass(&b.misfit, &b.packed, &x, 1, 1e6);
  const double least = hw__misfit_value(&b.misfit, &b.packed, &x);
  for (double factor = 0.5; factor < 2; factor += 0.013) {
    const hw_source other = {x.mass_g * factor, x.location_m, x.time_s};
    assert_true(hw__misfit_value(&b.misfit, &b.packed, &other) >= least);
  }
  assert_true(hw__misfit_best_mass(&b.misfit, &b.packed, &x, 1, 37.5) == 37.5);
  tear_down(&b);
}

static void test_solve_finds_the_noise_free_truth(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0);
  hw_rng rng;
  hw_rng_seed(&rng, 6, 0);
  const hw__limits limits = {.tolerance = 1e-9, .iterations = 500};
  for (int i = 0; i < 100; i++) {
    const hw_source start = nearby(&rng);
    hw__solution s = {.x = hw__box_clamp(&b.river.search, &start)};
    hw__solve(&b.misfit, &b.packed, &b.river.search, &limits, &s);
    assert_true(fabs(s.x.mass_g - 1300) < 0.1);
    assert_true(fabs(s.x.location_m + 22106) < 2);
    assert_true(fabs(s.x.time_s + 12900) < 2);
    assert_true(s.value < 1e-9 * b.packed.mean_square);
  }
  tear_down(&b);
}

/* What phase coordinates and curvature are worth: without either it takes many times the steps, if it arrives at all.
 */
static void test_solve_without_an_ingredient_is_slow_or_falls_short(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0);
  size_t with_all = 0;
  for (unsigned without = 0; without <= (HW_WITHOUT_PHASE | HW_WITHOUT_CURVATURE); without++) {
    const hw__limits limits = {.tolerance = 1e-9, .iterations = 500, .without = without};
    hw__solution s = {.x = {1500, -20000, -11900}};
    hw__solve(&b.misfit, &b.packed, &b.river.search, &limits, &s);
    print_message("without %u: %.0f g, %.0f m, %.0f s after %zu steps\n", without, s.x.mass_g, s.x.location_m,
                  s.x.time_s, s.iterations);
    const bool arrived = fabs(s.x.location_m + 22106) < 2;
    with_all = without ? with_all : s.iterations;
    assert_true(without ? !arrived || s.iterations > 5 * with_all : arrived);
  }
  tear_down(&b);
}

static void test_solve_never_climbs_and_stays_in_the_box(void **state) {
  (void)state;
  bench b;
  set_up(&b, 9, 0.3);
  hw_rng rng;
  hw_rng_seed(&rng, 8, 0);
  const hw_box *box = &b.river.search;
  for (int i = 0; i < 1000; i++) {
    const hw__limits limits = {.tolerance = 5e-6, .iterations = (size_t)(i % 40)};
    hw__solution s = {.x = anywhere(&b, &rng)};
    const double before = hw__misfit_value(&b.misfit, &b.packed, &s.x);
    hw__solve(&b.misfit, &b.packed, box, &limits, &s);
    assert_true(s.value <= before * (1 + 1e-12));
    const hw_source inside = hw__box_clamp(box, &s.x);
    assert_memory_equal(&inside, &s.x, sizeof inside);
    assert_true(s.iterations <= limits.iterations);
    assert_true(s.stop != HW_STOP_NONE);
  }
  tear_down(&b);
}

/* The optimum on a face of the box: the metric projection slides along it instead of stalling in the corner. */
static void test_solve_slides_along_a_face(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0);
  hw_box box = b.river.search;
  box.lo.location_m = -20500; /* the truth, -22106, lies outside */
  const hw__limits limits = {.tolerance = 1e-8, .iterations = 500};
  hw_rng rng;
  hw_rng_seed(&rng, 9, 0);
  double least = HUGE_VAL;
  for (double t = box.lo.time_s; t <= box.hi.time_s; t += 1.0) { /* brute force along the face */
    hw_source x = {0, -20500, t};
    x.mass_g = hw__misfit_best_mass(&b.misfit, &b.packed, &x, box.lo.mass_g, box.hi.mass_g);
    least = fmin(least, hw__misfit_value(&b.misfit, &b.packed, &x));
  }
  for (int i = 0; i < 50; i++) {
    hw_source start = nearby(&rng);
    const double push = fmax(-20500 - start.location_m, 0); /* onto the face along the ridge: same phase */
    start.location_m += push;
    start.time_s += push / (80 / 60.0);
    hw__solution s = {.x = hw__box_clamp(&box, &start)};
    hw__solve(&b.misfit, &b.packed, &box, &limits, &s);
    assert_true(s.value <= least * 1.001);
    assert_true(s.x.location_m == -20500);
  }
  tear_down(&b);
}

static void test_solve_survives_absurd_readings(void **state) {
  (void)state;
  bench b;
  set_up(&b, 9, 0);
  const hw_reading huge = {1, 1800, 1e300, false, false};
  hw__window_add(&b.window, &huge);
  hw__packed_fill(&b.packed, &b.window, b.count);
  const hw__limits limits = {.tolerance = 5e-6, .iterations = 200};
  hw__solution s = {.x = paper_truth};
  hw__solve(&b.misfit, &b.packed, &b.river.search, &limits, &s);
  assert_true(hw__source_finite(&s.x));
  assert_true(isfinite(s.value));
  tear_down(&b);
}

static void test_projected_gradient_is_its_definition(void **state) {
  (void)state;
  const hw_box box = {{10, -500, -60}, {20, -100, 60}};
  const hw_source x = {12, -110, 0};
  const double g[3] = {3, -7, 0.5}, eta[3] = {0.5, 10, 40};
  double out[3];
  hw__box_projected_gradient(&box, &x, g, eta, out);
  assert_true(fabs(out[0] - 3) < 1e-15);                   /* free */
  assert_true(fabs(out[1] - (-110 + 100) / 10.0) < 1e-15); /* stopped by the face at -100 */
  assert_true(fabs(out[2] - 0.5) < 1e-15);
}

/* Slopes between neighbours are the slopes between all pairs: the maximum is the same. */
static void test_neighbours_attain_the_largest_slope(void **state) {
  (void)state;
  bench b;
  set_up(&b, 9, 0.05);
  const hw_box *box = &b.river.search;
  enum { K = 5 };
  double found[3], width[3], lo[3], expected[3] = {0};
  hw__lipschitz_slopes(&b.misfit, &b.packed, box, K, found);
  hw__box_widths(box, width);
  hw__source_to(&box->lo, lo);
  for (int j = 0; j < 3; j++) {
    for (int other = 0; other < K * K; other++) {
      for (int i = 0; i < K; i++) {
        for (int k = 0; k < i; k++) {
          double p[3], q[3];
          const int at[2] = {other % K, other / K};
          for (int d = 0, o = 0; d < 3; d++) {
            p[d] = lo[d] + width[d] * (d == j ? i : at[o]) / (K - 1.0);
            q[d] = lo[d] + width[d] * (d == j ? k : at[o]) / (K - 1.0);
            o += d != j;
          }
          const hw_source x = hw__source_from(p), y = hw__source_from(q);
          const double rise = hw__misfit_value(&b.misfit, &b.packed, &x) - hw__misfit_value(&b.misfit, &b.packed, &y);
          expected[j] = fmax(expected[j], fabs(rise) / (p[j] - q[j]));
        }
      }
    }
    assert_true(fabs(found[j] - expected[j]) <= 1e-9 * expected[j]);
  }
  tear_down(&b);
}

/* Taken literally, the constants of Algorithm 5 perturb by nothing and wait for ever; docs/paper.md quotes these. */
/* The first n readings of a pulse, at half, all, three times a twentieth and right at a twentieth of its top. */
static hw__moment pulse_of(size_t n, double factor) {
  static const double share[] = {0.5, 1, 0.15, 0.05, 0.4, 0.2, 0.3};
  hw__window window;
  hw__packed packed;
  assert_int_equal(hw__window_create(7, &window), HW_OK);
  assert_int_equal(hw__packed_create(7, 2, &packed), HW_OK);
  for (size_t i = 0; i < n; i++) {
    hw__window_add(&window,
                   &(hw_reading){.sensor = i % 2, .time_s = 37 * (double)i, .concentration_g_m3 = factor * share[i]});
  }
  hw__packed_fill(&packed, &window, n);
  const hw__moment found = hw__moment_pulse(&packed);
  hw__packed_free(&packed);
  hw__window_free(&window);
  return found;
}

static void test_a_pulse_is_six_readings_five_of_them_above_a_twentieth(void **state) {
  (void)state;
  assert_int_equal(pulse_of(5, 0.37).count, 0);
  assert_int_equal(pulse_of(6, 0.37).count, 5); /* the one at a twentieth is not above it */
  assert_int_equal(pulse_of(7, 0.37).count, 6);
  assert_true(pulse_of(7, 0.37).largest == 0.37);
  assert_int_equal(pulse_of(7, 0).count, 0);
}

/* A whole pulse, densely read at one sensor: its mean and variance are those of the release, but for the skewness that
 * eq. (1) has in time. */
static void test_moments_lead_to_the_release(void **state) {
  (void)state;
  bench b;
  set_up(&b, 200, 0);
  hw_source found = {0};
  assert_true(hw__moment_start(&b.misfit, &b.packed, &b.river.search, &found));
  assert_true(fabs(found.mass_g - paper_truth.mass_g) < 0.15 * paper_truth.mass_g);
  const double velocity_m_s = 80 / 60.0, phase_m = found.location_m - velocity_m_s * found.time_s,
               true_m = paper_truth.location_m - velocity_m_s * paper_truth.time_s;
  assert_true(fabs(phase_m - true_m) < 100);
  assert_true(fabs(found.time_s - paper_truth.time_s) < 3000);
  assert_true(found.time_s > b.river.search.lo.time_s && found.time_s < b.river.search.hi.time_s);
  tear_down(&b);
}

static void test_printed_constants_are_out_of_any_range(void **state) {
  (void)state;
  bench b;
  set_up(&b, 21, 0);
  const hw_source start = {1500, -20000, -12300};
  const double loss = 1e6 * hw__misfit_value(&b.misfit, &b.packed, &start);
  hw__jin_constants c;
  hw__steepness steepness;
  hw__paper_measure(&b.misfit, &b.packed, &b.river.search, true, &steepness);
  assert_true(hw__printed_constants(&steepness, 5e-6, loss, &c));
  print_message("chi %.3g, r %.3g, g_thres %.3g, f_thres %.3g, t_thres %.3g\n", c.chi, c.radius, c.gradient_threshold,
                c.loss_threshold, c.time_threshold);
  assert_true(c.radius < 1e-6 && c.radius > 0);
  assert_true(c.time_threshold > 1e4);
  assert_true(c.loss_threshold < 1e-6);
  tear_down(&b);
}

/* Both constants are the largest over a grid of what their definition says of neighbours, in any unit. */
static void test_curvature_is_the_largest_on_the_grid_and_between_its_neighbours(void **state) {
  (void)state;
  bench b;
  set_up(&b, 9, 0.05);
  const hw_box *box = &b.river.search;
  enum { K = 3 };
  static const double unit[3] = {142, 3700, 910};
  const double loss_scale = 7.3;
  double width[3], lo[3], smoothness = 0, hessian = 0, found[2];
  static double h[K * K * K][3][3];
  hw__box_widths(box, width);
  hw__source_to(&box->lo, lo);
  for (int i = 0; i < K * K * K; i++) {
    const int at[3] = {i % K, i / K % K, i / K / K};
    double x[3], square = 0;
    for (int d = 0; d < 3; d++) {
      x[d] = lo[d] + width[d] * at[d] / (K - 1.0);
    }
    const hw_source source = hw__source_from(x);
    hw__misfit_hessian(&b.misfit, &b.packed, &source, h[i]);
    for (int d = 0; d < 9; d++) {
      h[i][d / 3][d % 3] *= unit[d / 3] * unit[d % 3] * loss_scale;
      square += h[i][d / 3][d % 3] * h[i][d / 3][d % 3];
    }
    smoothness = fmax(smoothness, sqrt(square));
    static const int before[3] = {1, K, K * K};
    for (int j = 0; j < 3; j++) {
      square = 0;
      for (int d = 0; at[j] > 0 && d < 9; d++) {
        square += pow(h[i][d / 3][d % 3] - h[i - before[j]][d / 3][d % 3], 2);
      }
      hessian = fmax(hessian, sqrt(square) / (width[j] / unit[j] / (K - 1)));
    }
  }
  hw__lipschitz_curvature(&b.misfit, &b.packed, box, K, unit, loss_scale, &found[0], &found[1]);
  /* Sums of nine products in another order. */
  check_near(found[0], smoothness, 1e-12 * smoothness);
  check_near(found[1], hessian, 1e-12 * hessian);
  assert_true(smoothness > 0 && hessian > 0);
  /* A side without width has no neighbours: nothing is divided by it. And one point tells nothing. */
  hw_box flat = *box;
  flat.hi.mass_g = flat.lo.mass_g;
  hw__lipschitz_curvature(&b.misfit, &b.packed, &flat, K, unit, loss_scale, &found[0], &found[1]);
  assert_true(isfinite(found[1]) && found[1] > 0 && found[1] <= hessian);
  double slope[3];
  hw__lipschitz_slopes(&b.misfit, &b.packed, &flat, K, slope);
  assert_true(slope[0] == 0 && slope[1] > 0 && slope[2] > 0);
  hw__lipschitz_curvature(&b.misfit, &b.packed, box, 1, unit, loss_scale, &found[0], &found[1]);
  hw__lipschitz_slopes(&b.misfit, &b.packed, box, 1, slope);
  assert_true(found[0] == 0 && found[1] == 0 && slope[1] == 0);
  tear_down(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loss_is_its_definition),
      cmocka_unit_test(test_mean_misfit_is_its_definition),
      cmocka_unit_test(test_loss_divides_by_the_readings_there_are),
      cmocka_unit_test(test_window_forgets_the_oldest),
      cmocka_unit_test(test_gradient_matches_finite_differences),
      cmocka_unit_test(test_hessian_matches_finite_differences),
      cmocka_unit_test(test_best_mass_is_best),
      cmocka_unit_test(test_solve_finds_the_noise_free_truth),
      cmocka_unit_test(test_solve_without_an_ingredient_is_slow_or_falls_short),
      cmocka_unit_test(test_solve_never_climbs_and_stays_in_the_box),
      cmocka_unit_test(test_solve_slides_along_a_face),
      cmocka_unit_test(test_solve_survives_absurd_readings),
      cmocka_unit_test(test_projected_gradient_is_its_definition),
      cmocka_unit_test(test_neighbours_attain_the_largest_slope),
      cmocka_unit_test(test_a_pulse_is_six_readings_five_of_them_above_a_twentieth),
      cmocka_unit_test(test_moments_lead_to_the_release),
      cmocka_unit_test(test_printed_constants_are_out_of_any_range),
      cmocka_unit_test(test_curvature_is_the_largest_on_the_grid_and_between_its_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
