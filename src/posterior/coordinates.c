#include "posterior/coordinates.h"

#include <math.h>

#include "river/doubt.h"
#include "river/when.h"

double hw__averaged(double length_m) {
  const double r = length_m / HW__LOCAL_LENGTH_M;
  return r < 1e-3 ? 1 : sqrt(2 * (r - 1 + exp(-r))) / r;
}

double hw__log_normal_density(double x, double sd) {
  return -0.5 * (x / sd) * (x / sd) - log(sd) - 0.918938533204672742;
}

static double half_square(double x) {
  return 0.5 * x * x;
}

double hw__axis_sd(const hw__spill *spill, size_t kind) {
  const hw__doubt *d = &spill->doubt;
  const double sd[HW__AXES] = {[HW__AXIS_LN_V] = d->common_v,
                               [HW__AXIS_LN_D] = d->common_d,
                               [HW__AXIS_OWN_V] = d->local_v,
                               [HW__AXIS_OWN_D] = d->local_d,
                               [HW__AXIS_SHAPE] = d->shape,
                               [HW__AXIS_STRAY_V] = d->local_v > 0 ? 1 : 0,
                               [HW__AXIS_STRAY_D] = d->local_d > 0 ? 1 : 0};
  return sd[kind];
}

/* What of the prior's ln density is the same for all points. */
static double log_prior_of_all(const hw__spill *spill) {
  const hw_box *box = &spill->river->search;
  double p = spill->lasting ? spill->last.log_prior : 0;
  p -= hw__spill_has(spill, HW__AXIS_LN_AGE) ? log(box->hi.location_m - box->lo.location_m) : 0;
  p -= hw__spill_has(spill, HW__AXIS_PASSAGE) ? log(box->hi.time_s - box->lo.time_s) : 0;
  p -= hw__spill_has(spill, HW__AXIS_LN_MASS) ? log(log(spill->mass_hi / spill->mass_lo)) : 0;
  for (size_t k = 0; k < HW__AXES; k++) {
    const double sd = hw__axis_sd(spill, k);
    p += sd > 0 && hw__spill_has(spill, k) ? hw__log_normal_density(0, sd) : 0;
  }
  return p;
}

void hw__spill_anchor(hw__spill *spill, size_t anchor) {
  const hw_box *box = &spill->river->search;
  const hw__station *a = &spill->station[anchor];
  spill->anchor = anchor;
  spill->dims = 0;
  const bool wanted[HW__AXES] = {box->hi.time_s > box->lo.time_s,
                                 box->hi.location_m > box->lo.location_m,
                                 spill->mass_hi > spill->mass_lo,
                                 spill->doubt.common_v > 0,
                                 spill->doubt.common_d > 0,
                                 spill->doubt.local_v > 0,
                                 spill->doubt.local_d > 0,
                                 spill->doubt.shape > 0,
                                 spill->doubt.local_v > 0 && anchor > 0,
                                 spill->doubt.local_d > 0 && anchor > 0,
                                 spill->lasting};
  for (size_t k = 0; k < HW__AXES; k++) {
    spill->column[k] = wanted[k] ? spill->dims : HW__DIMENSIONS;
    if (wanted[k]) {
      spill->axis[spill->dims++] = k;
    }
  }
  spill->log_prior = log_prior_of_all(spill);
  const double doubt = 3 * hypot(spill->doubt.common_v, spill->doubt.local_v);
  const double far = a->at.theta - hw__transport_integrals(spill->transport, box->lo.location_m).theta;
  const double near = a->at.theta - hw__transport_integrals(spill->transport, box->hi.location_m).theta;
  double y[HW__PULSE_SIZE];
  hw__curve_to(&a->fit->curve, y);
  const double width = exp(0.5 * y[HW__LN_VARIANCE]), passage = y[HW__PASSAGE];
  double oldest = fmin(far * exp(doubt), passage + 6 * width - box->lo.time_s);
  double youngest = fmax(near * exp(-doubt), fmax(passage - 6 * width - box->hi.time_s, 0.05 * width));
  spill->open = spill->lasting && !a->fit->complete;
  if (spill->lasting && !spill->open) { /* the age that an instant's pulse of the same width would have */
    const double per_travel = a->at.variance - hw__transport_integrals(spill->transport, box->lo.location_m).variance;
    const double spread = exp(3 * hypot(spill->doubt.common_d, spill->doubt.local_d) + 2 * doubt);
    spill->last.per_travel_s = fmax(per_travel, 1e-9) / fmax(far, 1e-3);
    oldest = fmax(oldest, 3 * width * width / spill->last.per_travel_s * spread);
    youngest = fmax(near * exp(-doubt), 0.05 * width);
  }
  spill->log_age_lo = log(fmax(youngest, 1e-3));
  spill->log_age_hi = fmax(log(fmax(oldest, 1e-3)), spill->log_age_lo + 0.01);
}

