/* The sensor level of the field model: shapes, the law, histories and lattices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "field/lattice.h"
#include "field/law.h"
#include "field/trace.h"
#include "headwater/rng.h"

static hw__shapes shapes;

static int build_shapes(void **state) {
  (void)state;
  hw__shapes_build(&shapes);
  return 0;
}

/* The polynomial is an independent fit of numerical crossings, good to 0.003 for tau / sigma 0.05 to 8. */
static void test_lead_matches_published_polynomial(void **state) {
  (void)state;
  for (int k = 0; k < HW__SHAPES; k++) {
    const double q = shapes.shape[k].skew;
    if (q < log(8)) {
      const double polynomial =
          log(2.146) + 0.15214 + 0.16466 * q + 0.06569 * pow(q, 2) + 0.01055 * pow(q, 3) + 0.00046 * pow(q, 4);
      check_near(log(shapes.shape[k].lead_in_sigma), polynomial, 0.004);
    }
  }
}

/* Gaussian and exponential store convolved by the midpoint rule. */
static double convolved(double x, double tau) {
  double sum = 0;
  for (int i = 0; i < 4000; i++) {
    const double delay = tau * 14 * (i + 0.5) / 4000;
    sum += exp(-delay / tau - 0.5 * (x - delay) * (x - delay));
  }
  return sum;
}

static void test_shape_is_gaussian_through_a_store(void **state) {
  (void)state;
  const hw__shape *shape = &shapes.shape[5];
  const double tau = exp(shape->skew);
  /* Places relative to the front's tenth, which must not depend on how phi is found: compare ratios. */
  double peak = 0, peak_x = 0;
  for (double x = -3; x < 12; x += 0.002) {
    const double c = convolved(x, tau);
    if (c > peak) {
      peak = c;
      peak_x = x;
    }
  }
  for (double y = -1.3; y < 4; y += 0.37) {
    const double x = peak_x + (y - shape->peak_y) * shape->lead_in_sigma;
    check_near(hw__shape_at(shape, (float)y), convolved(x, tau) / peak, 0.004);
  }
}

static void test_every_shape_is_a_tenth_one_lead_before_phi(void **state) {
  (void)state;
  for (int k = 0; k < HW__SHAPES; k++) {
    check_near(hw__shape_at(&shapes.shape[k], -1), 0.1, 1e-3);
    check_near(hw__shape_front(&shapes.shape[k], 0.1), -1, 1e-2);
    const double tail = hw__shape_tail(&shapes.shape[k], 0.23);
    assert_true(tail > shapes.shape[k].peak_y);
    check_near(hw__shape_at(&shapes.shape[k], (float)tail), 0.23, 1e-3);
    double area = 0;
    for (int i = 0; i < HW__SHAPE_POINTS; i++) {
      area += (double)shapes.shape[k].value[i] / HW__SHAPE_PER_LEAD;
    }
    check_near(area / shapes.shape[k].area, 1, 3e-3); /* what lies beyond the table's end */
  }
}

static void test_spreads_match_reference(void **state) {
  (void)state;
  static const double places[] = {1e-3, 3.1e-3, 0.021, 0.24, 0.5, 0.77, 0.9983};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    const double t1 = gsl_cdf_tdist_Pinv(places[i], 1), t2 = gsl_cdf_tdist_Pinv(places[i], 2);
    const double least = 1e-9; /* at one half both are 0 */
    check_near(hw__cauchy_quantile(places[i]) / (fabs(t1) > least ? t1 : 1), fabs(t1) > least ? 1 : 0, 1e-6);
    check_near(hw__t_quantile(places[i], 2) / (fabs(t2) > least ? t2 : 1), fabs(t2) > least ? 1 : 0, 1e-6);
    check_near(hw__cauchy_below(t1) / places[i], 1, 1e-6);
  }
  check_near(hw__cauchy_below(-1e7) * M_PI * 1e7, 1, 1e-6); /* no digits lost far out */
  assert_true(isfinite(exp(hw__cauchy_quantile(1e-12))) && exp(-hw__cauchy_quantile(1 - 1e-12)) > 0);
}

