#include "store/guarded_clock.h"

#include <stdlib.h>

static const int64_t step_least_us = INT64_C(60000000);  /* smaller differences are a clock being adjusted */
static const int64_t step_stands_us = INT64_C(60000000); /* how long a step must last before it is followed */
static const int64_t proven_us = INT64_C(3600000000);
static const int64_t day_us = INT64_C(86400000000);

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* 0 where there is none. */
static int64_t last_stamp(int64_t *stamps, size_t count, int64_t wall_us) {
  size_t past = 0;
  if (count == 0) {
    return 0;
  }
  qsort(stamps, count, sizeof *stamps, by_value);
  while (past < count && stamps[past] <= wall_us + step_least_us) {
    past++;
  }
  if (2 * past >= count) {
    return stamps[past - 1];
  }
  size_t together = count;
  for (size_t i = count - 1; i > 0 && 2 * (count - i) <= count; i--) {
    together = stamps[i] - stamps[i - 1] > day_us ? i : together;
  }
  return stamps[together - 1];
}

void hw__guarded_clock_start(hw__guarded_clock *clock, int64_t *stamps, size_t count, int64_t wall_us,
                             int64_t uptime_us) {
  const int64_t last = last_stamp(stamps, count, wall_us);
  const bool in_order = last == 0 || (wall_us >= last - step_least_us && wall_us <= last + day_us);
  const int64_t now_us = wall_us > last ? wall_us : last;
  *clock = (hw__guarded_clock){.now_us = now_us,
                               .possible_us = now_us,
                               .uptime_us = uptime_us,
                               .floor_us = last,
                               .agreed_us = uptime_us,
                               .settled_us = uptime_us + (in_order ? 0 : proven_us)};
}

int64_t hw__guarded_clock_hour_ago(const hw__guarded_clock *clock) {
  return clock->now_us - proven_us;
}

void hw__guarded_clock_compare(hw__guarded_clock *clock, int64_t last_us) {
  if (last_us > 0 && hw__guarded_clock_hour_ago(clock) - last_us > day_us) {
    clock->settled_us = clock->uptime_us + proven_us;
  }
}

/* The wall clock differs from ours. Has it done so for long enough? */
static bool stands(hw__guarded_clock *clock, int64_t step_us) {
  const int64_t moved = step_us - clock->step_us;
  if (!clock->stepped || moved > step_least_us || moved < -step_least_us) {
    clock->stepped = true;
    clock->step_us = step_us;
    clock->step_since_us = clock->uptime_us;
  }
  return clock->uptime_us - clock->step_since_us >= step_stands_us;
}

int64_t hw__guarded_clock_look(hw__guarded_clock *clock, int64_t wall_us, int64_t uptime_us) {
  const int64_t passed_us = uptime_us - clock->uptime_us;
  const int64_t carried_us = clock->now_us + passed_us;
  const int64_t off_us = wall_us - carried_us;
  clock->uptime_us = uptime_us;
  clock->floor_us += clock->floor_us ? passed_us : 0;
  clock->now_us = carried_us;
  if (off_us <= step_least_us && off_us >= -step_least_us) {
    clock->stepped = false;
    clock->now_us = off_us > 0 ? wall_us : carried_us;
    clock->floor_us = uptime_us - clock->agreed_us >= proven_us ? clock->now_us : clock->floor_us;
    clock->possible_us = clock->now_us;
    return clock->now_us;
  }
  clock->agreed_us = uptime_us;
  clock->settled_us = uptime_us + proven_us;
  const bool may_follow = off_us > 0 || wall_us >= clock->floor_us - step_least_us;
  if (stands(clock, wall_us - uptime_us) && may_follow) {
    clock->now_us = wall_us;
    clock->stepped = false;
  }
  clock->possible_us = wall_us > clock->now_us ? wall_us : clock->now_us;
  return clock->now_us;
}

bool hw__guarded_clock_settled(const hw__guarded_clock *clock) {
  return clock->uptime_us >= clock->settled_us;
}
