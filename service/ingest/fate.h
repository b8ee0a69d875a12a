/* What became of a row of readings, and how many rows ended so. */
#ifndef HW_INGEST_FATE_H
#define HW_INGEST_FATE_H

#include <stdint.h>
#include <stdio.h>

/* X(name, label for metrics, what it means) */
#define HW_FATE_LIST(X)                                                                                         \
  X(HW_FATE_ACCEPTED, "accepted", "stored")                                                                     \
  X(HW_FATE_DUPLICATE, "duplicate", "same river, sensor, time and value as one stored")                         \
  X(HW_FATE_MISSING, "missing", "empty value: nothing to store")                                                \
  X(HW_FATE_CONFLICT, "conflict", "another value is stored for this sensor and time")                           \
  X(HW_FATE_MALFORMED, "malformed", "not readable")                                                             \
  X(HW_FATE_UNKNOWN, "unknown_sensor", "no such river, sensor or gauge")                                        \
  X(HW_FATE_FUTURE, "future", "dated further ahead of now than is allowed")                                     \
  X(HW_FATE_NEGATIVE, "negative", "a concentration below zero by more than noise, or a discharge not above it") \
  X(HW_FATE_ABSURD, "absurd", "implausible in any river: above 1e6 g/m3 or m3/s, or a time out of range")       \
  X(HW_FATE_TIME_BASE, "time_base", "calendar time where the river's is relative, or the other way round")

typedef enum {
#define HW_FATE_ENUM(name, label, text) name,
  HW_FATE_LIST(HW_FATE_ENUM)
#undef HW_FATE_ENUM
      HW_FATE_COUNT
} hw__fate;

const char *hw__fate_label(hw__fate fate);
const char *hw__fate_text(hw__fate fate);

/* Process-wide counts, safe from any thread. */
void hw__fate_count(const uint64_t tally[HW_FATE_COUNT]);
/* The counts as Prometheus reads them. */
void hw__fate_expose(FILE *out);

#endif