/* The coordinate of this kind, or what it is when it is no coordinate. */
static double coordinate(const hw__spill *spill, double *const *x, size_t i, size_t kind, double otherwise) {
  return hw__spill_has(spill, kind) ? x[spill->column[kind]][i] : otherwise;
}

bool hw__spill_has(const hw__spill *spill, size_t kind) {
  return spill->column[kind] < HW__DIMENSIONS;
}

/* By how much a pulse looks older for having lasted: its variance is the instant's and duration^2 / 12. So the width
 * that is seen fixes one coordinate and leaves the duration free, instead of bending the posterior. */
double hw__older_by(const hw__spill *spill, const hw__release *r) {
  if (spill->open) {
    return 0;
  }
  return r->duration_s * r->duration_s / 12 * r->velocity_factor * r->velocity_factor /
         (spill->lasting ? spill->last.per_travel_s * r->dispersion_factor : 1);
}

/* ln mass less the coordinate that stands for it. */
double hw__ln_in_a_second(const hw__spill *spill, double duration_s) {
  return spill->open ? log(duration_s) : 0;
}

/* What the water from here to the anchor has of the doubt. */
static void look_up(const hw__spill *spill, hw__release *r) {
  const hw__station *a = &spill->station[spill->anchor];
  r->at = hw__transport_integrals(spill->transport, r->source.location_m);
  r->doubt = hw__doubts_at(spill->doubts, r->source.location_m);
  r->above = hw__doubts_between(spill->doubts, (hw__doubt_end){&r->at, &r->doubt}, (hw__doubt_end){&a->at, &a->doubt});
}

static void set_factors(hw__release *r) {
  r->velocity_factor = exp(r->above.common_v * r->ln_v + r->own_v);
  r->dispersion_factor = exp(r->above.common_d * r->ln_d + r->own_d);
}

static double from_box(double lo, double hi, double share) {
  return lo + share * (hi - lo);
}

/* The age of a release whose place is a coordinate. */
static void find_age(const hw__spill *spill, double share, hw__release *r) {
  const hw__station *a = &spill->station[spill->anchor];
  const hw_box *box = &spill->river->search;
  r->source.location_m = from_box(box->lo.location_m, box->hi.location_m, share);
  if (!(share >= 0 && share <= 1) || r->source.location_m >= a->x_m) {
    set_factors(r);
    r->age_s = 0; /* which is not possible */
    return;
  }
  look_up(spill, r);
  set_factors(r);
  r->age_s = (a->at.theta - r->at.theta) / r->velocity_factor;
  r->apparent_s = r->age_s + hw__older_by(spill, r);
}

/* Place and age: the one follows from the other by the factors of the water between, and these from the place where
 * reaches differ in their doubt. */
static void find_place(const hw__spill *spill, double at, hw__release *r) {
  enum { ROUNDS = 8 };
  const hw__station *a = &spill->station[spill->anchor];
  const bool even = hw__doubts_even(spill->doubts);
  r->above = (hw__doubt_share){1, 1, 1, 1};
  if (!hw__spill_has(spill, HW__AXIS_LN_AGE)) {
    r->source.location_m = spill->river->search.lo.location_m;
    look_up(spill, r);
    set_factors(r);
    r->age_s = (a->at.theta - r->at.theta) / r->velocity_factor;
    return;
  }
  if (spill->boxed) {
    find_age(spill, at, r);
    return;
  }
  r->apparent_s = exp(at);
  for (int round = 0; round < (even ? 1 : ROUNDS); round++) {
    set_factors(r);
    r->age_s = r->apparent_s - hw__older_by(spill, r);
    r->source.location_m = hw__transport_place(spill->transport, a->at.theta - r->age_s * r->velocity_factor);
    if (!even) {
      look_up(spill, r);
    }
  }
}

static double release_time(const hw__spill *spill, double at, const hw__release *r) {
  const hw_box *box = &spill->river->search;
  if (!hw__spill_has(spill, HW__AXIS_PASSAGE)) {
    return box->lo.time_s;
  }
  return spill->boxed ? from_box(box->lo.time_s, box->hi.time_s, at)
                      : at - r->age_s - (spill->open ? 0 : 0.5 * r->duration_s);
}

