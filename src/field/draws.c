/* The river level: from pulses to sources.
 *
 * A draw picks one pulse per sensor from its lattice, a velocity, and the age of the first pulse from the
 * law, inside the search box; what the picks do not know of each other comes in as the draw's weight:
 *   - the law's density of all leads together over that of the first alone,
 *   - the velocities between sensors against each other and against what else is known of them,
 *   - sensors that stayed quiet although the draw's pulse should have passed them,
 *   - grab samples against the draw's pulse at their place and time (grab.c),
 *   - the box's side for the mass.
 * Prior: flat in ln age and in ln velocity beyond what is known of it, so flat in ln distance.
 */
#include <math.h>

#include "field/engine.h"
#include "river/when.h"

/* A quiet sensor may be broken: it never counts for more than a factor of 30. */
static const double quiet_most = 3.4;

/* Added to the log weight of a draw outside the search box: such draws count only where there are no others. */
static const double impossible = -690;

static double sensor_place(const hw__field *f, size_t pulse) {
  return f->river->sensors[f->pulse_sensor[pulse]].location_m;
}

/* People who give a velocity mean a normal error; rivers of which one is guessed stray further. */
static double velocity_noise(const hw__velocity_prior *prior, const hw__noise *noise) {
  return prior->given ? noise->normal_velocity : noise->t_velocity;
}

/* Velocities: that of the reach above the first sensor and those between sensors. Returned: ln of the one that the law
 * wants. */
static double draw_velocity(const hw__field *f, const hw__noise *noise, const hw__pulse *pulse, hw__draw *draw) {
  const hw__population *p = &f->population;
  const hw__velocity_prior *prior = &f->velocity;
  if (f->pulse_count < 2) {
    draw->log_velocity = prior->mean + prior->scale * velocity_noise(prior, noise);
    draw->log_onward = draw->log_velocity - p->reach_shift - p->reach_scale * noise->t_reach;
    return draw->log_velocity - p->reach_shift;
  }
  double between = 0, last = 0;
  for (size_t m = 1; m < f->pulse_count; m++) {
    const double gap = pulse[m].phi_s - pulse[m - 1].phi_s;
    if (!(gap > 0)) {
      draw->log_weight = -INFINITY;
      return 0;
    }
    const double log_gap = log(gap);
    last = f->log_distance[m] - log_gap;
    draw->log_weight -= log_gap; /* picks are flat in time, the prior in ln velocity */
    if (m == 1) {
      between = last;
    } else {
      draw->log_weight += hw__t_log_density((last - draw->log_onward) / p->onward_scale, hw__onward_freedom);
    }
    draw->log_onward = last;
  }
  draw->log_onward += p->onward_scale * noise->t_onward;
  const double usual = between + p->reach_shift;
  if (prior->given) {
    draw->log_velocity = prior->mean + prior->scale * noise->normal_velocity;
    draw->log_weight += hw__t_log_density((draw->log_velocity - usual) / p->reach_scale, p->reach_freedom);
  } else {
    draw->log_velocity = usual + p->reach_scale * noise->t_reach;
    draw->log_weight += hw__t_log_density((draw->log_velocity - prior->mean) / prior->scale, p->velocity_freedom);
  }
  return between;
}

/* Ages of the first pulse that keep the source inside the box and between these places. */
typedef struct {
  double lo, hi;
} age_range;

static age_range allowed_ages(const hw__field *f, double phi_s, double velocity, double from_m, double to_m) {
  const double x = sensor_place(f, 0);
  const hw_box *box = &f->river->search;
  const double far = hw__travel_s(f->river, fmin(from_m, x), x, velocity);
  const double near = hw__travel_s(f->river, fmin(to_m, x), x, velocity);
  return (age_range){fmax(fmax(near, phi_s - box->hi.time_s), 1), fmin(far, phi_s - box->lo.time_s)};
}

