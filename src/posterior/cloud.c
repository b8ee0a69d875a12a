#include "posterior/cloud.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "river/along.h"

enum { ALIGNMENT = 64 };

bool hw__cloud_create(size_t count, const bool *needs_sums, size_t sensor_count, hw__cloud *out) {
  *out = (hw__cloud){.count = count};
  size_t columns = HW__COLUMNS;
  for (size_t k = 0; k < sensor_count; k++) {
    columns += needs_sums[k] ? 3 : 0;
  }
  out->bytes = columns * count * sizeof(double);
  out->memory = calloc(1, out->bytes + ALIGNMENT); /* pages of sums that nobody uses are never touched */
  out->sums = calloc(sensor_count, sizeof *out->sums);
  out->heard = calloc(sensor_count, sizeof *out->heard);
  if (!out->memory || !out->sums || !out->heard) {
    hw__cloud_free(out);
    return false;
  }
  char *const first = out->memory;
  void *const aligned = first + (ALIGNMENT - (uintptr_t)first % ALIGNMENT) % ALIGNMENT;
  double *next = aligned;
  for (size_t c = 0; c < HW__COLUMNS; c++, next += count) {
    out->column[c] = next;
  }
  for (size_t k = 0; k < sensor_count; k++) {
    if (needs_sums[k]) {
      out->sums[k] = (hw__sums){next, next + count, next + 2 * count};
      next += 3 * count;
    }
  }
  return true;
}

void hw__cloud_free(hw__cloud *cloud) {
  free(cloud->memory);
  free(cloud->sums);
  free(cloud->heard);
  *cloud = (hw__cloud){0};
}

hw__view hw__cloud_view(const hw__cloud *cloud, size_t from) {
  double *const *c = cloud->column;
  return (hw__view){c[HW__RELEASE] + from, c[HW__THETA] + from,    c[HW__VARIANCE] + from,
                    c[HW__DECAY] + from,   c[HW__SLOWNESS] + from, c[HW__SPREAD] + from};
}

hw__totals hw__cloud_totals(const hw__cloud *cloud, size_t from) {
  return (hw__totals){cloud->column[HW__LAMBDA] + from, cloud->column[HW__H] + from, cloud->column[HW__OFFSET] + from};
}

hw__sums hw__cloud_sums(const hw__cloud *cloud, size_t sensor, size_t from) {
  const hw__sums *s = &cloud->sums[sensor];
  return s->lambda ? (hw__sums){s->lambda + from, s->h + from, s->g + from} : (hw__sums){0};
}

void hw__cloud_derive(hw__cloud *cloud, const hw_transport *transport, size_t i) {
  double *const *c = cloud->column;
  const hw__integrals at = hw__transport_integrals(transport, c[HW__LOCATION][i]);
  const double ln_v = c[HW__LN_VELOCITY][i];
  c[HW__THETA][i] = at.theta;
  c[HW__VARIANCE][i] = at.variance;
  c[HW__DECAY][i] = at.decay;
  c[HW__SLOWNESS][i] = exp(-ln_v);
  c[HW__SPREAD][i] = exp(c[HW__LN_DISPERSION][i] - 3 * ln_v);
}

void hw__cloud_copy(const hw__cloud *from, size_t i, hw__cloud *to, size_t j) {
  for (size_t c = 0; c < HW__COLUMNS; c++) {
    to->column[c][j] = from->column[c][i];
  }
  for (size_t n = 0; n < from->heard_count; n++) {
    const size_t k = from->heard[n];
    to->sums[k].lambda[j] = from->sums[k].lambda[i];
    to->sums[k].h[j] = from->sums[k].h[i];
    to->sums[k].g[j] = from->sums[k].g[i];
  }
}

void hw__cloud_hear(hw__cloud *cloud, size_t sensor) {
  if (cloud->sums[sensor].lambda) {
    cloud->heard[cloud->heard_count++] = sensor;
  }
}

void hw__cloud_forget(hw__cloud *cloud) {
  const size_t length = (size_t)(cloud->column[1] - cloud->column[0]); /* of a column: count may be fewer for a while */
  for (size_t n = 0; n < cloud->heard_count; n++) {
    memset(cloud->sums[cloud->heard[n]].lambda, 0, 3 * length * sizeof(double));
  }
  cloud->heard_count = 0;
}

static double log_factor(const hw_quantity *q) {
  return q->certainty == HW_UNCERTAIN ? log(q->factor) : 0;
}

/* Additive recurrence with the powers of 1/phi_4, phi_4 the positive root of x^5 = x + 1 (Roberts' generalised golden
 * ratio): point i is frac(shift + i a). */
void hw__cloud_draw(hw__cloud *cloud, const hw_river *river, const hw_transport *transport, double wider, hw_rng *rng) {
  const double phi = 1.1673039782614187;
  const hw_box *box = &river->search;
  const double sd_v = wider * log_factor(&river->hydraulics.velocity_m_s),
               sd_d = wider * log_factor(&river->hydraulics.dispersion_m2_s);
  double shift[4], step[4], power = 1;
  for (size_t d = 0; d < 4; d++) {
    shift[d] = hw_rng_uniform(rng);
    power /= phi;
    step[d] = power;
  }
  double *const *c = cloud->column;
  for (size_t i = 0; i < cloud->count; i++) {
    double u[4];
    for (size_t d = 0; d < 4; d++) {
      const double x = shift[d] + ((double)i + 0.5) * step[d];
      u[d] = fmin(fmax(x - floor(x), 1e-12), 1 - 1e-12);
    }
    c[HW__LOCATION][i] = box->lo.location_m + u[0] * (box->hi.location_m - box->lo.location_m);
    c[HW__RELEASE][i] = box->lo.time_s + u[1] * (box->hi.time_s - box->lo.time_s);
    c[HW__LN_VELOCITY][i] = sd_v > 0 ? sd_v * gsl_cdf_ugaussian_Pinv(u[2]) : 0;
    c[HW__LN_DISPERSION][i] = sd_d > 0 ? sd_d * gsl_cdf_ugaussian_Pinv(u[3]) : 0;
    c[HW__WEIGHT][i] = 1 / (double)cloud->count;
    hw__cloud_derive(cloud, transport, i);
  }
}

void hw__cloud_resample(hw__cloud *cloud, hw_rng *rng) {
  double *weight = cloud->column[HW__WEIGHT];
  const size_t n = cloud->count;
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    total += weight[i];
  }
  /* weight[i] becomes the number of children of i */
  const double step = total / (double)n;
  double next = step * hw_rng_uniform(rng), running = 0;
  size_t given = 0;
  for (size_t i = 0; i < n; i++) {
    running += weight[i];
    weight[i] = 0;
    while (given < n && next < running) {
      weight[i] += 1;
      next += step;
      given++;
    }
  }
  weight[n - 1] += (double)(n - given); /* what rounding left over */
  size_t rich = 0;
  for (size_t i = 0; i < n; i++) {
    if (weight[i] > 0) {
      continue;
    }
    while (weight[rich] < 2) {
      rich++;
    }
    const double left = weight[rich] - 1;
    hw__cloud_copy(cloud, rich, cloud, i);
    weight[i] = 1;
    weight[rich] = left;
  }
  for (size_t i = 0; i < n; i++) {
    weight[i] = 1 / (double)n;
  }
}
