#include "quadrature.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 81, MASSES = 65 };

typedef struct {
  double lo[2], hi[2]; /* passage time at the first sensor, ln age there */
} window;

typedef struct {
  double ln_density, mass, mass_sd; /* of the cell, mass summed out */
  double location_m, time_s;
} cell;

typedef struct {
  const hw_river *river;
  const hw_reading *readings;
  size_t count;
  hw_transport *transport;
  double *variance;
} data;

/* Mass summed out on a lattice of seven standard deviations around its best value, cut to the box. */
static void sum_mass(const hw_box *box, double lambda, double h, cell *c) {
  const double best = lambda > 0 ? h / lambda : box->lo.mass_g, sd = 1 / sqrt(lambda + 1e-30);
  const double lo = fmax(box->lo.mass_g, best - 7 * sd), hi = fmin(box->hi.mass_g, best + 7 * sd);
  if (!(hi > lo)) {
    c->ln_density = -INFINITY;
    return;
  }
  double total = 0, mean = 0, square = 0;
  for (int i = 0; i < MASSES; i++) {
    const double s = lo + (hi - lo) * (i + 0.5) / MASSES;
    const double p = exp(-0.5 * lambda * (s - best) * (s - best));
    total += p;
    mean += p * s;
    square += p * s * s;
  }
  c->mass = mean / total;
  c->mass_sd = sqrt(fmax(square / total - c->mass * c->mass, 0));
  c->ln_density += log(total * (hi - lo) / MASSES) + 0.5 * h * best;
}

static cell evaluate(const data *d, double phi, double ln_age) {
  const hw_box *box = &d->river->search;
  const double v = d->river->hydraulics.velocity_m_s.value, age = exp(ln_age);
  cell c = {.location_m = d->river->sensors[0].location_m - v * age, .time_s = phi - age};
  if (c.location_m < box->lo.location_m || c.location_m > box->hi.location_m || c.time_s < box->lo.time_s ||
      c.time_s > box->hi.time_s) {
    c.ln_density = -INFINITY;
    return c;
  }
  double lambda = 0, h = 0;
  for (size_t i = 0; i < d->count; i++) {
    const hw_reading *r = &d->readings[i];
    const hw_leg leg = hw_transport_leg(d->transport, c.location_m, d->river->sensors[r->sensor].location_m);
    const double g = hw_leg_response(&leg, r->time_s - c.time_s);
    lambda += g * g / d->variance[i];
    h += g * r->concentration_g_m3 / d->variance[i];
  }
  c.ln_density = ln_age; /* uniform in place and time */
  sum_mass(box, lambda, h, &c);
  return c;
}

static void evaluate_window(const data *d, const window *w, cell *cells) {
  for (int i = 0; i < CELLS * CELLS; i++) {
    cells[i] = evaluate(d, w->lo[0] + (w->hi[0] - w->lo[0]) * (i / CELLS + 0.5) / CELLS,
                        w->lo[1] + (w->hi[1] - w->lo[1]) * (i % CELLS + 0.5) / CELLS);
  }
}

/* The smallest window around everything within e^-25 of the highest cell, one cell of margin. */
static window narrower(const window *w, const cell *cells) {
  double most = -INFINITY;
  int from[2] = {CELLS, CELLS}, to[2] = {-1, -1};
  for (int i = 0; i < CELLS * CELLS; i++) {
    most = fmax(most, cells[i].ln_density);
  }
  for (int i = 0; i < CELLS * CELLS; i++) {
    const int at[2] = {i / CELLS, i % CELLS};
    for (int k = 0; k < 2 && cells[i].ln_density > most - 25; k++) {
      from[k] = at[k] < from[k] ? at[k] : from[k];
      to[k] = at[k] > to[k] ? at[k] : to[k];
    }
  }
  window out;
  for (int k = 0; k < 2; k++) {
    const double step = (w->hi[k] - w->lo[k]) / CELLS;
    out.lo[k] = w->lo[k] + step * (from[k] - 1);
    out.hi[k] = w->lo[k] + step * (to[k] + 2);
  }
  return out;
}

typedef struct {
  double value, weight;
} weighted;

static int by_value(const void *a, const void *b) {
  const double x = ((const weighted *)a)->value, y = ((const weighted *)b)->value;
  return (x > y) - (x < y);
}

static double median_of(weighted *w, size_t n) {
  qsort(w, n, sizeof *w, by_value);
  double total = 0, running = 0;
  for (size_t i = 0; i < n; i++) {
    total += w[i].weight;
  }
  size_t i = 0;
  while (i + 1 < n && running + w[i].weight < 0.5 * total) {
    running += w[i++].weight;
  }
  return w[i].value;
}

static void summarise(const cell *cells, hw_source *median, hw_source *spread) {
  enum { N = CELLS * CELLS };
  static weighted w[N];
  double most = -INFINITY;
  for (int i = 0; i < N; i++) {
    most = fmax(most, cells[i].ln_density);
  }
  double out[3], sd[3];
  for (int d = 0; d < 3; d++) {
    double total = 0, mean = 0, square = 0;
    for (int i = 0; i < N; i++) {
      const cell *c = &cells[i];
      const double p = exp(c->ln_density - most), x = d == 0 ? c->mass : d == 1 ? c->location_m : c->time_s;
      w[i] = (weighted){x, p};
      total += p;
      mean += p > 0 ? p * x : 0;
      square += p > 0 ? p * (x * x + (d == 0 ? c->mass_sd * c->mass_sd : 0)) : 0;
    }
    mean /= total;
    sd[d] = sqrt(square / total - mean * mean);
    out[d] = d == 0 ? mean : median_of(w, N); /* the mass is close to normal: its mean */
  }
  *median = (hw_source){out[0], out[1], out[2]};
  *spread = (hw_source){sd[0], sd[1], sd[2]};
}

void hw_quadrature(const hw_river *river, const hw_reading *readings, size_t count, const hw_source *truth,
                   hw_source *median, hw_source *spread) {
  data d = {river, readings, count, NULL, calloc(count, sizeof(double))};
  cell *cells = calloc(CELLS * CELLS, sizeof *cells);
  if (!d.variance || !cells || hw_transport_create(river, NULL, &d.transport) != HW_OK) {
    abort();
  }
  for (size_t i = 0; i < count; i++) {
    const hw_sensor *s = &river->sensors[readings[i].sensor];
    double c = 0;
    hw_transport_concentration(d.transport, truth, s->location_m, readings[i].time_s, &c);
    d.variance[i] = s->noise_absolute_g_m3 * s->noise_absolute_g_m3 + s->noise_relative * s->noise_relative * c * c;
  }
  const hw_box *box = &river->search;
  const double v = river->hydraulics.velocity_m_s.value, x = river->sensors[0].location_m;
  const double young = (x - box->hi.location_m) / v, old = (x - box->lo.location_m) / v;
  /* Around the true passage, so that the first lattice meets the ridge; everything in the box is reachable from there.
   */
  const double phi = truth->time_s + (x - truth->location_m) / v;
  window w = {{phi - 4000, log(young)}, {phi + 4000, log(old)}};
  for (int round = 0; round < 5; round++) {
    evaluate_window(&d, &w, cells);
    if (round < 4) {
      w = narrower(&w, cells);
    }
  }
  summarise(cells, median, spread);
  hw_transport_free(d.transport);
  free(d.variance);
  free(cells);
}
