#include "posterior/doubts.h"

#include <math.h>
#include <stdlib.h>

#include "river/course.h"

/* A local factor is a coordinate of the posterior: where it is known it stays a narrow one. */
static const double least_local = 0.02;

typedef struct {
  double from_m, anchor_m; /* the sums hold at anchor_m; from_m may be minus infinity */
  hw__doubt_share share;
  double theta_dx, variance_dx;
  hw__doubt_sums at;
} piece;

struct hw__doubts {
  hw__spread velocity, dispersion; /* the largest */
  bool even;
  size_t count;
  piece pieces[];
};

static double share_of(double part, double most) {
  return most > 0 ? part / most : 1;
}

static void take_larger(hw__spread *most, const hw__spread *other) {
  most->common = fmax(most->common, other->common);
  most->local = fmax(most->local, other->local);
}

static hw__doubt_sums sums_at(const piece *p, double x_m) {
  const double along = x_m - p->anchor_m, theta = along * p->theta_dx, variance = along * p->variance_dx;
  const hw__doubt_share *s = &p->share;
  return (hw__doubt_sums){.common_v = p->at.common_v + s->common_v * theta,
                          .common_d = p->at.common_d + s->common_d * variance,
                          .local_v = p->at.local_v + s->local_v * s->local_v * theta,
                          .local_d = p->at.local_d + s->local_d * s->local_d * variance};
}

static piece piece_of(const hw__doubts *d, const hw__course *course, size_t i) {
  const hw__piece *c = &course->pieces[i];
  return (piece){
      .from_m = c->from_m,
      .anchor_m = i > 0               ? c->from_m
                  : isfinite(c->to_m) ? c->to_m
                                      : 0,
      .share = {share_of(c->velocity.common, d->velocity.common), share_of(c->dispersion.common, d->dispersion.common),
                share_of(c->velocity.local, d->velocity.local), share_of(c->dispersion.local, d->dispersion.local)},
      .theta_dx = 1 / c->velocity_m_s,
      .variance_dx = 2 * c->dispersion_m2_s / pow(c->velocity_m_s, 3)};
}

static bool is_whole(const hw__doubt_share *s) {
  return !(fmin(fmin(s->common_v, s->common_d), fmin(s->local_v, s->local_d)) < 1);
}

hw_status hw__doubts_create(const hw_river *river, hw__doubts **out) {
  *out = NULL;
  hw__course *course = NULL;
  const hw_status status = hw__course_create(river, 0, &course);
  if (status != HW_OK) {
    return status;
  }
  hw__doubts *d = calloc(1, sizeof *d + course->count * sizeof d->pieces[0]);
  if (!d) {
    hw__course_free(course);
    return HW_ENOMEM;
  }
  d->even = true;
  d->count = course->count;
  for (size_t i = 0; i < d->count; i++) {
    take_larger(&d->velocity, &course->pieces[i].velocity);
    take_larger(&d->dispersion, &course->pieces[i].dispersion);
  }
  for (size_t i = 0; i < d->count; i++) {
    d->pieces[i] = piece_of(d, course, i);
    d->pieces[i].at = i > 0 ? sums_at(&d->pieces[i - 1], d->pieces[i].anchor_m) : (hw__doubt_sums){0};
    d->even = d->even && is_whole(&d->pieces[i].share);
  }
  hw__course_free(course);
  *out = d;
  return HW_OK;
}

void hw__doubts_free(hw__doubts *doubts) {
  free(doubts);
}

hw__spread hw__doubts_velocity(const hw__doubts *doubts) {
  return doubts->velocity;
}

hw__spread hw__doubts_dispersion(const hw__doubts *doubts) {
  return doubts->dispersion;
}

bool hw__doubts_even(const hw__doubts *doubts) {
  return doubts->even;
}

static const piece *piece_at(const hw__doubts *d, double x_m) {
  size_t i = d->count - 1;
  while (i > 0 && x_m <= d->pieces[i].from_m) {
    i--;
  }
  return &d->pieces[i];
}

hw__doubt_sums hw__doubts_at(const hw__doubts *doubts, double x_m) {
  return sums_at(piece_at(doubts, x_m), x_m);
}

hw__doubt_share hw__doubts_here(const hw__doubts *doubts, double x_m) {
  return piece_at(doubts, x_m)->share;
}

hw__doubt_share hw__doubts_between(const hw__doubts *doubts, hw__doubt_end from, hw__doubt_end to) {
  const double theta = to.at->theta - from.at->theta, variance = to.at->variance - from.at->variance;
  if (doubts->even || !(theta > 0) || !(variance > 0)) {
    return (hw__doubt_share){1, 1, 1, 1};
  }
  const hw__doubt_sums *a = from.doubt, *b = to.doubt;
  return (hw__doubt_share){.common_v = (b->common_v - a->common_v) / theta,
                           .common_d = (b->common_d - a->common_d) / variance,
                           .local_v = fmax(sqrt(fmax(b->local_v - a->local_v, 0) / theta), least_local),
                           .local_d = fmax(sqrt(fmax(b->local_d - a->local_d, 0) / variance), least_local)};
}