static void test_law_density_matches_two_by_two_formula(void **state) {
  (void)state;
  const hw__population *p = &hw__population_shipped;
  const double residual[2] = {0.21, -0.08}, age[2] = {log(7000), log(23000)};
  const double s2 = p->law_scale * p->law_scale, n2 = p->law_nugget * p->law_nugget;
  const double a = s2 + n2, b = s2 * exp(-(age[1] - age[0]) / p->law_length), det = a * a - b * b;
  const double square =
      (a * residual[0] * residual[0] - 2 * b * residual[0] * residual[1] + a * residual[1] * residual[1]) / det;
  const double nu = p->law_freedom;
  check_near(hw__law_log_density(p, 2, residual, age, NULL), -0.5 * log(det) - 0.5 * (nu + 2) * log1p(square / nu),
             1e-12);
  check_near(hw__law_log_density(p, 1, residual, age, NULL),
             -0.5 * log(a) - 0.5 * (nu + 1) * log1p(residual[0] * residual[0] / a / nu), 1e-12);
  /* Pulses of the same age err together but for the nugget. */
  check_near(hw__law_onward_scale(p, age[0], age[0]), p->law_nugget, 1e-12);
}

static void test_amplitude_evidence_matches_quadrature(void **state) {
  (void)state;
  const double cross = 61.7, square = 43.2, alpha = 0.3;
  double sum = 0, mode = 0;
  for (double a = -1.5; a < 1.5; a += 1e-4) {
    sum += 1e-4 * exp(-alpha * a + cross * exp(a) - 0.5 * square * exp(2 * a));
  }
  /* Laplace's method errs by about 1 over the information on the height, here 88. */
  check_near(hw__amplitude_evidence(cross, square, alpha, &mode), log(sum), 0.02);
  check_near(mode, cross / square, 0.01);
  assert_true(isinf(hw__amplitude_evidence(-1, 1, alpha, &mode)));
  assert_true(isinf(hw__amplitude_evidence(0.1, 1, alpha, &mode)));
}

static double pulse(double t, double phi, double lead, double height, int shape) {
  return height * (double)hw__shape_at(&shapes.shape[shape], (float)((t - phi) / lead));
}

static void feed(hw__trace *trace, double time_s, double value) {
  const hw_reading reading = {.time_s = time_s, .concentration_g_m3 = value};
  hw__trace_insert(trace, &reading);
}

static hw_sensor plain_sensor(void) {
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  return sensor;
}

/* The same sums as the lattice's, on a mesh so fine and so wide that it needs no zoom. */
static void brute_force(const hw__outline *outline, hw__lead_range range, double mean[2], double sd[2]) {
  const hw__population *p = &hw__population_shipped;
  double total = 0, sum[2] = {0}, square[2] = {0}, best = -INFINITY;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < HW__SHAPES; k++) {
      for (double lead = range.lo; lead < range.hi; lead += 0.02) {
        for (double y = -6; y < 6; y += 0.02) {
          double cross = 0, own = 0, height;
          for (size_t i = 0; i < outline->count; i++) {
            const hw__point *point = &outline->point[i];
            const double g = (double)hw__shape_at(&shapes.shape[k], (float)(point->time_s / exp(lead) - y));
            cross += point->weight * point->value * g;
            own += point->weight * g * g;
          }
          const double skew = (shapes.shape[k].skew - p->skew_mean) / p->skew_sd;
          const double log_weight =
              hw__amplitude_evidence(cross, own, p->amplitude_power, &height) + lead - 0.5 * skew * skew;
          if (pass == 0) {
            best = fmax(best, log_weight);
            continue;
          }
          const double w = exp(log_weight - best), phi = y * exp(lead);
          total += w;
          sum[0] += w * phi;
          sum[1] += w * lead;
          square[0] += w * phi * phi;
          square[1] += w * lead * lead;
        }
      }
    }
  }
  for (int i = 0; i < 2; i++) {
    mean[i] = sum[i] / total;
    sd[i] = sqrt(square[i] / total - mean[i] * mean[i]);
  }
}

