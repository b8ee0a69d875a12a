#include "posterior/wider.h"

#include <math.h>

/* A box that explains more has more evidence by this (ln), beyond what is given up while it is asked. */
static const double plainly_better = 10;

/* Most of the draws are from inside the river's search box. */
static bool lies_in(const hw__ade *a, const hw_river *river) {
  const hw_source *lo = &river->search.lo, *hi = &river->search.hi;
  double sum = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    const hw_source *s = &a->samples[i].source;
    const bool inside = s->location_m >= lo->location_m && s->location_m <= hi->location_m && s->time_s >= lo->time_s &&
                        s->time_s <= hi->time_s;
    sum += inside ? a->samples[i].weight : 0;
  }
  return sum > 0.5;
}

hw_status hw__wider_ask(const hw__ade *stated, bool *explained) {
  hw_river wider = *stated->river;
  wider.search.lo.location_m -= 2 * (wider.search.hi.location_m - wider.search.lo.location_m);
  wider.search.lo.time_s -= 2 * (wider.search.hi.time_s - wider.search.lo.time_s);
  void *state = NULL;
  hw_status status = hw__ade_create(&(hw_problem){.river = &wider}, &stated->options, &state);
  if (status != HW_OK) {
    return status;
  }
  hw__ade *a = state;
  a->single = a->brief = true; /* a glance will do: nobody sees its answer */
  hw__ade_borrow(a, stated);
  a->rivals.explained = true;
  a->rivals.log_odds[0] = a->rivals.log_odds[1] = fmax(stated->reached[0], stated->reached[1]) + plainly_better;
  status = hw__ade_settle(a);
  *explained =
      status == HW_OK && a->found.found && a->trust != HW_TRUST_NONE && !a->misfit && !lies_in(a, stated->river);
  hw__ade_destroy(a);
  return status;
}
