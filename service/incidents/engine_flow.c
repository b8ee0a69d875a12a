#include "incidents/engine_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static bool append(hw__engine_flow *flow, const hw_flow *one) {
  if (!hw__grow(&flow->told, flow->count, &flow->capacity, sizeof *flow->told, 64)) {
    return false;
  }
  flow->told[flow->count++] = *one;
  return true;
}

hw_status hw__engine_flow_begin(hw__engine_flow *flow, const hw_river *river) {
  flow->count = 0;
  flow->changed = false;
  for (size_t i = 0; i < river->flow_count; i++) {
    if (!append(flow, &river->flow[i])) {
      return HW_ENOMEM;
    }
  }
  return HW_OK;
}

bool hw__engine_flow_take(hw__engine_flow *flow, const hw__site *site, const hw__log_record *record, double origin_s) {
  hw_flow one = {.time_s = record->time_s - origin_s, .discharge_m3_s = record->concentration_g_m3};
  while (one.gauge < site->river.gauge_count && site->gauge_keys[one.gauge] != record->sensor) {
    one.gauge++;
  }
  size_t at = flow->count;
  while (at > 0 && flow->told[at - 1].time_s > one.time_s) {
    at--;
  }
  for (size_t i = at; i-- > 0 && flow->told[i].time_s == one.time_s;) {
    if (flow->told[i].gauge == one.gauge) {
      return false; /* the file has it */
    }
  }
  if (one.gauge == site->river.gauge_count || !append(flow, &one)) {
    return false; /* a gauge the river file no longer has */
  }
  memmove(flow->told + at + 1, flow->told + at, (flow->count - 1 - at) * sizeof *flow->told);
  flow->told[at] = one;
  flow->changed = true;
  return true;
}

const hw_river *hw__engine_flow_river(hw__engine_flow *flow, const hw_river *river) {
  if (flow->count == river->flow_count) {
    flow->changed = false;
    return river;
  }
  hw_flow *used = malloc(flow->count * sizeof *used);
  if (!used) {
    return NULL;
  }
  memcpy(used, flow->told, flow->count * sizeof *used);
  free(flow->used);
  flow->used = used;
  flow->river = *river;
  flow->river.flow = used;
  flow->river.flow_count = flow->count;
  flow->changed = false;
  return &flow->river;
}

void hw__engine_flow_free(hw__engine_flow *flow) {
  free(flow->told);
  free(flow->used);
  *flow = (hw__engine_flow){0};
}
