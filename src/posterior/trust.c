/* What the engine thinks of its own answer, before anybody else sees it. */
#include <math.h>
#include <stdio.h>

#include "posterior/ade.h"
#include "posterior/coordinates.h"
#include "posterior/cycle.h"

/* Effective draws below which quantiles are not worth printing. */
static const double least_effective = 100;
/* Eight standard deviations in one of what is in doubt: the true hydraulics are hardly ever so far from the stated
 * ones, a background that drifts is easily taken for a pulse that needs them to be. */
static const double most_strain = 64;
/* Where the doubt has been made wide already there is no excuse for so much. */
static const double most_strain_loose = 4;
/* Standard deviations by which pulses plainly do not fit. */
static const double plain_misfit = 6;
/* From here on it is worth a look whether the hydraulics are wrong. */
static const double some_strain = 12, some_misfit = 4;
/* Residuals of a sensor's own curve, over its stated noise, that no chance makes: what else it shows is to be
 * explained.
 */
static const double plain_residuals = 2;
/* From here on there is a spill. */
static const double spill_plain = 0.5;

static void refuse(hw__ade *a, const char *reason) {
  a->trust = HW_TRUST_NONE;
  snprintf(a->reason, sizeof a->reason, "%s", reason);
}

void hw__ade_blame_box(hw__ade *a) {
  refuse(a,
         "no release inside the search box explains the pulses, but one further upstream or earlier would: the box is "
         "too small");
}

void hw__ade_give_up(hw__ade *a) {
  if (a->trust != HW_TRUST_NONE) {
    refuse(a,
           "the pulses are not those of one release with the stated hydraulics, nor with others that would be usual");
  }
}

/* Medians of two halves of the draws lie further apart than a third of the interval. */
static bool halves_disagree(hw__ade *a, hw__sample_part part) {
  double middle[2];
  for (size_t half = 0; half < 2; half++) {
    size_t n = 0;
    for (size_t i = half; i < HW__FINAL; i += 2) {
      a->sorting.value[n] = part(&a->samples[i]);
      a->sorting.weight[n++] = a->samples[i].weight;
    }
    middle[half] = hw__scratch_range(&a->sorting, n, 0.9).mid;
  }
  const hw_range all = hw__summary_range(a->samples, HW__FINAL, part, 0.9, &a->sorting);
  return fabs(middle[0] - middle[1]) > 0.33 * (all.hi - all.lo);
}

hw__pulse_count hw__ade_count(const hw__ade *a) {
  hw__pulse_count all = {0, 0}, strong = {0, 0};
  for (size_t k = 0; k < a->spill.count; k++) {
    const bool wrong = a->wrong[k] > 0.5;
    if (wrong && a->station[k].suspect) {
      continue; /* a broken sensor's pulse is none */
    }
    all.seen += a->fit[k].seen;
    all.wrong += a->fit[k].seen && wrong;
    strong.seen += a->fit[k].strong;
    strong.wrong += a->fit[k].strong && wrong;
  }
  return strong.seen > 0 ? strong : all;
}

static void explain_misfit(hw__ade *a, hw__pulse_count n) {
  if (n.seen == 1) {
    refuse(a, "no release inside the search box, with the hydraulics stated, explains the pulse that was seen");
    return;
  }
  a->trust = HW_TRUST_NONE;
  snprintf(a->reason, sizeof a->reason,
           "no single release inside the search box, with the hydraulics stated, explains what the sensors saw: %zu of "
           "%zu pulses do not fit",
           n.wrong, n.seen);
}

/* A sensor's own pulse has four unknowns to fit it with, and the river has them all in common: twice what the answer
 * misses is a chi-square of about three degrees of freedom a pulse. Returned: how many standard deviations too much. */
static double pulses_off(const hw__ade *a) {
  static const double freedom = 3;
  double sum = 0, n = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    if (a->fit[k].seen && a->wrong[k] < 0.5) {
      /* A pulse that a release which lasted explains better than its own curve does makes up for no other. */
      sum += 2 * fmax(a->missing[k], 0);
      n += freedom;
    }
  }
  return n > 0 ? (sum - n) / sqrt(2 * n) : 0;
}

/* Half of the draws are pressed against an end of the search: it is the box that keeps the pulses from being explained.
 */
static bool leans_on_the_box(const hw__ade *a) {
  static const double edge = 0.02;
  const hw_source *lo = &a->river->search.lo, *hi = &a->river->search.hi;
  const double x = edge * (hi->location_m - lo->location_m), t = edge * (hi->time_s - lo->time_s);
  double sum = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    const hw_source *s = &a->samples[i].source;
    const bool near = s->location_m < lo->location_m + x || s->location_m > hi->location_m - x ||
                      s->time_s < lo->time_s + t || s->time_s > hi->time_s - t;
    sum += near ? a->samples[i].weight : 0;
  }
  return sum > 0.5;
}

/* Sensors that saw masses of plainly different size: one of them is wrong, and another model of the river would be as
 * misled. */
