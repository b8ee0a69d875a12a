/* The pulse of a draw at places where no sensor stands: travel time by velocity, width by the law, height
 * by what is left of the mass. */
#include <math.h>

#include "field/engine.h"

static double place_of(const hw__field *f, size_t pulse) {
  return f->river->sensors[f->pulse_sensor[pulse]].location_m;
}

/* Discharge by the nearest sensor that knows its own; 0 when none does. */
static double discharge_near(const hw__field *f, double x_m) {
  double nearest = INFINITY, discharge = 0;
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    const hw_sensor *sensor = &f->river->sensors[s];
    const double distance = fabs(sensor->location_m - x_m);
    if (sensor->discharge_m3_s > 0 && distance < nearest) {
      nearest = distance;
      discharge = sensor->discharge_m3_s;
    }
  }
  return discharge;
}

/* Tributaries dilute: the height at x_m over that at the pulse's own sensor. Gauges that differ by less than half are
 * taken for gauges that err (on real rivers heights are forecast better without them), and by more than a hundred times
 * for a slip in the unit. */
static double dilution(const hw__field *f, size_t pulse, double x_m) {
  const double there = discharge_near(f, x_m), here = f->river->sensors[f->pulse_sensor[pulse]].discharge_m3_s;
  const double log_ratio = there > 0 && here > 0 ? log(here / there) : 0;
  return fabs(log_ratio) > log(1.5) && fabs(log_ratio) < log(100) ? exp(log_ratio) : 1;
}

/* What else heights differ by from sensor to sensor, in ln: mixing across the river, calibration. */
static const double height_sd = 0.25;

/* Carry `from` to another age: a front that grows as the law says and a height that shrinks with it,
 * with their doubts (doubt 1) or without (0). */
static hw__pulse carry(const hw__field *f, size_t index, const hw__pulse *from, size_t pulse, double phi_s,
                       double doubt) {
  const hw_sensor *sensor = &f->river->sensors[f->pulse_sensor[pulse]];
  const double first_phi = f->pulse[index * f->pulse_capacity].phi_s;
  const double age_from = exp(f->draw[index].log_age_s) + from->phi_s - first_phi;
  const double age_to = age_from + phi_s - from->phi_s;
  const double onward = hw__law_onward_scale(&f->population, log(age_from), log(age_to));
  const double growth = f->population.law_within * log(age_to / age_from) + doubt * onward * f->draw[index].lead_luck;
  const hw__recovery before = hw__recovery_at(f, sensor, age_from), after = hw__recovery_at(f, sensor, age_to);
  const double doubt_lost = doubt * hypot(sqrt(fmax(after.sd * after.sd - before.sd * before.sd, 0)), height_sd);
  const double lost = after.mean - before.mean + doubt_lost * f->draw[index].loss_luck;
  return (hw__pulse){.phi_s = phi_s,
                     .log_lead = from->log_lead + growth,
                     .height_g_m3 = from->height_g_m3 * exp(lost - growth),
                     .shape = from->shape};
}

static hw__pulse blend(const hw__pulse *a, const hw__pulse *b, double share) {
  const double height = log(a->height_g_m3) + share * log(b->height_g_m3 / a->height_g_m3);
  return (hw__pulse){.phi_s = a->phi_s + share * (b->phi_s - a->phi_s),
                     .log_lead = a->log_lead + share * (b->log_lead - a->log_lead),
                     .height_g_m3 = exp(height),
                     .shape = share < 0.5 ? a->shape : b->shape};
}

