#include "incidents/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The first that is not before this incident. */
static size_t place_of(const hw__turns *turns, int64_t incident) {
  size_t lo = 0, hi = turns->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (turns->engines[middle]->incident.id < incident) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

hw__engine *hw__turns_find(const hw__turns *turns, int64_t incident) {
  const size_t at = place_of(turns, incident);
  return at < turns->count && turns->engines[at]->incident.id == incident ? turns->engines[at] : NULL;
}

bool hw__turns_reserve(hw__turns *turns) {
  return hw__grow(&turns->engines, turns->count, &turns->capacity, sizeof *turns->engines, 64);
}

void hw__turns_add(hw__turns *turns, hw__engine *engine) {
  const size_t at = place_of(turns, engine->incident.id);
  memmove(&turns->engines[at + 1], &turns->engines[at], (turns->count - at) * sizeof *turns->engines);
  turns->engines[at] = engine;
  turns->count++;
  turns->next += at < turns->next; /* the incidents after it have not had their turn yet */
}

void hw__turns_tell(hw__turns *turns) {
  turns->version++;
}

hw__engine *hw__turns_take(hw__turns *turns) {
  for (;;) {
    while (turns->next < turns->count) {
      hw__engine *engine = turns->engines[turns->next++];
      if (!engine->attended) {
        engine->attended = true;
        engine->users++;
        return engine;
      }
      engine->missed = true;
    }
    if (!turns->again && turns->attended == turns->version) {
      return NULL;
    }
    turns->again = false;
    turns->attended = turns->version;
    turns->next = 0;
  }
}

bool hw__turns_give_back(hw__turns *turns, hw__engine *engine, bool more) {
  turns->again = turns->again || more || engine->missed;
  engine->attended = engine->missed = false;
  engine->users--;
  return turns->again;
}

/* Its own fields may be read without its lock only while it is idle. */
static bool is_idle(const hw__engine *engine) {
  return engine->users == 0 && (engine->finished || !engine->followed);
}

static hw__engine *longest_unused(const hw__turns *turns, size_t *held) {
  hw__engine *oldest = NULL;
  *held = 0;
  for (size_t i = 0; i < turns->count; i++) {
    hw__engine *engine = turns->engines[i];
    if (is_idle(engine) && engine->run) {
      ++*held;
      oldest = !oldest || engine->used < oldest->used ? engine : oldest;
    }
  }
  return oldest;
}

void hw__turns_let_go(hw__turns *turns, size_t kept) {
  size_t held = 0, to = 0, passed = 0;
  for (hw__engine *oldest = longest_unused(turns, &held); held > kept; oldest = longest_unused(turns, &held)) {
    hw__engine_drop(oldest);
  }
  for (size_t i = 0; i < turns->count; i++) {
    hw__engine *engine = turns->engines[i];
    if (is_idle(engine) && !engine->run) {
      passed += i < turns->next;
      hw__engine_free(engine);
    } else {
      turns->engines[to++] = engine;
    }
  }
  turns->count = to;
  turns->next -= passed;
}

void hw__turns_free(hw__turns *turns) {
  for (size_t i = 0; i < turns->count; i++) {
    hw__engine_free(turns->engines[i]);
  }
  free(turns->engines);
  *turns = (hw__turns){0};
}
