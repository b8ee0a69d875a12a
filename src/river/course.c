#include "river/course.h"

#include <math.h>
#include <stdlib.h>

static hw__piece own_piece(const hw_hydraulics *h) {
  return (hw__piece){
      .velocity_m_s = h->velocity_m_s.value,
      .dispersion_m2_s = h->dispersion_m2_s.value,
      .decay_per_s = h->decay_per_s,
      .discharge_m3_s = h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * h->velocity_m_s.value,
      .discharge_follows = !(h->discharge_m3_s > 0),
      .velocity = hw__spread_of_quantity(&h->velocity_m_s),
      .dispersion = hw__spread_of_quantity(&h->dispersion_m2_s),
  };
}

static hw__piece reach_piece(const hw_reach *r, const hw_hydraulics *h) {
  return (hw__piece){
      .velocity_m_s = r->velocity_m_s,
      .dispersion_m2_s = r->dispersion_m2_s,
      .decay_per_s = r->decay_per_s,
      .discharge_m3_s = r->area_m2 * r->velocity_m_s,
      .discharge_follows = !(r->discharge_m3_s > 0),
      .velocity = hw__spread_of_reach(&r->velocity_doubt, &h->velocity_m_s),
      .dispersion = hw__spread_of_reach(&r->dispersion_doubt, &h->dispersion_m2_s),
  };
}

/* Appends what lies between two metres of a branch; `tail` adds the hydraulics' own below the last reach. */
static void append(hw__course *c, const hw_hydraulics *h, const hw_reach *reaches, size_t count, bool tail,
                   hw__piece where, double to_m) {
  double from_m = where.from_m;
  const size_t all = count + (tail || count == 0 ? 1 : 0);
  for (size_t i = 0; i < all; i++) {
    const bool last = i + 1 == all;
    const double end_m = last ? to_m : reaches[i].to_m;
    if (end_m <= from_m) {
      continue;
    }
    hw__piece piece = i < count ? reach_piece(&reaches[i], h) : own_piece(h);
    piece.branch = where.branch;
    piece.reach = i < count ? i : HW_OUTLET;
    piece.shift_m = where.shift_m;
    piece.from_m = from_m + where.shift_m;
    piece.to_m = end_m + where.shift_m;
    c->pieces[c->count++] = piece;
    from_m = end_m;
  }
}

hw_status hw__course_create(const hw_river *river, size_t branch, hw__course **out) {
  *out = NULL;
  if (!hw_river_has_hydraulics(river)) {
    return HW_EHYDRAULICS;
  }
  if (branch >= (river->branch_count ? river->branch_count : 1)) {
    return HW_EDOMAIN;
  }
  size_t most = river->reach_count + 1;
  for (size_t b = branch; river->branch_count && b != HW_OUTLET; b = river->branches[b].joins) {
    most += river->branches[b].reach_count + 1;
  }
  hw__course *c = calloc(1, sizeof *c + most * sizeof c->pieces[0]);
  if (!c) {
    return HW_ENOMEM;
  }
  c->branch = branch;
  const hw_hydraulics *h = &river->hydraulics;
  if (!river->branch_count) {
    append(c, h, river->reaches, river->reach_count, true, (hw__piece){.from_m = -INFINITY}, INFINITY);
  }
  hw__piece where = {.branch = branch, .from_m = river->branch_count ? river->branches[branch].head_m : 0};
  while (river->branch_count && where.branch != HW_OUTLET) {
    const hw_branch *b = &river->branches[where.branch];
    const bool outlet = b->joins == HW_OUTLET;
    append(c, h, b->reaches, b->reach_count, false, where, outlet ? INFINITY : 0);
    where = (hw__piece){.branch = b->joins, .shift_m = where.shift_m - b->joins_at_m, .from_m = b->joins_at_m};
  }
  *out = c;
  return HW_OK;
}

void hw__course_free(hw__course *course) {
  free(course);
}

bool hw__course_place(const hw__course *course, size_t branch, double location_m, double *x_m) {
  for (size_t i = 0; i < course->count; i++) {
    const hw__piece *p = &course->pieces[i];
    if (p->branch != branch) {
      continue;
    }
    const double x = location_m + p->shift_m;
    /* On its own branch also the head itself; where another is joined only what lies below. */
    const bool below = branch == course->branch ? x >= p->from_m : x > p->from_m;
    if (below && x <= p->to_m) {
      *x_m = x;
      return true;
    }
  }
  return false;
}

const hw__piece *hw__course_at(const hw__course *course, double x_m) {
  size_t i = course->count - 1;
  while (i > 0 && x_m <= course->pieces[i].from_m) {
    i--;
  }
  return &course->pieces[i];
}

size_t hw__course_branch(const hw__course *course, double x_m, double *location_m) {
  const hw__piece *p = hw__course_at(course, x_m);
  *location_m = x_m - p->shift_m;
  return p->branch;
}
