/* Mode K as a method: creation, and readings that come late or twice.
 *
 * Readings are taken in by time, then by sensor. One that comes late is put where it belongs and the record is replayed
 * from the start before anything is reported next, so that the answer is, to the bits, the one of the ordered record.
 * Once the record has outgrown the history (modek's capacity) a late reading is taken in where it comes; the likelihood
 * does not depend on the order, so the answer then agrees within the Monte Carlo error.
 */
#include "posterior/modek.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "river/along.h"

enum { LARGEST_STATE = 3500000, EXTRA_COLUMNS = 7 };

/* Noise that follows the concentration makes the target move at every refresh: more particles. */
static size_t default_particles(const hw_river *river) {
  for (size_t k = 0; k < river->sensor_count; k++) {
    if (river->sensors[k].noise_relative > 0) {
      return 2048;
    }
  }
  return 1024;
}

static size_t particle_count(const hw_river *river, const hw_options *options, size_t with_sums) {
  size_t count = options->particles ? options->particles : default_particles(river);
  count = (count + HW__BLOCK - 1) / HW__BLOCK * HW__BLOCK;
  const size_t columns = HW__COLUMNS + EXTRA_COLUMNS + sizeof(hw_sample) / sizeof(double) + 2 + 3 * with_sums;
  while (!options->particles && count > HW__BLOCK && count * columns * sizeof(double) > LARGEST_STATE) {
    count = (count / 2 + HW__BLOCK - 1) / HW__BLOCK * HW__BLOCK;
  }
  return count;
}

static double log_factor(const hw_quantity *q) {
  return q->certainty == HW_UNCERTAIN ? log(q->factor) : 0;
}

static void set_channel(hw__smc *smc, size_t k) {
  const hw_sensor *sensor = &smc->river->sensors[k];
  hw__channel *c = &smc->channels[k];
  const hw__integrals at = hw__transport_integrals(smc->transport, sensor->location_m);
  const hw_leg here = hw_transport_leg(smc->transport, sensor->location_m, sensor->location_m);
  const bool follows = hw__river_discharge_follows(smc->river, sensor->location_m);
  *c = (hw__channel){.place = {.theta = at.theta,
                               .variance = at.variance,
                               .decay = at.decay,
                               .per_discharge = follows ? 0 : 1 / here.discharge_m3_s,
                               .per_area = follows ? 1 / here.discharge_m3_s : 0},
                     .learns_background = isnan(sensor->background_g_m3),
                     .background_g_m3 = isnan(sensor->background_g_m3) ? 0 : sensor->background_g_m3,
                     .gain_sd = log(sensor->gain_factor),
                     .learned_g_m3 = isnan(sensor->background_g_m3) ? 0 : sensor->background_g_m3,
                     .peak_g_m3 = NAN,
                     .lowest_g_m3 = 0};
}

/* Typical height of the pulse of the smallest mass; half a per cent of it bounds an estimated noise floor from below.
 */
static void set_least_floors(hw__smc *smc) {
  const hw__view view = hw__cloud_view(&smc->cloud, 0);
  double most = 0;
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    hw__channel *c = &smc->channels[k];
    double sum = 0;
    for (size_t j = 0; j < smc->cloud.count; j++) {
      const double variance = (c->place.variance - view.variance[j]) * view.spread[j];
      if (variance > 0) {
        sum += (c->place.per_discharge + c->place.per_area * view.slowness[j]) / sqrt(2 * M_PI * variance);
      }
    }
    const double mass = smc->mass_lo > 0 ? smc->mass_lo : 1e-3 * smc->mass_hi;
    c->least_floor_g_m3 = 0.005 * mass * sum / (double)smc->cloud.count;
    most = fmax(most, c->least_floor_g_m3);
  }
  for (size_t k = 0; k < smc->river->sensor_count; k++) { /* a sensor above the whole box borrows */
    hw__channel *c = &smc->channels[k];
    c->least_floor_g_m3 = fmax(c->least_floor_g_m3, 1e-3 * most);
  }
}