static void check_lattice(double until_s) {
  hw__trace *trace = calloc(1, sizeof *trace);
  hw__lattice *lattice = calloc(1, sizeof *lattice);
  const hw_sensor sensor = plain_sensor();
  for (double t = 0; t < until_s; t += 430) {
    feed(trace, t, pulse(t, 9700, 2900, 0.041, 5));
  }
  hw__trace_settle(trace, &sensor);
  hw__outline outline;
  hw__trace_outline(trace, &hw__population_shipped, &outline);
  const hw__lead_range range = {log(2900) - 2, log(2900) + 1.5};
  hw__lattice_build(&shapes, &outline, range, &hw__population_shipped, lattice);
  assert_true(lattice->count > 50);
  double mean[2], sd[2], sum[2] = {0}, square[2] = {0};
  brute_force(&outline, range, mean, sd);
  enum { N = 20000 };
  for (int i = 0; i < N; i++) {
    const hw__pulse p = hw__lattice_pick(lattice, (i + 0.5) / N, fmod(i * 0.6180339887, 1), fmod(i * 0.7548776662, 1));
    const double value[2] = {p.phi_s - outline.anchor_s, p.log_lead};
    for (int j = 0; j < 2; j++) {
      sum[j] += value[j] / N;
      square[j] += value[j] * value[j] / N;
    }
  }
  /* A mesh with about ten cells across the probability: its mean within a tenth of a standard deviation. */
  for (int j = 0; j < 2; j++) {
    check_near((sum[j] - mean[j]) / sd[j], 0, 0.12);
    check_near(sqrt(square[j] - sum[j] * sum[j]) / sd[j], 1, 0.15);
  }
  free(trace);
  free(lattice);
}

static void test_lattice_matches_brute_force_on_the_rise(void **state) {
  (void)state;
  check_lattice(8200);
}

static void test_lattice_matches_brute_force_after_the_pulse(void **state) {
  (void)state;
  check_lattice(30000);
}

static void test_late_and_repeated_readings_change_nothing(void **state) {
  (void)state;
  hw__trace *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
  for (int i = 0; i < 300; i++) {
    feed(a, 37 * i, 0.001 * i);
    feed(b, 37 * ((i * 7) % 300), 0.001 * ((i * 7) % 300)); /* 7 and 300 share no factor */
  }
  feed(b, 37 * 14, 0.014);
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    assert_true(a->entry[i].time_s == b->entry[i].time_s && a->entry[i].value_g_m3 == b->entry[i].value_g_m3);
  }
  free(a);
  free(b);
}

static void test_spike_is_cut_and_counted(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  for (int i = 0; i < 60; i++) {
    feed(trace, 500 * i, i == 31 ? 0.9 : pulse(500 * i, 9700, 2900, 0.041, 5));
  }
  hw__trace_settle(trace, &sensor);
  assert_int_equal(trace->spikes, 1);
  check_near(trace->spike_s, 15500, 1e-9);
  check_near(trace->height_g_m3, 0.041, 0.001);
  free(trace);
}

/* A conductivity probe: the signal is a tenth of the background, the noise a thousandth of it. */
static void test_small_signal_on_a_large_background_is_seen(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  hw_rng rng;
  hw_rng_seed(&rng, 5, 0);
  for (int i = 0; i < 200; i++) {
    feed(trace, 60 * i, 88.3 + 0.09 * hw_rng_normal(&rng) + pulse(60 * i, 7000, 1300, 9.1, 4));
  }
  feed(trace, 60 * 200, 37); /* and out of the water it comes */
  hw__trace_settle(trace, &sensor);
  check_near(trace->background_g_m3, 88.3, 0.05);
  check_near(trace->height_g_m3, 9.1, 0.4);
  assert_true(trace->floor_g_m3 > 0.05 && trace->floor_g_m3 < 0.2); /* the steps of the pulse count in */
  assert_true(trace->fallen);
  free(trace);
}

/* Five grabs of a pulse, the highest more than twice its neighbours. */
static void test_the_top_of_a_sparse_pulse_is_no_spike(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  const double grabs[] = {0.0007, 0.0057, 0.074, 0.162, 0.027, 0.001, 0.0008};
  for (int i = 0; i < 7; i++) {
    feed(trace, 90000 * i, grabs[i]);
  }
  hw__trace_settle(trace, &sensor);
  assert_int_equal(trace->spikes, 0);
  check_near(trace->height_g_m3, 0.162, 0.002);
  free(trace);
}

/* A record that begins at the peak is a pulse, not a background that sinks; how steep its front was nobody knows. */
static void test_a_front_nobody_saw_may_have_been_long(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  hw__outline outline;
  static hw__lattice seen, unseen;
  double sd[2];
  for (int late = 0; late < 2; late++) {
    memset(trace, 0, sizeof *trace);
    for (int i = late ? 20 : 0; i < 60; i++) {
      feed(trace, 500 * i, pulse(500 * i, 10700, 2900, 0.041, 5));
    }
    hw__trace_settle(trace, &sensor);
    assert_true(trace->height_g_m3 > 0.03 && trace->fallen);
    assert_int_equal(hw__trace_front_seen(trace), !late);
    hw__trace_outline(trace, &hw__population_shipped, &outline);
    hw__lattice_build(&shapes, &outline, (hw__lead_range){5, 11}, &hw__population_shipped, late ? &unseen : &seen);
    sd[late] = late ? unseen.gist.log_lead_sd : seen.gist.log_lead_sd;
  }
  assert_true(sd[1] > 2 * sd[0]);
  free(trace);
}

