#include "field/field.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "field/engine.h"
#include "headwater/rng.h"

/* Numbers 0..n-1 in random order: a Latin hypercube has one of these per dimension. */
static void shuffle(size_t *order, size_t n, hw_rng *rng) {
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
  }
  for (size_t i = n; i > 1; i--) {
    const size_t j = (size_t)(hw_rng_uniform(rng) * (double)i);
    const size_t swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
}

static double stratum(size_t rank) {
  return ((double)rank + 0.5) / HW__DRAWS;
}

static hw_status draw_noise(hw__field *f) {
  enum { DIMENSIONS = 8 };
  size_t *rank = calloc((DIMENSIONS + 3 * HW__PULSES) * (size_t)HW__DRAWS, sizeof *rank);
  if (!rank) {
    return HW_ENOMEM;
  }
  hw_rng rng;
  hw_rng_seed(&rng, f->options.seed, 0);
  const size_t columns = DIMENSIONS + 3 * f->pulse_capacity;
  for (size_t d = 0; d < columns; d++) {
    shuffle(&rank[d * HW__DRAWS], HW__DRAWS, &rng);
  }
  for (size_t i = 0; i < HW__DRAWS; i++) {
    double u[DIMENSIONS];
    for (size_t d = 0; d < DIMENSIONS; d++) {
      u[d] = stratum(rank[d * HW__DRAWS + i]);
    }
    f->noise[i] = (hw__noise){.uniform_age = u[0],
                              .cauchy_age = hw__cauchy_quantile(u[0]),
                              .uniform_mass = u[1],
                              .normal_velocity = gsl_cdf_ugaussian_Pinv(u[2]),
                              .t_velocity = hw__t_quantile(u[2], f->population.velocity_freedom),
                              .normal_recovery = gsl_cdf_ugaussian_Pinv(u[3]),
                              .normal_lead = gsl_cdf_ugaussian_Pinv(u[4]),
                              .normal_loss = gsl_cdf_ugaussian_Pinv(u[7]),
                              .t_reach = hw__t_quantile(u[5], f->population.reach_freedom),
                              .t_onward = hw__t_quantile(u[6], hw__onward_freedom),
                              .below = i % 2 == 0};
    for (size_t m = 0; m < f->pulse_capacity; m++) {
      const size_t *own = &rank[(DIMENSIONS + 3 * m) * HW__DRAWS + i];
      f->pick[i * f->pulse_capacity + m] =
          (hw__pick){(float)stratum(own[0]), (float)stratum(own[HW__DRAWS]), (float)stratum(own[2 * HW__DRAWS])};
    }
  }
  free(rank);
  return HW_OK;
}

static void *take(hw__field *f, size_t count, size_t size) {
  f->bytes += count * size;
  return calloc(count ? count : 1, size);
}

static bool allocate(hw__field *f) {
  const size_t n = f->river->sensor_count;
  f->pulse_capacity = n < HW__PULSES ? n : HW__PULSES;
  f->order = take(f, n, sizeof *f->order);
  f->trace = take(f, n, sizeof *f->trace);
  f->gist = take(f, n, sizeof *f->gist);
  f->kept = take(f, f->pulse_capacity + 1, sizeof *f->kept);
  f->dirty = take(f, n, sizeof *f->dirty);
  f->builds = take(f, n, sizeof *f->builds);
  f->noise = take(f, HW__DRAWS, sizeof *f->noise);
  f->own = take(f, HW__FEW, sizeof *f->own);
  f->pick = take(f, HW__DRAWS * f->pulse_capacity, sizeof *f->pick);
  f->pulse = take(f, HW__DRAWS * f->pulse_capacity, sizeof *f->pulse);
  f->draw = take(f, HW__DRAWS, sizeof *f->draw);
  f->sample = take(f, HW__DRAWS, sizeof *f->sample);
  f->passage = take(f, HW__DRAWS, sizeof *f->passage);
  f->band = take(f, HW__DRAWS / 4, sizeof *f->band);
  f->scratch.capacity = HW__DRAWS;
  f->scratch.value = take(f, HW__DRAWS, sizeof *f->scratch.value);
  f->scratch.weight = take(f, HW__DRAWS, sizeof *f->scratch.weight);
  f->suspicions = take(f, f->river->candidate_count + 1, sizeof *f->suspicions);
  f->arrivals = take(f, f->river->intake_count, sizeof *f->arrivals);
  return f->order && f->trace && f->gist && f->kept && f->dirty && f->builds && f->noise && f->own && f->pick &&
         f->pulse && f->draw && f->sample && f->passage && f->band && f->scratch.value && f->scratch.weight &&
         f->suspicions && f->arrivals;
}

