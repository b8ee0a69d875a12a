#include <math.h>

#include "field/engine.h"

hw__velocity_prior hw__velocity_prior_of(const hw_river *river, const hw_sensor *sensor, const hw__population *p) {
  const hw_quantity *v = &river->hydraulics.velocity_m_s;
  if (v->certainty == HW_KNOWN) {
    return (hw__velocity_prior){true, log(v->value), 0.01};
  }
  if (v->certainty == HW_UNCERTAIN) {
    return (hw__velocity_prior){true, log(v->value), fmax(log(v->factor), 0.01)};
  }
  const double q = sensor->discharge_m3_s > 0 ? sensor->discharge_m3_s : river->hydraulics.discharge_m3_s;
  const double section = sensor->section_velocity_m_s;
  if (q > 0 && section > 0) {
    return (hw__velocity_prior){false, p->both_intercept + p->both_discharge * log(q) + p->both_section * log(section),
                                p->both_scale};
  }
  if (q > 0) {
    return (hw__velocity_prior){false, p->discharge_intercept + p->discharge_slope * log(q), p->discharge_scale};
  }
  if (section > 0) {
    return (hw__velocity_prior){false, p->section_intercept + p->section_slope * log(section), p->section_scale};
  }
  return (hw__velocity_prior){false, p->velocity_mean, p->velocity_scale};
}

/* Velocity just upstream of x, and where that stretch begins. */
static double stretch_above(const hw_river *river, double x_m, double velocity_m_s, double *begins_m) {
  const hw_quantity *own = &river->hydraulics.velocity_m_s;
  *begins_m = -INFINITY;
  if (own->certainty == HW_UNKNOWN || river->reach_count == 0) {
    return velocity_m_s;
  }
  for (size_t i = river->reach_count; i-- > 0;) {
    if (river->reaches[i].to_m < x_m) {
      *begins_m = river->reaches[i].to_m;
      return i + 1 < river->reach_count ? velocity_m_s * river->reaches[i + 1].velocity_m_s / own->value : velocity_m_s;
    }
  }
  return velocity_m_s * river->reaches[0].velocity_m_s / own->value;
}

double hw__travel_s(const hw_river *river, double from_m, double to_m, double velocity_m_s) {
  if (from_m > to_m) {
    return -hw__travel_s(river, to_m, from_m, velocity_m_s);
  }
  double travel = 0, begins = 0;
  while (to_m > from_m) {
    const double v = stretch_above(river, to_m, velocity_m_s, &begins);
    const double start = fmax(begins, from_m);
    travel += (to_m - start) / v;
    to_m = start;
  }
  return travel;
}

double hw__place_before(const hw_river *river, double to_m, double travel_s, double velocity_m_s) {
  for (;;) {
    double begins = 0;
    const double v = stretch_above(river, to_m, velocity_m_s, &begins);
    if (!(to_m - v * travel_s < begins)) {
      return to_m - v * travel_s;
    }
    travel_s -= (to_m - begins) / v;
    to_m = begins;
  }
}

double hw__discharge_of(const hw_river *river, const hw_sensor *sensor, double velocity_m_s) {
  if (sensor->discharge_m3_s > 0) {
    return sensor->discharge_m3_s;
  }
  if (river->hydraulics.discharge_m3_s > 0) {
    return river->hydraulics.discharge_m3_s;
  }
  return river->hydraulics.area_m2 * velocity_m_s;
}

hw__recovery hw__recovery_at(const hw__field *f, const hw_sensor *sensor, double age_s) {
  const hw__population *p = &f->population;
  const hw_substance *s = &f->river->substance;
  const double days = age_s / 86400, lost = f->river->hydraulics.decay_per_s * age_s;
  if (f->options.conservative || !s->dye_losses) {
    const double doubt = s->loss_factor > 1 ? lost * log(s->loss_factor) : 0;
    return (hw__recovery){-lost, sqrt(p->recovery_variance + doubt * doubt)};
  }
  if (sensor->depth_m > 0) {
    return (hw__recovery){p->recovery_depth_intercept + p->recovery_depth_slope * days / sensor->depth_m,
                          sqrt(p->recovery_depth_variance + p->recovery_depth_growth * days)};
  }
  return (hw__recovery){p->recovery_intercept + p->recovery_slope * sqrt(days),
                        sqrt(p->recovery_variance + p->recovery_growth * days)};
}
