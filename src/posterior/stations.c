#include "posterior/stations.h"

#include <math.h>

static hw__station station_of(const hw__ade *a, size_t sensor) {
  const hw_sensor *s = &a->river->sensors[sensor];
  const hw_leg here = hw_transport_leg(a->transport, s->location_m, s->location_m);
  const bool follows = hw__river_discharge_follows(a->river, s->location_m);
  return (hw__station){.sensor = sensor,
                       .x_m = s->location_m,
                       .at = hw__transport_integrals(a->transport, s->location_m),
                       .doubt = hw__doubts_at(a->doubts, s->location_m),
                       .common_v = hw__doubts_here(a->doubts, s->location_m).common_v,
                       .per_discharge = follows ? 0 : 1 / here.discharge_m3_s,
                       .per_area = follows ? 1 / here.discharge_m3_s : 0,
                       .gain_sd = log(s->gain_factor)};
}

/* Where the anchor's pulse would pass this station, and how far off that may be. */
static hw__focus expected_at(const hw__ade *a, const hw__station *from, const hw__fit *pulse, const hw__station *to) {
  const hw__doubt *d = &a->spill.doubt;
  const double travel = to->at.theta - from->at.theta, more = to->at.variance - from->at.variance;
  const double width = sqrt(fmax(pulse->curve.variance_s2 + more, 0.1 * pulse->curve.variance_s2));
  /* Above the anchor the source may lie next to the sensor, and its pulse have passed between two readings. */
  static const double narrowest_s = 60;
  return (hw__focus){.middle_s = pulse->curve.passage_s + travel,
                     .width_s = travel < 0 ? fmin(narrowest_s, width) : width,
                     .reach_s = 5 * width + 3 * fabs(travel) * hypot(d->common_v, d->local_v)};
}

/* Of the sensors that have said enough to tell one. */
static double highest_level(const hw__ade *a) {
  double level = 0;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    const bool tells = a->series[s].count > 0 && !a->own[s].few;
    level = tells ? fmax(level, a->own[s].level_g_m3) : level;
  }
  return level;
}

/* Whether a sensor's level shows, and is plainly not nothing: then the river is not clean. */
static bool shows_a_level(const hw__fit *fit, const hw__view *view, const hw__tails *tails) {
  static const double plain = 4; /* standard deviations */
  if (view->hidden || fit->few) {
    return false;
  }
  const double known = hw__view_without(view, tails, 0, view->count).curvature;
  return fit->level_g_m3 > 0 && fit->level_g_m3 * fit->level_g_m3 * known > plain * plain;
}

/* A sensor that never varies where another shows the noise that is stated is dead, or its readings are not its own. One
 * that scatters by far more than stated, where another does not, has another unit. Either may still be right. */
static bool is_suspect(const hw__ade *a, size_t sensor) {
  static const double as_stated[] = {0.2, 3}, far_more = 30;
  const hw__fit *own = &a->own[sensor];
  bool noise_shows = false, usual = false;
  for (size_t s = 0; s < a->river->sensor_count; s++) {
    const hw__fit *other = &a->own[s];
    if (s != sensor && a->series[s].count > 0 && !other->few && other->scatter < as_stated[1]) {
      usual = true;
      noise_shows = noise_shows || other->scatter > as_stated[0];
    }
  }
  return (own->flat && noise_shows) || (own->scatter > far_more && usual);
}

size_t hw__ade_set_stations(hw__ade *a, size_t anchor) {
  const hw__station from = station_of(a, anchor);
  const hw__elsewhere elsewhere = {highest_level(a), a->own[anchor].floor_g_m3};
  size_t n = 0, at = 0;
  a->spill.stained = false;
  for (size_t i = 0; i < a->river->sensor_count; i++) {
    const size_t s = a->order[i];
    if (a->series[s].count == 0) {
      continue;
    }
    a->station[n] = station_of(a, s);
    a->station[n].suspect = is_suspect(a, s);
    if (a->own[s].seen) {
      a->fit[n] = a->own[s];
    } else {
      const hw__focus focus = expected_at(a, &from, &a->own[anchor], &a->station[n]);
      hw__pulse_look(&a->series[s], &a->river->sensors[s], &a->tails, &focus, &elsewhere, &a->fit[n], &a->view[s]);
    }
    a->station[n].fit = &a->fit[n];
    a->station[n].view = &a->view[s];
    a->spill.stained = a->spill.stained || shows_a_level(&a->fit[n], &a->view[s], &a->tails);
    at = s == anchor ? n : at;
    n++;
  }
  a->last_s = -INFINITY;
  for (size_t k = 0; k < n; k++) {
    a->last_s = fmax(a->last_s, a->fit[k].last_s);
  }
  a->spill.count = n;
  return at;
}

double hw__ade_log_without(const hw__ade *a) {
  double sum = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    sum += hw__station_log_without(&a->station[k]);
  }
  return sum;
}

/* Sensors whose pulse may be followed, the likeliest first: pulses that stand out before those that may be the level
 * wandering or a broken sensor's, from upstream to downstream. What is upstream of the whole search box saw something
 * else. */
size_t hw__ade_anchors(const hw__ade *a, size_t out[HW__ANCHORS]) {
  size_t count = 0;
  for (int strong = 1; strong >= 0; strong--) {
    for (size_t i = 0; i < a->river->sensor_count && count < HW__ANCHORS; i++) {
      const size_t s = a->order[i];
      const bool reached = a->river->sensors[s].location_m > a->river->search.lo.location_m;
      const bool seen = reached && a->series[s].count > 0 && a->own[s].seen;
      if (seen && (a->own[s].strong && !is_suspect(a, s)) == (strong > 0)) {
        out[count++] = s;
      }
    }
  }
  return count;
}
