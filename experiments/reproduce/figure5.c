/* Figure 5: how many sensors, by the sequential procedure (Algorithm 4) and directly. */
#include <math.h>
#include <stdio.h>

#include "experiments/reproduce/reproduce.h"

static const hw_source spread = {50, 500, 5 * 60.0}; /* N(0, 50), N(0, 500), N(0, 5 min): standard deviations */
static const size_t firsts[] = {3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 25, 30};
enum { FIRSTS = sizeof firsts / sizeof firsts[0], ROUNDS = 100, POOL = 50, LINES = 6 };
static const size_t drawn[LINES] = {0, 2, 4, 5, 8, 10}; /* which of firsts: 3, 7, 11, 13, 19, 25 */
static const double near_20 = 2.5;                      /* a number within this of 20 is near it */

static hw_status identify(void *context, size_t round, size_t sensor, hw_source *out) {
  hw_rng rng;
  hw_rng_seed(&rng, *(const uint64_t *)context, round * POOL + sensor);
  out->mass_g = hw_paper_truth.mass_g + spread.mass_g * hw_rng_normal(&rng);
  out->location_m = hw_paper_truth.location_m + spread.location_m * hw_rng_normal(&rng);
  out->time_s = hw_paper_truth.time_s + spread.time_s * hw_rng_normal(&rng);
  return HW_OK;
}

static hw_plan_settings settings_of(size_t first, hw_variant variant) {
  return (hw_plan_settings){.accepted = {200, 500, 200 * 60.0},
                            .level = 0.9,
                            .rounds = ROUNDS,
                            .first = first,
                            .pool = POOL,
                            .variant = variant};
}

/* The number the procedure ends with, by variant, first number and seed. */
typedef struct {
  size_t seeds;
  double end[HW_VARIANTS][FIRSTS][HW_MOST_SEEDS];
} ends;

static hw_status run_all(const hw_reproduction *r, ends *e) {
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    for (size_t i = 0; i < FIRSTS; i++) {
      const hw_plan_settings settings = settings_of(firsts[i], hw_variants[v]);
      for (size_t k = 0; k < e->seeds; k++) {
        hw_plan_round rounds[ROUNDS];
        uint64_t seed = r->options->seed + k;
        const hw_status status = hw_plan_sequence(&settings, identify, &seed, rounds);
        if (status != HW_OK) {
          return status;
        }
        e->end[v][i][k] = (double)rounds[ROUNDS - 1].installed;
      }
    }
  }
  return HW_OK;
}

static double mean_of(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += values[i] / (double)count;
  }
  return sum;
}

static hw_status draw(hw_reproduction *r) {
  char labels[LINES][32];
  double y[LINES][ROUNDS];
  hw_series series[LINES];
  for (size_t i = 0; i < LINES; i++) {
    const hw_plan_settings settings = settings_of(firsts[drawn[i]], HW_RESOLVED);
    hw_plan_round rounds[ROUNDS];
    uint64_t seed = r->options->seed;
    const hw_status status = hw_plan_sequence(&settings, identify, &seed, rounds);
    if (status != HW_OK) {
      return status;
    }
    for (size_t n = 0; n < ROUNDS; n++) {
      y[i][n] = (double)rounds[n].installed;
    }
    snprintf(labels[i], sizeof labels[i], "A = %zu", firsts[drawn[i]]);
    series[i] = (hw_series){.label = labels[i], .count = ROUNDS, .y = y[i], .colour = (int)i};
  }
  const hw_chart chart = {.title = "Figure 5: sensors installed, by round and first number A",
                          .x_label = "round",
                          .y_label = "sensors",
                          .series = series,
                          .series_count = LINES};
  return hw_show_chart(r, &chart, "figure5", "Sensors installed over 100 rounds for six first numbers");
}

