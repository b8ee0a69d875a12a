/* The engine judges itself before it reports: is there a spill at all, did the pulses come complete, does any release
 * in the search box explain them, are there draws enough to tell? */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "field/engine.h"

/* How often a river that somebody looks at has a spill. */
static const double spill_share = 0.05;

/* Fewer draws than this, after drawing again, and the interval's ends are chance. */
static const double fewest_draws = 200;

/* Ages inside the search box must be at least this probable: a front thirty times too short for all of them is not. */
static const double fewest_ages = 0.04;

static void set_trust(hw__field *f, hw_estimate *e, hw_trust trust, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void set_trust(hw__field *f, hw_estimate *e, hw_trust trust, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->reason, sizeof f->reason, format, arguments);
  va_end(arguments);
  e->trust = trust;
  e->trust_reason = f->reason;
  e->provisional = trust == HW_TRUST_PROVISIONAL;
  e->has_source = trust != HW_TRUST_NONE;
}

/* Would this release, one of those drawn from the search box alone, have come past a sensor while it was reading? */
static bool would_have_passed(const hw__field *f, size_t draw) {
  const hw_sample *s = &f->sample[draw];
  for (size_t k = 0; k < f->river->sensor_count; k++) {
    const hw__trace *trace = &f->trace[k];
    const double x = f->river->sensors[k].location_m;
    if (trace->count == 0 || x <= s->source.location_m) {
      continue;
    }
    const double passes = s->source.time_s + hw__travel_s(f->river, s->source.location_m, x, s->velocity_m_s);
    if (passes >= trace->entry[0].time_s && passes <= trace->entry[trace->count - 1].time_s) {
      return true;
    }
  }
  return false;
}

/* Nothing rose: either there is nothing, or it has not come by yet. */
static double spill_unseen(const hw__field *f) {
  double unseen = 0;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    unseen += would_have_passed(f, i) ? 0 : f->sample[i].weight;
  }
  return spill_share * unseen / (spill_share * unseen + 1 - spill_share);
}

/* How much better than noise does a pulse explain the sensor that stands out most? Noise had as many chances as there
 * are readings. -INFINITY where none has risen. */
static double log_odds_of_rise(const hw__field *f) {
  double odds = -INFINITY;
  for (size_t s = 0; s < f->river->sensor_count; s++) {
    const hw__trace *trace = &f->trace[s];
    if (trace->height_g_m3 > 0) {
      const double z = trace->floor_g_m3 > 0 ? fmin(trace->height_g_m3 / trace->floor_g_m3, 20) : 20;
      odds = fmax(odds, 0.5 * z * z - log((double)trace->count));
    }
  }
  return odds;
}

/* A release that lasted, or goes on, leaves a flat top. */
static bool judge_lasting(hw__field *f, hw_estimate *e) {
  const size_t s = f->pulse_sensor[0];
  if (!hw__trace_lasts(&f->trace[s])) {
    return false;
  }
  set_trust(f, e, HW_TRUST_PROVISIONAL,
            "sensor %s stayed near its peak %.0f times as long as it took to rise, so the release %s; place and time "
            "are read from the rise alone",
            f->river->sensors[s].id, f->trace[s].flatness,
            f->trace[s].fallen ? "seems to have lasted" : "may still be going on");
  return true;
}

void hw__field_judge(hw__field *f, hw_estimate *e) {
  const double odds = log_odds_of_rise(f);
  if (!isfinite(odds)) {
    e->spill = spill_unseen(f);
    set_trust(f, e, HW_TRUST_FULL, "no sensor has risen above its background");
    e->has_source = false;
    return;
  }
  e->spill = 1 / (1 + (1 - spill_share) / spill_share * exp(-odds));
  if (f->pulse_count == 0) {
    set_trust(f, e, HW_TRUST_NONE,
              "a sensor has risen, but to nothing that a release inside the search box could bring");
    return;
  }
  const hw_sensor *first = &f->river->sensors[f->pulse_sensor[0]];
  if (f->inside < fewest_ages) {
    set_trust(f, e, HW_TRUST_NONE,
              "the pulse at sensor %s is not of an age that the search box allows: are its places and times right?",
              first->id);
  } else if (f->contradiction) {
    set_trust(f, e, HW_TRUST_NONE, "the sensors' pulses cannot come from one release in downstream order");
  } else if (f->effective < fewest_draws) {
    set_trust(f, e, HW_TRUST_NONE, "the pulses hardly fit each other: only %.0f draws of %d explain them together",
              f->effective, HW__DRAWS);
  } else if (judge_lasting(f, e)) {
    return;
  } else if (f->trace[f->pulse_sensor[0]].fallen && f->gist[f->pulse_sensor[0]].misfit > HW__MISFIT_MOST) {
    set_trust(f, e, HW_TRUST_NONE,
              "the pulse at sensor %s does not have the shape of a single release (misfit %.0f %% of its peak)",
              first->id, 100 * f->gist[f->pulse_sensor[0]].misfit);
  } else if (!f->trace[f->pulse_sensor[0]].fallen) {
    set_trust(f, e, HW_TRUST_PROVISIONAL, "the pulse at sensor %s has not yet fallen to half its peak", first->id);
  } else {
    e->trust = HW_TRUST_FULL;
  }
}
