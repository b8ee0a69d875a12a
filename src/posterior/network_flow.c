/* A network whose flow changes: readings are put into the river's own clock, in which it is steady, and answers back on
 * the wall's; and what that leaves in doubt. */
#include <math.h>
#include <stdlib.h>

#include "posterior/glance.h"
#include "posterior/network_inside.h"
#include "river/flow_doubt.h"
#include "river/when.h"

/* Of ln asymmetry where waters have come together on the way: what lies between source and sensor skews a pulse by more
 * or less than even water does, and nobody states it. */
static const double course_shape = 0.5;
/* Of ln asymmetry by the range of ln discharge while the pulse was on its way, where gauges show a wave that travels:
 * front and tail of a pulse have then not spread alike. In forty flooded networks by finite volumes the pulses' ln
 * asymmetry is off by 0.2 (rms about its mean) below a range of 0.57, and by 0.75 above. */
static const double wave_shape = 0.8;

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

/* ---- How a pulse spreads while the flow changes ---- */

/* Longest stretch that spreads as if at one place. */
static const double longest_m = 2000;

/* In the river's clock drops keep apart by the tau between them. A drop that spreads over dx of space spreads over
 * dtau = dx rate / v of it, rate = dtau / dt here and now: with the flow at one factor everywhere that is what the
 * steady river does, and where a wave travels it is (rate / factor)^2 times as much variance. By continuity rate /
 * factor is the area here over the area where the clock is kept, each as a share of its own reference: what is on its
 * way before a flood catches up with it is pressed together. */
static double spreading(const hw__network *n, const hw__part *p, double x_m, double tau_s) {
  static const double most = 20;
  double at_m = x_m;
  const size_t branch = hw__course_branch(p->course, x_m, &at_m);
  const double time_s = hw__network_wall_s(n, branch, at_m, tau_s);
  const double area = pow(hw__clock_ratio(n->clock, branch, at_m, time_s), 1 - hw__velocity_exponent(n->river));
  const double more = area / hw__clock_dilution(n->clock, branch, at_m, time_s);
  return fmin(fmax(more * more, 1 / most), most);
}

/* Where the pulse was at which tau: at the first sensor that plainly saw it; false: none did. */
static bool first_seen(const hw__network *n, const hw__part *p, double *x_m, double *tau_s) {
  bool found = false, strong = false;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const size_t s = p->sensors[i];
    const hw__fit *own = &n->own[s];
    const bool better = own->strong == strong ? p->river.sensors[i].location_m < *x_m : own->strong;
    if (n->series[s].count > 0 && own->seen && (!found || better)) {
      double y[HW__PULSE_SIZE];
      hw__curve_to(&own->curve, y);
      *x_m = p->river.sensors[i].location_m;
      *tau_s = y[HW__PASSAGE];
      found = true;
      strong = own->strong;
    }
  }
  return found;
}

/* The reach that ends at or below x, or the hydraulics below the last. */
static hw_reach reach_below(const hw__part *p, double x_m) {
  for (size_t i = 0; i < p->steady_count; i++) {
    if (x_m < p->steady[i].to_m) {
      return p->steady[i];
    }
  }
  const hw_hydraulics *h = &p->river.hydraulics;
  return (hw_reach){.to_m = INFINITY,
                    .velocity_m_s = h->velocity_m_s.value,
                    .dispersion_m2_s = h->dispersion_m2_s.value,
                    .area_m2 = h->area_m2 > 0 ? h->area_m2 : h->discharge_m3_s / h->velocity_m_s.value,
                    .decay_per_s = h->decay_per_s,
                    .discharge_m3_s = h->discharge_m3_s};
}

/* From where the search begins to the last sensor or reach, in pieces. Returned: how many; `out` NULL counts them. */
static size_t cut_reaches(const hw__part *p, hw_reach *out) {
  double from_m = p->river.search.lo.location_m;
  double to_m = p->steady_count > 0 ? p->steady[p->steady_count - 1].to_m : from_m;
  size_t count = 0;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    to_m = fmax(to_m, p->river.sensors[i].location_m);
  }
  while (from_m < to_m) {
    hw_reach r = reach_below(p, from_m);
    const double end_m = fmin(r.to_m, to_m);
    const size_t pieces = (size_t)fmax(ceil((end_m - from_m) / longest_m), 1);
    for (size_t k = 1; k <= pieces; k++) {
      r.to_m = k < pieces ? from_m + (end_m - from_m) * (double)k / (double)pieces : end_m;
      if (out) {
        out[count] = r;
      }
      count++;
    }
    from_m = end_m;
  }
  return count;
}

