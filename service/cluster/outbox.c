#include "cluster/outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "cluster/feed.h"
#include "cluster/wire.h"

enum { PAGE = 32, PUBLISH_MS = 2000 };

static const char cursor_name[] = "outbox";

/* One event on its way, and where its incident's history has been published to. */
typedef struct {
  char subject[HW_WIRE_SUBJECT], id[64], key[HW_WIRE_SUBJECT];
  char *text;
  int64_t event, incident, track_seq;
  bool is_estimate, is_latest;
} sheet;

typedef struct {
  sheet sheets[PAGE];
  size_t count;
} page;

hw__db_status hw__outbox_open(hw__outbox *outbox) {
  return hw__feed_cursor(outbox->store, cursor_name, &outbox->cursor);
}

/* A history made by another engine is a different one, so it is published from its beginning. */
static void track_cursor(int64_t incident, char out[48]) {
  snprintf(out, 48, "tracks-%" PRId64 "-%d", incident, HW_ENGINE);
}

/* How far the incident's history has been published: on this page, or as stored. */
static int64_t tracks_sent(const page *p, hw__db *db, int64_t incident) {
  for (size_t i = p->count; i-- > 0;) {
    if (p->sheets[i].incident == incident && p->sheets[i].is_estimate) {
      return p->sheets[i].track_seq;
    }
  }
  char name[48];
  int64_t seq = 0;
  track_cursor(incident, name);
  return hw__db_cursor(db, name, &seq) == HW_DB_OK ? seq : 0;
}

static bool write_sheet(const hw__outbox *outbox, hw__db *db, page *p, hw__wire_news *news, const hw__event *event) {
  sheet *s = &p->sheets[p->count];
  *s = (sheet){.event = event->id, .incident = event->incident, .is_estimate = hw__event_is(event, HW_EVENT_ESTIMATE)};
  *news = (hw__wire_news){.fence = outbox->lease->fence, .event = *event};
  const ptrdiff_t site = hw__catalog_site_of_key(outbox->catalog, event->river);
  if (hw__db_incident(db, event->incident, &news->incident) != HW_DB_OK || site < 0) {
    return false;
  }
  if (s->is_estimate) {
    const int64_t after = tracks_sent(p, db, event->incident);
    if (hw__db_tracks(db, event->incident, after, news->tracks, HW_WIRE_TRACKS, &news->track_count) != HW_DB_OK) {
      return false;
    }
    while (news->track_count && news->tracks[news->track_count - 1].seq > event->seq) {
      news->track_count--;
    }
    s->track_seq = event->seq;
    for (size_t i = 0; i < p->count; i++) {
      p->sheets[i].is_latest = p->sheets[i].is_latest && p->sheets[i].incident != event->incident;
    }
    s->is_latest = true;
  }
  const char *river = hw__catalog_site(outbox->catalog, (size_t)site)->id;
  hw__wire_subject("out", outbox->lease->partition, river, event->kind, s->subject);
  snprintf(s->id, sizeof s->id, "%" PRId64 ".%zu.%" PRId64, outbox->lease->fence, outbox->lease->partition, event->id);
  snprintf(s->key, sizeof s->key, "$KV.hw_state.%" PRId64, event->incident);
  s->text = hw__wire_write_news(outbox->catalog, news);
  return s->text != NULL;
}

static bool collect(const hw__outbox *outbox, page *p, int64_t *last) {
  hw__event events[PAGE];
  size_t count = 0;
  hw__db *db = hw__store_reader(outbox->store);
  hw__wire_news *news = malloc(sizeof *news);
  bool ok = db && news && hw__db_events(db, outbox->cursor, true, events, PAGE, &count) == HW_DB_OK;
  for (size_t i = 0; i < count; i++) {
    if (ok && write_sheet(outbox, db, p, news, &events[i])) {
      p->count++;
    } else if (ok) {
      /* A river that is no longer served, or a text that is not JSON: this event can never be published. */
      hw__logf(HW_LOG_WARNING, "event_not_published", "id", "%" PRId64, events[i].id);
    }
    *last = events[i].id;
    free(events[i].body);
  }
  free(news);
  if (db) {
    hw__store_return(outbox->store, db);
  }
  return ok;
}

static bool send_page(const hw__outbox *outbox, const page *p) {
  hw__bus_letter letters[2 * PAGE];
  size_t n = 0;
  for (size_t i = 0; i < p->count; i++) {
    const sheet *s = &p->sheets[i];
    letters[n++] = (hw__bus_letter){.subject = s->subject, .data = s->text, .size = strlen(s->text), .id = s->id};
    if (s->is_latest) {
      letters[n++] = (hw__bus_letter){.subject = s->key, .data = s->text, .size = strlen(s->text)};
    }
  }
  return n == 0 ||
         (hw__lease_holds(outbox->lease) && hw__bus_publish(outbox->cluster->bus, letters, n, PUBLISH_MS) == HW_BUS_OK);
}

typedef struct {
  const page *p;
  int64_t cursor;
} cursor_job;

static hw__db_status run_cursor(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  const cursor_job *job = context;
  hw__db_status status = hw__db_put_cursor(db, cursor_name, job->cursor);
  for (size_t i = 0; i < job->p->count && status == HW_DB_OK; i++) {
    if (job->p->sheets[i].is_estimate) {
      char name[48];
      track_cursor(job->p->sheets[i].incident, name);
      status = hw__db_put_cursor(db, name, job->p->sheets[i].track_seq);
    }
  }
  /* What is published is never read from this database again. The last row stays, because its number goes on
   * counting. */
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_forget_estimates(db, job->cursor);
}

int hw__outbox_flush(hw__outbox *outbox) {
  page *p = calloc(1, sizeof *p);
  int64_t last = outbox->cursor;
  int sent = p && collect(outbox, p, &last) ? 0 : -1;
  if (sent == 0 && last > outbox->cursor) {
    cursor_job job = {p, last};
    sent = send_page(outbox, p) && hw__store_write(outbox->store, run_cursor, &job) == HW_DB_OK ? (int)p->count : -1;
    if (sent >= 0) {
      outbox->cursor = last;
      hw__metric_add(HW_METRIC_OUTBOX, p->count);
      sent = sent ? sent : 1;
    }
  }
  for (size_t i = 0; p && i < p->count; i++) {
    free(p->sheets[i].text);
  }
  free(p);
  return sent;
}
