#include "base/metrics.h"

#include <stdatomic.h>

static _Atomic uint64_t counts[HW_METRIC_COUNT];

static const struct {
  const char *name;
  double unit;
  const char *help;
} rows[] = {
#define ROW(name, text, unit, help) {text, unit, help},
    HW_METRIC_LIST(ROW)
#undef ROW
};

void hw__metric_add(hw__metric metric, uint64_t by) {
  atomic_fetch_add_explicit(&counts[metric], by, memory_order_relaxed);
}

uint64_t hw__metric_get(hw__metric metric) {
  return atomic_load_explicit(&counts[metric], memory_order_relaxed);
}

const char *hw__metric_name(hw__metric metric) {
  return rows[metric].name;
}

const char *hw__metric_help(hw__metric metric) {
  return rows[metric].help;
}

double hw__metric_unit(hw__metric metric) {
  return rows[metric].unit;
}