static bool masses_disagree(const hw__ade *a) {
  static const double apart = 20;
  double least = INFINITY, most = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__station *s = &a->station[k];
    if (a->fit[k].strong) {
      const double mass = a->fit[k].curve.area_g_s_m3 / (s->per_discharge + s->per_area);
      least = fmin(least, mass);
      most = fmax(most, mass);
    }
  }
  return most > apart * least;
}

/* What every pulse holds, one of them seen whole, lies plainly beyond the masses of the search box, on the same side.
 * No place or time mends that, and a model that is asked in this one's place would only be pressed into the same box.
 */
static bool mass_is_outside(hw__ade *a) {
  static const double plainly = 2;
  const hw_source *lo = &a->river->search.lo, *hi = &a->river->search.hi;
  bool whole = false, conserved = true; /* else there was more of it than is left */
  double least = INFINITY, most = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__station *s = &a->station[k];
    const hw__fit *fit = &a->fit[k];
    conserved = conserved && !(s->at.decay > 0);
    if (fit->strong && !isfinite(fit->clipped_at_g_m3)) {
      whole = whole || (fit->complete && !fit->sketchy);
      const double mass = fit->curve.area_g_s_m3 / (s->per_discharge + s->per_area);
      const double unsure = plainly * exp(2 * s->gain_sd) * (s->per_area > 0 ? exp(2 * a->spill.doubt.common_v) : 1);
      least = fmin(least, mass / unsure);
      most = fmax(most, mass * unsure);
    }
  }
  if (!whole || !(least > hi->mass_g || (conserved && most < lo->mass_g))) {
    return false;
  }
  a->trust = HW_TRUST_NONE;
  snprintf(
      a->reason, sizeof a->reason,
      "what passed the sensors is plainly %s than the search box allows (%g to %g g): its masses do not fit, or the "
      "readings are in another unit",
      least > hi->mass_g ? "more" : "less", lo->mass_g, hi->mass_g);
  return true;
}

/* Sensors at which a lone reading stands out just while the plume should pass, and is not explained by it. A few such
 * spikes are chance, the more the more readings there were to have one. Beyond that they are the plume itself, read
 * once at each of them, and the draws have settled on another release: with sensors closer together than readings are
 * in time there is one just above almost every sensor. Returned: 0 where it is chance. */
static size_t unexplained_passings(const hw__ade *a) {
  static const double few = 2, spike_share = 0.02; /* of readings, at most */
  double readings = 0;
  size_t count = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    count += a->wrong[k] < 0.5 && a->residuals[k].passing > 0;
    readings += a->residuals[k].within;
  }
  return (double)count > few + spike_share * readings ? count : 0;
}

/* How far the hydraulics that the answer needs lie from the stated ones: the sum over all that is in doubt of the
 * squared distance of the draws' mean from its median, in standard deviations of the doubt. */
static double strain_of(const hw__ade *a) {
  double mean[HW__AXES] = {0}, sum = 0;
  for (size_t j = 0; j < HW__PICKED; j++) {
    const hw__release *r = &a->released[j];
    const double share = hw__averaged(a->station[a->spill.anchor].x_m - r->source.location_m);
    const double off[HW__AXES] = {[HW__AXIS_LN_V] = r->ln_v,
                                  [HW__AXIS_LN_D] = r->ln_d,
                                  [HW__AXIS_OWN_V] = r->own_v / (r->above.local_v * share),
                                  [HW__AXIS_OWN_D] = r->own_d / (r->above.local_d * share),
                                  [HW__AXIS_SHAPE] = r->shape,
                                  [HW__AXIS_STRAY_V] = r->stray_v,
                                  [HW__AXIS_STRAY_D] = r->stray_d};
    for (size_t k = 0; k < HW__AXES; k++) {
      const double sd = hw__axis_sd(&a->spill, k);
      mean[k] += sd > 0 ? off[k] / (sd * HW__PICKED) : 0;
    }
  }
  for (size_t k = 0; k < HW__AXES; k++) {
    sum += mean[k] * mean[k];
  }
  return sum;
}

/* A believed sensor that shows two pulses, where there plainly are two and no two releases explain them: even its own
 * curve, of whatever release, leaves far more than the noise that is stated, and wider intervals would not allow for a
 * pulse that is not explained. Where other sensors show one it may be the level that drifts. NULL: none. */
static const hw_sensor *shows_two(const hw__ade *a) {
  double valley_s;
  for (size_t k = 0; k < a->spill.count && a->two.unanswered; k++) {
    const size_t s = a->station[k].sensor;
    const hw_sensor *sensor = &a->river->sensors[s];
    if (a->fit[k].strong && a->wrong[k] < 0.5 && sensor->noise_absolute_g_m3 > 0 &&
        a->own[s].misfit > plain_residuals && hw__two_pulses(&a->series[s], sensor, &a->own[s], &valley_s)) {
      return sensor;
    }
  }
  return NULL;
}

static void refuse_two(hw__ade *a, const hw_sensor *sensor) {
  a->trust = HW_TRUST_NONE;
  snprintf(a->reason, sizeof a->reason, "sensor %s shows two pulses that one release does not explain", sensor->id);
}

