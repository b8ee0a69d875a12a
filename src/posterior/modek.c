/* Mode K as a method: creation, and readings that come late or twice.
 *
 * Readings are taken in by time, then by sensor. One that comes late is put where it belongs, and the record is
 * replayed from the start before anything is reported next, so that the answer is, to the bits, the one of the ordered
 * record. Two limits keep that affordable: a record that outgrew its room, and replays that have cost more than their
 * budget (a long file sorted by sensor, asked for an answer after every line). Beyond them a late reading is taken in
 * where it comes; the likelihood does not depend on the order, so the answer still agrees within the Monte Carlo error.
 *
 * Being asked replays and settles, so it leaves a trace: other moves at other readings, a budget spent sooner. A steady
 * run settles after every reading and is charged for every late one as if an answer had been asked for after each.
 */
#include "posterior/modek.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "river/along.h"

enum {
  MOST_PARTICLES = 10000000,
  LARGEST_STATE = 3000000,
  ENTRIES_PER_SENSOR = 40,
  EXTRA_COLUMNS = 7,
  RECORD = 4096,
  REPLAY_BUDGET = 50000
};

/* Beyond it squares of times and concentrations would leave the numbers. */
static const double furthest = 1e12;

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
  hw__cloud_forget(&smc->cloud);
  hw__cloud_forget(&smc->proposal);
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
  smc->heat = 1;
  smc->restarting = false;
  smc->inflation = 1;
  smc->widenings = 0;
  smc->cloud.count = smc->full_count;
  smc->surprises = smc->restarts = smc->restart_after = smc->taken = smc->waiting = smc->steps = 0;
  smc->rejuvenations = 0;
  hw__cloud_draw(&smc->cloud, river, smc->transport, 1, &smc->rng);
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
  smc->full_count = count;
  /* The moves look at all of the history: its length times the particles bounds the longest rejuvenation. A pulse and
   * the quiet around it need forty entries: with 24, merged too widely, a hundred sensors were sure of a wrong place.
   */
  const size_t usual = count <= 1024 ? 256 : 192, needed = ENTRIES_PER_SENSOR * sensors;
  const size_t capacity = usual > needed ? usual : needed;
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
  if (options->particles > MOST_PARTICLES) {
    return HW_EDOMAIN;
  }
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
  hw__tails_build(&smc->tails);
  hw_status status = hw_transport_create(river, NULL, &smc->transport);
  if (status == HW_OK && !create_smc(smc)) {
    status = HW_ENOMEM;
  }
  if (status == HW_OK) {
    const size_t n = smc->cloud.count;
    k->samples = calloc(n, sizeof *k->samples);
    k->sorting = (hw__scratch){calloc(n, sizeof(double)), calloc(n, sizeof(double)), n};
    k->passages = calloc(HW__BLOCK, sizeof *k->passages);
    k->suspicions = calloc(river->candidate_count + 1, sizeof *k->suspicions);
    k->arrivals = calloc(river->intake_count + 1, sizeof *k->arrivals);
    const bool ok = hw__record_create(RECORD, &k->record) && k->samples && k->sorting.value && k->sorting.weight &&
                    k->passages && k->suspicions && k->arrivals;
    status = ok ? HW_OK : HW_ENOMEM;
  }
  if (status != HW_OK) {
    hw__modek_destroy(k);
    return status;
  }
  k->replayable = true;
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
  hw__record_free(&k->record);
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
         RECORD * sizeof *k->record.readings + n * (sizeof *k->samples + 2 * sizeof(double)) +
         HW__BLOCK * sizeof *k->passages;
}

static void take(hw__modek *k, const hw_reading *reading) {
  hw__smc_observe(&k->smc, reading);
  if (k->smc.options.steady) {
    hw__smc_settle(&k->smc);
  }
}

static void replay(hw__modek *k) {
  hw__smc_reset(&k->smc);
  for (size_t i = 0; i < k->record.count; i++) {
    take(k, &k->record.readings[i]);
  }
  k->replayed += k->smc.options.steady ? 0 : k->record.count;
  k->replay_due = false;
}

static void note_duplicate(hw__modek *k, double kept_g_m3, const hw_reading *reading) {
  k->duplicates++;
  k->conflicts += kept_g_m3 != reading->concentration_g_m3;
}

/* While the record is whole. */
static void observe_in_order(hw__modek *k, const hw_reading *reading) {
  bool found;
  const size_t at = hw__record_place(&k->record, reading, &found);
  if (found) {
    note_duplicate(k, k->record.readings[at].concentration_g_m3, reading);
    return;
  }
  const bool late = at < k->record.count;
  hw__record_insert(&k->record, at, reading);
  if (!late && !k->replay_due) {
    take(k, reading);
  } else {
    k->replay_due = true;
  }
  k->replayed += late && k->smc.options.steady ? k->record.count : 0;
  k->replayable = k->record.count < k->record.capacity && k->replayed + k->record.count <= REPLAY_BUDGET;
  if (!k->replayable && k->replay_due) {
    replay(k);
  }
}

hw_status hw__modek_observe(void *state, const hw_reading *reading) {
  hw__modek *k = state;
  const hw__history *h = &k->smc.history;
  if (!(fabs(reading->time_s) <= furthest) || !(fabs(reading->concentration_g_m3) <= furthest)) {
    return HW_EDOMAIN;
  }
  if (k->replayable) {
    observe_in_order(k, reading);
  } else if (hw__history_has(h, reading->sensor, reading->time_s)) {
    note_duplicate(k, h->entries[hw__history_after(h, reading->sensor, reading->time_s) - 1].value_g_m3, reading);
  } else {
    take(k, reading);
  }
  return HW_OK;
}

void hw__modek_ready(hw__modek *k) {
  if (k->replay_due) {
    replay(k);
  }
  hw__smc_settle(&k->smc);
}