static void test_a_flat_top_lasts_and_a_pulse_does_not(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  for (int shape = 0; shape < HW__SHAPES; shape++) {
    memset(trace, 0, sizeof *trace);
    for (int i = 0; i < 400; i++) {
      feed(trace, 100 * i, pulse(100 * i, 9700, 2900, 0.041, shape));
    }
    hw__trace_settle(trace, &sensor);
    assert_true(trace->flatness > 0.3 && !hw__trace_lasts(trace));
  }
  memset(trace, 0, sizeof *trace);
  for (int i = 0; i < 400; i++) {
    double sum = 0;
    for (int k = 0; k < 150; k++) { /* a drip of 15000 s */
      sum += pulse(100 * (i - k), 4700, 1400, 0.001, 5);
    }
    feed(trace, 100 * i, sum);
  }
  hw__trace_settle(trace, &sensor);
  assert_true(hw__trace_lasts(trace));
  double area = 0;
  for (size_t i = 0; i < trace->count; i++) {
    area += 100 * trace->clean[i];
  }
  check_near(hw__trace_area(trace) / area, 1, 1e-3); /* the ends are at nothing */
  free(trace);
}

/* A sensor that reads up to six tenths of the peak: from the flanks the pulse is known all the same. */
static void test_a_clipped_pulse_is_read_from_its_flanks(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  static hw__lattice lattice;
  const hw_sensor sensor = plain_sensor();
  hw__outline outline;
  for (int i = 0; i < 120; i++) {
    const double value = pulse(250 * i, 10700, 2900, 0.041, 5), most = 0.6 * 0.041;
    const hw_reading reading = {
        .time_s = 250 * i, .concentration_g_m3 = fmin(value, most), .above_limit = value >= most};
    hw__trace_insert(trace, &reading);
  }
  hw__trace_settle(trace, &sensor);
  assert_true(trace->fallen && !hw__trace_lasts(trace));
  hw__trace_outline(trace, &hw__population_shipped, &outline);
  hw__lattice_build(&shapes, &outline, (hw__lead_range){5, 10}, &hw__population_shipped, &lattice);
  double lead = 0, height = 0;
  for (int i = 0; i < 1000; i++) {
    const hw__pulse p = hw__lattice_pick(&lattice, (i + 0.5) / 1000, 0.5, 0.5);
    lead += p.log_lead / 1000;
    height += log(p.height_g_m3) / 1000;
  }
  check_near(lead, log(2900), 0.15); /* the skew's prior and what is left of the doubt */
  check_near(height, log(0.041), 0.2);
  free(trace);
}

static void test_steady_background_is_learned(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  hw_sensor sensor = plain_sensor();
  for (int i = 0; i < 60; i++) {
    const double wobble = 0.0004 * ((i * 7) % 5 - 2);
    feed(trace, 500 * i, 0.023 + wobble + pulse(500 * i, 14700, 2900, 0.041, 5));
  }
  hw__trace_settle(trace, &sensor);
  check_near(trace->background_g_m3, 0.023, 0.0006);
  check_near(trace->height_g_m3, 0.041, 0.0015);
  assert_true(trace->fallen);
  free(trace);
}

/* Clean water reads 0.6 of the limit, give or take 0.4 of it: most of it is censored, and what is not reads 1.2 limits.
 */
/* Two readings are no background, but no pulse either: it begins where their run ended. */
static void test_an_onset_without_a_background_lies_behind_the_run(void **state) {
  (void)state;
  static hw__trace trace = {.count = 4, .clean = {-5, -5, 0, 40}};
  const hw_sensor sensor = {.noise_absolute_g_m3 = 1, .background_g_m3 = NAN};
  hw__trace_learn_background(&trace, &sensor);
  assert_int_equal(trace.onset, 2);
  assert_true(trace.background_g_m3 == 0 && trace.floor_g_m3 == 1);
}

