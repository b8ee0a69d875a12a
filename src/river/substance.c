/* Common substances, and a river that carries one.
 *
 * Transfer velocities to the air are those of the two-film model, 1/K = 1/k_w + 1/(k_a H), with k_w = 20 cm/h
 * sqrt(44/M) and k_a = 3000 cm/h sqrt(18/M) (Liss and Slater, Nature 247, 181, 1974) and Henry's constants H at 25
 * degrees (air over water) from Sander's compilation (Atmos. Chem. Phys. 15, 4399, 2015). Check value: benzene, M 78,
 * H 0.23: K = 14 cm/h = 4.0e-5 m/s, half of it gone from a metre of water in 4.8 h. Rivers differ by a factor of two
 * and more; under ice nothing is lost.
 *
 * Where no sensor says how deep the river is, depth = 0.40 Q^0.29 (Raymond et al., Limnol. Oceanogr. Fluids Environ. 2,
 * 41, 2012). */
#include "river/substance.h"

#include <math.h>
#include <string.h>

#include "headwater/transport.h"

#define NONE \
  { 0, 1 }
#define EQUAL \
  { 1, 1 }

static const hw_substance table[] = {
    {.name = "rhodamine_wt",
     .decay_per_s = {4.6e-7, 2},
     .volatilisation_m_s = NONE,
     .retardation = EQUAL,
     .dye_losses = true,
     .guideline_g_m3 = 0.01,
     .guideline = "US Geological Survey, at water intakes",
     .loss_factor = 1},
    {.name = "chloride",
     .decay_per_s = NONE,
     .volatilisation_m_s = NONE,
     .retardation = EQUAL,
     .guideline_g_m3 = 250,
     .guideline = "EU directive 2020/2184, indicator",
     .loss_factor = 1},
    {.name = "nitrobenzene",
     .decay_per_s = NONE,
     .volatilisation_m_s = {2.9e-6, 2},
     .retardation = EQUAL,
     .guideline_g_m3 = 0.017,
     .guideline = "China GB 3838-2002, sources of drinking water",
     .loss_factor = 1},
    {.name = "benzene",
     .decay_per_s = NONE,
     .volatilisation_m_s = {4.0e-5, 2},
     .retardation = EQUAL,
     .guideline_g_m3 = 0.01,
     .guideline = "WHO guidelines for drinking-water quality",
     .loss_factor = 1},
    {.name = "cyanide",
     .decay_per_s = NONE,
     .volatilisation_m_s = {2.4e-5, 3},
     .retardation = EQUAL,
     .guideline_g_m3 = 0.05,
     .guideline = "EU directive 2020/2184",
     .loss_factor = 1},
    {.name = "diesel_soluble",
     .decay_per_s = NONE,
     .volatilisation_m_s = {2.1e-5, 3},
     .retardation = EQUAL,
     .loss_factor = 1},
};

hw_substance hw_substance_none(void) {
  return (hw_substance){.decay_per_s = NONE, .volatilisation_m_s = NONE, .retardation = EQUAL, .loss_factor = 1};
}

const hw_substance *hw_substance_at(size_t i) {
  return i < sizeof table / sizeof table[0] ? &table[i] : NULL;
}

const hw_substance *hw_substance_find(const char *name) {
  size_t i = 0;
  while (i < sizeof table / sizeof table[0] && strcmp(table[i].name, name) != 0) {
    i++;
  }
  return hw_substance_at(i);
}

/* --- a river that carries it --- */

/* Geometric mean of what the sensors say; 0: nothing. */
static double measured_depth_m(const hw_river *river) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < river->sensor_count; i++) {
    if (river->sensors[i].depth_m > 0) {
      sum += log(river->sensors[i].depth_m);
      count++;
    }
  }
  return count > 0 ? exp(sum / count) : 0;
}

static double usual_depth_m(double discharge_m3_s) {
  return discharge_m3_s > 0 ? 0.40 * pow(discharge_m3_s, 0.29) : 0;
}

static double loss_per_s(const hw_substance *s, double depth_m) {
  return s->decay_per_s.median + (depth_m > 0 ? s->volatilisation_m_s.median / depth_m : 0);
}

static void set_reach_decays(const hw_substance *s, double measured_m, hw_reach *reaches, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hw_reach *r = &reaches[i];
    const double q = r->discharge_m3_s > 0 ? r->discharge_m3_s : r->area_m2 * r->velocity_m_s;
    r->decay_per_s = loss_per_s(s, measured_m > 0 ? measured_m : usual_depth_m(q));
  }
}

/* The doubts of two shares of one rate, each by its part of it. */
static double joint_factor(const hw_substance *s, double depth_m) {
  const double decay = s->decay_per_s.median;
  const double volatile_part = depth_m > 0 ? s->volatilisation_m_s.median / depth_m : 0;
  const double sum = decay + volatile_part;
  return sum > 0 ? exp(hypot(decay / sum * log(s->decay_per_s.factor),
                             volatile_part / sum * log(s->volatilisation_m_s.factor)))
                 : 1;
}