static void judge(hw_reproduction *r, const ends *e, size_t v) {
  hw_tally settles = {0}, keeps = {0}, twice = {0}, insensitive = {0};
  double small = 0, at_19 = 0;
  char claim[120];
  for (size_t k = 0; k < e->seeds; k++) {
    double mean = 0, least = INFINITY, most = 0;
    for (size_t i = 0; firsts[i] <= 13; i++) {
      mean += e->end[v][i][k] / 6;
      least = fmin(least, e->end[v][i][k]);
      most = fmax(most, e->end[v][i][k]);
    }
    size_t kept = 0, large = 0;
    for (size_t i = 0; i < FIRSTS; i++) {
      large += firsts[i] >= 19;
      kept += firsts[i] >= 19 && e->end[v][i][k] == (double)firsts[i];
    }
    hw_tally_add(&settles, fabs(mean - 20) <= near_20);
    hw_tally_add(&keeps, kept == large);
    hw_tally_add(&twice, most < 2 * 13);
    hw_tally_add(&insensitive, most - least <= 1);
    small += mean / (double)e->seeds;
    at_19 += e->end[v][8][k] / (double)e->seeds;
  }
  snprintf(claim, sizeof claim, "the sequence settles near 20 (17.5 to 22.5) for A = 3..13, %s", hw_variant_labels[v]);
  hw_judge(r->page, "Fig. 5", claim, &settles, "mean %.1f", small);
  snprintf(claim, sizeof claim, "from A = 19 on, A is kept, %s", hw_variant_labels[v]);
  hw_judge(r->page, "Fig. 5", claim, &keeps, "A = 19 ends at %.1f in the mean, A = 25 at %.1f, A = 30 at %.1f", at_19,
           mean_of(e->end[v][10], e->seeds), mean_of(e->end[v][11], e->seeds));
  snprintf(claim, sizeof claim, "less than twice the true number, for A = 3..13, %s", hw_variant_labels[v]);
  hw_judge(r->page, "Fig. 5", claim, &twice, "%s", "below 26 for every A");
  snprintf(claim, sizeof claim, "insensitive to A (one sensor at most between A = 3..13), %s", hw_variant_labels[v]);
  hw_judge(r->page, "Fig. 5", claim, &insensitive, "%s", "");
}

hw_status hw_reproduce_figure5(hw_reproduction *r) {
  static ends e;
  size_t direct[3];
  e.seeds = r->options->seeds;
  const hw_plan_settings settings = settings_of(3, HW_RESOLVED);
  hw_status status = hw_plan_direct(&settings, &spread, direct);
  if (status == HW_OK) {
    status = run_all(r, &e);
  }
  hw_page_heading(r->page, "Figure 5: sequential sensor installation");
  if (status == HW_OK) {
    status = draw(r);
  }
  if (status != HW_OK) {
    return status;
  }
  hw_page_table_begin(r->page);
  hw_page_row(r->page, "first number A\tprinted, after 100 rounds\tcorrected\tresolved");
  for (size_t i = 0; i < FIRSTS; i++) {
    hw_page_row(r->page, "%zu\t%.1f\t%.1f\t%.1f", firsts[i], mean_of(e.end[0][i], e.seeds),
                mean_of(e.end[1][i], e.seeds), mean_of(e.end[2][i], e.seeds));
  }
  hw_page_table_end(r->page);
  hw_page_text(
      r->page,
      "Means over %zu seeds. Settings of the paper: intervals no longer than 200 g, 500 m, 200 min; "
      "identifications of single sensors scattered about the truth with standard deviations 50 g, 500 m, 5 min; "
      "100 rounds; a pool of 50. The confidence, 90 %%, and the factor 2 come from the authors' code, not from the "
      "text. Known spreads need %zu, %zu and %zu sensors directly. The sequential number is higher because every "
      "round draws the spread anew and nothing is uninstalled. As printed, the formula compares half the interval "
      "with the length asked for, which asks for a quarter of the sensors, and it uninstalls what the last round "
      "did not need; corrected has the factor and still uninstalls.",
      e.seeds, direct[0], direct[1], direct[2]);
  hw_page_finding(r->page, "Fig. 5", "the direct count is 13", direct[1] == 13 ? HW_HOLDS : HW_FAILS,
                  "%zu by mass, %zu by place, %zu by time", direct[0], direct[1], direct[2]);
  for (size_t v = 0; v < HW_VARIANTS; v++) {
    judge(r, &e, v);
  }
  return HW_OK;
}
