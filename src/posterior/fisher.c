/* The Cramer-Rao bound; see fisher.h.
 *
 * Derivatives in mass, location and time are the transport's own. The two of the hydraulics follow from how
 * a leg scales: theta ~ 1/v, a = theta/V ~ v^2/D, kappa unchanged, Q ~ v where the area is what is known. With
 * ln g = (ln a - ln T)/2 - a (T - theta)^2 / (2 T) - kappa T - ln Q,
 *
 *   d ln g / d ln v = 1 - a (T - theta) - [1 where the area is known],
 *   d ln g / d ln D = -1/2 + a (T - theta)^2 / (2 T).
 *
 * A sensor's gain and background are two more unknowns, eliminated sensor by sensor (Schur complement).
 */
#include "headwater/fisher.h"

#include <math.h>
#include <stdlib.h>

#include "posterior/noise.h"
#include "river/along.h"

enum { N = HW_FISHER_SIZE, GAIN = N, BACKGROUND, LOCAL };

static double log_factor(const hw_quantity *q) {
  return q->certainty == HW_UNCERTAIN ? log(q->factor) : 0;
}

void hw_fisher_clear(const hw_river *river, hw_fisher *fisher) {
  *fisher = (hw_fisher){0};
  const double sd[2] = {log_factor(&river->hydraulics.velocity_m_s), log_factor(&river->hydraulics.dispersion_m2_s)};
  for (size_t i = 0; i < 2; i++) {
    fisher->information[3 + i][3 + i] = sd[i] > 0 ? 1 / (sd[i] * sd[i]) : 0;
  }
}

static double derivatives(const hw_leg *leg, bool follows, double mass_g, double age_s, double *out) {
  hw_derivatives d;
  hw_leg_derivatives(leg, mass_g, age_s, false, &d);
  out[0] = d.gradient[0];
  out[1] = d.gradient[1];
  out[2] = d.gradient[2];
  if (d.value > 0) {
    const double a = leg->sharpness_per_s, lag = age_s - leg->travel_s;
    out[3] = d.value * (1 - a * lag - (follows ? 1 : 0));
    out[4] = d.value * (-0.5 + a * lag * lag / (2 * age_s));
  } else {
    out[3] = out[4] = 0;
  }
  return d.value;
}

/* Removes unknown k from the leading k x k block. */
static void eliminate(double j[LOCAL][LOCAL], size_t k) {
  if (!(j[k][k] > 0)) {
    return;
  }
  for (size_t r = 0; r < k; r++) {
    for (size_t c = 0; c < k; c++) {
      j[r][c] -= j[r][k] * j[k][c] / j[k][k];
    }
  }
}

void hw_fisher_add(const hw_river *river, const hw_transport *transport, const hw_source *source, size_t sensor,
                   const double *time_s, size_t count, hw_fisher *fisher) {
  const hw_sensor *s = &river->sensors[sensor];
  const hw_leg leg = hw_transport_leg_between(transport, source->branch, source->location_m, s->branch, s->location_m);
  if (!(leg.travel_s > 0)) {
    return; /* upstream of the source: nothing arrives, and nothing changes when the source moves a little */
  }
  const bool follows = hw__river_discharge_follows(river, s->location_m);
  double peak = 0;
  for (size_t i = 0; i < count; i++) {
    peak = fmax(peak, source->mass_g * hw_leg_response(&leg, time_s[i] - source->time_s));
  }
  const double floor = hw__noise_floor(s, peak);
  double j[LOCAL][LOCAL] = {{0}};
  for (size_t i = 0; i < count; i++) {
    double d[LOCAL];
    d[GAIN] = derivatives(&leg, follows, source->mass_g, time_s[i] - source->time_s, d);
    d[BACKGROUND] = 1;
    const double variance = hw__noise_variance(s, floor, d[GAIN]);
    for (size_t r = 0; variance > 0 && r < LOCAL; r++) {
      for (size_t c = 0; c < LOCAL; c++) {
        j[r][c] += d[r] * d[c] / variance;
      }
    }
  }
  if (isnan(s->background_g_m3) && floor > 0) {
    const double spread = hw__background_spread(floor, 0);
    j[BACKGROUND][BACKGROUND] += 1 / (spread * spread);
    eliminate(j, BACKGROUND);
  }
  if (s->gain_factor > 1) {
    const double q = log(s->gain_factor);
    j[GAIN][GAIN] += 1 / (q * q);
    eliminate(j, GAIN);
  }
  for (size_t r = 0; r < N; r++) {
    for (size_t c = 0; c < N; c++) {
      fisher->information[r][c] += j[r][c];
    }
  }
}

/* Diagonal of the inverse of the n x n matrix m, scaled to a unit diagonal first so that grams and metres
 * do not decide what counts as singular. False when it is singular to 1e-13. */
