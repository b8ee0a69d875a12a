#include "live/replay.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/metrics.h"
#include "live/accept.h"

typedef struct {
  hw__checked_reading *entries;
  size_t count, capacity;
  size_t site;
  bool full; /* of memory */
} recording;

struct hw__replay {
  hw__service *service;
  recording tape;
  double speed;
  pthread_t thread;
};

static int by_time(const void *a, const void *b) {
  const hw__checked_reading *x = a, *y = b;
  if (x->time_s != y->time_s) {
    return x->time_s < y->time_s ? -1 : 1;
  }
  return (x->line > y->line) - (x->line < y->line);
}

static void keep(recording *tape, hw__checked_reading entry) {
  tape->full = tape->full || !hw__grow(&tape->entries, tape->count, &tape->capacity, sizeof *tape->entries, 1024);
  if (!tape->full) {
    entry.line = tape->count;
    tape->entries[tape->count++] = entry;
  }
}

static void keep_discharge(void *context, const hw_flow *flow) {
  recording *tape = context;
  keep(tape, (hw__checked_reading){.place = {tape->site, flow->gauge, true},
                                   .time_s = flow->time_s,
                                   .concentration_g_m3 = flow->discharge_m3_s});
}

static hw_status load(recording *tape, hw_reader *reader, hw_error *error) {
  hw_reading reading;
  double origin;
  hw_status status = HW_OK;
  hw_reader_origin(reader, 0); /* dates as seconds since 1970 */
  while (!tape->full && (status = hw_reader_next(reader, &reading, error)) == HW_OK) {
    keep(tape, (hw__checked_reading){.place = {.site = tape->site, .sensor = reading.sensor},
                                     .time_s = reading.time_s,
                                     .concentration_g_m3 = reading.concentration_g_m3,
                                     .below_limit = reading.below_limit,
                                     .above_limit = reading.above_limit});
  }
  if (tape->full) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < tape->count; i++) {
    tape->entries[i].calendar = hw_reader_calendar(reader, &origin); /* one file, one kind of time */
  }
  if (tape->count) {
    qsort(tape->entries, tape->count, sizeof *tape->entries, by_time);
  }
  return status == HW_EEND ? HW_OK : status;
}

/* Sleep, but wake at once when the service stops. */
static void pause_s(hw__service *service, double seconds) {
  while (seconds > 0 && !atomic_load(&service->stopping)) {
    const double step = seconds < 0.1 ? seconds : 0.1;
    const struct timespec wait = {0, (long)(step * 1e9)};
    nanosleep(&wait, NULL);
    seconds -= step;
  }
}

static void *play(void *argument) {
  hw__replay *replay = argument;
  hw__service *service = replay->service;
  const recording *tape = &replay->tape;
  for (size_t at = 0; at < tape->count && !atomic_load(&service->stopping);) {
    size_t next = at;
    while (next < tape->count && tape->entries[next].time_s == tape->entries[at].time_s) {
      next++;
    }
    hw__ingest ingest = {.catalog = service->catalog, .entries = &tape->entries[at], .count = next - at};
    const hw__db_status status = hw__accept_readings(service, &ingest);
    if (status == HW_DB_OK) {
      hw__fate_count(ingest.tally);
    } else {
      hw__log(HW_LOG_ERROR, "replay_not_stored", "reason", hw__db_text(status));
      pause_s(service, 1);
      continue;
    }
    if (next < tape->count && ingest.tally[HW_FATE_ACCEPTED]) {
      pause_s(service, (tape->entries[next].time_s - tape->entries[at].time_s) / replay->speed);
    }
    free(ingest.rejects);
    at = next;
  }
  hw__log(HW_LOG_INFO, "replay_ended", NULL, NULL);
  return NULL;
}

hw_status hw__replay_start(hw__service *service, const char *argument, double speed, hw__replay **out,
                           hw_error *error) {
  *out = NULL;
  size_t site = 0;
  const char *path = argument;
  const char *equals = strchr(argument, '=');
  if (equals && equals - argument < HW_ID_SIZE) {
    char id[HW_ID_SIZE];
    snprintf(id, sizeof id, "%.*s", (int)(equals - argument), argument);
    const ptrdiff_t found = hw__catalog_find(service->catalog, id);
    if (found >= 0) {
      site = (size_t)found;
      path = equals + 1;
    }
  }
  hw__replay *replay = calloc(1, sizeof *replay);
  hw_reader *reader = NULL;
  hw_status status = HW_ENOMEM;
  if (replay) {
    replay->service = service;
    replay->speed = speed;
    replay->tape.site = site;
    const hw_reader_options options = {.take_flow = keep_discharge, .flow_context = &replay->tape};
    status = hw_reader_open_with(path, &hw__catalog_site(service->catalog, site)->river, &options, &reader, error);
    if (status == HW_OK) {
      status = load(&replay->tape, reader, error);
    }
    hw_reader_free(reader);
  }
  if (status == HW_OK && pthread_create(&replay->thread, NULL, play, replay) != 0) {
    status = HW_ENOMEM;
  }
  if (status != HW_OK) {
    if (replay) {
      free(replay->tape.entries);
    }
    free(replay);
    return status;
  }
  *out = replay;
  return HW_OK;
}

void hw__replay_stop(hw__replay *replay) {
  if (replay) {
    pthread_join(replay->thread, NULL);
    free(replay->tape.entries);
    free(replay);
  }
}