void hw__smc_reset(hw__smc *smc) {
  const hw_river *river = smc->river;
  hw_rng_seed(&smc->rng, smc->options.seed, 0);
  hw__history_clear(&smc->history);
  smc->history.idle_before_s = river->search.lo.time_s;
  smc->theta_far = hw__transport_integrals(smc->transport, river->search.hi.location_m).theta;
  double least = hw__transport_integrals(smc->transport, river->search.lo.location_m).theta;
  for (size_t k = 0; k < river->sensor_count; k++) {
    set_channel(smc, k);
    smc->theta_far = fmax(smc->theta_far, smc->channels[k].place.theta);
    least = fmin(least, smc->channels[k].place.theta);
  }
  smc->theta_far += 0.01 * (smc->theta_far - least) + 1;
  smc->mass_scale_g = 0.5 * (smc->mass_lo + smc->mass_hi);
  smc->move_scale = 1;
  smc->pending = 0;
  smc->rejuvenations = 0;
  hw__cloud_draw(&smc->cloud, river, smc->transport, &smc->rng);
  set_least_floors(smc);
  for (size_t k = 0; k < river->sensor_count; k++) {
    hw__smc_refloor(smc, k);
    smc->channels[k].refreshed_floor = smc->channels[k].floor_g_m3;
    smc->channels[k].fold = hw__smc_fold(smc, k, 0, 0);
  }
  for (size_t from = 0; from < smc->cloud.count; from += HW__BLOCK) {
    hw__likelihood(smc, &smc->cloud, from, HW__BLOCK);
  }
  memcpy(smc->cloud.column[HW__BASE], smc->cloud.column[HW__EVIDENCE], smc->cloud.count * sizeof(double));
  hw__smc_measure(smc);
}

static bool create_columns(hw__smc *smc, size_t count) {
  const size_t columns = EXTRA_COLUMNS, length = columns * count + 3 * HW__BLOCK;
  smc->memory = aligned_alloc(64, length * sizeof(double));
  if (!smc->memory) {
    return false;
  }
  memset(smc->memory, 0, length * sizeof(double));
  double *m = smc->memory;
  smc->trial = (hw__totals){m, m + count, m + 2 * count};
  smc->trial_evidence = m + 3 * count;
  smc->trial_weight = m + 4 * count;
  smc->trial_mass = m + 5 * count;
  smc->g = m + 6 * count;
  smc->scratch = m + EXTRA_COLUMNS * count;
  return true;
}

static bool create_smc(hw__smc *smc) {
  const hw_river *river = smc->river;
  const size_t sensors = river->sensor_count;
  bool *sums = calloc(sensors, sizeof *sums);
  size_t with_sums = 0;
  for (size_t k = 0; sums && k < sensors; k++) {
    sums[k] = isnan(river->sensors[k].background_g_m3) || river->sensors[k].gain_factor > 1;
    with_sums += sums[k];
  }
  const size_t count = particle_count(river, &smc->options, with_sums);
  /* The moves look at all of the history: its length times the particles bounds the longest rejuvenation. */
  const size_t capacity = count <= 1024 ? 512 : 256;
  smc->channels = calloc(sensors, sizeof *smc->channels);
  const bool ok = sums && smc->channels && hw__cloud_create(count, sums, sensors, &smc->cloud) &&
                  hw__cloud_create(HW__BLOCK, sums, sensors, &smc->proposal) &&
                  hw__history_create(sensors, capacity, &smc->history) && create_columns(smc, count);
  free(sums);
  return ok;
}

hw_status hw__modek_create(const hw_problem *problem, const hw_options *options, void **state) {
  *state = NULL;
  const hw_river *river = problem->river;
  hw__modek *k = calloc(1, sizeof *k);
  if (!k) {
    return HW_ENOMEM;
  }
  hw__smc *smc = &k->smc;
  smc->river = river;
  smc->options = *options;
  smc->kernel = hw__kernel();
  smc->mass_lo = river->search.lo.mass_g;
  smc->mass_hi = river->search.hi.mass_g;
  smc->sd_velocity = log_factor(&river->hydraulics.velocity_m_s);
  smc->sd_dispersion = log_factor(&river->hydraulics.dispersion_m2_s);
  smc->move_count = smc->sd_velocity > 0 || smc->sd_dispersion > 0 ? 5 : 3;
  hw_status status = hw_transport_create(river, NULL, &smc->transport);
  if (status == HW_OK && !create_smc(smc)) {
    status = HW_ENOMEM;
  }
  if (status == HW_OK) {
    const size_t n = smc->cloud.count;
    k->late = calloc(smc->history.capacity, sizeof *k->late);
    k->samples = calloc(n, sizeof *k->samples);
    k->sorting = (hw__scratch){calloc(n, sizeof(double)), calloc(n, sizeof(double)), n};
    k->passages = calloc(HW__BLOCK, sizeof *k->passages);
    k->suspicions = calloc(river->candidate_count + 1, sizeof *k->suspicions);
    k->arrivals = calloc(river->intake_count + 1, sizeof *k->arrivals);
    const bool ok =
        k->late && k->samples && k->sorting.value && k->sorting.weight && k->passages && k->suspicions && k->arrivals;
    status = ok ? HW_OK : HW_ENOMEM;
  }
  if (status != HW_OK) {
    hw__modek_destroy(k);
    return status;
  }
  hw__smc_reset(smc);
  *state = k;
  return HW_OK;
}