/* Insertion sort: rivers have few sensors, and ties keep the river file's order. */
static void order_sensors(hw__field *f) {
  for (size_t i = 0; i < f->river->sensor_count; i++) {
    size_t j = i;
    for (; j > 0 && f->river->sensors[f->order[j - 1]].location_m > f->river->sensors[i].location_m; j--) {
      f->order[j] = f->order[j - 1];
    }
    f->order[j] = i;
  }
}

hw_status hw__field_create_with(const hw_problem *problem, const hw_options *options, const hw__population *population,
                                void **state) {
  *state = NULL;
  hw__field *f = calloc(1, sizeof *f);
  if (!f) {
    return HW_ENOMEM;
  }
  f->bytes = sizeof *f;
  f->river = problem->river;
  f->options = *options;
  f->population = *population;
  hw_status status = allocate(f) ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    hw__shapes_build(&f->shapes);
    order_sensors(f);
    status = draw_noise(f);
  }
  if (status != HW_OK) {
    hw__field_destroy(f);
    return status;
  }
  *state = f;
  return HW_OK;
}

hw_status hw__field_create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__field_create_with(problem, options, &hw__population_shipped, state);
}

void hw__field_destroy(void *state) {
  hw__field *f = state;
  if (!f) {
    return;
  }
  free(f->order);
  free(f->trace);
  free(f->gist);
  free(f->kept);
  free(f->dirty);
  free(f->builds);
  free(f->noise);
  free(f->own);
  free(f->pick);
  free(f->pulse);
  free(f->draw);
  free(f->sample);
  free(f->passage);
  free(f->band);
  free(f->scratch.value);
  free(f->scratch.weight);
  free(f->suspicions);
  free(f->arrivals);
  free(f);
}

size_t hw__field_pulses(const void *state) {
  return ((const hw__field *)state)->pulse_count;
}

hw_status hw__field_observe(void *state, const hw_reading *reading) {
  hw__field *f = state;
  /* Beyond these sizes squares and differences lose their digits; no river needs them. */
  if (!(fabs(reading->time_s) <= 1e12) || !(fabs(reading->concentration_g_m3) <= 1e12)) {
    return HW_EDOMAIN;
  }
  hw__trace_insert(&f->trace[reading->sensor], reading);
  f->dirty[reading->sensor] = true;
  f->settled = false;
  return HW_OK;
}

hw_status hw__field_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  hw__field *f = state;
  hw__field_settle(f);
  *count = 0;
  if (capacity >= HW__DRAWS) {
    for (size_t i = 0; i < HW__DRAWS; i++) {
      out[(*count)++] = f->sample[i];
    }
    return HW_OK;
  }
  /* Fewer are wanted: pick them in proportion to their weight, evenly. */
  size_t at = 0;
  double upto = f->sample[0].weight;
  for (size_t k = 0; k < capacity; k++) {
    while (upto < ((double)k + 0.5) / (double)capacity && at + 1 < HW__DRAWS) {
      upto += f->sample[++at].weight;
    }
    out[k] = f->sample[at];
    out[k].weight = 1 / (double)capacity;
    (*count)++;
  }
  return HW_OK;
}