bool hw__field_pulse_at(const hw__field *f, size_t draw, double x_m, hw__pulse *out) {
  const hw__pulse *pulse = &f->pulse[draw * f->pulse_capacity];
  const size_t last = f->pulse_count - 1;
  if (f->pulse_count == 0 || !(x_m > f->sample[draw].source.location_m)) {
    return false;
  }
  if (x_m < place_of(f, 0)) {
    const double travel = hw__travel_s(f->river, x_m, place_of(f, 0), exp(f->draw[draw].log_velocity));
    if (!(travel < 0.999 * exp(f->draw[draw].log_age_s))) {
      return false;
    }
    *out = carry(f, draw, &pulse[0], 0, pulse[0].phi_s - travel, 0);
    return true;
  }
  for (size_t m = 0; m < last; m++) {
    if (x_m < place_of(f, m + 1)) {
      const double share = (x_m - place_of(f, m)) / (place_of(f, m + 1) - place_of(f, m));
      *out = blend(&pulse[m], &pulse[m + 1], share);
      return true;
    }
  }
  const double distance = x_m - place_of(f, last);
  if (!(distance > 0)) {
    *out = pulse[last];
    return true;
  }
  *out = carry(f, draw, &pulse[last], last, pulse[last].phi_s + distance * exp(-f->draw[draw].log_onward), 1);
  out->height_g_m3 *= dilution(f, last, x_m);
  return true;
}

static hw__passage passage_at(const hw__field *f, size_t draw, const hw_intake *intake) {
  hw__passage passage = {
      .first_s = NAN, .peak_s = NAN, .last_s = NAN, .peak_g_m3 = 0, .weight = f->sample[draw].weight};
  hw__pulse pulse;
  if (!hw__field_pulse_at(f, draw, intake->location_m, &pulse)) {
    return passage;
  }
  const hw__shape *shape = &f->shapes.shape[pulse.shape];
  const double lead = exp(pulse.log_lead);
  passage.peak_s = pulse.phi_s + shape->peak_y * lead;
  passage.peak_g_m3 = pulse.height_g_m3;
  const double share = intake->alarm_g_m3 > 0 ? intake->alarm_g_m3 / pulse.height_g_m3 : 0.1;
  if (share <= 1) {
    passage.first_s = pulse.phi_s + hw__shape_front(shape, share) * lead;
    passage.last_s = pulse.phi_s + hw__shape_tail(shape, share) * lead;
  }
  return passage;
}

void hw__field_arrivals(hw__field *f, size_t *count) {
  *count = 0;
  for (size_t k = 0; k < f->river->intake_count && f->pulse_count > 0; k++) {
    const hw_intake *intake = &f->river->intakes[k];
    double reached = 0;
    for (size_t i = 0; i < HW__DRAWS; i++) {
      f->passage[i] = passage_at(f, i, intake);
      reached += f->passage[i].peak_g_m3 > 0 ? f->passage[i].weight : 0;
    }
    if (reached > 0.05) {
      f->arrivals[(*count)++] = hw__summary_arrival(intake, k, f->passage, HW__DRAWS, f->options.level, &f->scratch);
    }
  }
}

/* Bands from draws picked in proportion to their weight; the shape's own misfit shrinks towards the
 * pulse's foot, where the curve is pinned by the background. */
hw_status hw__field_predict(void *state, const hw_prediction *prediction) {
  hw__field *f = state;
  enum { BAND_DRAWS = HW__DRAWS / 4 };
  hw__field_settle(f);
  double background = 0;
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    if (fabs(f->river->sensors[s].location_m - prediction->x_m) < 1e-6 && f->trace[s].count > 0) {
      background = f->trace[s].background_g_m3;
    }
  }
  hw__pulse *band = f->band;
  size_t at = 0;
  double upto = f->sample[0].weight;
  for (size_t b = 0; b < BAND_DRAWS; b++) {
    while (upto < ((double)b + 0.5) / BAND_DRAWS && at + 1 < HW__DRAWS) {
      upto += f->sample[++at].weight;
    }
    if (!hw__field_pulse_at(f, at, prediction->x_m, &band[b])) {
      band[b] = (hw__pulse){0};
    }
  }
  for (size_t k = 0; k < prediction->count; k++) {
    for (size_t b = 0; b < BAND_DRAWS; b++) {
      const double height = band[b].height_g_m3;
      const double value = height > 0 ? hw__pulse_height_at(f, &band[b], prediction->time_s[k]) : 0;
      const double misfit = f->population.shape_noise * sqrt(height * value) * f->noise[b].normal_lead;
      f->scratch.value[b] = fmax(background + value + misfit, 0);
      f->scratch.weight[b] = 1;
    }
    prediction->out_g_m3[k] = hw__scratch_range(&f->scratch, BAND_DRAWS, f->options.level);
  }
  return HW_OK;
}
