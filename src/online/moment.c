/* The plume's mean and variance in phase tell when and where it began.
 *
 * In travel time (theta, so that reaches of any velocity are alike) a reading at theta_m and t has the phase
 * u = theta_m - t. The plume's centre keeps the phase of its source, P = theta_l - t0, and its variance in
 * phase grows as age / a, a = v^2 / (2 D) (transport.h). So
 *
 *   P = sum(c u) / sum(c),   age = a sum(c (u - P)^2) / sum(c),   t0 = sum(c t)/sum(c) - age,   theta_l = P + t0,
 *
 * and the mass by least squares. From all sensors' readings together: the phases of one plume agree.
 * Cutting a Gaussian at a twentieth of its peak leaves nine tenths of its variance: near enough for a start.
 */
#include "online/moment.h"

#include <math.h>

#include "loss/box.h"
#include "river/along.h"

enum { LEAST_READINGS = 6, LEAST_ABOVE = 5 };
static const double shape_share = 0.05; /* of the largest reading: what counts as the pulse */

static double largest(const hw__packed *packed) {
  double most = 0;
  for (size_t i = 0; i < packed->begin[packed->sensor_count]; i++) {
    most = fmax(most, packed->weight[i] * packed->detect[i] * packed->concentration[i]);
  }
  return most;
}

static size_t count_above(const hw__packed *packed, double level) {
  size_t n = 0;
  for (size_t i = 0; i < packed->begin[packed->sensor_count]; i++) {
    n += packed->weight[i] > 0 && packed->detect[i] > 0 && packed->concentration[i] > level;
  }
  return n;
}

typedef struct {
  double c, u, t, sharpness; /* sums weighted with the concentration */
} moments;

/* Sum c (u - centre)^k over the readings above a level, k = 0 and 1 in *first, k = 2 returned. Noise far from the pulse
 * has little weight but a long lever: without the level it would decide the variance. */
static double accumulate(const hw__misfit *misfit, const hw__packed *packed, double level, double centre,
                         moments *first) {
  double square = 0;
  *first = (moments){0};
  for (size_t m = 0; m < packed->sensor_count; m++) {
    const double theta = hw__transport_theta(misfit->transport, misfit->sensor_m[m]);
    const hw_leg here = hw_transport_leg(misfit->transport, misfit->sensor_m[m], misfit->sensor_m[m]);
    for (size_t i = packed->begin[m]; i < packed->begin[m + 1]; i++) {
      const double value = packed->weight[i] * packed->detect[i] * packed->concentration[i];
      const double c = value > level ? value : 0;
      const double u = theta - packed->time_s[i] - centre;
      first->c += c;
      first->u += c * u;
      first->t += c * packed->time_s[i];
      first->sharpness += c * here.sharpness_per_s;
      square += c * u * u;
    }
  }
  return square;
}

hw__moment hw__moment_pulse(const hw__packed *packed) {
  hw__moment pulse = {.largest = largest(packed)};
  if (packed->count >= LEAST_READINGS && pulse.largest > 0) {
    const size_t above = count_above(packed, shape_share * pulse.largest);
    pulse.count = above >= LEAST_ABOVE ? above : 0;
  }
  return pulse;
}

bool hw__moment_start(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, hw_source *out) {
  const double level = shape_share * largest(packed);
  moments m;
  accumulate(misfit, packed, level, 0, &m);
  const double phase = m.u / m.c;
  const double square = accumulate(misfit, packed, level, phase, &m);
  const double age = m.sharpness / m.c * square / m.c;
  hw_source guess = {.time_s = m.t / m.c - age};
  guess.location_m = hw__transport_place(misfit->transport, phase + guess.time_s);
  if (!isfinite(guess.time_s) || !isfinite(guess.location_m)) {
    return false;
  }
  guess = hw__box_clamp(box, &guess);
  guess.mass_g = hw__misfit_best_mass(misfit, packed, &guess, box->lo.mass_g, box->hi.mass_g);
  *out = guess;
  return true;
}
