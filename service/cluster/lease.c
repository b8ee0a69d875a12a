#include "cluster/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char bucket[] = "hw_lease";

static void key_of(size_t partition, char out[32]) {
  snprintf(out, 32, "p%zu", partition);
}

/* "OWNER FENCE"; "OWNER" by whoever just took it, with the revision that this very write got; "": nobody's. A fence
 * higher than any revision so far was written by a stranger and is ignored. */
static hw__bus_status read_key(hw__bus *bus, size_t partition, char owner[HW_OWNER_SIZE], int64_t *fence,
                               int64_t *revision) {
  char key[32], text[HW_LEASE_MARK] = "";
  int64_t told = 0;
  key_of(partition, key);
  owner[0] = '\0';
  const hw__bus_status status = hw__bus_get(bus, bucket, key, text, sizeof text, revision);
  const int fields = sscanf(text, "%95s %" SCNd64, owner, &told);
  *fence = fields == 2 && told > 0 && told < *revision ? told : *revision;
  return status;
}

void hw__lease_init(hw__lease *lease, hw__bus *bus, size_t partition, const char *owner) {
  *lease = (hw__lease){.bus = bus, .partition = partition, .owner = owner, .seen_ms = hw__clock_ms()};
}

hw__bus_status hw__lease_look(hw__lease *lease) {
  char owner[HW_OWNER_SIZE];
  int64_t revision = 0, fence = 0;
  const hw__bus_status status = read_key(lease->bus, lease->partition, owner, &fence, &revision);
  if (status == HW_BUS_AWAY) {
    lease->seen_ms = hw__clock_ms(); /* while the cluster is silent nothing is known about the holder */
    return status;
  }
  if (revision != lease->revision) {
    lease->revision = revision;
    lease->seen_ms = hw__clock_ms();
    snprintf(lease->seen_owner, sizeof lease->seen_owner, "%s", owner);
  }
  return HW_BUS_OK;
}

hw__bus_status hw__lease_highest_fence(hw__bus *bus, size_t partition, int64_t *out) {
  char owner[HW_OWNER_SIZE];
  int64_t revision = 0;
  return read_key(bus, partition, owner, out, &revision);
}

bool hw__lease_is_free(const hw__lease *lease) {
  return !lease->seen_owner[0] || strcmp(lease->seen_owner, lease->owner) == 0 ||
         hw__clock_ms() - lease->seen_ms > HW_LEASE_SILENT_MS;
}

int64_t hw__lease_free_ms(const hw__lease *lease) {
  return hw__clock_ms() - lease->seen_ms - (lease->seen_owner[0] ? HW_LEASE_SILENT_MS : 0);
}

static void hold(hw__lease *lease, int64_t revision, int64_t since_ms) {
  lease->revision = revision;
  lease->seen_ms = since_ms;
  snprintf(lease->seen_owner, sizeof lease->seen_owner, "%s", lease->owner);
  atomic_store(&lease->renewed_ms, since_ms);
}

hw__bus_status hw__lease_take(hw__lease *lease) {
  char key[32];
  int64_t revision = 0;
  const int64_t asked_ms = hw__clock_ms();
  key_of(lease->partition, key);
  const hw__bus_status status = hw__bus_set(lease->bus, bucket, key, lease->owner, lease->revision, &revision);
  if (status == HW_BUS_OK) {
    hold(lease, revision, asked_ms);
    lease->fence = revision;
    snprintf(lease->mark, sizeof lease->mark, "%s %" PRId64, lease->owner, lease->fence);
    atomic_store(&lease->held, true);
  } else {
    hw__lease_look(lease);
  }
  return status;
}

static void settle(hw__lease *lease, const hw__bus_letter *letter, int64_t asked_ms) {
  if (letter->answer == HW_BUS_STORED) {
    hold(lease, letter->seq, asked_ms);
  } else if (letter->answer == HW_BUS_REFUSED) {
    /* The write was ours and its answer was lost: the next renewal uses the revision that is now known. */
    if (hw__lease_look(lease) == HW_BUS_OK && strcmp(lease->seen_owner, lease->owner) != 0) {
      atomic_store(&lease->held, false);
    }
  }
}

void hw__lease_renew(hw__lease *leases, size_t count) {
  hw__bus_letter *letters = calloc(count, sizeof *letters);
  char(*subjects)[64] = calloc(count, sizeof *subjects);
  size_t n = 0;
  const int64_t asked_ms = hw__clock_ms();
  for (size_t i = 0; i < count && letters && subjects; i++) {
    if (atomic_load(&leases[i].held)) {
      char key[32];
      key_of(leases[i].partition, key);
      snprintf(subjects[n], sizeof subjects[n], "$KV.%s.%s", bucket, key);
      letters[n] = (hw__bus_letter){.subject = subjects[n],
                                    .data = leases[i].mark,
                                    .size = strlen(leases[i].mark),
                                    .guarded = true,
                                    .expected = leases[i].revision};
      n++;
    }
  }
  if (n) {
    hw__bus_publish(leases[0].bus, letters, n, HW_LEASE_RENEW_MS);
  }
  n = 0;
  for (size_t i = 0; i < count && letters && subjects; i++) {
    if (atomic_load(&leases[i].held)) {
      settle(&leases[i], &letters[n++], asked_ms);
    }
  }
  free(letters);
  free(subjects);
}

void hw__lease_release(hw__lease *lease) {
  char key[32];
  int64_t revision = lease->revision;
  key_of(lease->partition, key);
  if (atomic_exchange(&lease->held, false) &&
      hw__bus_set(lease->bus, bucket, key, "", lease->revision, &revision) == HW_BUS_OK) {
    lease->revision = revision;
    lease->seen_ms = hw__clock_ms();
    lease->seen_owner[0] = '\0';
  }
}

bool hw__lease_holds(const hw__lease *lease) {
  return atomic_load(&lease->held) && hw__clock_ms() - atomic_load(&lease->renewed_ms) < HW_LEASE_HOLD_MS;
}
