/* Lone spikes: a reading that fits neither neighbour is set aside and reported.
 *
 * A reading that jumps away from the one before waits until its successor is there. If that returns (the jump was more
 * than twofold against both neighbours, and beyond six standard deviations of noise), the reading was a lone spike or
 * drop-out; otherwise it is taken in a little late. Only where sampling is dense: a real pulse cannot double and
 * halve within one and a half of its own standard deviations, so nothing real is lost.
 */
#include <math.h>

#include "posterior/smc.h"

/* +1: a stands out above b; -1: below; 0: neither. */
static int stands_out(const hw__smc *smc, size_t sensor, double a, double b) {
  const hw__channel *c = &smc->channels[sensor];
  const double base = c->learns_background ? fmax(c->lowest_g_m3, 0) : c->background_g_m3;
  const double high = fmax(a, b) - base, low = fmin(a, b) - base;
  const double sd = sqrt(hw__noise_variance(&smc->river->sensors[sensor], c->floor_g_m3, fmax(a, b)));
  if (!(high > 2 * fmax(low, 0) + 6 * sd)) {
    return 0;
  }
  return a > b ? 1 : -1;
}

/* The reading on probation is judged by the value that followed it. */
static void judge(hw__smc *smc, size_t sensor, double next) {
  hw__channel *c = &smc->channels[sensor];
  const size_t at = hw__history_after(&smc->history, sensor, c->held_s) - 1;
  hw__entry *held = &smc->history.entries[at];
  const int before = stands_out(smc, sensor, held->value_g_m3, c->before_g_m3);
  const int after = stands_out(smc, sensor, held->value_g_m3, next);
  c->has_held = false;
  held->held = false;
  if (before != 0 && before == after) {
    held->aside = true;
    held->share = 1;
    c->spikes++;
    c->spike_s = held->time_s;
    c->spike_g_m3 = held->value_g_m3;
    return;
  }
  c->before_g_m3 = held->value_g_m3;
  c->before_s = held->time_s;
  hw__smc_take(smc, sensor, held);
}

bool hw__screen(hw__smc *smc, const hw_reading *reading) {
  hw__channel *c = &smc->channels[reading->sensor];
  const double value = reading->concentration_g_m3;
  if (c->has_before && !(reading->time_s > (c->has_held ? c->held_s : c->before_s))) {
    return false; /* older than what has been judged: too late to wait for neighbours */
  }
  if (c->has_held) {
    judge(smc, reading->sensor, value);
  }
  const bool dense = 2 * (reading->time_s - c->before_s) < 1.5 * c->width_s;
  if (c->has_before && c->readings >= 3 && dense && stands_out(smc, reading->sensor, value, c->before_g_m3) != 0) {
    c->has_held = true;
    c->held_s = reading->time_s;
    return true;
  }
  c->has_before = true;
  c->before_g_m3 = value;
  c->before_s = reading->time_s;
  return false;
}
