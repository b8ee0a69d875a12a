/* What mode K answers: estimate, samples, predictive bands, arrivals. */
#include <math.h>
#include <string.h>

#include "posterior/evidence.h"
#include "posterior/modek.h"
#include "river/along.h"

/* Each particle's mass at its own quantile; the quantiles are spread evenly by the golden ratio, so that the masses of
 * neighbouring particles do not all lie on one side. */
static void draw_samples(hw__modek *k) {
  const hw__smc *smc = &k->smc;
  const hw_hydraulics *h = &smc->river->hydraulics;
  double *const *c = smc->cloud.column;
  double total = 0;
  for (size_t i = 0; i < smc->cloud.count; i++) {
    total += c[HW__WEIGHT][i];
  }
  for (size_t i = 0; i < smc->cloud.count; i++) {
    const double x = ((double)i + 0.5) * 0.6180339887498949;
    const double u = fmin(fmax(x - floor(x), 1e-9), 1 - 1e-9);
    k->samples[i] =
        (hw_sample){.source = {hw__mass_quantile(c[HW__LAMBDA][i], c[HW__H][i], smc->mass_lo, smc->mass_hi, u),
                               c[HW__LOCATION][i], c[HW__RELEASE][i]},
                    .velocity_m_s = h->velocity_m_s.value / c[HW__SLOWNESS][i],
                    .dispersion_m2_s = h->dispersion_m2_s.value * exp(c[HW__LN_DISPERSION][i]),
                    .weight = c[HW__WEIGHT][i] / total};
  }
}

/* A place along the river as the picked particles see it. */
static hw__point point_at(const hw__smc *smc, double x_m) {
  const hw__integrals at = hw__transport_integrals(smc->transport, x_m);
  const hw_leg here = hw_transport_leg(smc->transport, x_m, x_m);
  const bool follows = hw__river_discharge_follows(smc->river, x_m);
  return (hw__point){.theta = at.theta,
                     .variance = at.variance,
                     .decay = at.decay,
                     .per_discharge = follows ? 0 : 1 / here.discharge_m3_s,
                     .per_area = follows ? 1 / here.discharge_m3_s : 0};
}

/* One particle's leg to a point, by the kernel's formulas. */
static hw_leg leg_to(const hw__cloud *cloud, size_t j, const hw__point *point) {
  double *const *c = cloud->column;
  const double slowness = c[HW__SLOWNESS][j];
  const double travel = (point->theta - c[HW__THETA][j]) * slowness;
  const double variance = (point->variance - c[HW__VARIANCE][j]) * c[HW__SPREAD][j];
  return (hw_leg){.travel_s = travel,
                  .sharpness_per_s = travel / variance,
                  .decay_per_s = (point->decay - c[HW__DECAY][j]) * slowness / travel,
                  .discharge_m3_s = 1 / (point->per_discharge + point->per_area * slowness)};
}

/* The age at which a leg's response peaks: (a/2 + kappa) T^2 + T/2 = a theta^2 / 2. */
static double peak_age(const hw_leg *leg) {
  const double a = leg->sharpness_per_s, q = 0.5 * a + leg->decay_per_s;
  const double c = a * leg->travel_s * leg->travel_s;
  return c / (0.5 + sqrt(0.25 + 2 * q * c));
}

/* The age between these two at which `level` is passed; bisection, a limb rises or falls all the way. */
static double passing_age(const hw_leg *leg, double mass_g, double level, double below, double above) {
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (below + above);
    if (mass_g * hw_leg_response(leg, middle) < level) {
      below = middle;
    } else {
      above = middle;
    }
  }
  return above;
}

/* An age so late that the falling limb is below `level`. */
static double late_age(const hw_leg *leg, double mass_g, double level, double peak) {
  double age = 2 * peak;
  for (int i = 0; i < 60 && mass_g * hw_leg_response(leg, age) >= level; i++) {
    age *= 2;
  }
  return age;
}

static hw__passage passage_of(const hw__cloud *cloud, size_t j, double mass_g, const hw__point *point, double alarm) {
  hw__passage passage = {.first_s = NAN, .peak_s = NAN, .last_s = NAN, .peak_g_m3 = 0, .weight = 1};
  const hw_leg leg = leg_to(cloud, j, point);
  if (!(leg.travel_s > 0)) {
    return passage;
  }
  const double release = cloud->column[HW__RELEASE][j], age = peak_age(&leg);
  passage.peak_s = release + age;
  passage.peak_g_m3 = mass_g * hw_leg_response(&leg, age);
  const double level = alarm > 0 ? alarm : 0.1 * passage.peak_g_m3;
  if (passage.peak_g_m3 > level) {
    passage.first_s = release + passing_age(&leg, mass_g, level, 0, age);
    passage.last_s = release + passing_age(&leg, mass_g, level, late_age(&leg, mass_g, level, age), age);
  }
  return passage;
}

/* Intakes below every plausible source; expects the picked block and its masses. */
static size_t forecast(hw__modek *k, const double *mass) {
  const hw__smc *smc = &k->smc;
  size_t count = 0;
  for (size_t i = 0; i < smc->river->intake_count; i++) {
    const hw_intake *intake = &smc->river->intakes[i];
    const hw__point point = point_at(smc, intake->location_m);
    size_t reached = 0;
    for (size_t j = 0; j < HW__BLOCK; j++) {
      k->passages[j] = passage_of(&smc->proposal, j, mass[j], &point, intake->alarm_g_m3);
      reached += k->passages[j].peak_g_m3 > 0;
    }
    if (reached > HW__BLOCK / 20) {
      k->arrivals[count++] = hw__summary_arrival(intake, i, k->passages, HW__BLOCK, smc->options.level, &k->sorting);
    }
  }
  return count;
}