/* A residual of the law, between the ages allowed, from the widest of the t distributions. As long as those hold most
 * of it, the residual drawn beforehand is kept or refused; otherwise one is drawn inside, and the probability there is
 * its weight. Either way the draws stand for the same posterior; the first is quicker. */
static void draw_age(const hw__field *f, const hw__noise *noise, const hw__pulse *first, double log_velocity,
                     age_range ages, hw__draw *draw) {
  const hw__population *p = &f->population;
  const double scale = hw__law_scale(p), a = log(ages.lo), b = log(fmax(ages.hi, ages.lo));
  /* Older means a longer front: the oldest age has the smallest residual. */
  const double t_young = (first->log_lead - hw__law_lead(p, a, a, log_velocity)) / scale;
  const double t_old = t_young - p->law_between * (b - a) / scale;
  draw->inside = ages.hi < ages.lo ? 0 : fmin(2 * hw__cauchy_below(fmin(t_young, -t_old)), 1);
  double t = noise->cauchy_age;
  if (t_old < -1 && t_young > 1) {
    draw->log_weight += t >= t_old && t <= t_young ? 0 : impossible;
  } else {
    const bool flip = t_old > 0; /* stay in the lower tail, where probabilities keep their digits */
    const double below = hw__cauchy_below(flip ? -t_young : t_old), above = hw__cauchy_below(flip ? -t_old : t_young);
    const double drawn = hw__cauchy_quantile(below + noise->uniform_age * (above - below));
    t = flip ? -drawn : drawn;
    draw->log_weight += ages.hi > ages.lo ? log(above - below + 1e-300) : impossible;
  }
  draw->log_age_s = a + (t_young - fmin(fmax(t, t_old), t_young)) * scale / p->law_between;
}

/* What the leads say together, over the density that the age was drawn from. */
static double leads_weight(const hw__field *f, const hw__pulse *pulse, const hw__draw *draw, double log_velocity) {
  const hw__population *p = &f->population;
  double residual[HW__PULSES], log_age[HW__PULSES];
  for (size_t m = 0; m < f->pulse_count; m++) {
    log_age[m] = log(exp(draw->log_age_s) + pulse[m].phi_s - pulse[0].phi_s);
    residual[m] = pulse[m].log_lead - hw__law_lead(p, log_age[0], log_age[m], log_velocity);
  }
  return hw__law_log_density(p, f->pulse_count, residual, log_age, NULL) -
         hw__cauchy_log_density(residual[0] / hw__law_scale(p));
}

double hw__field_quiet_weight(const hw__field *f, size_t index, size_t sensor) {
  const hw__trace *trace = &f->trace[sensor];
  hw__pulse pulse;
  if (trace->count == 0 || !hw__field_pulse_at(f, index, f->river->sensors[sensor].location_m, &pulse)) {
    return 0;
  }
  double seen = fmax(trace->floor_g_m3, 0.02 * pulse.height_g_m3);
  for (size_t i = trace->onset; i < trace->count; i++) {
    seen = fmax(seen, trace->clean[i]);
  }
  size_t lo = 0, hi = trace->count;
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    if (trace->entry[middle].time_s < pulse.phi_s) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  double expected = 0;
  for (size_t i = lo > 0 ? lo - 1 : 0; i <= lo && i < trace->count; i++) {
    expected = fmax(expected, hw__pulse_height_at(f, &pulse, trace->entry[i].time_s));
  }
  const double excess = expected / (3 * seen);
  return excess > 1 ? -fmin(quiet_most, 2 * log(excess) * log(excess) + log(excess)) : 0;
}

/* How sharply the box ends in mass, ln. */
static const double soft_end = 0.3;

/* Discharge times area under the first pulse over what has been lost on the way; of a release that lasted what has
 * passed so far. */
