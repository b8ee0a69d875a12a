/* What to tell beside the answer: readings against what the posterior expects of them. */
#include <math.h>

#include "posterior/modek.h"

typedef struct {
  double misfit;            /* sum of squared differences in units of the noise */
  double count;             /* entries where the plume shows */
  double squares, readings; /* plain squared differences, for the loss */
  double along, norm;       /* sum w c y and w y y: how high the sensor reads the expected curve */
} fit;

/* Mean expected curve of the picked block at one entry, background not included. */
static double expected(const hw__smc *smc, const hw__point *point, const double *mass) {
  const hw__view view = hw__cloud_view(&smc->proposal, 0);
  smc->kernel->response(&view, HW__BLOCK, point, smc->scratch);
  double sum = 0;
  for (size_t j = 0; j < HW__BLOCK; j++) {
    sum += mass[j] * smc->scratch[j];
  }
  return sum / HW__BLOCK;
}

static fit fit_sensor(const hw__smc *smc, size_t sensor, const double *mass) {
  const hw__channel *c = &smc->channels[sensor];
  const double background = hw__smc_background(smc, sensor, mass);
  hw__point point = c->place;
  fit f = {0};
  for (size_t i = smc->history.start[sensor]; i < smc->history.start[sensor + 1]; i++) {
    const hw__entry *e = &smc->history.entries[i];
    if (e->below_limit || e->aside || e->held) {
      continue;
    }
    point.time_s = e->time_s;
    const double y = expected(smc, &point, mass), net = e->value_g_m3 - background;
    f.squares += e->count * (net - y) * (net - y);
    f.readings += e->count;
    const double weight = e->count * smc->inflation / e->variance; /* by the noise as stated */
    if (fmax(y, net) > 3 * c->floor_g_m3) {
      f.misfit += weight * (net - y) * (net - y);
      f.count += 1;
    }
    f.along += weight * net * y;
    f.norm += weight * y * y;
  }
  return f;
}

/* How far the sensor reads the expected curve too high or too low, in units of what its noise and gain allow; 0 where
 * the curve does not show or the fit is good. */
static double contradiction(const hw__channel *c, const fit *f) {
  if (!(f->norm > 25) || !(f->misfit > 4 * f->count)) {
    return 0;
  }
  return fabs(f->along / f->norm - 1) / fmax(0.025, sqrt(1 / f->norm + c->gain_sd * c->gain_sd));
}

double hw__modek_warn(hw__modek *k, const double *mass, bool provisional) {
  const hw__smc *smc = &k->smc;
  const hw_river *river = smc->river;
  hw__warnings *w = &k->warnings;
  hw__warnings_clear(w);
  hw__warn_incomplete(w, provisional);
  hw__warn_box(w, &river->search, k->samples, smc->cloud.count);
  fit all = {0}, worst = {0};
  size_t worst_sensor = 0;
  double most = 0;
  for (size_t s = 0; s < river->sensor_count; s++) {
    const hw__channel *c = &smc->channels[s];
    const fit f = fit_sensor(smc, s, mass);
    all.misfit += f.misfit;
    all.count += f.count;
    all.squares += f.squares;
    all.readings += f.readings;
    const double apart = contradiction(c, &f);
    if (apart > most) {
      most = apart;
      worst = f;
      worst_sensor = s;
    }
    const bool any = smc->history.start[s + 1] > smc->history.start[s];
    const double base = c->learns_background ? fmax(c->lowest_g_m3, 0) : c->background_g_m3;
    const bool limit = river->sensors[s].detection_limit_g_m3 > 0;
    if (any && (limit ? c->detects == 0 : !(c->readings > 0 && c->peak_g_m3 - base > 6 * c->floor_g_m3))) {
      hw__warn_never_rose(w, &river->sensors[s]);
    }
    double widest = 0;
    if (hw__history_blur(&smc->history, s, hw__smc_background(smc, s, mass), c->width_s, &widest) > 1) {
      hw__warn(
          w,
          "sensor %s: more readings than there is room for were merged over up to %.0f s, too coarse for a pulse of "
          "%.0f s: the answer may be off by more than its interval",
          river->sensors[s].id, widest, 2.35 * c->width_s);
    }
    hw__warn_spike(w, &river->sensors[s], c->spikes, c->spike_s, c->spike_g_m3);
  }
  /* Only the one furthest off is named: it drags the curve away from the others, which then look wrong too. */
  if (river->sensor_count > 1 && most > 4) {
    hw__warn_contradiction(w, &river->sensors[worst_sensor], fmax(worst.along / worst.norm, 0));
  }
  const double ratio = all.count >= 8 ? sqrt(all.misfit / all.count) : 0;
  if (ratio > 1.6) {
    hw__warn_misfit(w, ratio, smc->inflation > 1);
  }
  if (k->conflicts > 0) {
    hw__warn(w, "%zu readings came twice with different values; the first was kept", k->conflicts);
  }
  return all.readings > 0 ? all.squares / all.readings : NAN;
}
