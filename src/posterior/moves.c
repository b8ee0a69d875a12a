/* Resample, then move: Metropolis random walks in coordinates where the posterior is nearly Gaussian.
 *
 * In place and time the posterior is a thin ridge along l - v t = const. In (phi, ln age), the plume centre's passage
 * at a reference place and the logarithm of its age there, the two are nearly independent; the uniform prior in place
 * and time becomes a term + ln(v age). The reference is the most upstream sensor that the plume has reached, as long as
 * every particle lies upstream of it; else a place below everything. Steps have the particles' covariance, times a
 * scale steered to 27 % acceptance; every third is a third as long.
 */
#include <math.h>
#include <string.h>

#include "posterior/smc.h"
#include "river/along.h"

enum { PHI, LN_AGE, LN_V, LN_D, DIMENSIONS };
/* Moves more while most are accepted: the cloud is narrower than the posterior and has to grow. Within a budget of
 * particles times entries, which bounds the time. */
enum { EXTRA = 6, BUDGET = 2000000 };

typedef struct {
  double x[DIMENSIONS];
} coordinates;

static double reference(const hw__smc *smc) {
  double furthest = -INFINITY, best = smc->theta_far;
  for (size_t i = 0; i < smc->cloud.count; i++) {
    furthest = fmax(furthest, smc->cloud.column[HW__THETA][i]);
  }
  for (size_t k = 0; k < smc->river->sensor_count; k++) {
    const hw__channel *c = &smc->channels[k];
    const double base = c->learns_background ? c->lowest_g_m3 : c->background_g_m3;
    const bool risen = c->readings > 0 && c->peak_g_m3 - base > 10 * c->floor_g_m3;
    if (risen && c->place.theta > furthest && c->place.theta < best) {
      best = c->place.theta;
    }
  }
  return best;
}

static coordinates coordinates_of(const hw__cloud *cloud, size_t i, double theta_ref) {
  double *const *c = cloud->column;
  const double age = (theta_ref - c[HW__THETA][i]) * c[HW__SLOWNESS][i];
  return (coordinates){{c[HW__RELEASE][i] + age, log(age), c[HW__LN_VELOCITY][i], c[HW__LN_DISPERSION][i]}};
}

/* ln prior density in these coordinates; place by way of the velocity there. */
static double log_prior(const hw__smc *smc, const coordinates *y, double velocity_m_s) {
  double p = 0;
  if (smc->river->search.hi.location_m > smc->river->search.lo.location_m) {
    p += log(velocity_m_s) + y->x[LN_V] + y->x[LN_AGE];
  }
  if (smc->sd_velocity > 0) {
    p -= 0.5 * (y->x[LN_V] / smc->sd_velocity) * (y->x[LN_V] / smc->sd_velocity);
  }
  if (smc->sd_dispersion > 0) {
    p -= 0.5 * (y->x[LN_D] / smc->sd_dispersion) * (y->x[LN_D] / smc->sd_dispersion);
  }
  return p;
}

static size_t free_dimensions(const hw__smc *smc, size_t *out) {
  const hw_box *box = &smc->river->search;
  size_t n = 0;
  if (box->hi.time_s > box->lo.time_s) {
    out[n++] = PHI;
  }
  if (box->hi.location_m > box->lo.location_m) {
    out[n++] = LN_AGE;
  }
  if (smc->sd_velocity > 0) {
    out[n++] = LN_V;
  }
  if (smc->sd_dispersion > 0) {
    out[n++] = LN_D;
  }
  return n;
}

typedef struct {
  double theta_ref;
  size_t n, dims[DIMENSIONS];
  double root[DIMENSIONS][DIMENSIONS]; /* Cholesky factor of the covariance */
} walk;

static void covariance(const hw__smc *smc, const walk *w, double out[DIMENSIONS][DIMENSIONS]) {
  const double *weight = smc->cloud.column[HW__WEIGHT];
  double mean[DIMENSIONS] = {0}, total = 0;
  memset(out, 0, sizeof(double) * DIMENSIONS * DIMENSIONS);
  for (size_t i = 0; i < smc->cloud.count; i++) {
    if (!(weight[i] > 0)) {
      continue;
    }
    const coordinates y = coordinates_of(&smc->cloud, i, w->theta_ref);
    total += weight[i];
    double off[DIMENSIONS];
    for (size_t a = 0; a < w->n; a++) {
      off[a] = y.x[w->dims[a]] - mean[a];
      mean[a] += weight[i] / total * off[a];
    }
    for (size_t a = 0; a < w->n; a++) {
      for (size_t b = 0; b <= a; b++) {
        out[a][b] += weight[i] * off[a] * (y.x[w->dims[b]] - mean[b]);
      }
    }
  }
  for (size_t a = 0; a < w->n; a++) {
    for (size_t b = 0; b <= a; b++) {
      out[a][b] /= total;
    }
  }
}

static void factorise(const double m[DIMENSIONS][DIMENSIONS], walk *w) {
  static const double least[DIMENSIONS] = {1e-4, 1e-12, 1e-12, 1e-12}; /* should all particles be one: 0.01 s, 1e-6 */
  memset(w->root, 0, sizeof w->root);
  for (size_t a = 0; a < w->n; a++) {
    for (size_t b = 0; b <= a; b++) {
      double sum = m[a][b];
      for (size_t k = 0; k < b; k++) {
        sum -= w->root[a][k] * w->root[b][k];
      }
      if (a == b) {
        w->root[a][a] = sqrt(fmax(sum, 1e-10 * m[a][a] + least[w->dims[a]]));
      } else {
        w->root[a][b] = sum / w->root[b][b];
      }
    }
  }
}

