#include "cluster/feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/metrics.h"
#include "cluster/wire.h"

/* How far a sensor's clock may be ahead of the stream's. The service that accepts readings checks more closely; this
 * stops messages that did not come through it. */
static const double future_s = 86400;

typedef struct {
  const hw__catalog *catalog;
  hw__ingest ingest;
  hw__stamp *stamps; /* one for each of ingest.entries */
  size_t stamp_capacity;
  hw__log_record *commands;
  size_t command_count, command_capacity;
  int64_t cursor;
} group;

static bool stamp(group *g, size_t from, const hw__bus_message *message) {
  if (g->ingest.count > g->stamp_capacity) {
    hw__stamp *grown = realloc(g->stamps, g->ingest.capacity * sizeof *grown);
    if (!grown) {
      return false;
    }
    g->stamps = grown;
    g->stamp_capacity = g->ingest.capacity;
  }
  for (size_t i = from; i < g->ingest.count; i++) {
    g->stamps[i] = (hw__stamp){message->seq * HW_WIRE_STRIDE + (int64_t)g->ingest.entries[i].line, message->time_us};
  }
  return true;
}

static bool take_readings(group *g, const hw__bus_message *message, const char *river) {
  const size_t before = g->ingest.count;
  g->ingest.now_unix_s = (double)message->time_us * 1e-6;
  g->ingest.future_s = future_s;
  const hw_status status = hw__wire_read_readings(message->data, message->size, river, &g->ingest);
  g->ingest.tally[HW_FATE_MALFORMED] += status == HW_EINPUT;
  return status != HW_ENOMEM && stamp(g, before, message);
}

static bool take_command(group *g, const hw__bus_message *message, const hw__site *site) {
  hw__log_record command;
  char *note = NULL;
  const hw_status status = hw__wire_read_command(message->data, message->size, &command, &note);
  if (status != HW_OK) {
    g->ingest.tally[HW_FATE_MALFORMED] += status == HW_EINPUT;
    return status == HW_EINPUT;
  }
  if (!hw__grow(&g->commands, g->command_count, &g->command_capacity, sizeof *g->commands, 16)) {
    free(note);
    return false;
  }
  command.seq = message->seq * HW_WIRE_STRIDE;
  command.river = site->key;
  command.received_us = message->time_us;
  g->commands[g->command_count++] = command;
  return true;
}

static bool take_message(group *g, size_t partitions, const hw__bus_message *message) {
  hw__wire_address address;
  g->cursor = message->seq;
  if (!hw__wire_read_address(message->subject, &address) ||
      address.partition != hw__wire_partition(address.river, partitions)) {
    g->ingest.tally[HW_FATE_MALFORMED]++;
    return true;
  }
  const ptrdiff_t site = hw__catalog_find(g->catalog, address.river);
  if (site < 0) {
    g->ingest.tally[HW_FATE_UNKNOWN]++;
    return true;
  }
  if (strcmp(address.kind, "readings") == 0) {
    return take_readings(g, message, address.river);
  }
  if (strcmp(address.kind, "command") == 0) {
    return take_command(g, message, hw__catalog_site(g->catalog, (size_t)site));
  }
  g->ingest.tally[HW_FATE_MALFORMED]++;
  return true;
}

static hw__db_status run_feed(hw__db *db, int64_t *seq, void *context) {
  group *g = context;
  hw__db_status status = hw__db_append_stamped(db, g->catalog, g->ingest.entries, g->ingest.count, g->stamps);
  for (size_t i = 0; i < g->ingest.count && status == HW_DB_OK; i++) {
    *seq = g->ingest.entries[i].fate == HW_FATE_ACCEPTED && g->stamps[i].seq > *seq ? g->stamps[i].seq : *seq;
  }
  for (size_t i = 0; i < g->command_count && status == HW_DB_OK; i++) {
    int64_t last = g->commands[i].seq - 1; /* it gets the number after it */
    status = hw__db_command(db, &g->commands[i], &last);
    *seq = last > *seq ? last : *seq;
  }
  if (status != HW_DB_OK) {
    return status;
  }
  return hw__db_put_cursor(db, HW_FEED_CURSOR, g->cursor);
}

hw__db_status hw__feed(hw__store *store, const hw__catalog *catalog, size_t partitions, const hw__bus_message *messages,
                       size_t count, uint64_t *tally) {
  group g = {.catalog = catalog, .ingest = {.catalog = catalog}};
  hw__db_status status = HW_DB_OK;
  for (size_t i = 0; i < count && status == HW_DB_OK; i++) {
    status = take_message(&g, partitions, &messages[i]) ? HW_DB_OK : HW_DB_MEMORY;
  }
  if (status == HW_DB_OK) {
    status = hw__store_write(store, run_feed, &g);
  }
  if (status == HW_DB_OK) {
    for (size_t i = 0; i < g.ingest.count; i++) {
      g.ingest.tally[g.ingest.entries[i].fate]++;
    }
    if (tally) {
      memcpy(tally, g.ingest.tally, sizeof g.ingest.tally);
    }
    hw__metric_add(HW_METRIC_FEED_MESSAGES, count);
  }
  hw__ingest_clear(&g.ingest);
  free(g.stamps);
  for (size_t i = 0; i < g.command_count; i++) {
    free((char *)g.commands[i].note);
  }
  free(g.commands);
  return status;
}

hw__db_status hw__feed_cursor(hw__store *store, const char *name, int64_t *out) {
  hw__db *db = NULL;
  int64_t cursor = 0;
  hw__db_status status = hw__store_borrow(store, &db);
  if (status == HW_DB_OK) {
    status = hw__db_cursor(db, name, &cursor);
  }
  if (db) {
    hw__store_return(store, db);
  }
  status = status == HW_DB_ABSENT ? HW_DB_OK : status;
  *out = status == HW_DB_OK ? cursor : *out;
  return status;
}

static hw__db_status run_adopt(hw__db *db, int64_t *seq, void *context) {
  (void)seq;
  return hw__db_put_cursor(db, "cluster", *(const int64_t *)context);
}

hw__db_status hw__feed_adopt(hw__store *store, int64_t cluster) {
  int64_t stored = 0;
  const hw__db_status status = hw__feed_cursor(store, "cluster", &stored);
  if (status != HW_DB_OK || stored == cluster) {
    return status;
  }
  return stored || hw__store_seq(store) ? HW_DB_FOREIGN : hw__store_write(store, run_adopt, &cluster);
}
