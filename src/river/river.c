#include "headwater/river.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "river/network.h"

void hw_river_init(hw_river *river) {
  *river = (hw_river){0};
  river->hydraulics.velocity_m_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  river->hydraulics.dispersion_m2_s = (hw_quantity){HW_UNKNOWN, 0, 1};
  river->none_prior = 0.2;
  river->substance = hw_substance_none();
}

void hw_sensor_init(hw_sensor *sensor) {
  *sensor = (hw_sensor){.noise_relative = 0.05, .gain_factor = 1, .background_g_m3 = NAN};
}

void hw_river_free(hw_river *river) {
  if (!river) {
    return;
  }
  free(river->reaches);
  for (size_t i = 0; i < river->branch_count; i++) {
    free(river->branches[i].reaches);
    free(river->branches[i].centerline);
  }
  free(river->branches);
  free(river->gauges);
  free(river->flow_file);
  free(river->flow);
  free(river->sensors);
  for (size_t i = 0; i < river->candidate_count; i++) {
    free(river->candidates[i].active);
  }
  free(river->candidates);
  free(river->intakes);
  free(river->centerline);
  hw_columns_free(river->import);
  hw_river_init(river);
}

static bool positive(double x) {
  return x > 0 && isfinite(x);
}

static bool not_negative(double x) {
  return x >= 0 && isfinite(x);
}

static hw_status check_quantity(const hw_quantity *q, const char *what, hw_error *error) {
  if (q->certainty == HW_UNKNOWN) {
    return HW_OK;
  }
  if (!positive(q->value)) {
    return hw__fail(error, HW_EINPUT, "%s is %g, expected a positive number", what, q->value);
  }
  if (q->certainty == HW_UNCERTAIN && !(q->factor > 1 && isfinite(q->factor))) {
    return hw__fail(error, HW_EINPUT, "%s has factor %g, expected a number above 1", what, q->factor);
  }
  if (q->local != 0 && !(q->local >= 1 && q->local <= q->factor)) {
    return hw__fail(error, HW_EINPUT, "%s has local %g, expected 1 up to its factor, %g", what, q->local, q->factor);
  }
  return HW_OK;
}

static bool is_doubt(const hw_doubt *d) {
  return d->factor == 0 ||
         (d->factor >= 1 && isfinite(d->factor) && (d->local == 0 || (d->local >= 1 && d->local <= d->factor)));
}

static hw_status check_hydraulics(const hw_hydraulics *h, hw_error *error) {
  hw_status status = check_quantity(&h->velocity_m_s, "velocity_m_s", error);
  if (status == HW_OK) {
    status = check_quantity(&h->dispersion_m2_s, "dispersion_m2_s", error);
  }
  if (status != HW_OK) {
    return status;
  }
  if (!not_negative(h->area_m2)) {
    return hw__fail(error, HW_EINPUT, "area_m2 is %g, expected a positive number", h->area_m2);
  }
  if (!not_negative(h->discharge_m3_s)) {
    return hw__fail(error, HW_EINPUT, "discharge_m3_s is %g, expected a positive number", h->discharge_m3_s);
  }
  if (h->area_m2 > 0 && h->discharge_m3_s > 0) {
    return hw__fail(error, HW_EINPUT, "both area_m2 and discharge_m3_s are given, expected one of them");
  }
  if (!not_negative(h->decay_per_s)) {
    return hw__fail(error, HW_EINPUT, "decay_per_s is %g, expected 0 or more", h->decay_per_s);
  }
  if (!(h->velocity_exponent >= 0 && h->velocity_exponent < 1)) {
    return hw__fail(error, HW_EINPUT, "velocity_exponent is %g, expected a number between 0 and 1",
                    h->velocity_exponent);
  }
  return HW_OK;
}

hw_status hw__reaches_check(const hw_reach *reaches, size_t count, const char *what, hw_error *error) {
  for (size_t i = 0; i < count; i++) {
    const hw_reach *r = &reaches[i];
    if (!isfinite(r->to_m) || !positive(r->velocity_m_s) || !positive(r->dispersion_m2_s) || !positive(r->area_m2) ||
        !not_negative(r->decay_per_s) || !not_negative(r->discharge_m3_s)) {
      return hw__fail(error, HW_EINPUT,
                      "%s %zu needs a finite to_m, positive velocity, dispersion and area, and decay of 0 or more",
                      what, i + 1);
    }
    if (!is_doubt(&r->velocity_doubt) || !is_doubt(&r->dispersion_doubt)) {
      return hw__fail(error, HW_EINPUT, "%s %zu has a doubt that is none, expected 1 <= local <= factor", what, i + 1);
    }
    if (i > 0 && !(r->to_m > reaches[i - 1].to_m)) {
      return hw__fail(error, HW_EINPUT, "%s %zu ends at %g m, expected past the reach before it, which ends at %g m",
                      what, i + 1, r->to_m, reaches[i - 1].to_m);
    }
  }
  return HW_OK;
}