static void test_background_below_the_limit_is_not_learned_too_high(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  const double limit = 0.0021;
  for (int i = 0; i < 60; i++) {
    const double t = 430.0 * i, wet = i < 40 ? 0 : pulse(t, 22000, 1900, 0.09, 5);
    const double value = wet + 0.6 * limit + 0.4 * limit * gsl_cdf_ugaussian_Pinv(fmod((i + 0.5) * 0.6180339887, 1));
    const hw_reading reading = {.time_s = t, .concentration_g_m3 = fmax(value, limit), .below_limit = value < limit};
    hw__trace_insert(trace, &reading);
  }
  hw__trace_settle(trace, &sensor);
  check_near(trace->background_g_m3, 0.6 * limit, 0.15 * limit); /* twice 0.4 limit over the root of 40 */
  free(trace);
}

/* Half a million noisy readings over eighteen pulse widths: the pulse is still there, where and as high as it was. */
static void test_a_dense_record_keeps_its_pulse(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  hw_sensor sensor = plain_sensor();
  sensor.noise_absolute_g_m3 = 1.5e-4;
  sensor.background_g_m3 = 0;
  hw_rng rng;
  hw_rng_seed(&rng, 5, 0);
  for (int i = 0; i < 500000; i++) {
    const double t = -9000 + 0.036 * i, x = (t + 5700) / 500;
    feed(trace, t, 0.021 * exp(-0.5 * x * x) + 1.5e-4 * hw_rng_normal(&rng));
  }
  hw__trace_settle(trace, &sensor);
  check_near(trace->height_g_m3, 0.021, 5e-4);
  check_near(trace->entry[trace->peak].time_s, -5700, 150);
  for (size_t i = 1; i < trace->count; i++) {
    const double t = trace->entry[i].time_s;
    assert_true(fabs(t + 5700) > 1000 ||
                t - trace->entry[i - 1].time_s < 125); /* a quarter of its standard deviation */
  }
  free(trace);
}

static void test_noise_alone_is_no_pulse(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  for (int i = 0; i < 400; i++) {
    feed(trace, 500 * i, 0.023 + 0.001 * ((i * 13) % 11 - 5) / 5.0);
  }
  hw__trace_settle(trace, &sensor);
  assert_true(trace->height_g_m3 == 0);
  free(trace);
}

static void test_long_watch_keeps_the_pulse_sharp(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  const double phi = 60.0 * 20000;
  for (int i = 0; i < 21000; i++) {
    feed(trace, 60 * i, pulse(60 * i, phi, 2900, 0.041, 5));
  }
  assert_true(trace->count <= HW__TRACE_SIZE);
  hw__trace_settle(trace, &sensor);
  check_near(trace->height_g_m3, 0.041, 0.0005);
  size_t inside = 0;
  for (size_t i = 0; i < trace->count; i++) {
    inside += fabs(trace->entry[i].time_s - phi) < 5800;
  }
  assert_true(inside > 60); /* more than the outline will use of two leads either side */
  free(trace);
}

/* A point of the outline stands for several readings of a dense record: their mean height at their mean time. */
static void test_a_point_of_the_outline_is_the_mean_of_its_readings(void **state) {
  (void)state;
  hw__trace *trace = calloc(1, sizeof *trace);
  const hw_sensor sensor = plain_sensor();
  for (double t = 0; t < 24000; t += 60) {
    feed(trace, t, pulse(t, 9700, 2900, 0.041, 5));
  }
  hw__trace_settle(trace, &sensor);
  hw__outline outline;
  hw__trace_outline(trace, &hw__population_shipped, &outline);
  assert_true(outline.count > 10 && 2 * outline.count < trace->count);
  for (size_t i = 0; i < outline.count; i++) {
    const double t = outline.point[i].time_s + outline.anchor_s;
    /* A mean over some minutes of a pulse of hours: a hundredth of its height. */
    check_near(outline.point[i].value, pulse(t, 9700, 2900, 0.041, 5) / trace->height_g_m3, 0.01);
    assert_true(i == 0 || outline.point[i].time_s > outline.point[i - 1].time_s);
  }
  free(trace);
}

/* A trace whose heights lie on the bounds themselves: a tenth and three hundredths of 100, every 10 s. */
static void on_the_bounds(hw__trace *trace, const double *heights, size_t count, size_t onset) {
  memset(trace, 0, sizeof *trace);
  trace->count = count;
  trace->onset = onset;
  trace->flatness = NAN;
  trace->smallest_g_m3 = 1;
  for (size_t i = 0; i < count; i++) {
    trace->clean[i] = trace->entry[i].value_g_m3 = heights[i];
    trace->entry[i].time_s = 10 * (double)i;
    trace->entry[i].count = 1;
    if (heights[i] > trace->height_g_m3) {
      trace->height_g_m3 = heights[i];
      trace->peak = i;
    }
  }
}

