#include "live/accept.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/follower.h"
#include "cluster/wire.h"

enum { PUBLISH_MS = 5000, ACT_MS = 10000, ID_SIZE = 33 };

/* Readings of one river for one message. */
typedef struct {
  hw__checked_reading **entries;
  size_t count;
  char subject[HW_WIRE_SUBJECT];
  char id[ID_SIZE];
  char *text;
} parcel;

/* The same readings sent again get the same id, and the stream stores one of them. That only saves work: a reading
 * never counts twice because the worker's database knows it already. */
static bool name_parcel(parcel *p) {
  uint8_t digest[32];
  gnutls_hash_hd_t hash;
  if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0) {
    return false;
  }
  gnutls_hash(hash, p->subject, strlen(p->subject));
  gnutls_hash(hash, p->text, strlen(p->text));
  gnutls_hash_deinit(hash, digest);
  for (size_t i = 0; i < (ID_SIZE - 1) / 2; i++) {
    snprintf(p->id + 2 * i, 3, "%02x", digest[i]);
  }
  return true;
}

static bool wrap(const hw__service *service, const hw__cluster *cluster, parcel *p) {
  const hw__site *site = hw__catalog_site(service->catalog, p->entries[0]->place.site);
  hw__wire_subject("in", hw__wire_partition(site->id, cluster->partitions), site->id, "readings", p->subject);
  p->text = hw__wire_readings(site, (const hw__checked_reading *const *)p->entries, p->count);
  return p->text && name_parcel(p);
}

static int by_site(const void *a, const void *b) {
  const hw__checked_reading *x = *(hw__checked_reading *const *)a, *y = *(hw__checked_reading *const *)b;
  const size_t s = x->place.site, t = y->place.site;
  return s != t ? (s > t) - (s < t) : (x > y) - (x < y);
}

/* The next parcel of every river: one each, because what is sent together may be stored in any order.
 * Entries are sorted by river; sent[] counts, at the first entry of a river, those sent already. */
static size_t gather(hw__checked_reading **sorted, size_t count, size_t *sent, parcel *parcels) {
  size_t n = 0;
  for (size_t from = 0; from < count;) {
    size_t end = from;
    while (end < count && sorted[end]->place.site == sorted[from]->place.site) {
      end++;
    }
    const size_t first = from + sent[from];
    if (first < end) {
      const size_t rows = end - first < HW_WIRE_ROWS ? end - first : HW_WIRE_ROWS;
      parcels[n++] = (parcel){.entries = sorted + first, .count = rows};
      sent[from] += rows;
    }
    from = end;
  }
  return n;
}

static hw__db_status send_parcels(hw__service *service, const hw__cluster *cluster, parcel *parcels,
                                  hw__bus_letter *letters, size_t count) {
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    status = wrap(service, cluster, &parcels[i]) ? HW_DB_OK : HW_DB_MEMORY;
    letters[i] = (hw__bus_letter){.subject = parcels[i].subject,
                                  .data = parcels[i].text,
                                  .size = parcels[i].text ? strlen(parcels[i].text) : 0,
                                  .id = parcels[i].id};
  }
  if (status == HW_DB_OK && hw__bus_publish(cluster->bus, letters, count, PUBLISH_MS) != HW_BUS_OK) {
    status = HW_DB_AWAY;
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t row = 0; row < parcels[i].count; row++) {
      parcels[i].entries[row]->fate = letters[i].repeated ? HW_FATE_DUPLICATE : HW_FATE_ACCEPTED;
    }
    free(parcels[i].text);
  }
  return status;
}

static hw__db_status publish_readings(hw__service *service, const hw__cluster *cluster, hw__ingest *ingest) {
  const size_t count = ingest->count;
  hw__checked_reading **sorted = malloc(count * sizeof *sorted);
  size_t *sent = calloc(count, sizeof *sent);
  parcel *parcels = calloc(count, sizeof *parcels);
  hw__bus_letter *letters = calloc(count, sizeof *letters);
  hw__db_status status = sorted && sent && parcels && letters ? HW_DB_OK : HW_DB_MEMORY;
  if (status == HW_DB_OK) {
    for (size_t i = 0; i < count; i++) {
      sorted[i] = &ingest->entries[i];
    }
    qsort(sorted, count, sizeof *sorted, by_site);
    size_t n;
    while (status == HW_DB_OK && (n = gather(sorted, count, sent, parcels)) > 0) {
      status = send_parcels(service, cluster, parcels, letters, n);
    }
  }
  free(sorted);
  free(sent);
  free(parcels);
  free(letters);
  return status;
}

hw__ingest hw__accept_begin(hw__service *service) {
  const hw__guarded_clock clock = hw__store_clock(service->store);
  return (hw__ingest){.catalog = service->catalog,
                      .now_unix_s = (double)clock.now_us * 1e-6,
                      .possible_s = (double)clock.possible_us * 1e-6,
                      .future_s = service->options.future_s};
}

hw__db_status hw__accept_readings(hw__service *service, hw__ingest *ingest) {
  if (ingest->undecided) {
    return HW_DB_CLOCK;
  }
  if (!service->follower) {
    return hw__store_ingest(service->store, ingest);
  }
  const hw__cluster *cluster = hw__follower_cluster(service->follower);
  if (!cluster) {
    return HW_DB_AWAY;
  }
  const hw__db_status status = ingest->count ? publish_readings(service, cluster, ingest) : HW_DB_OK;
  if (status == HW_DB_OK) {
    for (size_t i = 0; i < ingest->count; i++) {
      ingest->tally[ingest->entries[i].fate]++;
    }
  }
  return status;
}

