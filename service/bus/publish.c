/* Publishing with an answer for each letter.
 *
 * A letter goes out with a reply address of its own; the stream's answer, or the server's notice that no stream
 * listens, comes back to it. What failed or was not answered is sent again under the same id, and the stream stores
 * it once. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "bus/connection.h"

enum { WINDOW = 512, RESEND_MS = 2000, FLUSH_MS = 300, WRONG_LAST_SEQUENCE = 10071 };

static void settle(hw__bus_letter *letter, natsMsg *message) {
  json_t *root = natsMsg_IsNoResponders(message)
                     ? NULL
                     : hw__json_read(natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
  const json_t *error = json_object_get(root, "error");
  const json_t *seq = json_object_get(root, "seq");
  if (error) {
    const json_int_t code = json_integer_value(json_object_get(error, "err_code"));
    letter->answer = code == WRONG_LAST_SEQUENCE ? HW_BUS_REFUSED : HW_BUS_FAILED;
  } else if (json_integer_value(seq) > 0) {
    letter->seq = (int64_t)json_integer_value(seq);
    /* When a letter was sent twice, the one stored first may be our own. */
    letter->repeated = letter->sends == 1 && json_is_true(json_object_get(root, "duplicate"));
    letter->answer = HW_BUS_STORED;
  } else {
    letter->answer = HW_BUS_FAILED;
  }
  json_decref(root);
}

void hw__bus_on_answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
  (void)connection;
  (void)subscription;
  hw__bus *bus = context;
  unsigned long long number = 0;
  size_t index = 0;
  const char *subject = natsMsg_GetSubject(message);
  const size_t prefix = strlen(bus->inbox);
  if (strlen(subject) > prefix && sscanf(subject + prefix, ".%llu.%zu", &number, &index) == 2) {
    pthread_mutex_lock(&bus->lock);
    hw__bus_batch *batch = bus->batches;
    while (batch && batch->number != number) {
      batch = batch->next;
    }
    if (batch && index < batch->count && batch->letters[index].answer == HW_BUS_WAITING) {
      settle(&batch->letters[index], message);
      pthread_cond_broadcast(&bus->answered);
    }
    pthread_mutex_unlock(&bus->lock);
  }
  natsMsg_Destroy(message);
}

static bool send_letter(hw__bus *bus, const hw__bus_batch *batch, size_t index) {
  const hw__bus_letter *letter = &batch->letters[index];
  char reply[128], number[32];
  snprintf(reply, sizeof reply, "%s.%llu.%zu", bus->inbox, (unsigned long long)batch->number, index);
  natsMsg *message = NULL;
  natsStatus s = natsMsg_Create(&message, letter->subject, reply, letter->data, (int)letter->size);
  if (s == NATS_OK && letter->id) {
    s = natsMsgHeader_Set(message, "Nats-Msg-Id", letter->id);
  }
  if (s == NATS_OK && letter->guarded) {
    snprintf(number, sizeof number, "%lld", (long long)letter->expected);
    s = natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", number);
  }
  s = s == NATS_OK ? natsConnection_PublishMsg(bus->connection, message) : s;
  natsMsg_Destroy(message);
  return s == NATS_OK;
}

/* Send those that have no good answer. */
static void send_round(hw__bus *bus, hw__bus_batch *batch) {
  if (!hw__bus_connected(bus)) {
    return;
  }
  for (size_t i = 0; i < batch->count; i++) {
    pthread_mutex_lock(&bus->lock);
    const bool due = batch->letters[i].answer == HW_BUS_WAITING || batch->letters[i].answer == HW_BUS_FAILED;
    batch->letters[i].answer = due ? HW_BUS_WAITING : batch->letters[i].answer;
    batch->letters[i].sends += due;
    pthread_mutex_unlock(&bus->lock);
    if (due && !send_letter(bus, batch, i)) {
      return;
    }
  }
  /* Flushes now instead of leaving it to the library, but does not wait long for a server that is paused. */
  natsConnection_FlushTimeout(bus->connection, FLUSH_MS);
}

/* The lock is held. Waits until all have an answer or the time is up. Returned: true when every letter has a final
 * answer. */
static bool await(hw__bus *bus, const hw__bus_batch *batch, int64_t until_ms) {
  const struct timespec until = {until_ms / 1000, (long)(until_ms % 1000) * 1000000};
  for (int waited = 0;;) {
    bool waiting = false, good = true;
    for (size_t i = 0; i < batch->count; i++) {
      waiting = waiting || batch->letters[i].answer == HW_BUS_WAITING;
      good = good && (batch->letters[i].answer == HW_BUS_STORED || batch->letters[i].answer == HW_BUS_REFUSED);
    }
    if (!waiting || waited != 0) {
      return good;
    }
    waited = pthread_cond_timedwait(&bus->answered, &bus->lock, &until);
  }
}

static bool publish_window(hw__bus *bus, hw__bus_batch *batch, int64_t deadline_ms) {
  bool good = false;
  pthread_mutex_lock(&bus->lock);
  batch->number = ++bus->batch_count;
  batch->next = bus->batches;
  bus->batches = batch;
  pthread_mutex_unlock(&bus->lock);
  while (!good) {
    const int64_t now_ms = hw__clock_ms();
    send_round(bus, batch);
    pthread_mutex_lock(&bus->lock);
    good = await(bus, batch, now_ms + RESEND_MS < deadline_ms ? now_ms + RESEND_MS : deadline_ms);
    pthread_mutex_unlock(&bus->lock);
    if (!good) {
      if (hw__clock_ms() >= deadline_ms) {
        break;
      }
      hw__clock_nap_ms(50);
    }
  }
  pthread_mutex_lock(&bus->lock);
  hw__bus_batch **link = &bus->batches;
  while (*link != batch) {
    link = &(*link)->next;
  }
  *link = batch->next;
  pthread_mutex_unlock(&bus->lock);
  return good;
}

hw__bus_status hw__bus_publish(hw__bus *bus, hw__bus_letter *letters, size_t count, int timeout_ms) {
  const int64_t deadline_ms = hw__clock_ms() + timeout_ms;
  hw__bus_status status = HW_BUS_OK;
  for (size_t i = 0; i < count; i++) {
    letters[i].answer = HW_BUS_WAITING;
    letters[i].repeated = false;
    letters[i].sends = 0;
  }
  for (size_t at = 0; at < count; at += WINDOW) {
    hw__bus_batch batch = {.letters = letters + at, .count = count - at < WINDOW ? count - at : WINDOW};
    if (!publish_window(bus, &batch, deadline_ms)) {
      return HW_BUS_AWAY;
    }
    for (size_t i = 0; i < batch.count; i++) {
      status = batch.letters[i].answer == HW_BUS_REFUSED ? HW_BUS_CONFLICT : status;
    }
  }
  return status;
}
