/* A real-coded genetic algorithm on the misfit, as Zhang and Xin (2017) use one for river spills.
 *
 * Binary tournaments choose the parents, simulated binary crossover (Deb and Agrawal, Complex Systems 9,
 * 1995; index 5) and polynomial mutation (index 20, one gene in three) make the children, and the two
 * best of a generation live on unchanged.
 *
 * NLopt's evolutionary search serves as the yardstick in tests/test_offline.c; it is not used here
 * because its random numbers are global to the process and would break "same seed, same bits".
 */
#include <math.h>
#include <stdlib.h>

#include "headwater/method.h"
#include "offline/batch.h"

enum { POPULATION = 50, ELITE = 2 };
static const double mate_probability = 0.9, crossover_index = 5, mutation_probability = 1.0 / 3, mutation_index = 20;

typedef struct {
  double unit[3];
  double value;
} genome;

static const genome *tournament(const genome *parents, hw_rng *rng) {
  const genome *a = &parents[(size_t)(hw_rng_uniform(rng) * POPULATION)];
  const genome *b = &parents[(size_t)(hw_rng_uniform(rng) * POPULATION)];
  return a->value <= b->value ? a : b;
}

/* Children spread about their parents as far as the parents are apart. */
static void mate(const genome *a, const genome *b, hw_rng *rng, genome *first, genome *second) {
  *first = *a;
  *second = *b;
  if (hw_rng_uniform(rng) >= mate_probability) {
    return;
  }
  for (size_t d = 0; d < 3; d++) {
    const double u = hw_rng_uniform(rng);
    const double spread =
        u < 0.5 ? pow(2 * u, 1 / (crossover_index + 1)) : pow(2 * (1 - u), -1 / (crossover_index + 1));
    const double middle = 0.5 * (a->unit[d] + b->unit[d]), half = 0.5 * spread * (b->unit[d] - a->unit[d]);
    first->unit[d] = hw__unit_reflect(middle - half);
    second->unit[d] = hw__unit_reflect(middle + half);
  }
}

static void mutate(genome *g, hw_rng *rng) {
  for (size_t d = 0; d < 3; d++) {
    if (hw_rng_uniform(rng) < mutation_probability) {
      const double u = hw_rng_uniform(rng);
      const double power = 1 / (mutation_index + 1);
      const double shift = u < 0.5 ? pow(2 * u, power) - 1 : 1 - pow(2 * (1 - u), power);
      g->unit[d] = hw__unit_reflect(g->unit[d] + shift);
    }
  }
}

static int by_value(const void *a, const void *b) {
  const double x = ((const genome *)a)->value, y = ((const genome *)b)->value;
  return (x > y) - (x < y);
}

static void evaluate(hw__batch *batch, genome *generation, size_t from) {
  for (size_t i = from; i < POPULATION; i++) {
    generation[i].value = batch->spent < batch->budget || i == 0 ? hw__batch_loss(batch, generation[i].unit) : INFINITY;
  }
  qsort(generation, POPULATION, sizeof *generation, by_value);
}

static hw_status solve(hw__batch *batch, hw__batch_answer *out) {
  genome parents[POPULATION], children[POPULATION];
  hw_rng rng;
  hw_rng_seed(&rng, batch->seed, 0);
  for (size_t i = 0; i < POPULATION; i++) {
    for (size_t d = 0; d < 3; d++) {
      parents[i].unit[d] = hw_rng_uniform(&rng);
    }
  }
  evaluate(batch, parents, 0);
  while (batch->spent + POPULATION - ELITE <= batch->budget) {
    for (size_t i = 0; i < ELITE; i++) {
      children[i] = parents[i];
    }
    for (size_t i = ELITE; i < POPULATION; i += 2) {
      const genome *mother = tournament(parents, &rng);
      const genome *father = tournament(parents, &rng);
      mate(mother, father, &rng, &children[i], &children[i + 1]);
      mutate(&children[i], &rng);
      mutate(&children[i + 1], &rng);
    }
    evaluate(batch, children, ELITE);
    for (size_t i = 0; i < POPULATION; i++) {
      parents[i] = children[i];
    }
  }
  for (size_t d = 0; d < 3; d++) {
    out->unit[d] = parents[0].unit[d];
  }
  out->stop = HW_STOP_BUDGET;
  return HW_OK;
}

static hw_status create(const hw_problem *problem, const hw_options *options, void **state) {
  return hw__batch_create(problem, options, solve, state);
}

const hw_method hw_method_genetic = {
    .name = "genetic",
    .summary = "offline: a real-coded genetic algorithm on the misfit",
    .traits = HW_NEEDS_HYDRAULICS | HW_USES_FORWARD,
    .create = create,
    .observe = hw__batch_observe,
    .estimate = hw__batch_estimate,
    .destroy = hw__batch_destroy,
};