/* --- a person's word --- */

static hw__db_status publish_command(hw__service *service, size_t site, const hw__log_record *record, int64_t *seq) {
  const hw__cluster *cluster = hw__follower_cluster(service->follower);
  char *text = cluster ? hw__wire_command(record) : NULL;
  if (!text) {
    return HW_DB_AWAY;
  }
  const char *river = hw__catalog_site(service->catalog, site)->id;
  char subject[HW_WIRE_SUBJECT], id[ID_SIZE];
  uint64_t chance[2] = {0, 0};
  const bool unique = getrandom(chance, sizeof chance, 0) == (ssize_t)sizeof chance;
  snprintf(id, sizeof id, "%016llx%016llx", (unsigned long long)chance[0], (unsigned long long)chance[1]);
  hw__wire_subject("in", hw__wire_partition(river, cluster->partitions), river, "command", subject);
  hw__bus_letter letter = {.subject = subject, .data = text, .size = strlen(text), .id = id};
  const bool ok = unique && hw__bus_publish(cluster->bus, &letter, 1, PUBLISH_MS) == HW_BUS_OK;
  free(text);
  *seq = ok ? letter.seq * HW_WIRE_STRIDE : *seq;
  return ok ? HW_DB_OK : HW_DB_AWAY;
}

/* Wait until the store shows the incident, or shows it closed. */
static bool await_incident(hw__service *service, int64_t id, bool closed) {
  for (int waited = 0; waited < ACT_MS && !atomic_load(&service->stopping); waited += 50) {
    hw__incident incident;
    hw__db *db = hw__store_reader(service->store);
    const bool there = db && hw__db_incident(db, id, &incident) == HW_DB_OK && (!closed || incident.closed_seq);
    if (db) {
      hw__store_return(service->store, db);
    }
    if (there) {
      return true;
    }
    hw__clock_nap_ms(50);
  }
  return false;
}

hw__db_status hw__accept_open(hw__service *service, size_t site, const char *method, double time_s, int64_t *id,
                              bool *shown) {
  if (!service->follower) {
    *shown = true;
    return hw__tracker_open(service->processing.tracker, site, method, time_s, id);
  }
  hw__log_record record = {.kind = HW_RECORD_OPEN, .time_s = time_s};
  snprintf(record.method, sizeof record.method, "%s", method ? method : "");
  const hw__db_status status = publish_command(service, site, &record, id);
  *shown = status == HW_DB_OK && await_incident(service, *id, false);
  return status;
}

static hw__db_status find_incident(hw__service *service, int64_t id, hw__incident *out) {
  hw__db *db = NULL;
  hw__db_status status = hw__store_borrow(service->store, &db);
  if (status == HW_DB_OK) {
    status = hw__db_incident(db, id, out);
  }
  if (db) {
    hw__store_return(service->store, db);
  }
  return status;
}

hw__db_status hw__accept_close(hw__service *service, int64_t id, bool *shown) {
  if (!service->follower) {
    *shown = true;
    return hw__tracker_close(service->processing.tracker, id);
  }
  hw__incident incident;
  hw__db_status status = find_incident(service, id, &incident);
  const ptrdiff_t site = status == HW_DB_OK ? hw__catalog_site_of_key(service->catalog, incident.river) : -1;
  if (status == HW_DB_OK && (incident.closed_seq || site < 0)) {
    return HW_DB_ABSENT;
  }
  const hw__log_record record = {.kind = HW_RECORD_CLOSE, .incident = id, .time_s = NAN};
  int64_t seq = 0;
  if (status == HW_DB_OK) {
    status = publish_command(service, (size_t)site, &record, &seq);
  }
  *shown = status == HW_DB_OK && await_incident(service, id, true);
  return status;
}

/* Wait until the store shows the event of this acknowledgement. */
static bool await_acknowledgement(hw__service *service, int64_t id, int64_t seq) {
  bool there = false;
  for (int waited = 0; waited < ACT_MS && !there && !atomic_load(&service->stopping); waited += 50) {
    hw__event events[64];
    size_t count = 0;
    hw__db *db = hw__store_reader(service->store);
    if (db) {
      hw__db_latest_events(db, 0, events, sizeof events / sizeof events[0], &count);
      hw__store_return(service->store, db);
    }
    for (size_t i = 0; i < count; i++) {
      there = there || (events[i].incident == id && events[i].seq == seq);
      free(events[i].body);
    }
    if (!there) {
      hw__clock_nap_ms(50);
    }
  }
  return there;
}

hw__db_status hw__accept_acknowledgement(hw__service *service, int64_t id, const char *note, bool *shown) {
  hw__incident incident;
  int64_t seq = 0;
  hw__db_status status = find_incident(service, id, &incident);
  const ptrdiff_t site = status == HW_DB_OK ? hw__catalog_site_of_key(service->catalog, incident.river) : -1;
  if (status == HW_DB_OK && site < 0) {
    return HW_DB_ABSENT;
  }
  *shown = true;
  if (status == HW_DB_OK && !service->follower) {
    return hw__tracker_acknowledge(service->processing.tracker, &incident, note, &seq);
  }
  if (status == HW_DB_OK) {
    const hw__log_record record = {.kind = HW_RECORD_ACKNOWLEDGE, .incident = id, .time_s = NAN, .note = note};
    status = publish_command(service, (size_t)site, &record, &seq);
    *shown = status == HW_DB_OK && await_acknowledgement(service, id, seq);
  }
  return status;
}