/* A pulse that a level which wanders would not look like: plainly high, or seen whole and short beside a record in
 * which the level does the like nowhere else. */
static bool is_no_wandering(const hw__fit *fit) {
  static const double clear = 5, short_share = 1.0 / 40; /* of the record, a standard deviation */
  const double width = sqrt(fit->curve.variance_s2), wanders = hypot(fit->floor_g_m3, fit->wander_g_m3);
  return fit->strong || (fit->begun && fit->complete && !fit->lasting && fit->peak_g_m3 > clear * wanders &&
                         width < short_share * (fit->last_s - fit->first_s));
}

/* Whether every pulse may be the background, which rises and falls by some noise floors within half a day or more, and
 * by as much as it likes with the day. Not where two sensors or more saw the front come, one after the other as the
 * release has it, and none saw another thing. */
static bool may_all_wander(const hw__ade *a) {
  size_t fronts = 0, others = 0;
  for (size_t k = 0; k < a->spill.count; k++) {
    const hw__fit *fit = &a->fit[k];
    if (!fit->seen) {
      continue;
    }
    if (is_no_wandering(fit) && !hw__cycle_explains(&a->series[a->station[k].sensor], fit)) {
      return false;
    }
    const bool front = fit->begun && a->wrong[k] < 0.5;
    fronts += front;
    others += !front;
  }
  return fronts < 2 || others > 0;
}

void hw__ade_judge(hw__ade *a) {
  a->reason[0] = '\0';
  a->trust = HW_TRUST_FULL;
  a->unfit = a->pressed = a->misfit = a->suspect = false;
  if (a->seen == 0) {
    snprintf(a->reason, sizeof a->reason, "no sensor shows a pulse above its noise");
    return;
  }
  if (mass_is_outside(a)) {
    if (a->found.found) {
      hw__ade_compare(a);
    }
    return;
  }
  if (!a->found.found) {
    refuse(a,
           "no release inside the search box could have passed the sensors when they saw it: look at its times, places "
           "and masses");
    return;
  }
  hw__ade_compare(a);
  if (may_all_wander(a)) {
    refuse(a, "what rises may be the background, by its height or as a daily cycle: it need not be a spill");
    return;
  }
  const hw__pulse_count n = hw__ade_count(a);
  const size_t unexplained = unexplained_passings(a);
  bool complete = false;
  for (size_t k = 0; k < a->spill.count; k++) {
    complete = complete || ((a->fit[k].complete || a->residuals[k].fallen) && a->wrong[k] < 0.5);
  }
  /* One sensor may be broken. Of two that contradict the rest it may be the rest that is wrong. */
  const bool several = n.wrong > 1 && 3 * n.wrong >= n.seen;
  const bool plain = 2 * n.wrong >= n.seen || several || a->wrong[a->spill.anchor] > 0.5;
  const double strain = strain_of(a), off = pulses_off(a);
  const bool strained = strain > (a->loose ? most_strain_loose : most_strain);
  const hw_sensor *twice = shows_two(a);
  const bool sensors = unexplained > 0 || twice || masses_disagree(a); /* the fault is not the river's */
  a->unfit = plain || strained || off > plain_misfit;
  a->pressed = a->unfit && leans_on_the_box(a);
  a->misfit = a->unfit && !sensors && !a->pressed;
  a->suspect = a->unfit || n.wrong > 0 || strain > some_strain || off > some_misfit;
  if (twice) {
    refuse_two(a, twice);
  } else if (plain) {
    explain_misfit(a, n);
  } else if (strained) {
    refuse(a, "only a velocity or a dispersion far outside the stated doubt would explain what the sensors saw");
  } else if (a->found.effective < least_effective) {
    refuse(a, "the draws did not settle: too few of them explain the readings");
  } else if (a->probability < spill_plain && a->fit[a->spill.anchor].strong) {
    /* One sensor against another, and nothing to tell which of them is wrong: that is not "no spill". */
    a->probability = spill_plain;
    refuse(a, a->spill.count > 1 ? "a sensor shows a plain pulse that another contradicts: either may be wrong"
                                 : "the sensor shows a plain pulse that no release inside the search box explains");
  } else if (a->probability < spill_plain) {
    snprintf(a->reason, sizeof a->reason, "what the sensors show is more likely noise than a spill");
  } else if (unexplained > 0) {
    a->trust = HW_TRUST_NONE;
    snprintf(
        a->reason, sizeof a->reason,
        "at %zu sensors a reading stands out just when the plume should pass, and this release does not explain it",
        unexplained);
  } else if (halves_disagree(a, hw__sample_location) || halves_disagree(a, hw__sample_time)) {
    refuse(a, "two halves of the draws give different answers");
  } else if (!complete) {
    a->trust = HW_TRUST_PROVISIONAL;
    snprintf(a->reason, sizeof a->reason, "no sensor has yet seen the pulse fall to half its peak");
  }
}
