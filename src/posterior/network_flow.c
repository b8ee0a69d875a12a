/* A network whose flow changes: readings are put into the river's own clock, in which it is steady, and answers back on
 * the wall's; and what that leaves in doubt. */
#include <math.h>

#include "posterior/glance.h"
#include "posterior/network_inside.h"
#include "river/flow_doubt.h"
#include "river/when.h"

/* Of ln asymmetry where waters have come together on the way: what lies between source and sensor skews a pulse by more
 * or less than even water does, and nobody states it. */
static const double course_shape = 0.5;

/* ---- At the door ---- */

static double dilution_at(const hw__network *n, const hw_sensor *s, double time_s) {
  return hw__clock_dilution(n->clock, s->branch, s->location_m, time_s);
}

/* The level under a pulse: as declared, or the lower fifth of what was read. It does not dilute with the plume. */
static double level_of(const hw_sensor *sensor, const hw__series *filed) {
  return isnan(sensor->background_g_m3) ? fmax(hw__glance_at(filed, sensor).low, 0) : sensor->background_g_m3;
}

void hw__network_warp(hw__network *n, size_t sensor) {
  const hw_sensor *s = &n->river->sensors[sensor];
  const hw__series *filed = &n->filed[sensor];
  hw__series *out = &n->series[sensor];
  if (filed->count == 0) {
    return;
  }
  const double level = level_of(s, filed);
  double sum = 0, weight = 0;
  *out = *filed;
  for (size_t i = 0; i < filed->count; i++) {
    hw__span *span = &out->span[i];
    const double time_s = span->time_s, above = span->value_g_m3 - level, dilution = dilution_at(n, s, time_s);
    const double rate = hw__clock_ratio(n->clock, s->branch, s->location_m, time_s) / dilution; /* dtau / dt */
    span->time_s = hw__clock_in(n->clock, s->branch, s->location_m, time_s);
    span->spread_s2 *= rate * rate;
    span->value_g_m3 = level + above * dilution;
    const double tells = span->side == HW__BELOW ? 1e-6 * above * above : above * above;
    sum += tells * dilution;
    weight += tells;
  }
  /* The sensor's own noise does not dilute; a reading that is scaled has it scaled, as where the pulse is. */
  const double usual = weight > 0 ? sum / weight : dilution_at(n, s, filed->span[filed->count / 2].time_s);
  n->sensors[sensor].noise_absolute_g_m3 = s->noise_absolute_g_m3 * usual;
  n->sensors[sensor].detection_limit_g_m3 = s->detection_limit_g_m3 * usual;
}

/* ---- At the window ---- */

double hw__network_wall_s(const hw__network *n, size_t branch, double x_m, double tau_s) {
  return isfinite(tau_s) ? hw__clock_out(n->clock, branch, x_m, tau_s) : tau_s;
}

/* What the prior says of a release by the wall's clock, over what the engine took it to be by the river's own. */
static double prior_ratio(const hw__network *n, const hw__part *p, const hw_source *s, double tau_s) {
  const hw_box *wall = &n->river->search, *own = &p->river.search;
  if (s->time_s < wall->lo.time_s || s->time_s > wall->hi.time_s) {
    return 0;
  }
  const double stretched = hw__clock_dilution(n->clock, s->branch, s->location_m, s->time_s) /
                           hw__clock_ratio(n->clock, s->branch, s->location_m, s->time_s); /* dt / dtau */
  const double longer = (own->hi.time_s - own->lo.time_s) / fmax(wall->hi.time_s - wall->lo.time_s, 1);
  return (longer > 0 ? longer * stretched : 1) *
         exp(hw__when_log_density(n->river, s->time_s) - hw__when_log_density(&p->river, tau_s));
}

/* In the network's places, by the wall's clock. The time interval is that of these samples: a time of the river's own
 * is another moment at every place. */