static hw_status check_sensor(const hw_sensor *s, hw_error *error) {
  const double amounts[] = {s->noise_relative,
                            s->noise_absolute_g_m3,
                            s->detection_limit_g_m3,
                            s->discharge_m3_s,
                            s->width_m,
                            s->section_velocity_m_s,
                            s->depth_m};
  if (!isfinite(s->location_m)) {
    return hw__fail(error, HW_EINPUT, "sensor %s has location_m %g, expected a finite number", s->id, s->location_m);
  }
  for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
    if (!not_negative(amounts[i])) {
      return hw__fail(error, HW_EINPUT, "sensor %s has a value of %g where 0 or more is expected", s->id, amounts[i]);
    }
  }
  if (!isnan(s->background_g_m3) && !not_negative(s->background_g_m3)) {
    return hw__fail(error, HW_EINPUT, "sensor %s has background_g_m3 %g, expected 0 or more", s->id,
                    s->background_g_m3);
  }
  if (!(s->gain_factor >= 1 && isfinite(s->gain_factor))) {
    return hw__fail(error, HW_EINPUT, "sensor %s has gain_factor %g, expected 1 or more", s->id, s->gain_factor);
  }
  return HW_OK;
}

/* An id must be there and occur once. `first` is the list's first id and `stride` leads to the next. */
static hw_status check_ids(const char *first, size_t stride, size_t count, const char *what, hw_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (!first[i * stride]) {
      return hw__fail(error, HW_EINPUT, "%s %zu has no id", what, i + 1);
    }
  }
  size_t again = count;
  if (count && hw__text_repeated(first, stride, count, &again) != HW_OK) {
    return hw__fail(error, HW_ENOMEM, "%s", hw_status_text(HW_ENOMEM));
  }
  return again == count
             ? HW_OK
             : hw__fail(error, HW_EINPUT, "%s id %s is used twice, expected unique ids", what, first + again * stride);
}

static hw_status check_candidate(const hw_candidate *c, hw_error *error) {
  if (!isfinite(c->location_m) || !not_negative(c->extent_m)) {
    return hw__fail(error, HW_EINPUT, "candidate %s needs a finite location_m and an extent_m of 0 or more", c->id);
  }
  if (!not_negative(c->prior)) {
    return hw__fail(error, HW_EINPUT, "candidate %s has prior %g, expected a positive number", c->id, c->prior);
  }
  if (!(c->active_trust >= 0 && c->active_trust <= 1)) {
    return hw__fail(error, HW_EINPUT, "candidate %s has active_trust %g, expected a probability", c->id,
                    c->active_trust);
  }
  for (size_t i = 0; i < c->active_count; i++) {
    const hw_span *span = &c->active[i];
    if (!isfinite(span->from_s) || !isfinite(span->to_s) || !(span->from_s < span->to_s)) {
      return hw__fail(error, HW_EINPUT, "candidate %s is active from %.10g to %.10g, expected a time and a later one",
                      c->id, span->from_s, span->to_s);
    }
    if (i > 0 && span->from_s < c->active[i - 1].to_s) {
      return hw__fail(error, HW_EINPUT,
                      "candidate %s is active from %.10g on while still active until %.10g, expected windows in order "
                      "of time that do not overlap",
                      c->id, span->from_s, c->active[i - 1].to_s);
    }
  }
  return HW_OK;
}

static hw_status check_branches(const hw_river *river, hw_error *error) {
  if (river->branch_count && river->reach_count) {
    return hw__fail(error, HW_EINPUT, "both branches and reaches of the river, expected the reaches in the branches");
  }
  if (river->branch_count == 0) {
    return HW_OK;
  }
  hw_status status = check_ids(river->branches[0].id, sizeof river->branches[0], river->branch_count, "branch", error);
  for (size_t i = 0; status == HW_OK && i < river->branch_count; i++) {
    const hw_branch *b = &river->branches[i];
    status = hw__branch_check(river, i, error);
    if (status == HW_OK) {
      status = hw__reaches_check(b->reaches, b->reach_count, b->id, error);
    }
  }
  return status;
}

static hw_status check_gauges(const hw_river *river, hw_error *error) {
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < river->gauge_count; i++) {
    const hw_gauge *g = &river->gauges[i];
    if (!isfinite(g->location_m)) {
      return hw__fail(error, HW_EINPUT, "gauge %s needs a finite location_m", g->id);
    }
    status = hw__place_check(river, g->branch, g->location_m, "gauge", g->id, error);
  }
  for (size_t i = 0; status == HW_OK && i < river->flow_count; i++) {
    const hw_flow *f = &river->flow[i];
    if (f->gauge >= river->gauge_count || !isfinite(f->time_s) || !positive(f->discharge_m3_s) ||
        (i > 0 && f->time_s < f[-1].time_s)) {
      return hw__fail(
          error, HW_EINPUT,
          "flow %zu needs a gauge of the river, a positive discharge, and a time no earlier than the one before",
          i + 1);
    }
  }
  return status == HW_OK && river->gauge_count
             ? check_ids(river->gauges[0].id, sizeof river->gauges[0], river->gauge_count, "gauge", error)
             : status;
}

