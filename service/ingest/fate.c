#include "ingest/fate.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t counts[HW_FATE_COUNT];

static const struct {
  const char *label;
  const char *text;
} fates[] = {
#define ROW(name, label, text) {label, text},
    HW_FATE_LIST(ROW)
#undef ROW
};

const char *hw__fate_label(hw__fate fate) {
  return (size_t)fate < HW_FATE_COUNT ? fates[fate].label : "unknown";
}

const char *hw__fate_text(hw__fate fate) {
  return (size_t)fate < HW_FATE_COUNT ? fates[fate].text : "unknown";
}

void hw__fate_count(const uint64_t tally[HW_FATE_COUNT]) {
  for (size_t i = 0; i < HW_FATE_COUNT; i++) {
    atomic_fetch_add_explicit(&counts[i], tally[i], memory_order_relaxed);
  }
}

void hw__fate_expose(FILE *out) {
  fprintf(out, "# HELP headwater_readings_total Rows received, by fate.\n# TYPE headwater_readings_total counter\n");
  for (size_t i = 0; i < HW_FATE_COUNT; i++) {
    fprintf(out, "headwater_readings_total{fate=\"%s\"} %" PRIu64 "\n", fates[i].label,
            atomic_load_explicit(&counts[i], memory_order_relaxed));
  }
}
