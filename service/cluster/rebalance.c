#include "cluster/rebalance.h"

#include <stdio.h>
#include <string.h>

void hw__roster_hear(hw__roster *roster, const char *name, int64_t now_ms) {
  size_t at = 0;
  while (at < roster->count && strcmp(roster->names[at], name) < 0) {
    at++;
  }
  if (at < roster->count && strcmp(roster->names[at], name) == 0) {
    roster->heard_ms[at] = now_ms;
    return;
  }
  if (roster->count == HW_ROSTER_MOST || strlen(name) >= HW_ROSTER_NAME) {
    return;
  }
  /* Sorted by name: everybody goes through them in the same order. */
  memmove(roster->names[at + 1], roster->names[at], (roster->count - at) * sizeof roster->names[0]);
  memmove(&roster->heard_ms[at + 1], &roster->heard_ms[at], (roster->count - at) * sizeof roster->heard_ms[0]);
  snprintf(roster->names[at], HW_ROSTER_NAME, "%s", name);
  roster->heard_ms[at] = now_ms;
  roster->count++;
  roster->changed_ms = now_ms;
}

void hw__roster_forget(hw__roster *roster, int64_t since_ms, int64_t now_ms) {
  size_t kept = 0;
  for (size_t i = 0; i < roster->count; i++) {
    if (roster->heard_ms[i] >= since_ms) {
      if (kept != i) {
        memcpy(roster->names[kept], roster->names[i], sizeof roster->names[0]);
        roster->heard_ms[kept] = roster->heard_ms[i];
      }
      kept++;
    }
  }
  roster->changed_ms = kept != roster->count ? now_ms : roster->changed_ms;
  roster->count = kept;
}

static uint64_t score(const char *name, size_t partition) {
  uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (partition * UINT64_C(0x9e3779b97f4a7c15));
  for (; *name; name++) {
    h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  }
  h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return h ^ (h >> 32);
}

void hw__rebalance(const hw__roster *roster, size_t partitions, size_t *out) {
  size_t load[HW_ROSTER_MOST] = {0};
  const size_t floor = partitions / roster->count;
  size_t extra = partitions % roster->count; /* so many have one more */
  for (size_t p = 0; p < partitions; p++) {
    size_t best = SIZE_MAX;
    for (size_t w = 0; w < roster->count; w++) {
      const bool may = load[w] < floor || (load[w] == floor && extra > 0);
      if (may && (best == SIZE_MAX || score(roster->names[w], p) > score(roster->names[best], p))) {
        best = w;
      }
    }
    extra -= load[best] == floor;
    load[best]++;
    out[p] = best;
  }
}