static hw_status check_places(const hw_river *river, hw_error *error) {
  hw_status status = HW_OK;
  for (size_t i = 0; status == HW_OK && i < river->candidate_count; i++) {
    const hw_candidate *c = &river->candidates[i];
    status = check_candidate(c, error);
    if (status == HW_OK) {
      status = hw__place_check(river, c->branch, c->location_m, "candidate", c->id, error);
    }
  }
  for (size_t i = 0; status == HW_OK && i < river->intake_count; i++) {
    const hw_intake *k = &river->intakes[i];
    if (!isfinite(k->location_m) || !not_negative(k->alarm_g_m3)) {
      return hw__fail(error, HW_EINPUT, "intake %s needs a finite location_m and an alarm_g_m3 of 0 or more", k->id);
    }
    status = hw__place_check(river, k->branch, k->location_m, "intake", k->id, error);
  }
  if (status != HW_OK) {
    return status;
  }
  if (!(river->none_prior >= 0 && river->none_prior < 1)) {
    return hw__fail(error, HW_EINPUT, "none_of_these has prior %g, expected a probability below 1", river->none_prior);
  }
  return check_gauges(river, error);
}

static hw_status check_side(double lo, double hi, const char *what, hw_error *error) {
  if (!isfinite(lo) || !isfinite(hi) || lo > hi) {
    return hw__fail(error, HW_EINPUT, "search %s is [%g, %g], expected two finite numbers, lower first", what, lo, hi);
  }
  return HW_OK;
}

static hw_status check_box(const hw_box *box, hw_error *error) {
  hw_status status = check_side(box->lo.mass_g, box->hi.mass_g, "mass_g", error);
  if (status == HW_OK) {
    status = check_side(box->lo.location_m, box->hi.location_m, "location_m", error);
  }
  if (status == HW_OK) {
    status = check_side(box->lo.time_s, box->hi.time_s, "time_s", error);
  }
  if (status == HW_OK && !(box->lo.mass_g >= 0 && box->hi.mass_g > 0)) {
    status = hw__fail(error, HW_EINPUT, "search mass_g is [%g, %g], expected 0 or more, then a positive number",
                      box->lo.mass_g, box->hi.mass_g);
  }
  return status;
}

hw_status hw_river_check(const hw_river *river, hw_error *error) {
  hw_status status = check_hydraulics(&river->hydraulics, error);
  if (status == HW_OK) {
    status = hw__reaches_check(river->reaches, river->reach_count, "reach", error);
  }
  if (status == HW_OK) {
    status = check_branches(river, error);
  }
  if (status == HW_OK) {
    status = check_box(&river->search, error);
  }
  if (status == HW_OK && !(isfinite(river->when.median_s) && not_negative(river->when.sd_s))) {
    status =
        hw__fail(error, HW_EINPUT, "search time_s has median %g and sd_s %g, expected finite numbers, sd_s positive",
                 river->when.median_s, river->when.sd_s);
  }
  if (status == HW_OK && river->sensor_count == 0) {
    status = hw__fail(error, HW_EINPUT, "the river has no sensors, expected at least one");
  }
  for (size_t i = 0; status == HW_OK && i < river->sensor_count; i++) {
    const hw_sensor *s = &river->sensors[i];
    status = check_sensor(s, error);
    if (status == HW_OK) {
      status = hw__place_check(river, s->branch, s->location_m, "sensor", s->id, error);
    }
  }
  if (status == HW_OK) {
    status = check_places(river, error);
  }
  if (status == HW_OK && river->sensor_count) {
    status = check_ids(river->sensors[0].id, sizeof river->sensors[0], river->sensor_count, "sensor", error);
  }
  if (status == HW_OK && river->candidate_count) {
    status =
        check_ids(river->candidates[0].id, sizeof river->candidates[0], river->candidate_count, "candidate", error);
  }
  if (status == HW_OK && river->intake_count) {
    status = check_ids(river->intakes[0].id, sizeof river->intakes[0], river->intake_count, "intake", error);
  }
  return status;
}

bool hw_river_has_hydraulics(const hw_river *river) {
  const hw_hydraulics *h = &river->hydraulics;
  const bool carries = h->area_m2 > 0 || h->discharge_m3_s > 0;
  bool everywhere = carries || river->branch_count > 0;
  for (size_t i = 0; i < river->branch_count; i++) {
    everywhere = everywhere && (carries || river->branches[i].reach_count > 0);
  }
  return everywhere && h->velocity_m_s.certainty != HW_UNKNOWN && h->dispersion_m2_s.certainty != HW_UNKNOWN;
}