static void slow_quantity(hw_quantity *q, const hw_doubtful *by) {
  if (q->certainty == HW_UNKNOWN) {
    return;
  }
  q->value /= by->median;
  if (by->factor > 1) {
    const hw__spread own = hw__spread_of_quantity(q);
    q->local = exp(own.local); /* of the common doubt, which is all that sorption adds */
    q->factor = exp(sqrt(own.common * own.common + own.local * own.local + log(by->factor) * log(by->factor)));
    q->certainty = HW_UNCERTAIN;
  }
}

static void slow_doubt(hw_doubt *d, const hw_doubtful *by) {
  if (d->factor >= 1 && by->factor > 1) {
    const hw__spread own = hw__spread_of(*d);
    *d = (hw_doubt){exp(sqrt(own.common * own.common + own.local * own.local + log(by->factor) * log(by->factor))),
                    exp(own.local)};
  }
}

/* The discharge is the water's and stays; an area that stands for it grows as the velocity falls. */
static void slow_reaches(const hw_doubtful *by, hw_reach *reaches, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hw_reach *r = &reaches[i];
    r->velocity_m_s /= by->median;
    r->dispersion_m2_s /= by->median;
    r->area_m2 *= by->median;
    slow_doubt(&r->velocity_doubt, by);
  }
}

static void slow_down(hw_river *river) {
  const hw_doubtful *by = &river->substance.retardation;
  hw_hydraulics *h = &river->hydraulics;
  if (!(by->median > 1) && !(by->factor > 1)) {
    return;
  }
  slow_reaches(by, river->reaches, river->reach_count);
  for (size_t i = 0; i < river->branch_count; i++) {
    slow_reaches(by, river->branches[i].reaches, river->branches[i].reach_count);
  }
  const hw_doubtful plain = {by->median, 1};
  slow_quantity(&h->velocity_m_s, by);
  slow_quantity(&h->dispersion_m2_s, &plain);
  h->area_m2 *= by->median;
}

/* Where the loss is in doubt, sensors further down may show less or more than the one above leads to expect. Their
 * gains take that up; what is lost above the first sensor widens the mass (see hw__substance_mass_doubt). */
static hw_status doubt_gains(hw_river *river) {
  const double doubt = log(river->substance.loss_factor);
  hw_transport *transport = NULL;
  if (!(doubt > 0) || !hw_river_has_hydraulics(river)) {
    return HW_OK;
  }
  const hw_status status = hw_transport_create(river, NULL, &transport);
  for (size_t i = 0; status == HW_OK && i < river->sensor_count; i++) {
    hw_sensor *s = &river->sensors[i];
    double most = 0;
    for (size_t j = 0; j < river->sensor_count; j++) {
      const hw_sensor *above = &river->sensors[j];
      const hw_leg leg =
          hw_transport_leg_between(transport, above->branch, above->location_m, s->branch, s->location_m);
      most = leg.travel_s > 0 ? fmax(most, leg.decay_per_s * leg.travel_s) : most;
    }
    s->gain_factor = exp(hypot(log(s->gain_factor), doubt * most));
  }
  hw_transport_free(transport);
  return status == HW_EHYDRAULICS ? HW_OK : status;
}

hw_status hw__substance_apply(hw_river *river, bool *depth_known) {
  hw_substance *s = &river->substance;
  hw_hydraulics *h = &river->hydraulics;
  const double measured_m = measured_depth_m(river);
  const double q = h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * h->velocity_m_s.value;
  double depth_m = measured_m > 0 ? measured_m : usual_depth_m(q);
  set_reach_decays(s, measured_m, river->reaches, river->reach_count);
  for (size_t i = 0; i < river->branch_count; i++) {
    hw_branch *b = &river->branches[i];
    set_reach_decays(s, measured_m, b->reaches, b->reach_count);
    if (!(depth_m > 0) && b->reach_count && b->joins == HW_OUTLET) {
      depth_m = usual_depth_m(b->reaches[b->reach_count - 1].discharge_m3_s);
    }
  }
  for (size_t i = 0; i < river->sensor_count && !(depth_m > 0); i++) {
    depth_m = usual_depth_m(river->sensors[i].discharge_m3_s);
  }
  *depth_known = depth_m > 0 || !(s->volatilisation_m_s.median > 0);
  h->decay_per_s = loss_per_s(s, depth_m);
  s->loss_factor = joint_factor(s, depth_m);
  slow_down(river);
  return doubt_gains(river);
}

void hw__substance_mass_doubt(const hw_substance *s, double lost, double z, double *lo, double *mid, double *hi) {
  if (!(s->loss_factor > 1) || !(lost > 0) || !(*lo > 0)) {
    return;
  }
  const double spread = pow(s->loss_factor, z);
  *hi = *mid * exp(hypot(log(*hi / *mid), lost * (spread - 1)));
  *lo = *mid * exp(-hypot(log(*mid / *lo), lost * (1 - 1 / spread)));
}