void hw__place_release(const hw__spill *spill, double *const *x, size_t i, hw__release *r) {
  const hw_box *box = &spill->river->search;
  const hw__station *a = &spill->station[spill->anchor];
  *r = (hw__release){.ln_v = coordinate(spill, x, i, HW__AXIS_LN_V, 0),
                     .ln_d = coordinate(spill, x, i, HW__AXIS_LN_D, 0),
                     .own_v = coordinate(spill, x, i, HW__AXIS_OWN_V, 0),
                     .own_d = coordinate(spill, x, i, HW__AXIS_OWN_D, 0),
                     .shape = coordinate(spill, x, i, HW__AXIS_SHAPE, 0),
                     .stray_v = coordinate(spill, x, i, HW__AXIS_STRAY_V, 0),
                     .stray_d = coordinate(spill, x, i, HW__AXIS_STRAY_D, 0)};
  r->duration_s = spill->lasting ? exp(coordinate(spill, x, i, HW__AXIS_LN_DURATION, 0)) : 0;
  find_place(spill, coordinate(spill, x, i, HW__AXIS_LN_AGE, 0), r);
  r->source.time_s = release_time(spill, coordinate(spill, x, i, HW__AXIS_PASSAGE, 0), r);
  const double ln_mass =
      coordinate(spill, x, i, HW__AXIS_LN_MASS, log(spill->mass_lo) - hw__ln_in_a_second(spill, r->duration_s)) +
      hw__ln_in_a_second(spill, r->duration_s);
  r->source.mass_g = exp(ln_mass);
  const double l = r->source.location_m, t = r->source.time_s;
  r->possible =
      l >= box->lo.location_m && l <= box->hi.location_m && t >= box->lo.time_s && t <= box->hi.time_s &&
      r->source.mass_g >= spill->mass_lo * (1 - 1e-12) && r->source.mass_g <= spill->mass_hi * (1 + 1e-12) &&
      r->age_s > 0 && l < a->x_m && fabs(r->ln_v + r->own_v) < 5 && fabs(r->ln_d + r->own_d) < 12 &&
      fabs(r->shape) < 4 &&
      (!spill->lasting || (r->duration_s >= spill->last.shortest_s && r->duration_s <= spill->last.longest_s));
  if (r->possible) {
    look_up(spill, r);
  }
}

/* ln density in these coordinates: uniform in place and time, the place moving by v age with ln age. */
double hw__release_log_prior(const hw__spill *spill, const hw__release *r) {
  const hw__doubt *d = &spill->doubt;
  const bool own_v = hw__spill_has(spill, HW__AXIS_OWN_V), own_d = hw__spill_has(spill, HW__AXIS_OWN_D);
  const hw_box *box = &spill->river->search;
  double p = spill->log_prior;
  if (spill->boxed) {
    p += hw__spill_has(spill, HW__AXIS_PASSAGE) ? log(box->hi.time_s - box->lo.time_s) : 0;
    p += hw__spill_has(spill, HW__AXIS_LN_AGE) ? log(box->hi.location_m - box->lo.location_m) : 0;
  } else if (hw__spill_has(spill, HW__AXIS_LN_AGE)) {
    /* Where reaches differ, a step further up adds the doubt of the water there, not that of the mean. */
    const double here = hw__doubts_here(spill->doubts, r->source.location_m).common_v;
    const double slower = fmax(1 + r->ln_v * (r->above.common_v - here), 0.1);
    p += log(hw__transport_velocity(spill->transport, r->source.location_m) * r->velocity_factor * r->apparent_s /
             slower);
  }
  p += hw__spill_has(spill, HW__AXIS_PASSAGE) ? hw__when_log_density(spill->river, r->source.time_s) : 0;
  p += hw__spill_has(spill, HW__AXIS_LN_V) ? -half_square(r->ln_v / d->common_v) : 0;
  p += hw__spill_has(spill, HW__AXIS_LN_D) ? -half_square(r->ln_d / d->common_d) : 0;
  p += hw__spill_has(spill, HW__AXIS_SHAPE) ? -half_square(r->shape / d->shape) : 0;
  p -= half_square(r->stray_v) + half_square(r->stray_d);
  if (own_v || own_d) { /* of a longer stretch the mean is better known */
    const double share = hw__averaged(spill->station[spill->anchor].x_m - r->source.location_m), log_share = log(share);
    const hw__doubt_share *above = &r->above;
    p += own_v ? -half_square(r->own_v / (d->local_v * above->local_v * share)) - log_share - log(above->local_v) : 0;
    p += own_d ? -half_square(r->own_d / (d->local_d * above->local_d * share)) - log_share - log(above->local_d) : 0;
  }
  return p;
}
