/* From readings to pulses: every sensor whose readings changed is read afresh, and of the pulses found those are chosen
 * that tell of the source. */
#include <math.h>

#include "field/engine.h"

/* Leads to look for. Once the pulse of a short release has fallen, the time between the readings before and after it
 * bounds them; before that, and where the record begins inside the pulse so that nobody saw its front, only the search
 * box does. */
static hw__lead_range lead_range(const hw__field *f, const hw_sensor *sensor, const hw__trace *trace,
                                 const hw__outline *outline) {
  const hw__velocity_prior velocity = hw__velocity_prior_of(f->river, sensor, &f->population);
  const double oldest = fmax(outline->anchor_s - f->river->search.lo.time_s, 60);
  const double box = hw__law_lead(&f->population, log(oldest), log(oldest), velocity.mean) + 1;
  const size_t before = trace->onset > 0 ? trace->onset - 1 : 0;
  const double since = trace->entry[before].time_s;
  const double span = log(fmax(outline->anchor_s - since, 1));
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
  return height > 0 && height > 0.02 * above && height >= 0.1 * below && f->gist[f->order[place]].found;
}

/* Passages so close that their difference says little of the velocity: sensors side by side, or readings so sparse that
 * either may have come first. */
static bool too_close(const hw__gist *a, const hw__gist *b) {
  return fabs(b->phi_s - a->phi_s) < 3 * hypot(a->phi_sd_s, b->phi_sd_s);
}

/* A front known to better than a factor of 2, of a pulse that some shape comes near. */
static bool is_sharp(const hw__field *f, size_t sensor) {
  return f->gist[sensor].log_lead_sd < 0.7 && f->gist[sensor].misfit < HW__MISFIT_MOST;
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
                                !too_close(&f->gist[f->pulse_sensor[f->pulse_count - 1]], &f->gist[s]))) {
      add_pulse(f, s);
    }
  }
  for (size_t m = 1; m < f->pulse_count; m++) {
    f->log_distance[m] = log(sensor_place(f, m) - sensor_place(f, m - 1));
  }
}

/* Where to build a sensor's lattice: over its older one, or one that no pulse in use needs. */
static struct hw__kept_lattice *place_for(hw__field *f, size_t sensor) {
  struct hw__kept_lattice *place = NULL;
  for (size_t k = 0; k <= f->pulse_capacity; k++) {
    struct hw__kept_lattice *kept = &f->kept[k];
    if (kept->build > 0 && kept->sensor == sensor) {
      return kept;
    }
    if (!place && (kept->build == 0 || !hw__field_is_pulse(f, kept->sensor))) {
      place = kept;
    }
  }
  return place ? place : &f->kept[f->pulse_capacity];
}

const hw__lattice *hw__field_lattice(hw__field *f, size_t sensor) {
  for (size_t k = 0; k <= f->pulse_capacity; k++) {
    if (f->kept[k].sensor == sensor && f->kept[k].build == f->builds[sensor] && f->kept[k].build > 0) {
      return &f->kept[k].lattice;
    }
  }
  struct hw__kept_lattice *kept = place_for(f, sensor);
  const hw__trace *trace = &f->trace[sensor];
  hw__outline outline;
  hw__trace_outline(trace, &f->population, &outline);
  hw__lattice_build(&f->shapes, &outline, lead_range(f, &f->river->sensors[sensor], trace, &outline), &f->population,
                    &kept->lattice);
  f->evaluations += outline.count * HW__LATTICE_CELLS;
  kept->sensor = sensor;
  kept->build = f->builds[sensor];
  return &kept->lattice;
}

void hw__field_read_pulses(hw__field *f) {
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    if (f->dirty[s]) {
      hw__trace_settle(&f->trace[s], &f->river->sensors[s]);
      f->builds[s]++;
      f->gist[s] = f->trace[s].height_g_m3 > 0 ? hw__field_lattice(f, s)->gist : (hw__gist){0};
      f->dirty[s] = false;
    }
  }
  choose_pulses(f);
}
