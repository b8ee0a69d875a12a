/* The course of a branch as a river without branches. Numbers are copied, not worked out again: a network of one branch
 * is to be the same river to the bit. */
#include <stdlib.h>
#include <string.h>

#include "river/course.h"

static const hw_reach *reach_of(const hw_river *river, const hw__piece *p) {
  return p->reach == HW_OUTLET ? NULL
         : river->branch_count ? &river->branches[p->branch].reaches[p->reach]
                               : &river->reaches[p->reach];
}

/* A doubt of the reach's own takes the place of the quantity's. */
static void take_over(hw_quantity *q, double median, const hw_doubt *own) {
  q->value = median;
  if (own->factor >= 1) {
    q->certainty = own->factor > 1 ? HW_UNCERTAIN : HW_KNOWN;
    q->factor = own->factor;
    q->local = own->local;
  }
}

/* What a reach inherits is said where the hydraulics no longer say it. */
static hw_doubt inherited(const hw_doubt *own, const hw_quantity *q) {
  return own->factor >= 1 ? *own : q->certainty == HW_UNCERTAIN ? (hw_doubt){q->factor, q->local} : (hw_doubt){1, 0};
}

/* The last piece has no end, so its numbers are the river's own; the others are reaches. */
static hw_status lay_reaches(const hw__course *course, const hw_river *river, hw_river *out) {
  const hw_hydraulics *given = &river->hydraulics;
  const hw_reach *last = reach_of(river, &course->pieces[course->count - 1]);
  out->hydraulics = *given;
  if (last) {
    hw_hydraulics *h = &out->hydraulics;
    take_over(&h->velocity_m_s, last->velocity_m_s, &last->velocity_doubt);
    take_over(&h->dispersion_m2_s, last->dispersion_m2_s, &last->dispersion_doubt);
    h->decay_per_s = last->decay_per_s;
    h->area_m2 = last->discharge_m3_s > 0 ? 0 : last->area_m2;
    h->discharge_m3_s = last->discharge_m3_s;
  }
  const bool speaks = last && (last->velocity_doubt.factor >= 1 || last->dispersion_doubt.factor >= 1);
  out->reaches = calloc(course->count, sizeof *out->reaches);
  if (!out->reaches) {
    return HW_ENOMEM;
  }
  out->reach_count = course->count - 1;
  for (size_t i = 0; i < out->reach_count; i++) {
    const hw__piece *p = &course->pieces[i];
    const hw_reach *r = reach_of(river, p);
    hw_reach *to = &out->reaches[i];
    *to = r ? *r
            : (hw_reach){.velocity_m_s = p->velocity_m_s,
                         .dispersion_m2_s = p->dispersion_m2_s,
                         .area_m2 = p->discharge_m3_s / p->velocity_m_s,
                         .decay_per_s = p->decay_per_s,
                         .discharge_m3_s = p->discharge_follows ? 0 : p->discharge_m3_s};
    to->to_m = p->to_m;
    if (speaks) {
      to->velocity_doubt = inherited(&to->velocity_doubt, &given->velocity_m_s);
      to->dispersion_doubt = inherited(&to->dispersion_doubt, &given->dispersion_m2_s);
    }
  }
  return HW_OK;
}

/* The hours of a candidate belong to the river they are in. */
static hw_status copy_hours(hw_candidate *c) {
  hw_span *own = calloc(c->active_count + 1, sizeof *own);
  if (own && c->active_count) {
    memcpy(own, c->active, c->active_count * sizeof *own);
  }
  c->active = own;
  return own ? HW_OK : HW_ENOMEM;
}

hw_status hw__course_river(const hw__course *course, const hw_river *river, double search_lo_m, double search_hi_m,
                           hw_river *out, size_t *sensors) {
  hw_river r;
  hw_river_init(&r);
  memcpy(r.name, river->name, sizeof r.name);
  r.substance = river->substance;
  r.search = river->search;
  r.search.lo.location_m = search_lo_m;
  r.search.hi.location_m = search_hi_m;
  r.when = river->when;
  r.search_is_calendar = river->search_is_calendar;
  r.none_prior = river->none_prior;
  hw_status status = lay_reaches(course, river, &r);
  r.sensors = calloc(river->sensor_count + 1, sizeof *r.sensors);
  r.candidates = calloc(river->candidate_count + 1, sizeof *r.candidates);
  r.intakes = calloc(river->intake_count + 1, sizeof *r.intakes);
  if (!r.sensors || !r.candidates || !r.intakes) {
    status = HW_ENOMEM;
  }
  double x_m = 0;
  for (size_t i = 0; status == HW_OK && i < river->sensor_count; i++) {
    if (hw__course_place(course, river->sensors[i].branch, river->sensors[i].location_m, &x_m)) {
      sensors[r.sensor_count] = i;
      hw_sensor *s = &r.sensors[r.sensor_count++];
      *s = river->sensors[i];
      s->location_m = x_m;
      s->branch = 0;
    }
  }
  for (size_t i = 0; status == HW_OK && i < river->candidate_count; i++) {
    if (hw__course_place(course, river->candidates[i].branch, river->candidates[i].location_m, &x_m)) {
      hw_candidate *c = &r.candidates[r.candidate_count++];
      *c = river->candidates[i];
      c->location_m = x_m;
      c->branch = 0;
      status = copy_hours(c);
    }
  }
  for (size_t i = 0; status == HW_OK && i < river->intake_count; i++) {
    if (hw__course_place(course, river->intakes[i].branch, river->intakes[i].location_m, &x_m)) {
      hw_intake *k = &r.intakes[r.intake_count++];
      *k = river->intakes[i];
      k->location_m = x_m;
      k->branch = 0;
    }
  }
  if (status != HW_OK) {
    hw_river_free(&r);
    return status;
  }
  *out = r;
  return HW_OK;
}

hw_status hw_river_lay_line(const hw_river *river, hw_river *line) {
  hw__course *course = NULL;
  size_t *sensors = calloc(river->sensor_count + 1, sizeof *sensors); /* all of them, in their order */
  hw_status status = sensors ? hw__course_create(river, 0, &course) : HW_ENOMEM;
  if (status == HW_OK) {
    const hw_branch *b = &river->branches[0];
    status = hw__course_river(course, river, b->search_lo_m, b->search_hi_m, line, sensors);
  }
  hw__course_free(course);
  free(sensors);
  return status;
}