void hw__modek_destroy(void *state) {
  hw__modek *k = state;
  if (!k) {
    return;
  }
  hw_transport_free(k->smc.transport);
  hw__cloud_free(&k->smc.cloud);
  hw__cloud_free(&k->smc.proposal);
  hw__history_free(&k->smc.history);
  free(k->smc.channels);
  free(k->smc.memory);
  free(k->late);
  free(k->samples);
  free(k->sorting.value);
  free(k->sorting.weight);
  free(k->passages);
  free(k->suspicions);
  free(k->arrivals);
  free(k);
}

size_t hw__modek_bytes(const hw__modek *k) {
  const hw__smc *smc = &k->smc;
  const size_t n = smc->cloud.count;
  return sizeof *k + smc->cloud.bytes + smc->proposal.bytes + hw__history_bytes(&smc->history) +
         (EXTRA_COLUMNS * n + 3 * HW__BLOCK) * sizeof(double) + smc->river->sensor_count * sizeof *smc->channels +
         smc->history.capacity * sizeof *k->late + n * (sizeof *k->samples + 2 * sizeof(double)) +
         HW__BLOCK * sizeof *k->passages;
}

static bool earlier(const hw_reading *a, double time_s, size_t sensor) {
  return a->time_s < time_s || (a->time_s == time_s && a->sensor < sensor);
}

/* The whole history as readings in order, into k->late. */
static void unroll(hw__modek *k) {
  const hw__history *h = &k->smc.history;
  k->late_count = 0;
  for (size_t s = 0; s < h->sensor_count; s++) {
    for (size_t i = h->start[s]; i < h->start[s + 1]; i++) {
      const hw__entry *e = &h->entries[i];
      const hw_reading r = {s, e->time_s, e->value_g_m3, e->below_limit};
      size_t at = k->late_count++;
      for (; at > 0 && !earlier(&k->late[at - 1], r.time_s, r.sensor); at--) {
        k->late[at] = k->late[at - 1];
      }
      k->late[at] = r;
    }
  }
}

static void replay(hw__modek *k) {
  hw__smc_reset(&k->smc);
  for (size_t i = 0; i < k->late_count; i++) {
    hw__smc_observe(&k->smc, &k->late[i]);
  }
  k->last_s = k->late[k->late_count - 1].time_s;
  k->last_sensor = k->late[k->late_count - 1].sensor;
  k->replay_due = false;
}

/* Position in the ordered record; *found: the same sensor and time is there already. */
static size_t place_in_order(const hw__modek *k, const hw_reading *reading, bool *found) {
  size_t at = k->late_count;
  while (at > 0 && !earlier(&k->late[at - 1], reading->time_s, reading->sensor)) {
    at--;
  }
  *found = at < k->late_count && k->late[at].time_s == reading->time_s && k->late[at].sensor == reading->sensor;
  return at;
}

static void observe_out_of_order(hw__modek *k, const hw_reading *reading) {
  if (!k->replay_due) {
    unroll(k);
  }
  bool found;
  const size_t at = place_in_order(k, reading, &found);
  if (found) {
    k->duplicates++;
    k->conflicts += k->late[at].concentration_g_m3 != reading->concentration_g_m3;
    return;
  }
  memmove(&k->late[at + 1], &k->late[at], (k->late_count - at) * sizeof *k->late);
  k->late[at] = *reading;
  k->late_count++;
  k->replay_due = true;
}

static bool is_duplicate(hw__modek *k, const hw_reading *reading) {
  const hw__history *h = &k->smc.history;
  if (k->replay_due || !hw__history_has(h, reading->sensor, reading->time_s)) {
    return false;
  }
  const hw__entry *e = &h->entries[hw__history_after(h, reading->sensor, reading->time_s) - 1];
  k->duplicates++;
  k->conflicts += e->value_g_m3 != reading->concentration_g_m3;
  return true;
}

hw_status hw__modek_observe(void *state, const hw_reading *reading) {
  hw__modek *k = state;
  if (is_duplicate(k, reading)) {
    return HW_OK;
  }
  const bool room = k->replay_due
                        ? k->late_count < k->smc.history.capacity
                        : k->smc.history.complete && hw__history_count(&k->smc.history) < k->smc.history.capacity;
  const bool late =
      k->any && !earlier(&(hw_reading){k->last_sensor, k->last_s, 0, false}, reading->time_s, reading->sensor);
  if (room && (late || k->replay_due)) {
    observe_out_of_order(k, reading);
    return HW_OK;
  }
  if (k->replay_due) {
    replay(k);
  }
  hw__smc_observe(&k->smc, reading);
  if (!late) {
    k->last_s = reading->time_s;
    k->last_sensor = reading->sensor;
  }
  k->any = true;
  return HW_OK;
}

void hw__modek_ready(hw__modek *k) {
  if (k->replay_due) {
    replay(k);
  }
  hw__smc_settle(&k->smc);
}
