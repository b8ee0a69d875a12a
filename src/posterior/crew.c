#include "posterior/crew.h"

#include <stdlib.h>

#include "posterior/walk.h"

size_t hw__crew_size(size_t threads) {
  const size_t wanted = threads ? threads : hw__pool_cores();
  return wanted < HW__CREW ? wanted : HW__CREW;
}

void hw__crew_begin(hw__crew *crew, size_t threads) {
  *crew = (hw__crew){0};
  const size_t most = hw__crew_size(threads);
  while (crew->others + 1 < most && (crew->walk[crew->others] = hw__walk_create()) != NULL) {
    crew->others++;
  }
  if (crew->others > 0 && hw__pool_create(crew->others + 1, &crew->pool) != HW_OK) {
    hw__crew_end(crew);
  }
}

void hw__crew_end(hw__crew *crew) {
  hw__pool_free(crew->pool);
  for (size_t i = 0; i < crew->others; i++) {
    free(crew->walk[i]);
  }
  *crew = (hw__crew){0};
}

void hw__crew_share(const hw__crew *crew, size_t count, void (*work)(void *context, size_t i), void *context) {
  if (crew->pool) {
    hw__pool_run(crew->pool, count, work, context);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    work(context, i);
  }
}
