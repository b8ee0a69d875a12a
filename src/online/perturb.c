/* The paper perturbs by r ~ 1e-10 and waits 1e6 iterations, because its constants bound the worst case of
 * any smooth function near a strict saddle. Here the trouble is not saddles but plateaus where model and data
 * do not overlap (543 of 1000 random starts, against 2 at negative curvature), so the jump has to be as
 * large as the search itself: r = 0.4 of the box widths works, r <= 0.05 gains nothing.
 */
#include "online/perturb.h"

#include <math.h>

#include "loss/box.h"

enum { TRIES = 3, MOST_ACCEPTED = 5 };
static const double clear_share = 0.05, clear_floor = 1e-6;

void hw__draw_ball(hw_rng *rng, double out[3]) {
  double square;
  do {
    square = 0;
    for (int j = 0; j < 3; j++) {
      out[j] = 2 * hw_rng_uniform(rng) - 1;
      square += out[j] * out[j];
    }
  } while (square > 1);
}

static hw_source jump(const hw__learner *learner, hw__path *path) {
  double width[3], ball[3], x[3];
  hw__box_widths(&learner->box, width);
  hw__draw_ball(&path->rng, ball);
  hw__source_to(&path->x, x);
  for (int j = 0; j < 3; j++) {
    x[j] += learner->options.perturbation * width[j] * ball[j];
  }
  const hw_source to = hw__source_from(x);
  return hw__box_clamp(&learner->box, &to);
}

/* Jumps that led nowhere will lead nowhere on nearly the same loss. Worth trying again: a quarter more readings, or a
 * loss that the new reading has raised by a tenth. */
static bool worth_jumping(const hw__learner *learner, const hw__path *path, double f) {
  return learner->seen >= path->jump_due || f > 1.1 * path->jump_loss;
}

void hw__advance_perturbed(const hw__learner *learner, hw__path *path) {
  const double floor = clear_floor * learner->packed->mean_square;
  double f = hw__learner_solve(learner, path, learner->path_iterations);
  if (!worth_jumping(learner, path, f)) {
    return;
  }
  int accepted = 0;
  for (int tries = 0; tries < TRIES && accepted < MOST_ACCEPTED;) {
    const hw_source home = path->x;
    const hw_stop stop = path->stop;
    path->x = jump(learner, path);
    const double trial = hw__learner_solve(learner, path, HW__TRIAL_ITERATIONS);
    if (trial < f - fmax(clear_share * f, floor)) {
      f = hw__learner_solve(learner, path, learner->path_iterations);
      accepted++;
      tries = 0;
    } else {
      path->x = home;
      path->stop = stop;
      tries++;
    }
  }
  path->jump_due = learner->seen + 1 + learner->seen / 4;
  path->jump_loss = f;
}
