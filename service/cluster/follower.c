#include "cluster/follower.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "cluster/feed.h"
#include "cluster/lease.h"
#include "cluster/wire.h"

enum { GROUP = 256, NEWS_GROUP = 64, FETCH_MS = 500, PATIENCE_MS = 3000, LOOK_MS = 100 };

static const char out_cursor[] = "out";

struct hw__follower {
  hw__cluster cluster;
  hw__cluster_options options;
  hw__store *store;
  const hw__catalog *catalog;
  pthread_t readings_thread, news_thread;
  atomic_bool joined, stopping, refused;
  hw_error refusal; /* set once the cluster or the store is refused, like the next */
  hw_status refusal_status;
  _Atomic int64_t in_cursor; /* readings up to this message are stored */
  atomic_bool in_idle;       /* and there are no more */
};

static bool stopping(hw__follower *f) {
  return atomic_load(&f->stopping);
}

const hw__cluster *hw__follower_cluster(hw__follower *follower) {
  return atomic_load(&follower->joined) ? &follower->cluster : NULL;
}

hw_status hw__follower_refused(hw__follower *follower, hw_error *error) {
  if (!atomic_load(&follower->refused)) {
    return HW_OK;
  }
  *error = follower->refusal;
  return follower->refusal_status;
}

/* A stream that lost its end would give the same numbers to other readings. */
static bool stream_reaches(hw__follower *f) {
  int64_t last = 0, cursor = 0;
  return hw__feed_cursor(f->store, HW_FEED_CURSOR, &cursor) == HW_DB_OK &&
         (cursor == 0 || (hw__bus_last(f->cluster.bus, "HW_IN", &last) == HW_BUS_OK && last >= cursor));
}

static bool join(hw__follower *f) {
  bool told = false;
  while (!stopping(f)) {
    hw_error error = {{0}};
    const hw_status status = hw__cluster_join(&f->cluster, &f->options, &error);
    const hw__db_status stored = status == HW_OK ? hw__feed_adopt(f->store, f->cluster.id) : HW_DB_AWAY;
    const bool reaches = stored == HW_DB_OK && stream_reaches(f);
    if (reaches) {
      hw__logf(HW_LOG_INFO, "cluster_joined", "partitions", "%zu", f->cluster.partitions);
      return true;
    }
    if (status == HW_EDOMAIN || status == HW_EINPUT || stored == HW_DB_FOREIGN) {
      f->refusal = error;
      f->refusal_status = stored == HW_DB_FOREIGN ? HW_EINPUT : status;
      if (stored == HW_DB_FOREIGN) {
        snprintf(
            f->refusal.text, sizeof f->refusal.text,
            "the database belongs to another cluster or to a single service, expected an empty one or this cluster's");
      }
      atomic_store(&f->refused, true);
      return false;
    }
    if (!told) {
      hw__log(HW_LOG_WARNING, "cluster_not_joined", "reason",
              stored == HW_DB_OK ? "the database has come further than the stream" : error.text);
      told = true;
    }
    hw__store_wait(f->store, UINT64_MAX, 500);
  }
  return false;
}

/* --- readings --- */

static void follow_readings(hw__follower *f, hw__bus_pull *pull) {
  hw__bus_message messages[GROUP];
  size_t count = 0;
  const bool fetched = hw__bus_pull_fetch(pull, messages, GROUP, FETCH_MS, &count) == HW_BUS_OK;
  atomic_store(&f->in_idle, fetched && !count);
  if (!count) {
    return;
  }
  hw__db_status status;
  while ((status = hw__feed(f->store, f->catalog, f->cluster.partitions, messages, count, NULL)) != HW_DB_OK &&
         !stopping(f)) {
    hw__log(HW_LOG_ERROR, "readings_not_stored", "reason", hw__db_text(status));
    hw__clock_nap_ms(1000);
  }
  if (status == HW_DB_OK) {
    atomic_store(&f->in_cursor, messages[count - 1].seq);
  }
  for (size_t i = 0; i < count; i++) {
    hw__bus_message_free(&messages[i]);
  }
}

/* --- what the workers say --- */

typedef struct {
  hw__wire_news *news;
  size_t *partitions; /* of each */
  size_t count;
  int64_t cursor;
  int64_t *fences; /* per partition: the highest fence that a lease has had */
} news_job;

/* A message under an older lease than one already seen comes from a worker that did not know yet that it had lost
 * the lease. */
static hw__db_status pass_fence(hw__db *db, size_t partition, int64_t fence, bool *pass) {
  char name[32];
  int64_t highest = 0;
  snprintf(name, sizeof name, "fence-%zu", partition);
  hw__db_status status = hw__db_cursor(db, name, &highest);
  status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  *pass = fence >= highest;
  return status == HW_DB_OK && fence > highest ? hw__db_put_cursor(db, name, fence) : status;
}