static double draw_mass(const hw__field *f, const hw__noise *noise, const hw__pulse *first, hw__draw *draw) {
  const hw_box *box = &f->river->search;
  const hw_sensor *sensor = &f->river->sensors[f->pulse_sensor[0]];
  const double discharge = hw__discharge_of(f->river, sensor, exp(draw->log_velocity));
  const double lo = log(fmax(box->lo.mass_g, 1e-6 * box->hi.mass_g)), hi = log(box->hi.mass_g);
  if (!(discharge > 0)) {
    return exp(lo + noise->uniform_mass * (hi - lo));
  }
  const hw__recovery recovery = hw__recovery_at(f, sensor, exp(draw->log_age_s));
  const double sd = hypot(recovery.sd, log(sensor->gain_factor));
  const hw__trace *trace = &f->trace[f->pulse_sensor[0]];
  const double area = hw__trace_lasts(trace)
                          ? hw__trace_area(trace)
                          : first->height_g_m3 * f->shapes.shape[first->shape].area * exp(first->log_lead);
  const double log_mass = log(discharge * area) - recovery.mean - sd * noise->normal_recovery;
  const double out = fmax(fmax(lo - log_mass, log_mass - hi), 0) / soft_end;
  draw->log_weight -= 0.5 * fmin(out * out, 100);
  /* Beyond an end of the box: somewhere near that end, never all at the same mass. */
  const double inside = fmin(soft_end, hi - lo) * noise->uniform_mass;
  return exp(log_mass > hi ? hi - inside : log_mass < lo ? lo + inside : log_mass);
}

/* One pulse per draw and sensor. The picks are the same numbers every time, so only where a lattice is
 * new, or now stands in another place of the row, is there anything to do. */
static void pick_pulses(hw__field *f) {
  for (size_t m = 0; m < f->pulse_count; m++) {
    const size_t s = f->pulse_sensor[m];
    if (f->picked[m].sensor == s && f->picked[m].build == f->builds[s]) {
      continue;
    }
    const hw__lattice *lattice = hw__field_lattice(f, s);
    for (size_t i = 0; i < HW__DRAWS; i++) {
      const hw__pick *pick = &f->pick[i * f->pulse_capacity + m];
      f->pulse[i * f->pulse_capacity + m] =
          hw__lattice_pick(lattice, (double)pick->pick, (double)pick->across, (double)pick->along);
    }
    f->picked[m].sensor = s;
    f->picked[m].build = f->builds[s];
  }
}

/* Half of the draws come from each side of the last quiet sensor above the first pulse, so
 * that a source between sensors is well drawn however unlikely the law finds it. */
void hw__field_draw(hw__field *f, size_t index, const hw__noise *noise) {
  hw__draw *draw = &f->draw[index];
  const hw__pulse *pulse = &f->pulse[index * f->pulse_capacity];
  const hw_box *box = &f->river->search;
  *draw = (hw__draw){.lead_luck = noise->normal_lead, .loss_luck = noise->normal_loss};
  const double seen = draw_velocity(f, noise, pulse, draw);
  if (!isfinite(draw->log_weight)) {
    f->sample[index] = (hw_sample){box->lo, 1, NAN, 0};
    return;
  }
  const double split_m = f->split_m;
  const bool split = split_m > box->lo.location_m && split_m < box->hi.location_m;
  const bool below = split && noise->below;
  const double velocity = exp(draw->log_velocity), phi = pulse[0].phi_s;
  draw_age(f, noise, &pulse[0], seen,
           allowed_ages(f, phi, velocity, below ? split_m : box->lo.location_m,
                        split && !below ? split_m : box->hi.location_m),
           draw);
  const double age = exp(draw->log_age_s);
  hw_sample *sample = &f->sample[index];
  sample->velocity_m_s = velocity;
  sample->dispersion_m2_s = NAN;
  sample->source.location_m = hw__place_before(f->river, sensor_place(f, 0), age, velocity);
  sample->source.time_s = phi - age;
  sample->source.mass_g = draw_mass(f, noise, &pulse[0], draw);
  draw->log_weight += hw__when_log_density(f->river, sample->source.time_s);
  draw->log_weight += leads_weight(f, pulse, draw, seen);
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    draw->log_weight += hw__field_is_pulse(f, s)  ? 0
                        : hw__field_is_grab(f, s) ? hw__field_grab_weight(f, index, s, NULL)
                                                  : hw__field_quiet_weight(f, index, s);
  }
}

