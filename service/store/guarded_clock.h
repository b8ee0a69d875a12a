/* The time, guarded against a machine's clock that is wrong.
 *
 * The wall clock is followed while it keeps step with the machine's uptime. When it is set, the clock here runs on as
 * it ran, and follows
 *   - ahead, once the new time has stood for a minute: a glitch of seconds moves nothing;
 *   - back, likewise, but not below what has stood for an hour or was stored by an earlier run: a wrong step back does
 *     not make true readings look like the future, and a wrong step ahead is taken back.
 * An earlier run's clock is the latest of its stamps that does not lie ahead of the wall clock. Where most of them do,
 * it is the wall clock that is wrong, and the latest counts that is not one of a few set apart by more than a day.
 *
 * Plain data, no system call: microseconds since 1970 and since the machine started are given. Not safe from threads.
 */
#ifndef HW_STORE_GUARDED_CLOCK_H
#define HW_STORE_GUARDED_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int64_t now_us;      /* at the last look */
  int64_t possible_us; /* later than now_us while the wall clock was set ahead and has not stood for a minute */
  int64_t uptime_us;   /* at the last look */
  int64_t floor_us;    /* no step back below this is followed */
  int64_t agreed_us;   /* uptime since which the wall clock keeps step */
  int64_t settled_us;  /* uptime from which on it may decide that readings are removed */
  int64_t step_us;     /* wall clock less uptime, as it was set to */
  int64_t step_since_us;
  bool stepped;
} hw__guarded_clock;

/* stamps: of an earlier run, in any order; sorted here. */
void hw__guarded_clock_start(hw__guarded_clock *clock, int64_t *stamps, size_t count, int64_t wall_us,
                             int64_t uptime_us);
/* After a start: last_us is when the last record came that is an hour old or older by this clock, 0: none is. The end
 * of the log may be of an earlier run under the same wrong clock; what came before that shows it. */
void hw__guarded_clock_compare(hw__guarded_clock *clock, int64_t last_us);
/* What last_us is asked for: records up to this time. */
int64_t hw__guarded_clock_hour_ago(const hw__guarded_clock *clock);
/* Look again. Returned: now_us. */
int64_t hw__guarded_clock_look(hw__guarded_clock *clock, int64_t wall_us, int64_t uptime_us);
/* Has the wall clock kept step for an hour since it was set, or since a start more than a day after what is stored? An
 * hour within the log counts too. */
bool hw__guarded_clock_settled(const hw__guarded_clock *clock);

#endif