hw_status hw__network_spread(const hw__network *n, hw__part *p) {
  double x_m = INFINITY, tau_s = 0;
  if (!n->clock || !first_seen(n, p, &x_m, &tau_s)) {
    return HW_OK;
  }
  if (!p->steady) {
    p->steady = p->river.reaches;
    p->steady_count = p->river.reach_count;
    p->river.reaches = NULL;
  }
  free(p->river.reaches);
  const size_t count = cut_reaches(p, NULL);
  hw_reach *r = p->river.reaches = calloc(count + 1, sizeof *r);
  p->river.reach_count = 0;
  if (!r) {
    return HW_ENOMEM;
  }
  p->river.reach_count = cut_reaches(p, r);
  double theta_s = 0, from_m = p->river.search.lo.location_m; /* running, and what it is where the pulse was seen */
  double seen_s = 0;
  for (size_t i = 0; i < count; i++) {
    const double here_m = fmin(fmax(x_m - from_m, 0), r[i].to_m - from_m);
    seen_s += here_m / r[i].velocity_m_s;
    from_m = r[i].to_m;
  }
  from_m = p->river.search.lo.location_m;
  for (size_t i = 0; i < count; i++) {
    const double half_s = 0.5 * (r[i].to_m - from_m) / r[i].velocity_m_s;
    r[i].dispersion_m2_s *= spreading(n, p, 0.5 * (from_m + r[i].to_m), tau_s + theta_s + half_s - seen_s);
    theta_s += 2 * half_s;
    from_m = r[i].to_m;
  }
  return HW_OK;
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

/* ln discharge over its reference while the pulse was on its way, at the sensors that saw it. */
typedef struct {
  double mean, sd, range;
} flow_seen;

/* The age at which the medians make a pulse as wide. */
static double usual_age(const hw__part *p, double variance_s2) {
  double theta_s = 0, spread_s2 = 0, from_m = p->river.search.lo.location_m;
  for (size_t i = 0; i < p->river.reach_count; i++) {
    const hw_reach *r = &p->river.reaches[i];
    const double length_m = fmax(r->to_m - from_m, 0), v = r->velocity_m_s;
    theta_s += length_m / v;
    spread_s2 += 2 * r->dispersion_m2_s * length_m / (v * v * v);
    from_m = fmax(from_m, r->to_m);
  }
  return spread_s2 > 0 ? variance_s2 * theta_s / spread_s2 : 0;
}

static flow_seen flow_on_the_way(const hw__network *n, const hw__part *p) {
  enum { MOMENTS = 16 };
  double sum = 0, squares = 0, count = 0, from_s = INFINITY, to_s = -INFINITY;
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const hw__fit *own = &n->own[p->sensors[i]];
    if (n->series[p->sensors[i]].count > 0 && own->seen) {
      from_s = fmin(from_s, own->curve.passage_s - usual_age(p, own->curve.variance_s2));
      to_s = fmax(to_s, own->curve.passage_s + 2 * sqrt(own->curve.variance_s2));
    }
  }
  for (size_t i = 0; i < p->river.sensor_count && to_s > from_s; i++) {
    for (size_t k = 0; k < MOMENTS && n->own[p->sensors[i]].seen; k++) {
      const double share = ((double)k + 0.5) / MOMENTS;
      const double flow = log_flow(n, p->sensors[i], from_s + share * (to_s - from_s));
      lowest = fmin(lowest, flow);
      highest = fmax(highest, flow);
      sum += flow;
      squares += flow * flow;
      count++;
    }
  }
  const double mean = count > 0 ? sum / count : 0, spread = count > 0 ? squares / count - mean * mean : 0;
  return (flow_seen){mean, sqrt(fmax(spread, 0)), fmax(highest - lowest, 0)};
}

void hw__network_doubt_sensors(const hw__network *n, hw__part *p) {
  for (size_t i = 0; i < p->river.sensor_count && n->clock; i++) {
    const double stated = log(n->river->sensors[p->sensors[i]].gain_factor);
    p->river.sensors[i].noise_absolute_g_m3 = n->sensors[p->sensors[i]].noise_absolute_g_m3;
    p->river.sensors[i].detection_limit_g_m3 = n->sensors[p->sensors[i]].detection_limit_g_m3;
    p->river.sensors[i].gain_factor = exp(hypot(stated, gain_doubt(n, p->sensors[i])));
  }
}

/* What the exponent's doubt does to velocities: with the flow at e^L of its reference an error dm makes the water
 * faster by dm L. What L was on the mean while the pulse was on its way is common to all stretches, how it changed is
 * each one's own. And where a wave travels, the front of a pulse has not spread as its tail has. */
void hw__network_doubt_water(const hw__network *n, const hw__part *p, hw__doubt *doubt) {
  static const double least = 1e-3; /* below it a coordinate more is not worth its while */
  doubt->shape = n->river->branch_count > 1 && doubt->shape > 0 ? course_shape : doubt->shape;
  if (!n->clock) {
    return;
  }
  const flow_seen flow = flow_on_the_way(n, p);
  const double sd = hw__velocity_exponent_sd(n->river), common = sd * fabs(flow.mean), local = sd * flow.sd;
  doubt->common_v = common > least ? hypot(doubt->common_v, common) : doubt->common_v;
  doubt->local_v = local > least ? hypot(doubt->local_v, local) : doubt->local_v;
  if (!hw__clock_is_one_factor(n->clock) && doubt->shape > 0) {
    doubt->shape = hypot(doubt->shape, wave_shape * flow.range);
  }
}