double hw__network_tell(const hw__network *n, hw__part *p) {
  const hw__ade *a = p->engine;
  double sum = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    hw_sample *s = &p->samples[i];
    *s = a->samples[i];
    s->source.branch = hw__course_branch(p->course, s->source.location_m, &s->source.location_m);
    if (n->clock && s->weight > 0) {
      const double begin_tau = s->source.time_s, end_tau = begin_tau + s->duration_s;
      s->source.time_s = hw__network_wall_s(n, s->source.branch, s->source.location_m, begin_tau);
      if (s->duration_s > 0) {
        s->duration_s = hw__network_wall_s(n, s->source.branch, s->source.location_m, end_tau) - s->source.time_s;
      }
      s->weight *= prior_ratio(n, p, &s->source, begin_tau);
    }
    sum += s->weight;
  }
  for (size_t i = 0; i < HW__FINAL && n->clock; i++) { /* all outside: they stay as they are, and are worth nothing */
    p->samples[i].weight = sum > 0 ? p->samples[i].weight / sum : a->samples[i].weight;
  }
  return n->clock ? log(sum) : 0;
}

/* ---- What the flow leaves in doubt ---- */

static double log_flow(const hw__network *n, size_t sensor, double tau_s) {
  const hw_sensor *s = &n->river->sensors[sensor];
  return log(
      hw__clock_ratio(n->clock, s->branch, s->location_m, hw__network_wall_s(n, s->branch, s->location_m, tau_s)));
}

/* How far a sensor's pulse may be off in height: a reading is put into the steady river by what a gauge showed, which
 * is not exact, and by the exponent. */
static double gain_doubt(const hw__network *n, size_t sensor) {
  const double m = hw__velocity_exponent(n->river), sd = hw__velocity_exponent_sd(n->river);
  const double pulse = n->own[sensor].seen ? sd * log_flow(n, sensor, n->own[sensor].curve.passage_s) : 0;
  return hypot(HW__GAUGE_DOUBT * (1 - m), pulse);
}

/* What the exponent's doubt does to velocities: with the flow at e^L of its reference an error dm makes the water
 * faster by dm L. What L was on the mean while the pulse was on its way is common to all stretches, how it changed is
 * each one's own. */
static hw__spread exponent_doubt(const hw__network *n, const hw__part *p) {
  enum { MOMENTS = 16 };
  const double sd = hw__velocity_exponent_sd(n->river);
  double sum = 0, squares = 0, count = 0, from_s = INFINITY, to_s = -INFINITY;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const hw__fit *own = &n->own[p->sensors[i]];
    if (n->series[p->sensors[i]].count > 0 && own->seen) {
      from_s = fmin(from_s, own->curve.passage_s - own->curve.travel_s);
      to_s = fmax(to_s, own->curve.passage_s);
    }
  }
  for (size_t i = 0; i < p->river.sensor_count && to_s > from_s; i++) {
    for (size_t k = 0; k < MOMENTS && n->own[p->sensors[i]].seen; k++) {
      const double share = ((double)k + 0.5) / MOMENTS;
      const double flow = log_flow(n, p->sensors[i], from_s + share * (to_s - from_s));
      sum += flow;
      squares += flow * flow;
      count++;
    }
  }
  const double mean = count > 0 ? sum / count : 0, spread = count > 0 ? squares / count - mean * mean : 0;
  return (hw__spread){sd * fabs(mean), sd * sqrt(fmax(spread, 0))};
}

void hw__network_doubt_sensors(const hw__network *n, hw__part *p) {
  for (size_t i = 0; i < p->river.sensor_count && n->clock; i++) {
    const double stated = log(n->river->sensors[p->sensors[i]].gain_factor);
    p->river.sensors[i].noise_absolute_g_m3 = n->sensors[p->sensors[i]].noise_absolute_g_m3;
    p->river.sensors[i].detection_limit_g_m3 = n->sensors[p->sensors[i]].detection_limit_g_m3;
    p->river.sensors[i].gain_factor = exp(hypot(stated, gain_doubt(n, p->sensors[i])));
  }
}

void hw__network_doubt_water(const hw__network *n, const hw__part *p, hw__doubt *doubt) {
  static const double least = 1e-3; /* below it a coordinate more is not worth its while */
  const hw__spread more = n->clock ? exponent_doubt(n, p) : (hw__spread){0, 0};
  doubt->common_v = more.common > least ? hypot(doubt->common_v, more.common) : doubt->common_v;
  doubt->local_v = more.local > least ? hypot(doubt->local_v, more.local) : doubt->local_v;
  doubt->shape = n->river->branch_count > 1 && doubt->shape > 0 ? course_shape : doubt->shape;
}
