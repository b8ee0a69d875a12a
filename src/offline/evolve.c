/* Differential evolution, DE/rand/1/bin (Storn and Price, J. Global Optimization 11, 1997):
 *
 *   trial = a + F (b - c)   with a, b, c drawn from the population, crossed over gene by gene with the
 *   member it challenges; the better one stays.
 *
 * F is drawn anew in 0.5..0.9 for every generation ("dither", as its authors advise), CR = 0.9 because
 * place and time are correlated along the ridge l - v t = const; genes that leave the cube are
 * reflected. The population agrees when the spread of its values is 1e-10 of the best value.
 */
#include "offline/evolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/rng.h"
#include "offline/batch.h"

enum { MEMBERS_PER_DIMENSION = 10, DIM = HW__EVOLVE_DIMENSIONS };
static const double crossover = 0.9, agreement = 1e-10;

typedef struct {
  double unit[DIM];
  double value;
} member;

static size_t pick(hw_rng *rng, size_t count) {
  return (size_t)(hw_rng_uniform(rng) * (double)count);
}

/* A challenger for member `i`, made of three others. */
static void make_trial(const member *population, size_t count, size_t i, double factor, size_t dimensions, hw_rng *rng,
                       member *trial) {
  size_t other[3];
  for (size_t k = 0; k < 3;) {
    other[k] = pick(rng, count);
    bool fresh = other[k] != i;
    for (size_t j = 0; j < k; j++) {
      fresh = fresh && other[j] != other[k];
    }
    k += fresh;
  }
  const size_t sure = pick(rng, dimensions);
  *trial = population[i];
  for (size_t d = 0; d < dimensions; d++) {
    if (hw_rng_uniform(rng) < crossover || d == sure) {
      const double difference = population[other[1]].unit[d] - population[other[2]].unit[d];
      trial->unit[d] = hw__unit_reflect(population[other[0]].unit[d] + factor * difference);
    }
  }
}

static bool agree(const member *population, size_t count, const member **best) {
  double worst = -INFINITY;
  *best = &population[0];
  for (size_t i = 0; i < count; i++) {
    worst = fmax(worst, population[i].value);
    if (population[i].value < (*best)->value) {
      *best = &population[i];
    }
  }
  return worst - (*best)->value <= agreement * fabs((*best)->value);
}

hw_status hw__evolve(const hw__evolve_task *task, double *unit, hw_stop *stop) {
  const size_t count = MEMBERS_PER_DIMENSION * task->dimensions;
  member *population = calloc(count, sizeof *population);
  if (!population) {
    return HW_ENOMEM;
  }
  hw_rng rng;
  hw_rng_seed(&rng, task->seed, 0);
  size_t spent = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t d = 0; d < task->dimensions; d++) {
      population[i].unit[d] = hw_rng_uniform(&rng);
    }
    /* A budget smaller than the population leaves the rest unborn. */
    population[i].value =
        spent < task->evaluations || i == 0 ? task->value(task->context, population[i].unit) : INFINITY;
    spent++;
  }
  const member *best = population;
  *stop = HW_STOP_BUDGET;
  while (spent + count <= task->evaluations) {
    const double factor = 0.5 + 0.4 * hw_rng_uniform(&rng);
    for (size_t i = 0; i < count; i++) {
      member trial;
      make_trial(population, count, i, factor, task->dimensions, &rng, &trial);
      trial.value = task->value(task->context, trial.unit);
      if (trial.value <= population[i].value) {
        population[i] = trial;
      }
    }
    spent += count;
    if (agree(population, count, &best)) {
      *stop = HW_STOP_COMPLETE;
      break;
    }
  }
  agree(population, count, &best);
  memcpy(unit, best->unit, task->dimensions * sizeof *unit);
  free(population);
  return HW_OK;
}