/* An alarm that is raised or withdrawn already is not reported again: a worker that took over may have noticed it at
 * another reading. */
static bool is_told(hw__db *db, const hw__event *event) {
  const bool candidate = hw__event_is(event, HW_EVENT_CANDIDATE) || hw__event_is(event, HW_EVENT_CANDIDATE_WITHDRAWN);
  const bool intake =
      hw__event_is(event, HW_EVENT_INTAKE_ALARM) || hw__event_is(event, HW_EVENT_INTAKE_ALARM_WITHDRAWN);
  hw__event last;
  if ((!candidate && !intake) ||
      hw__db_last_event_of(db, event->incident, candidate ? HW_EVENT_CANDIDATE : HW_EVENT_INTAKE_ALARM, event->subject,
                           &last) != HW_DB_OK) {
    return false;
  }
  free(last.body);
  return hw__event_withdraws(&last) == hw__event_withdraws(event);
}

static hw__db_status put_event(hw__db *db, const hw__event *event) {
  return is_told(db, event) ? HW_DB_OK : hw__db_put_event(db, event);
}

static hw__db_status put_news(hw__db *db, const hw__wire_news *news) {
  const hw__incident *incident = &news->incident;
  hw__db_status status = hw__db_open_incident(db, incident);
  bool reworked = false;
  if (status == HW_DB_OK) {
    status = hw__db_rework_incident(db, incident->id, incident->engine, &reworked); /* as the worker did */
  }
  for (size_t i = 0; i < news->track_count && status == HW_DB_OK; i++) {
    status = hw__db_put_track(db, incident->id, &news->tracks[i]);
  }
  if (status == HW_DB_OK && hw__event_is(&news->event, HW_EVENT_ESTIMATE)) {
    status = hw__db_put_result(db, incident->id, news->event.seq, news->event.body);
  }
  if (status == HW_DB_OK && incident->closed_seq) {
    status = hw__db_close_incident(db, incident);
    if (status == HW_DB_OK) {
      status = hw__db_finish_incident(db, incident->id); /* no engine runs here, so there is none to wait for */
    }
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return put_event(db, &news->event);
}

static hw__db_status run_news(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const news_job *job = context;
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < job->count && status == HW_DB_OK; i++) {
    bool pass = false;
    status = pass_fence(db, job->partitions[i], job->news[i].fence, &pass);
    if (status == HW_DB_OK && pass) {
      status = put_news(db, &job->news[i]);
    }
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_put_cursor(db, out_cursor, job->cursor);
}

static bool read_news(hw__follower *f, const hw__bus_message *message, hw__wire_news *out, size_t *partition) {
  hw__wire_address address;
  const bool ours = hw__wire_read_address(message->subject, &address) &&
                    address.partition == hw__wire_partition(address.river, f->cluster.partitions);
  hw_status status = ours ? HW_ENOMEM : HW_EINPUT;
  while (status == HW_ENOMEM && !stopping(f)) { /* out of memory: it was not read, and must not be skipped */
    status = hw__wire_read_news(message->data, message->size, f->catalog, out);
    hw__clock_nap_ms(status == HW_ENOMEM ? 1000 : 0);
  }
  const bool ok = status == HW_OK;
  *partition = address.partition;
  hw__metric_add(HW_METRIC_NEWS_REFUSED, !ok);
  return ok;
}

/* Was there ever such a lease? If a made-up fence were believed, the messages of all later workers would be refused.
 * A server that has just become the leader may not know the latest lease yet. */
static bool fence_exists(hw__follower *f, news_job *job, size_t partition, int64_t fence, int *patience_ms) {
  int64_t *highest = &job->fences[partition];
  bool asked = false;
  while (fence > *highest && (!asked || *patience_ms > 0) && !stopping(f)) {
    if (hw__lease_highest_fence(f->cluster.bus, partition, highest) != HW_BUS_AWAY) {
      *patience_ms -= asked ? LOOK_MS : 0;
      asked = true;
    }
    hw__clock_nap_ms(fence > *highest ? LOOK_MS : 0);
  }
  return fence <= *highest;
}

/* A result waits for the readings it is based on; they are in the other stream already. A result based on readings
 * that do not exist comes from a stranger. *patience_ms is for a whole group of messages, so that many strangers'
 * messages do not each cause a wait. */
static bool readings_come(hw__follower *f, int64_t wanted, int *patience_ms) {
  while (atomic_load(&f->in_cursor) < wanted && *patience_ms > 0 && !stopping(f)) {
    hw__clock_nap_ms(5);
    *patience_ms = atomic_load(&f->in_idle) ? *patience_ms - 5 : PATIENCE_MS;
  }
  return atomic_load(&f->in_cursor) >= wanted;
}

static void sift(hw__follower *f, news_job *job) {
  size_t kept = 0;
  int for_leases_ms = PATIENCE_MS, for_readings_ms = PATIENCE_MS;
  for (size_t i = 0; i < job->count; i++) {
    hw__wire_news *news = &job->news[i];
    if (fence_exists(f, job, job->partitions[i], news->fence, &for_leases_ms) &&
        readings_come(f, news->event.seq / HW_WIRE_STRIDE, &for_readings_ms)) {
      job->news[kept] = *news;
      job->partitions[kept++] = job->partitions[i];
    } else {
      hw__log_fields(HW_LOG_WARNING, "news_refused", "{s:I, s:I, s:I}", "partition", (json_int_t)job->partitions[i],
                     "fence", (json_int_t)news->fence, "seq", (json_int_t)news->event.seq);
      free(news->event.body);
      hw__metric_add(HW_METRIC_NEWS_REFUSED, 1);
    }
  }
  job->count = kept;
}

static void follow_news(hw__follower *f, hw__bus_pull *pull, news_job *job) {
  hw__bus_message messages[NEWS_GROUP];
  size_t count = 0;
  if (hw__bus_pull_fetch(pull, messages, NEWS_GROUP, FETCH_MS, &count) != HW_BUS_OK || !count) {
    return;
  }
  job->count = 0;
  job->cursor = messages[count - 1].seq;
  for (size_t i = 0; i < count; i++) {
    job->count += read_news(f, &messages[i], &job->news[job->count], &job->partitions[job->count]);
    hw__bus_message_free(&messages[i]);
  }
  sift(f, job);
  hw__db_status status = HW_DB_STOPPING;
  while (!stopping(f) && (status = hw__store_write(f->store, run_news, job)) != HW_DB_OK) {
    hw__log(HW_LOG_ERROR, "news_not_stored", "reason", hw__db_text(status));
    hw__clock_nap_ms(1000);
  }
  hw__metric_add(HW_METRIC_NEWS, count);
  for (size_t i = 0; i < job->count; i++) {
    free(job->news[i].event.body);
  }
}

static void *news_loop(void *argument) {
  hw__follower *f = argument;
  hw__bus_pull *pull = NULL;
  int64_t cursor = 0;
  news_job job = {.news = calloc(NEWS_GROUP, sizeof *job.news),
                  .partitions = calloc(NEWS_GROUP, sizeof *job.partitions)};
  while (!stopping(f) && !atomic_load(&f->joined)) {
    hw__clock_nap_ms(50);
  }
  job.fences = calloc(f->cluster.partitions + 1, sizeof *job.fences);
  if (job.news && job.partitions && job.fences && hw__feed_cursor(f->store, out_cursor, &cursor) == HW_DB_OK &&
      !stopping(f) && hw__bus_pull_open(f->cluster.bus, "HW_OUT", "hw.out.>", cursor, &pull) == HW_OK) {
    while (!stopping(f)) {
      follow_news(f, pull, &job);
    }
  }
  hw__bus_pull_close(pull);
  free(job.news);
  free(job.partitions);
  free(job.fences);
  return NULL;
}

static void *readings_loop(void *argument) {
  hw__follower *f = argument;
  hw__bus_pull *pull = NULL;
  int64_t cursor = 0;
  if (join(f) && hw__feed_cursor(f->store, HW_FEED_CURSOR, &cursor) == HW_DB_OK &&
      hw__bus_pull_open(f->cluster.bus, "HW_IN", "hw.in.>", cursor, &pull) == HW_OK) {
    atomic_store(&f->in_cursor, cursor);
    atomic_store(&f->joined, true);
    while (!stopping(f)) {
      follow_readings(f, pull);
    }
  }
  hw__bus_pull_close(pull);
  return NULL;
}

hw_status hw__follower_start(hw__bus *bus, const hw__cluster_options *options, hw__store *store,
                             const hw__catalog *catalog, hw__follower **out) {
  *out = NULL;
  hw__follower *f = calloc(1, sizeof *f);
  if (!f) {
    return HW_ENOMEM;
  }
  f->cluster.bus = bus;
  f->options = *options;
  f->store = store;
  f->catalog = catalog;
  if (pthread_create(&f->readings_thread, NULL, readings_loop, f) != 0) {
    free(f);
    return HW_ENOMEM;
  }
  if (pthread_create(&f->news_thread, NULL, news_loop, f) != 0) {
    atomic_store(&f->stopping, true);
    pthread_join(f->readings_thread, NULL);
    free(f);
    return HW_ENOMEM;
  }
  *out = f;
  return HW_OK;
}

void hw__follower_stop(hw__follower *f) {
  if (f) {
    atomic_store(&f->stopping, true);
    pthread_join(f->readings_thread, NULL);
    pthread_join(f->news_thread, NULL);
    free(f);
  }
}
