/* What the engine thinks of its own answer, before anybody else sees it. */
#include <math.h>
#include <stdio.h>

#include "posterior/ade.h"

/* Effective draws below which quantiles are not worth printing. */
static const double least_effective = 100;
/* From here on there is a spill. */
static const double spill_plain = 0.5;

static void refuse(hw__ade *a, const char *reason) {
  a->trust = HW_TRUST_NONE;
  snprintf(a->reason, sizeof a->reason, "%s", reason);
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

void hw__ade_judge(hw__ade *a) {
  a->reason[0] = '\0';
  a->trust = HW_TRUST_FULL;
  if (a->seen == 0) {
    snprintf(a->reason, sizeof a->reason, "no sensor shows a pulse above its noise");
    return;
  }
  if (!a->found.found) {
    refuse(a,
           "no release inside the search box could have passed the sensors when they saw it: look at its times, places "
           "and masses");
    return;
  }
  const hw__pulse_count n = hw__ade_count(a);
  bool complete = false;
  for (size_t k = 0; k < a->spill.count; k++) {
    complete = complete || (a->fit[k].complete && a->wrong[k] < 0.5);
  }
  if (2 * n.wrong >= n.seen || a->wrong[a->spill.anchor] > 0.5) {
    explain_misfit(a, n);
  } else if (a->found.effective < least_effective) {
    refuse(a, "the draws did not settle: too few of them explain the readings");
  } else if (a->probability < spill_plain && a->fit[a->spill.anchor].strong) {
    /* One sensor against another, and nothing to tell which of them is wrong: that is not "no spill". */
    a->probability = spill_plain;
    refuse(a, "a sensor shows a plain pulse that another contradicts: either may be wrong");
  } else if (a->probability < spill_plain) {
    snprintf(a->reason, sizeof a->reason, "what the sensors show is more likely noise than a spill");
  } else if (halves_disagree(a, hw__sample_location) || halves_disagree(a, hw__sample_time)) {
    refuse(a, "two halves of the draws give different answers");
  } else if (!complete) {
    a->trust = HW_TRUST_PROVISIONAL;
    snprintf(a->reason, sizeof a->reason, "no sensor has yet seen the pulse fall to half its peak");
  }
}
