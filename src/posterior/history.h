/* The readings kept for the moves: bounded, however long the record.
 *
 * Entries stand sensor by sensor, in time order. When the room is used up, neighbours of one sensor are merged into
 * bins that keep their mean, their spread in time and the slope of the readings across it, so that a bin is right to
 * second order in its width (kernel.h, hw__bin): widths of a fifth of a pulse do no harm that can be measured.
 */
#ifndef HW_POSTERIOR_HISTORY_H
#define HW_POSTERIOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  double time_s;     /* mean */
  double value_g_m3; /* mean, as read; the limit, for a non-detect */
  double count;      /* readings merged */
  double spread_s2;  /* mean squared distance of their times from the mean */
  double slope_g_s;  /* mean of time distance times value distance, g/m3 s */
  double first_s, last_s;
  double variance; /* of one reading's noise, (g/m3)^2, as last refreshed */
  double share;    /* how much of it is taken in: below 1 only while it is being tempered in */
  bool below_limit;
  bool quiet; /* a non-detect where no plume is expected: it tells of the background */
  bool held;  /* waiting for its neighbour to tell whether it is a lone spike */
  bool aside; /* found to be one; not used */
} hw__entry;

typedef struct {
  size_t sensor_count, capacity;
  size_t *start; /* sensor_count + 1 */
  hw__entry *entries;
  double idle_before_s; /* earlier readings bear on the background alone and merge freely */
} hw__history;

bool hw__history_create(size_t sensor_count, size_t capacity, hw__history *out);
void hw__history_free(hw__history *history);
void hw__history_clear(hw__history *history);
size_t hw__history_bytes(const hw__history *history);
/* Has the sensor said anything? */
bool hw__history_heard(const hw__history *history, size_t sensor);
size_t hw__history_count(const hw__history *history);

/* Position of the sensor's first entry later than time_s. */
size_t hw__history_after(const hw__history *history, size_t sensor, double time_s);
/* Is this instant of this sensor covered by an entry already: an unmerged one at the same time? */
bool hw__history_has(const hw__history *history, size_t sensor, double time_s);
/* Insert in time order; merges first when there is no room. Returned: its position. */
size_t hw__history_insert(hw__history *history, size_t sensor, const hw__entry *entry);

/* What merging has cost a sensor whose pulse has the standard deviation width_s: bins are right to second order in
 * their width, and this is the fourth order that they leave out, squared, in units of their noise and summed. From 1 on
 * the answer may be off by as much as its own standard deviation.
 * base_g_m3: the background. *widest_s: the widest bin that has a part in it. */
double hw__history_blur(const hw__history *history, size_t sensor, double base_g_m3, double width_s, double *widest_s);

#endif
