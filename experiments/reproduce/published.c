#include "experiments/reproduce/published.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/reproduce/setting.h"

static const double first_step[3] = {110000, 11000000, 75000}, tolerance = 5e-5, beta = 8e-6, least_step = 100;
static const double model_factor = 1000, minute_s = 60;
enum { MOST_STEPS = 10000 }; /* of one reading; it takes fewer than ten */

/* The paper's river in its own units, and the readings. Coordinates are double[3]: g, m, min. */
typedef struct {
  const hw_river *river;
  const hw_transport *transport;
  const hw_reading *readings;
  size_t count;
  double velocity, dispersion, decay; /* m/min, m2/min, 1/min */
  double lo[3], hi[3];
} problem;

static hw_source to_si(const double x[3]) {
  return (hw_source){x[0], x[1], x[2] * minute_s};
}

static double length(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* What one sensor adds to the gradient at one time; `read` is 0 where it was not read. */
static void add_sensor(const problem *p, const double x[3], size_t sensor, double time_min, double read, double g[3]) {
  const double place_m = p->river->sensors[sensor].location_m, reach = place_m - x[1], age = time_min - x[2];
  const hw_source source = to_si(x);
  double c = 0;
  hw_transport_concentration(p->transport, &source, place_m, time_min * minute_s, &c);
  const double twice_misfit = 2 * (model_factor * c - read), d = p->dispersion, v = p->velocity;
  if (!(age > 0) || c == 0) {
    return;
  }
  g[0] += twice_misfit * c / x[0];
  g[1] += twice_misfit * c * (reach - v * age) / (2 * d * age);
  g[2] += twice_misfit * c / (2 * age) + c * (v * v / (4 * d) - reach * reach / (4 * d * age * age) + p->decay);
}

/* Readings from `at` on that share its time. */
static size_t of_one_time(const problem *p, size_t at) {
  size_t n = 1;
  while (at + n < p->count && p->readings[at + n].time_s == p->readings[at].time_s) {
    n++;
  }
  return n;
}

static void projected_gradient(const problem *p, size_t at, size_t n, const double x[3], const double eta[3],
                               double g[3]) {
  g[0] = g[1] = g[2] = 0;
  for (size_t m = 0; m < p->river->sensor_count; m++) {
    double read = 0;
    for (size_t i = at; i < at + n; i++) {
      read = p->readings[i].sensor == m ? p->readings[i].concentration_g_m3 : read;
    }
    add_sensor(p, x, m, p->readings[at].time_s / minute_s, read, g);
  }
  for (int j = 0; j < 3; j++) {
    const double moved = fmin(fmax(x[j] - eta[j] * g[j], p->lo[j]), p->hi[j]);
    g[j] = (x[j] - moved) / eta[j];
  }
}

/* The summed loss of the whole record, what has not been seen yet among it. */
static double record_loss(const problem *p, const double x[3]) {
  const hw_source source = to_si(x);
  double sum = 0;
  for (size_t i = 0; i < p->count; i++) {
    const hw_reading *r = &p->readings[i];
    double c = 0;
    hw_transport_concentration(p->transport, &source, p->river->sensors[r->sensor].location_m, r->time_s, &c);
    sum += (c - r->concentration_g_m3) * (c - r->concentration_g_m3);
  }
  return sum;
}

static bool accepted(const problem *p, const double x[3], const double eta[3], const double g[3]) {
  const double step[3] = {eta[0] * g[0], eta[1] * g[1], eta[2] * g[2]};
  const double trial[3] = {x[0] - step[0], x[1] - step[1], x[2] - step[2]};
  return record_loss(p, trial) <= record_loss(p, x) + beta * length(step);
}

/* All steps of one time. A search begins with the gradient of the step before, and that gradient also ends the loop. */
static size_t take_steps(const problem *p, size_t at, size_t n, bool line_search, double x[3]) {
  double eta[3] = {first_step[0], first_step[1], first_step[2]}, g[3];
  size_t steps = 0;
  projected_gradient(p, at, n, x, eta, g);
  while (length(g) > tolerance && steps < MOST_STEPS && eta[2] >= least_step) {
    while (line_search && !accepted(p, x, eta, g)) {
      for (int j = 0; j < 3; j++) {
        eta[j] /= 2;
      }
      projected_gradient(p, at, n, x, eta, g);
    }
    projected_gradient(p, at, n, x, eta, g);
    for (int j = 0; j < 3; j++) {
      x[j] -= eta[j] * g[j];
    }
    steps++;
  }
  return steps;
}

hw_status hw_published_learner(const hw_river *river, const hw_reading *readings, size_t count, bool line_search,
                               hw_source *found, size_t *steps) {
  hw_transport *transport = NULL;
  const hw_status status = hw_transport_create(river, NULL, &transport);
  if (status != HW_OK) {
    return status;
  }
  const hw_hydraulics *h = &river->hydraulics;
  const hw_source *lo = &river->search.lo, *hi = &river->search.hi;
  const problem p = {.river = river,
                     .transport = transport,
                     .readings = readings,
                     .count = count,
                     .velocity = h->velocity_m_s.value * minute_s,
                     .dispersion = h->dispersion_m2_s.value * minute_s,
                     .decay = h->decay_per_s * minute_s,
                     .lo = {lo->mass_g, lo->location_m, lo->time_s / minute_s},
                     .hi = {hi->mass_g, hi->location_m, hi->time_s / minute_s}};
  double x[3] = {hw_paper_start.mass_g, hw_paper_start.location_m, hw_paper_start.time_s / minute_s};
  *steps = 0;
  for (size_t at = 0, n; at < count; at += n) {
    n = of_one_time(&p, at);
    *steps += take_steps(&p, at, n, line_search, x);
  }
  *found = to_si(x);
  hw_transport_free(transport);
  return HW_OK;
}