static void test_what_lies_on_a_bound_of_the_pulse_belongs_to_it(void **state) {
  (void)state;
  static hw__trace trace;
  hw__outline outline;
  static const double heights[] = {1, 1, 10, 50, 100, 60, 10, 9, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  enum { COUNT = sizeof heights / sizeof heights[0] };
  on_the_bounds(&trace, heights, COUNT, 2);
  assert_true(hw__trace_front_seen(&trace));
  check_near(hw__trace_end_s(&trace), 70, 0); /* the first below a tenth */
  /* From the entry before the onset on, by trapezoids. */
  check_near(hw__trace_area(&trace), 10 * (5.5 + 30 + 75 + 80 + 35 + 9.5 + 6 + 2.5 + 20), 1e-9);
  hw__trace_outline(&trace, &hw__population_shipped, &outline);
  check_near(outline.anchor_s, 60, 0); /* the last at or above a tenth */
  assert_int_equal(outline.count,
                   2 + 15); /* two before the onset, and eight after the last at or above three hundredths */
  for (size_t i = 0; i < outline.count; i++) {
    check_near(outline.point[i].time_s, 10.0 * (double)i - 60, 1e-12);
    check_near(outline.point[i].value, heights[i] / 100, 1e-15);
  }
  /* Where the record is shorter than that it ends with its last entry. */
  on_the_bounds(&trace, heights, 12, 2);
  hw__trace_outline(&trace, &hw__population_shipped, &outline);
  assert_int_equal(outline.count, 12);
  /* A record that begins with the pulse: its front was seen if it begins below a tenth. */
  on_the_bounds(&trace, heights + 2, COUNT - 2, 0);
  assert_false(hw__trace_front_seen(&trace));
  check_near(hw__trace_area(&trace), 10 * (30 + 75 + 80 + 35 + 9.5 + 6 + 2.5 + 20), 1e-9);
  trace.clean[0] = 9.99;
  assert_true(hw__trace_front_seen(&trace));
  /* Never down again: the last entry of all. */
  on_the_bounds(&trace, heights, 7, 2);
  check_near(hw__trace_end_s(&trace), 60, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lead_matches_published_polynomial),
      cmocka_unit_test(test_shape_is_gaussian_through_a_store),
      cmocka_unit_test(test_every_shape_is_a_tenth_one_lead_before_phi),
      cmocka_unit_test(test_spreads_match_reference),
      cmocka_unit_test(test_law_density_matches_two_by_two_formula),
      cmocka_unit_test(test_amplitude_evidence_matches_quadrature),
      cmocka_unit_test(test_lattice_matches_brute_force_on_the_rise),
      cmocka_unit_test(test_lattice_matches_brute_force_after_the_pulse),
      cmocka_unit_test(test_late_and_repeated_readings_change_nothing),
      cmocka_unit_test(test_spike_is_cut_and_counted),
      cmocka_unit_test(test_small_signal_on_a_large_background_is_seen),
      cmocka_unit_test(test_the_top_of_a_sparse_pulse_is_no_spike),
      cmocka_unit_test(test_a_front_nobody_saw_may_have_been_long),
      cmocka_unit_test(test_a_flat_top_lasts_and_a_pulse_does_not),
      cmocka_unit_test(test_a_clipped_pulse_is_read_from_its_flanks),
      cmocka_unit_test(test_steady_background_is_learned),
      cmocka_unit_test(test_an_onset_without_a_background_lies_behind_the_run),
      cmocka_unit_test(test_background_below_the_limit_is_not_learned_too_high),
      cmocka_unit_test(test_a_dense_record_keeps_its_pulse),
      cmocka_unit_test(test_noise_alone_is_no_pulse),
      cmocka_unit_test(test_long_watch_keeps_the_pulse_sharp),
      cmocka_unit_test(test_a_point_of_the_outline_is_the_mean_of_its_readings),
      cmocka_unit_test(test_what_lies_on_a_bound_of_the_pulse_belongs_to_it),
  };
  return cmocka_run_group_tests(tests, build_shapes, NULL);
}
