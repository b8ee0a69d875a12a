/* From readings to pulses: every sensor whose readings changed is read afresh, and of the pulses found those are chosen
 * that tell of the source. */
#include <math.h>

#include "field/engine.h"

/* Leads to look for. Once the pulse of a short release has fallen, the time between the readings before and after it
 * bounds them; before that, and where the record begins inside the pulse so that nobody saw its front, only the search
 * box does. */
static hw__lead_range lead_range(const hw__field *f, const hw_sensor *sensor, const hw__trace *trace,
                                 const hw__view *view) {
  const hw__velocity_prior velocity = hw__velocity_prior_of(f->river, sensor, &f->population);
  const double oldest = fmax(view->anchor_s - f->river->search.lo.time_s, 60);
  const double box = hw__law_lead(&f->population, log(oldest), log(oldest), velocity.mean) + 1;
  const size_t before = trace->onset > 0 ? trace->onset - 1 : 0;
  const double since = trace->entry[before].time_s;
  const double span = log(fmax(view->anchor_s - since, 1));
  const bool complete = trace->fallen && !hw__trace_lasts(trace);
  if (complete && hw__trace_front_seen(trace)) {
    return (hw__lead_range){fmin(box, span + 1) - 4.5, fmin(box, span + 1)};
  }
  if (complete) {
    const double most = log(fmax(hw__trace_end_s(trace) - since, 1)) + 1.5;
    return (hw__lead_range){fmin(box, most) - 6.5, fmin(box, most)};
  }
  return (hw__lead_range){fmax(fmin(box - 6.5, span - 1.5), box - 10), box};
}

static double sensor_place(const hw__field *f, size_t pulse) {
  return f->river->sensors[f->pulse_sensor[pulse]].location_m;
}

/* When there are more pulses than room, the third goes: the first two tell the source, the last ones what
 * comes. */
static void add_pulse(hw__field *f, size_t sensor) {
  if (f->pulse_count == f->pulse_capacity && f->pulse_capacity > 2) {
    for (size_t m = 3; m < f->pulse_count; m++) {
      f->pulse_sensor[m - 1] = f->pulse_sensor[m];
    }
    f->pulse_count--;
  }
  f->pulse_sensor[f->pulse_count++] = sensor;
}

/* A rise is the pulse's when it is not lost beside what passed upstream or came out downstream. */
static bool stands_out(const hw__field *f, size_t place) {
  const size_t n = f->river->sensor_count;
  const double height = f->trace[f->order[place]].height_g_m3;
  double above = 0, below = 0;
  for (size_t j = 0; j < n; j++) {
    const double other = f->trace[f->order[j]].height_g_m3;
    above = j < place ? fmax(above, other) : above;
    below = j > place ? fmax(below, other) : below;
  }
  return height > 0 && height > 0.02 * above && height >= 0.1 * below && f->lattice[f->order[place]].count > 0;
}

/* Passages so close that their difference says little of the velocity: sensors side by side, or readings so sparse that
 * either may have come first. */
static bool too_close(const hw__lattice *a, const hw__lattice *b) {
  return fabs(b->phi_s - a->phi_s) < 3 * hypot(a->phi_sd_s, b->phi_sd_s);
}

/* A front known to better than a factor of 2, of a pulse that some shape comes near. */
static bool is_sharp(const hw__field *f, size_t sensor) {
  const hw__lattice *lattice = &f->lattice[sensor];
  return lattice->log_lead_sd < 0.7 && lattice->misfit < HW__MISFIT_MOST;
}

/* Of the pulses seen, those that tell something: sharp ones, as long as there are any, and from the first one down each
 * that passed clearly later than the one chosen before. */
static void choose_pulses(hw__field *f) {
  const size_t n = f->river->sensor_count;
  bool any_sharp = false;
  for (size_t i = 0; i < n; i++) {
    any_sharp = any_sharp || (stands_out(f, i) && is_sharp(f, f->order[i]));
  }
  f->pulse_count = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t s = f->order[i];
    if (!stands_out(f, i) || (any_sharp && !is_sharp(f, s))) {
      continue;
    }
    if (f->pulse_count == 0 || (f->river->sensors[s].location_m > sensor_place(f, f->pulse_count - 1) + 1 &&
                                !too_close(&f->lattice[f->pulse_sensor[f->pulse_count - 1]], &f->lattice[s]))) {
      add_pulse(f, s);
    }
  }
  for (size_t m = 1; m < f->pulse_count; m++) {
    f->log_distance[m] = log(sensor_place(f, m) - sensor_place(f, m - 1));
  }
}

void hw__field_read_pulses(hw__field *f) {
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    if (!f->dirty[s]) {
      continue;
    }
    hw__trace *trace = &f->trace[s];
    hw__trace_settle(trace, &f->river->sensors[s]);
    f->lattice[s].count = 0;
    if (trace->height_g_m3 > 0) {
      hw__view view;
      hw__trace_view(trace, &f->population, &view);
      hw__lattice_build(&f->shapes, &view, lead_range(f, &f->river->sensors[s], trace, &view), &f->population,
                        &f->lattice[s]);
      f->evaluations += view.count * HW__LATTICE_CELLS;
    }
    f->builds[s]++;
    f->dirty[s] = false;
  }
  choose_pulses(f);
}