/* The pulse is complete enough once some sensor rose clearly and fell back to half its peak. */
static bool is_provisional(const hw__smc *smc) {
  for (size_t s = 0; s < smc->river->sensor_count; s++) {
    const hw__channel *c = &smc->channels[s];
    const double base = c->learns_background ? c->lowest_g_m3 : c->background_g_m3;
    if (c->readings > 0 && c->fallen && c->peak_g_m3 - base > 10 * c->floor_g_m3) {
      return false;
    }
  }
  return true;
}

/* Of hydraulics that are known there is nothing to sort. */
static hw_range hydraulic_range(hw__modek *k, hw__sample_part part, double sd) {
  const double value = part(&k->samples[0]);
  if (!(sd > 0)) {
    return (hw_range){value, value, value};
  }
  return hw__summary_range(k->samples, k->smc.cloud.count, part, k->smc.options.level, &k->sorting);
}

hw_status hw__modek_estimate(void *state, hw_estimate *out) {
  hw__modek *k = state;
  hw__modek_ready(k);
  const hw__smc *smc = &k->smc;
  const double level = smc->options.level;
  const size_t n = smc->cloud.count;
  draw_samples(k);
  hw_estimate e;
  hw_estimate_init(&e);
  e.level = level;
  e.has_interval = true;
  e.stop = HW_STOP_COMPLETE;
  e.duration_s = (hw_range){0};
  hw__summary_source(k->samples, n, level, &k->sorting, &e.source, &e.interval);
  e.region_count = hw__summary_regions(&smc->river->search, k->samples, n, level, &k->sorting, k->regions);
  e.regions = k->regions;
  e.branches = &hw__only_branch;
  e.branch_count = 1;
  e.has_hydraulics = true;
  e.velocity_m_s = hydraulic_range(k, hw__sample_velocity, smc->sd_velocity);
  e.dispersion_m2_s = hydraulic_range(k, hw__sample_dispersion, smc->sd_dispersion);
  e.suspicion_count = hw__summary_suspicions(smc->river, k->samples, n, NULL, NULL, &k->sorting, k->suspicions);
  e.suspicions = k->suspicions;
  e.provisional = is_provisional(smc);
  e.trust = e.provisional ? HW_TRUST_PROVISIONAL : HW_TRUST_FULL;
  double mass[HW__BLOCK];
  hw__modek_pick(k, mass);
  e.arrival_count = forecast(k, mass);
  e.arrivals = k->arrivals;
  e.loss = hw__modek_warn(k, mass, e.provisional);
  e.warnings = k->warnings.pointers;
  e.warning_count = k->warnings.count;
  e.cost = (hw_cost){.model_evaluations = smc->evaluations, .state_bytes = hw__modek_bytes(k)};
  *out = e;
  return HW_OK;
}

void hw__modek_pick(hw__modek *k, double *mass) {
  hw__smc_thin(&k->smc, mass);
  const hw__totals t = hw__cloud_totals(&k->smc.proposal, 0);
  for (size_t j = 0; j < HW__BLOCK; j++) {
    const double x = ((double)j + 0.5) * 0.6180339887498949;
    mass[j] = hw__mass_quantile(t.lambda[j], t.h[j], k->smc.mass_lo, k->smc.mass_hi, x - floor(x));
  }
}

hw_status hw__modek_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  hw__modek *k = state;
  hw__modek_ready(k);
  draw_samples(k);
  const size_t n = k->smc.cloud.count, kept = capacity < n ? capacity : n;
  if (kept == n) {
    memcpy(out, k->samples, n * sizeof *out);
  }
  /* Fewer are wanted: equally weighted ones, chosen systematically. */
  double running = 0;
  size_t given = 0;
  for (size_t i = 0; kept < n && i < n && given < kept; i++) {
    running += k->samples[i].weight;
    while (given < kept && ((double)given + 0.5) / (double)kept < running) {
      out[given] = k->samples[i];
      out[given++].weight = 1 / (double)kept;
    }
  }
  *count = kept == n ? n : given;
  return HW_OK;
}

/* At a sensor the background that its readings carry is part of what is to be expected. */
static double background_at(const hw__smc *smc, double x_m, const double *mass) {
  for (size_t s = 0; s < smc->river->sensor_count; s++) {
    if (smc->river->sensors[s].location_m == x_m) {
      return hw__smc_background(smc, s, mass);
    }
  }
  return 0;
}

hw_status hw__modek_predict(void *state, const hw_prediction *prediction) {
  hw__modek *k = state;
  if (!isfinite(prediction->x_m)) {
    return HW_EDOMAIN;
  }
  for (size_t i = 0; i < prediction->count; i++) {
    if (!isfinite(prediction->time_s[i])) {
      return HW_EDOMAIN;
    }
  }
  hw__modek_ready(k);
  hw__smc *smc = &k->smc;
  double mass[HW__BLOCK];
  hw__modek_pick(k, mass);
  const double background = background_at(smc, prediction->x_m, mass);
  const hw__view view = hw__cloud_view(&smc->proposal, 0);
  hw__point point = point_at(smc, prediction->x_m);
  for (size_t i = 0; i < prediction->count; i++) {
    point.time_s = prediction->time_s[i];
    smc->kernel->response(&view, HW__BLOCK, &point, smc->scratch);
    for (size_t j = 0; j < HW__BLOCK; j++) {
      k->sorting.value[j] = background + mass[j] * smc->scratch[j];
      k->sorting.weight[j] = 1;
    }
    prediction->out_g_m3[i] = hw__scratch_range(&k->sorting, HW__BLOCK, smc->options.level);
  }
  return HW_OK;
}
