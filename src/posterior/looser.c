#include "posterior/looser.h"

#include <math.h>
#include <stdlib.h>

/* Factors of doubt about any one stretch; stated ones that are larger stay. A flow that swings by 30 % and a dispersion
 * that is wrong by five lie within one and a half standard deviations. */
static const double velocity_factor = 1.3, dispersion_factor = 4;
/* Of ln asymmetry. */
static const double shape_doubt = 0.5;
/* The water that passes a sensor may be more or less than stated, at each of them, and at all of them together (ln). */
static const double gain_factor = 1.25, discharge_sd = 0.2;
/* ln of how many rivers are as stated for one that is not. */
static const double plainly_better = 3;

static hw_quantity loosened(const hw_quantity *q, double factor) {
  return q->certainty == HW_UNCERTAIN && q->factor >= factor
             ? *q
             : (hw_quantity){.certainty = HW_UNCERTAIN, .value = q->value, .factor = factor};
}

/* Reaches without a doubt of their own have the hydraulics'. */
static hw_doubt loosened_doubt(hw_doubt d, double factor) {
  return d.factor == 0 || d.factor >= factor ? d : (hw_doubt){.factor = factor};
}

static bool loosen(const hw_river *stated, hw_river *out) {
  *out = *stated;
  out->hydraulics.velocity_m_s = loosened(&stated->hydraulics.velocity_m_s, velocity_factor);
  out->hydraulics.dispersion_m2_s = loosened(&stated->hydraulics.dispersion_m2_s, dispersion_factor);
  out->sensors = malloc((stated->sensor_count + 1) * sizeof *out->sensors);
  out->reaches = malloc((stated->reach_count + 1) * sizeof *out->reaches);
  if (!out->sensors || !out->reaches) {
    return false;
  }
  for (size_t i = 0; i < stated->sensor_count; i++) {
    out->sensors[i] = stated->sensors[i];
    out->sensors[i].gain_factor = fmax(stated->sensors[i].gain_factor, gain_factor);
  }
  for (size_t i = 0; i < stated->reach_count; i++) {
    hw_reach *r = &out->reaches[i];
    *r = stated->reaches[i];
    r->velocity_doubt = loosened_doubt(r->velocity_doubt, velocity_factor);
    r->dispersion_doubt = loosened_doubt(r->dispersion_doubt, dispersion_factor);
  }
  return true;
}

hw_status hw__looser_ask(const hw__ade *stated, hw__looser *out) {
  *out = (hw__looser){0};
  if (!loosen(stated->river, &out->river)) {
    return HW_ENOMEM;
  }
  void *state = NULL;
  const hw_status status = hw__ade_create(&(hw_problem){.river = &out->river}, &stated->options, &state);
  if (status != HW_OK) {
    return status;
  }
  hw__ade *a = out->ade = state;
  a->single = true; /* whether there were two is decided already */
  a->two.unanswered = stated->two.unanswered;
  a->brief = true; /* with all else so wide, a duration would explain any tail */
  a->loose = true;
  a->discharge_sd = discharge_sd;
  a->spill.doubt.shape = shape_doubt;
  a->spill.from_pulse = true; /* with so much in doubt the prior is a long way off */
  hw__ade_borrow(a, stated);
  if (!stated->misfit) { /* as soon as it cannot win any more there is no need to go on */
    a->rivals.log_odds[0] = stated->log_odds + plainly_better;
  }
  return hw__ade_settle(a);
}

bool hw__looser_explains(const hw__looser *looser, const hw__ade *stated) {
  const hw__ade *a = looser->ade;
  const bool explained = a->found.found && a->trust != HW_TRUST_NONE && !a->unfit && a->probability >= 0.5;
  return explained && (stated->misfit || a->log_odds > stated->log_odds + plainly_better);
}

void hw__looser_free(hw__looser *looser) {
  hw__ade_destroy(looser->ade);
  free(looser->river.sensors);
  free(looser->river.reaches);
  *looser = (hw__looser){0};
}
