#include "incidents/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The first that is not before this incident. */
static size_t place_of(const hw_turns *turns, int64_t incident) {
  size_t lo = 0, hi = turns->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (turns->works[middle]->incident.id < incident) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

hw_work *hw__turns_find(const hw_turns *turns, int64_t incident) {
  const size_t at = place_of(turns, incident);
  return at < turns->count && turns->works[at]->incident.id == incident ? turns->works[at] : NULL;
}

bool hw__turns_reserve(hw_turns *turns) {
  return hw__grow(&turns->works, turns->count, &turns->capacity, sizeof *turns->works, 64);
}

void hw__turns_add(hw_turns *turns, hw_work *work) {
  const size_t at = place_of(turns, work->incident.id);
  memmove(&turns->works[at + 1], &turns->works[at], (turns->count - at) * sizeof *turns->works);
  turns->works[at] = work;
  turns->count++;
  turns->next += at < turns->next; /* those behind it have not had their turn yet */
}

void hw__turns_tell(hw_turns *turns) {
  turns->version++;
}

hw_work *hw__turns_take(hw_turns *turns) {
  for (;;) {
    while (turns->next < turns->count) {
      hw_work *work = turns->works[turns->next++];
      if (!work->attended) {
        work->attended = true;
        work->users++;
        return work;
      }
      work->missed = true;
    }
    if (!turns->again && turns->attended == turns->version) {
      return NULL;
    }
    turns->again = false;
    turns->attended = turns->version;
    turns->next = 0;
  }
}

bool hw__turns_give_back(hw_turns *turns, hw_work *work, bool more) {
  turns->again = turns->again || more || work->missed;
  work->attended = work->missed = false;
  work->users--;
  return turns->again;
}

/* Only of an idle one may its own fields be looked at without its lock. */
static bool is_idle(const hw_work *work) {
  return work->users == 0 && (work->finished || !work->followed);
}

static hw_work *longest_unused(const hw_turns *turns, size_t *held) {
  hw_work *oldest = NULL;
  *held = 0;
  for (size_t i = 0; i < turns->count; i++) {
    hw_work *work = turns->works[i];
    if (is_idle(work) && work->run) {
      ++*held;
      oldest = !oldest || work->used < oldest->used ? work : oldest;
    }
  }
  return oldest;
}

void hw__turns_let_go(hw_turns *turns, size_t kept) {
  size_t held = 0, to = 0, passed = 0;
  for (hw_work *oldest = longest_unused(turns, &held); held > kept; oldest = longest_unused(turns, &held)) {
    hw__work_drop(oldest);
  }
  for (size_t i = 0; i < turns->count; i++) {
    hw_work *work = turns->works[i];
    if (is_idle(work) && !work->run) {
      passed += i < turns->next;
      hw__work_free(work);
    } else {
      turns->works[to++] = work;
    }
  }
  turns->count = to;
  turns->next -= passed;
}

void hw__turns_free(hw_turns *turns) {
  for (size_t i = 0; i < turns->count; i++) {
    hw__work_free(turns->works[i]);
  }
  free(turns->works);
  *turns = (hw_turns){0};
}
