/* The grid behind the optimum in hindsight: see grid.h. */
#include "regret/grid.h"

#include <math.h>
#include <stdlib.h>

#include "river/along.h"

enum { PASSAGES = 192, RELEASES = 48 };

typedef struct {
  double location_m, time_s;
  double gc, gg;
  double least; /* the profiled loss less sum c^2, after the last reading */
  bool inside;  /* the search box */
} cell;

struct hw__grid {
  const hw_transport *transport;
  double mass_lo_g, mass_hi_g;
  size_t sensor_count;
  hw_leg *legs; /* per cell and sensor */
  cell cells[PASSAGES][RELEASES];
};

static double first_sensor_m(const hw_river *river) {
  double first = river->sensors[0].location_m;
  for (size_t i = 1; i < river->sensor_count; i++) {
    first = fmin(first, river->sensors[i].location_m);
  }
  return first;
}

static void lay_out(hw__grid *grid, const hw_river *river) {
  const hw_box *box = &river->search;
  const double reference_s = hw__transport_theta(grid->transport, first_sensor_m(river));
  const double earliest = box->lo.time_s + reference_s - hw__transport_theta(grid->transport, box->hi.location_m);
  const double latest = box->hi.time_s + reference_s - hw__transport_theta(grid->transport, box->lo.location_m);
  for (size_t i = 0; i < PASSAGES; i++) {
    for (size_t k = 0; k < RELEASES; k++) {
      cell *c = &grid->cells[i][k];
      const double passage_s = earliest + ((double)i + 0.5) / PASSAGES * (latest - earliest);
      c->time_s = box->lo.time_s + ((double)k + 0.5) / RELEASES * (box->hi.time_s - box->lo.time_s);
      c->location_m = hw__transport_place(grid->transport, reference_s - (passage_s - c->time_s));
      c->inside = c->location_m >= box->lo.location_m && c->location_m <= box->hi.location_m;
      for (size_t s = 0; c->inside && s < grid->sensor_count; s++) {
        grid->legs[(i * RELEASES + k) * grid->sensor_count + s] =
            hw_transport_leg(grid->transport, c->location_m, river->sensors[s].location_m);
      }
    }
  }
}

hw_status hw__grid_create(const hw_river *river, const hw_transport *transport, hw__grid **out) {
  *out = NULL;
  hw__grid *grid = calloc(1, sizeof *grid);
  hw_leg *legs = calloc(PASSAGES * RELEASES * river->sensor_count, sizeof *legs);
  if (!grid || !legs) {
    free(grid);
    free(legs);
    return HW_ENOMEM;
  }
  grid->transport = transport;
  grid->mass_lo_g = river->search.lo.mass_g;
  grid->mass_hi_g = river->search.hi.mass_g;
  grid->sensor_count = river->sensor_count;
  grid->legs = legs;
  lay_out(grid, river);
  *out = grid;
  return HW_OK;
}

void hw__grid_free(hw__grid *grid) {
  if (grid) {
    free(grid->legs);
    free(grid);
  }
}

static double profiled_mass(const hw__grid *grid, const cell *c) {
  return c->gg > 0 ? fmin(fmax(c->gc / c->gg, grid->mass_lo_g), grid->mass_hi_g) : grid->mass_lo_g;
}

void hw__grid_add(hw__grid *grid, const hw_reading *reading) {
  const double value = reading->below_limit ? 0 : reading->concentration_g_m3;
  for (size_t i = 0; i < PASSAGES; i++) {
    for (size_t k = 0; k < RELEASES; k++) {
      cell *c = &grid->cells[i][k];
      if (!c->inside) {
        continue;
      }
      const hw_leg *leg = &grid->legs[(i * RELEASES + k) * grid->sensor_count + reading->sensor];
      const double g = hw_leg_response(leg, reading->time_s - c->time_s);
      c->gc += g * value;
      c->gg += g * g;
      const double mass_g = profiled_mass(grid, c);
      c->least = mass_g * (mass_g * c->gg - 2 * c->gc);
    }
  }
}

/* Lower than every neighbour inside the box (ties: the earlier cell counts as lower). */
static bool is_minimum(const hw__grid *grid, size_t i, size_t k) {
  const cell *c = &grid->cells[i][k];
  for (size_t di = i > 0 ? i - 1 : 0; c->inside && di <= i + 1 && di < PASSAGES; di++) {
    for (size_t dk = k > 0 ? k - 1 : 0; dk <= k + 1 && dk < RELEASES; dk++) {
      const cell *other = &grid->cells[di][dk];
      const bool before = di * RELEASES + dk < i * RELEASES + k;
      if (other != c && other->inside && (before ? other->least <= c->least : other->least < c->least)) {
        return false;
      }
    }
  }
  return c->inside;
}

size_t hw__grid_minima(const hw__grid *grid, hw_source *out, size_t most) {
  const cell *best[HW__GRID_STARTS + 1];
  const size_t room = most < HW__GRID_STARTS ? most : HW__GRID_STARTS;
  size_t found = 0;
  for (size_t i = 0; i < PASSAGES; i++) {
    for (size_t k = 0; k < RELEASES; k++) {
      if (!is_minimum(grid, i, k)) {
        continue;
      }
      size_t at = found;
      for (; at > 0 && best[at - 1]->least > grid->cells[i][k].least; at--) {
        best[at] = best[at - 1];
      }
      best[at] = &grid->cells[i][k];
      found = found < room ? found + 1 : room;
    }
  }
  for (size_t i = 0; i < found; i++) {
    out[i] = (hw_source){profiled_mass(grid, best[i]), best[i]->location_m, best[i]->time_s};
  }
  return found;
}