/* Before any sensor rose nothing is known but the box. */
static void draw_prior(hw__field *f, size_t index) {
  const hw__noise *noise = &f->noise[index];
  const hw_box *box = &f->river->search;
  const double lo = log(fmax(box->lo.mass_g, 1e-6 * box->hi.mass_g)), hi = log(box->hi.mass_g);
  const double place = (double)f->pick[index * f->pulse_capacity].pick;
  f->draw[index] = (hw__draw){0};
  f->sample[index] =
      (hw_sample){.source = {.mass_g = exp(lo + noise->uniform_mass * (hi - lo)),
                             .location_m = box->lo.location_m + place * (box->hi.location_m - box->lo.location_m),
                             .time_s = box->lo.time_s + noise->uniform_age * (box->hi.time_s - box->lo.time_s)},
                  .velocity_m_s = exp(f->velocity.mean + f->velocity.scale * velocity_noise(&f->velocity, noise)),
                  .dispersion_m2_s = NAN};
}

/* Weights that sum to 1, and how many draws they leave effective. Returned: false when no draw is possible at all. */
static bool weigh(hw__field *f) {
  double highest = -INFINITY, total = 0, squares = 0;
  f->inside = 0;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    highest = fmax(highest, f->draw[i].log_weight);
  }
  if (!isfinite(highest)) {
    return false;
  }
  for (size_t i = 0; i < HW__DRAWS; i++) {
    f->sample[i].weight = exp(f->draw[i].log_weight - highest);
    total += f->sample[i].weight;
  }
  for (size_t i = 0; i < HW__DRAWS; i++) {
    f->sample[i].weight /= total;
    squares += f->sample[i].weight * f->sample[i].weight;
    f->inside += f->sample[i].weight * f->draw[i].inside;
  }
  f->effective = 1 / squares;
  return true;
}

/* The box may lie where the source cannot be; the answer stays inside it all the same. */
static void keep_in_box(hw__field *f) {
  const hw_box *box = &f->river->search;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    hw_source *s = &f->sample[i].source;
    s->location_m = fmin(fmax(s->location_m, box->lo.location_m), box->hi.location_m);
    s->time_s = fmin(fmax(s->time_s, box->lo.time_s), box->hi.time_s);
  }
}

bool hw__field_is_pulse(const hw__field *f, size_t sensor) {
  for (size_t m = 0; m < f->pulse_count; m++) {
    if (f->pulse_sensor[m] == sensor) {
      return true;
    }
  }
  return false;
}

static double last_quiet_above(const hw__field *f) {
  double place = -INFINITY;
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    const double x = f->river->sensors[s].location_m;
    if (f->trace[s].count > 0 && x < sensor_place(f, 0)) {
      place = fmax(place, x);
    }
  }
  return place;
}

void hw__field_settle(hw__field *f) {
  if (f->settled) {
    return;
  }
  hw__field_read_pulses(f);
  pick_pulses(f);
  const size_t first = f->pulse_count > 0 ? f->pulse_sensor[0] : f->order[0];
  f->velocity = hw__velocity_prior_of(f->river, &f->river->sensors[first], &f->population);
  f->contradiction = false;
  do {
    hw__field_count_grabs(f);
    f->split_m = f->pulse_count > 0 ? last_quiet_above(f) : -INFINITY;
    for (size_t i = 0; i < HW__DRAWS; i++) {
      if (f->pulse_count > 0) {
        hw__field_draw(f, i, &f->noise[i]);
      } else {
        draw_prior(f, i);
      }
    }
    /* Pulses that no flow could have carried from one to the next: believe the first alone. */
    if (weigh(f)) {
      break;
    }
    f->contradiction = true;
    f->pulse_count = f->pulse_count > 1 ? 1 : 0;
  } while (true);
  hw__field_redraw(f);
  keep_in_box(f);
  f->settled = true;
}