/* Proposes a step from particle i of the cloud into slot j of the proposal block. False when it leaves the box; the
 * slot then holds the particle itself. *gain: prior there minus prior here. */
static bool propose(hw__smc *smc, const walk *w, double scale, size_t i, size_t j, double *gain) {
  const hw_box *box = &smc->river->search;
  hw__cloud *to = &smc->proposal;
  double z[DIMENSIONS], there_v = 0;
  *gain = 0;
  for (size_t a = 0; a < w->n; a++) {
    z[a] = hw_rng_normal(&smc->rng);
  }
  for (size_t c = 0; c <= HW__SPREAD; c++) {
    to->column[c][j] = smc->cloud.column[c][i];
  }
  const coordinates here = coordinates_of(&smc->cloud, i, w->theta_ref);
  coordinates there = here;
  for (size_t a = 0; a < w->n; a++) {
    for (size_t b = 0; b <= a; b++) {
      there.x[w->dims[a]] += scale * w->root[a][b] * z[b];
    }
  }
  const double here_v = hw__transport_velocity(smc->transport, smc->cloud.column[HW__LOCATION][i]);
  double location = smc->cloud.column[HW__LOCATION][i], age = exp(there.x[LN_AGE]);
  if (box->hi.location_m > box->lo.location_m) {
    const double theta = w->theta_ref - age * exp(there.x[LN_V]);
    location = hw__transport_place(smc->transport, theta);
    there_v = hw__transport_velocity(smc->transport, location);
  } else {
    age = (w->theta_ref - smc->cloud.column[HW__THETA][i]) * exp(-there.x[LN_V]);
  }
  const bool timed = box->hi.time_s > box->lo.time_s;
  const double release = timed ? there.x[PHI] - age : smc->cloud.column[HW__RELEASE][i];
  if (!(location >= box->lo.location_m && location <= box->hi.location_m && release >= box->lo.time_s &&
        release <= box->hi.time_s && fabs(there.x[LN_V]) < 20 && fabs(there.x[LN_D]) < 40)) {
    return false;
  }
  to->column[HW__LOCATION][j] = location;
  to->column[HW__RELEASE][j] = release;
  to->column[HW__LN_VELOCITY][j] = there.x[LN_V];
  to->column[HW__LN_DISPERSION][j] = there.x[LN_D];
  hw__cloud_derive(to, smc->transport, j);
  *gain = log_prior(smc, &there, there_v) - log_prior(smc, &here, here_v);
  return true;
}

/* Every particle tries one step. Returned: the share accepted. */
static double step_all(hw__smc *smc, const walk *w, double scale) {
  hw__cloud *cloud = &smc->cloud, *to = &smc->proposal;
  size_t accepted = 0;
  for (size_t from = 0; from < cloud->count; from += HW__BLOCK) {
    bool inside[HW__BLOCK];
    double gain[HW__BLOCK];
    for (size_t j = 0; j < HW__BLOCK; j++) {
      inside[j] = propose(smc, w, scale, from + j, j, &gain[j]);
    }
    hw__likelihood(smc, to, 0, HW__BLOCK);
    for (size_t j = 0; j < HW__BLOCK; j++) {
      const double u = hw_rng_uniform(&smc->rng);
      const double ratio = to->column[HW__EVIDENCE][j] - cloud->column[HW__EVIDENCE][from + j] + gain[j];
      if (inside[j] && log(1 - u) < ratio) {
        to->column[HW__WEIGHT][j] = cloud->column[HW__WEIGHT][from + j];
        hw__cloud_copy(to, j, cloud, from + j);
        accepted++;
      }
    }
  }
  smc->effort += HW__PROPOSAL * cloud->count;
  return (double)accepted / (double)cloud->count;
}

void hw__smc_move(hw__smc *smc, size_t most) {
  walk w = {.theta_ref = reference(smc)};
  w.n = free_dimensions(smc, w.dims);
  double m[DIMENSIONS][DIMENSIONS];
  covariance(smc, &w, m);
  factorise(m, &w);
  hw__cloud_resample(&smc->cloud, &smc->rng);
  if (w.n == 0) {
    return;
  }
  const size_t sweep = smc->cloud.count * (hw__history_count(&smc->history) + 1);
  const size_t affordable = smc->move_count + EXTRA < BUDGET / sweep ? smc->move_count + EXTRA : BUDGET / sweep;
  double accepted = 0;
  for (size_t move = 0; move < most && (move < smc->move_count || (accepted > 0.6 && move < affordable)); move++) {
    const double full = smc->move_scale * 2.38 / sqrt((double)w.n);
    if (move % 3 == 2 && accepted < 0.6) {
      step_all(smc, &w, 0.35 * full);
      continue;
    }
    accepted = step_all(smc, &w, full);
    smc->move_scale = fmin(fmax(smc->move_scale * exp(1.5 * (accepted - 0.27)), 0.05), 30);
  }
}