static bool inverse_diagonal(double m[N][N], size_t n, double *out) {
  double scale[N], l[N][N] = {{0}};
  for (size_t i = 0; i < n; i++) {
    if (!(m[i][i] > 0)) {
      return false;
    }
    scale[i] = sqrt(m[i][i]);
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k <= i; k++) {
      double sum = m[i][k] / (scale[i] * scale[k]);
      for (size_t p = 0; p < k; p++) {
        sum -= l[i][p] * l[k][p];
      }
      if (i == k && !(sum > 1e-13)) {
        return false;
      }
      l[i][k] = i == k ? sqrt(sum) : sum / l[k][k];
    }
  }
  for (size_t e = 0; e < n; e++) { /* |L^-1 e|^2 is the inverse's diagonal */
    double y[N] = {0};
    out[e] = 0;
    for (size_t i = e; i < n; i++) {
      double sum = i == e ? 1 : 0;
      for (size_t k = e; k < i; k++) {
        sum -= l[i][k] * y[k];
      }
      y[i] = sum / l[i][i];
      out[e] += y[i] * y[i];
    }
    out[e] /= m[e][e];
  }
  return true;
}

void hw_fisher_bound(const hw_river *river, const hw_fisher *fisher, hw_bound *out) {
  size_t kept[N] = {0, 1, 2}, n = 3;
  const hw_box *box = &river->search;
  if (river->hydraulics.velocity_m_s.certainty == HW_UNCERTAIN) {
    kept[n++] = 3;
  }
  if (river->hydraulics.dispersion_m2_s.certainty == HW_UNCERTAIN) {
    kept[n++] = 4;
  }
  double m[N][N] = {{0}}, variance[N] = {0}, sd[N] = {0};
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++) {
      m[r][c] = fisher->information[kept[r]][kept[c]];
    }
  }
  const bool regular = inverse_diagonal(m, n, variance);
  for (size_t i = 0; i < n; i++) {
    sd[kept[i]] = regular ? sqrt(variance[i]) : INFINITY;
  }
  const double width = box->hi.location_m - box->lo.location_m;
  *out = (hw_bound){.identifiable = regular && !(width > 0 && sd[1] > width),
                    .mass_g = sd[0],
                    .location_m = sd[1],
                    .time_s = sd[2],
                    .velocity_ratio = sd[3],
                    .dispersion_ratio = sd[4]};
}

hw_status hw_fisher_source(const hw_river *river, const hw_source *source, const hw_schedule *schedule, const bool *use,
                           hw_bound *out) {
  const double span = schedule->to_s - schedule->from_s;
  if (!isfinite(span) || span < 0 || !(schedule->every_s > 0) || !(span / schedule->every_s <= 1e6)) {
    return HW_EDOMAIN;
  }
  const size_t count = (size_t)(span / schedule->every_s) + 1;
  hw_transport *transport = NULL;
  const hw_status status = hw_transport_create(river, NULL, &transport);
  double *time_s = status == HW_OK ? malloc(count * sizeof *time_s) : NULL;
  if (!time_s) {
    hw_transport_free(transport);
    return status == HW_OK ? HW_ENOMEM : status;
  }
  for (size_t i = 0; i < count; i++) {
    time_s[i] = schedule->from_s + (double)i * schedule->every_s;
  }
  hw_fisher fisher;
  hw_fisher_clear(river, &fisher);
  for (size_t k = 0; k < river->sensor_count; k++) {
    if (!use || use[k]) {
      hw_fisher_add(river, transport, source, k, time_s, count, &fisher);
    }
  }
  hw_fisher_bound(river, &fisher, out);
  free(time_s);
  hw_transport_free(transport);
  return HW_OK;
}

hw_status hw_fisher_schedule(const hw_river *river, const hw_source *source, size_t count, hw_schedule *out) {
  if (count < 2) {
    return HW_EDOMAIN;
  }
  hw_transport *transport = NULL;
  const hw_status status = hw_transport_create(river, NULL, &transport);
  if (status != HW_OK) {
    return status;
  }
  double last = 0;
  for (size_t k = 0; k < river->sensor_count; k++) {
    const hw_leg leg = hw_transport_leg_between(transport, source->branch, source->location_m, river->sensors[k].branch,
                                                river->sensors[k].location_m);
    if (leg.travel_s > 0) { /* six standard deviations of the pulse after its centre */
      last = fmax(last, leg.travel_s + 6 * sqrt(leg.travel_s / leg.sharpness_per_s));
    }
  }
  hw_transport_free(transport);
  if (!(last > 0)) {
    return HW_EDOMAIN;
  }
  *out = (hw_schedule){source->time_s, source->time_s + last, last / (double)(count - 1)};
  return HW_OK;
}
