/* Draws that nearly all missed: sensors close together, or readings so sparse that pulses picked one by one seldom fit
 * each other. The weight is let in by degrees, heat 0 to 1. After each, the draws are resampled, and every part of each
 * is offered anew in turn: the pulse at one sensor, the age, the velocities, the mass and, where samples below tell of
 * it, the way onward; taken or refused as Metropolis has it. What comes out stands for the same posterior. */
#include <math.h>
#include <string.h>

#include "field/engine.h"
#include "headwater/rng.h"

enum { ENOUGH = 600, STAGES_MOST = 8 };

static double effective_at(const hw__field *f, size_t n, double share, double highest) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    const double w = exp(share * (f->draw[i].log_weight - highest));
    sum += w;
    squares += w * w;
  }
  return sum * sum / squares;
}

/* How much more of the weight may be let in so that a quarter of HW__FEW stays effective. */
static double next_share(const hw__field *f, size_t n, double left, double highest) {
  double lo = 0, hi = left;
  if (effective_at(f, n, left, highest) >= 0.25 * HW__FEW) {
    return left;
  }
  for (int i = 0; i < 20; i++) {
    const double middle = 0.5 * (lo + hi);
    if (effective_at(f, n, middle, highest) >= 0.25 * HW__FEW) {
      lo = middle;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static void copy_draw(hw__field *f, size_t from, size_t to) {
  const size_t width = f->pulse_capacity;
  if (from != to) {
    f->own[to] = from < HW__FEW ? f->own[from] : f->noise[from];
    f->draw[to] = f->draw[from];
    f->sample[to] = f->sample[from];
    memcpy(&f->pulse[to * width], &f->pulse[from * width], f->pulse_count * sizeof *f->pulse);
  }
}

/* HW__FEW of the first n draws, systematically by their weights to the power `share`, to the front: first those that
 * survive, then further copies of them. */
static void resample(hw__field *f, size_t n, double share, double highest, double offset) {
  double *copies = f->scratch.value, total = 0, upto = 0;
  for (size_t i = 0; i < n; i++) {
    total += exp(share * (f->draw[i].log_weight - highest));
  }
  size_t given = 0, kept = 0;
  for (size_t i = 0; i < n; i++) {
    upto += exp(share * (f->draw[i].log_weight - highest)) / total;
    size_t own = 0;
    while (given < HW__FEW && (((double)given + offset) / HW__FEW < upto || i + 1 == n)) {
      given++;
      own++;
    }
    if (own > 0) {
      copy_draw(f, i, kept);
      copies[kept++] = (double)own;
    }
  }
  for (size_t i = 0, next = kept; i < kept; i++) {
    for (; copies[i] > 1; copies[i]--) {
      copy_draw(f, i, next++);
    }
  }
}

/* Part `part` of a draw is offered anew, from where all first draws came from. */
static void offer(hw__field *f, size_t index, size_t part, hw_rng *rng) {
  const hw__noise *other = &f->noise[(size_t)(hw_rng_uniform(rng) * HW__DRAWS)];
  hw__noise *own = &f->own[index];
  if (part < f->pulse_count) {
    const double pick = hw_rng_uniform(rng), across = hw_rng_uniform(rng), along = hw_rng_uniform(rng);
    f->pulse[index * f->pulse_capacity + part] =
        hw__lattice_pick(hw__field_lattice(f, f->pulse_sensor[part]), pick, across, along);
  } else if (part == f->pulse_count) {
    own->uniform_age = other->uniform_age;
    own->cauchy_age = other->cauchy_age;
  } else if (part == f->pulse_count + 2) {
    own->t_onward = other->t_onward;
    own->normal_lead = other->normal_lead;
    own->normal_loss = other->normal_loss;
  } else {
    own->normal_velocity = other->normal_velocity;
    own->t_velocity = other->t_velocity;
    own->t_reach = other->t_reach;
    own->normal_recovery = other->normal_recovery;
    own->uniform_mass = other->uniform_mass;
    own->below = other->below;
  }
}

static void move(hw__field *f, size_t index, double heat, hw_rng *rng) {
  for (size_t part = 0; part < f->pulse_count + (f->grabs > 0 ? 3 : 2); part++) {
    const hw__noise own = f->own[index];
    const hw__draw draw = f->draw[index];
    const hw_sample sample = f->sample[index];
    hw__pulse *pulse = &f->pulse[index * f->pulse_capacity + (part < f->pulse_count ? part : 0)];
    const hw__pulse before = *pulse;
    offer(f, index, part, rng);
    hw__field_draw(f, index, &f->own[index]);
    if (!(log(hw_rng_uniform(rng)) < heat * (f->draw[index].log_weight - draw.log_weight))) {
      f->own[index] = own;
      f->draw[index] = draw;
      f->sample[index] = sample;
      *pulse = before;
    }
  }
}

/* Copies that no move has parted tell nothing twice. */
static double count_different(hw__field *f) {
  for (size_t i = 0; i < HW__FEW; i++) {
    f->scratch.value[i] = f->sample[i].source.location_m;
    f->scratch.weight[i] = 1;
  }
  hw__scratch_sort(&f->scratch, HW__FEW);
  double different = 1;
  for (size_t i = 1; i < HW__FEW; i++) {
    different += f->scratch.value[i] > f->scratch.value[i - 1];
  }
  return different;
}

void hw__field_redraw(hw__field *f) {
  if (f->effective >= ENOUGH || f->pulse_count == 0) {
    return;
  }
  hw_rng rng;
  hw_rng_seed(&rng, f->options.seed, 1);
  memcpy(f->own, f->noise, HW__FEW * sizeof *f->own);
  size_t n = HW__DRAWS;
  double heat = 0;
  for (int stage = 1; heat < 1; stage++) {
    double highest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
      highest = fmax(highest, f->draw[i].log_weight);
    }
    const double share = stage == STAGES_MOST ? 1 - heat : next_share(f, n, 1 - heat, highest);
    resample(f, n, share, highest, hw_rng_uniform(&rng));
    heat = stage == STAGES_MOST ? 1 : heat + share;
    n = HW__FEW;
    for (size_t i = 0; i < HW__FEW; i++) {
      move(f, i, heat, &rng);
    }
  }
  for (size_t i = 0; i < HW__DRAWS; i++) {
    f->sample[i].weight = i < HW__FEW ? 1.0 / HW__FEW : 0;
  }
  for (size_t m = 0; m < f->pulse_count; m++) {
    f->picked[m].build = 0; /* the pulses are no longer those picked at first */
  }
  f->effective = count_different(f);
}
