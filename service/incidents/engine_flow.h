/* The discharges that an incident's engine knows: those of the river's flow file, and those that gauges sent since. */
#ifndef HW_INCIDENTS_ENGINE_FLOW_H
#define HW_INCIDENTS_ENGINE_FLOW_H

#include "store/db.h"

typedef struct {
  hw_flow *told; /* in order of time */
  size_t count, capacity;
  bool changed;   /* more discharges have come than the run's river has */
  hw_flow *used;  /* what that river holds */
  hw_river river; /* the site's, with `used` for its flow */
} hw__engine_flow;

/* Back to what the file says. Status: HW_ENOMEM */
hw_status hw__engine_flow_begin(hw__engine_flow *flow, const hw_river *river);
/* Adds one discharge; its time counts from origin_s. Returned: false when it adds nothing new. */
bool hw__engine_flow_take(hw__engine_flow *flow, const hw__site *site, const hw__log_record *record, double origin_s);
/* The river with all discharges received, for a new run; valid until the next call. NULL without memory. The river
 * itself where no gauge ever reported. */
const hw_river *hw__engine_flow_river(hw__engine_flow *flow, const hw_river *river);
void hw__engine_flow_free(hw__engine_flow *flow);

#endif
