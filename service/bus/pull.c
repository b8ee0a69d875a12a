/* Reading a stream in order and without gaps.
 *
 * The consumer on the other side is short-lived and in memory: our own cursor is what counts. It is made again, from
 * the cursor on, whenever it is gone, numbers its deliveries otherwise than we count them, says it sent what never
 * arrived, or lives on a node whose copy of the stream stays behind: a copy that was cut off is sometimes not
 * brought up to date before the next message comes (seen with 2.9), and a consumer on it does not notice that there
 * is more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/connection.h"

enum { DOUBT_MS = 3000 };

struct hw__bus_pull {
  hw__bus *bus;
  char *stream, *filter;
  int64_t after;      /* last message handed out */
  uint64_t delivered; /* by the present consumer */
  natsSubscription *subscription;
  int64_t heard_ms; /* last sign of life of the consumer */
};

hw_status hw__bus_pull_open(hw__bus *bus, const char *stream, const char *filter, int64_t after, hw__bus_pull **out) {
  *out = NULL;
  hw__bus_pull *pull = calloc(1, sizeof *pull);
  if (!pull || !(pull->stream = strdup(stream)) || !(pull->filter = strdup(filter))) {
    hw__bus_pull_close(pull);
    return HW_ENOMEM;
  }
  pull->bus = bus;
  pull->after = after;
  *out = pull;
  return HW_OK;
}

static void forget(hw__bus_pull *pull) {
  if (pull->subscription) {
    natsSubscription_Unsubscribe(pull->subscription);
    natsSubscription_Destroy(pull->subscription);
    pull->subscription = NULL;
  }
}

void hw__bus_pull_close(hw__bus_pull *pull) {
  if (pull) {
    forget(pull);
    free(pull->stream);
    free(pull->filter);
    free(pull);
  }
}

static bool ask(hw__bus_pull *pull) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = pull->stream;
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = (uint64_t)pull->after + 1;
  options.Config.AckPolicy = js_AckNone;
  options.Config.Replicas = 1;
  options.Config.MemoryStorage = true;
  options.Config.InactiveThreshold = INT64_C(30000000000);
  const natsStatus s = js_PullSubscribe(&pull->subscription, pull->bus->js, pull->filter, NULL, NULL, &options, NULL);
  pull->delivered = 0;
  pull->heard_ms = hw__clock_ms();
  return s == NATS_OK;
}

/* Does the stream's leader know of more messages than we were given? */
static bool leader_has_more(const hw__bus_pull *pull) {
  hw__bus_message last;
  if (hw__bus_get_message(pull->bus, pull->stream, pull->filter, &last) != HW_BUS_OK) {
    return false;
  }
  const bool more = last.seq > pull->after;
  hw__bus_message_free(&last);
  return more;
}

/* Nothing came for a while: is the consumer still there, did all it sent arrive, and has it all there is? */
static bool consumer_is_well(hw__bus_pull *pull) {
  jsConsumerInfo *info = NULL;
  const natsStatus s = natsSubscription_GetConsumerInfo(&info, pull->subscription, NULL, NULL);
  const bool well = s == NATS_OK && info->Delivered.Consumer == pull->delivered && !leader_has_more(pull);
  jsConsumerInfo_Destroy(info);
  pull->heard_ms = hw__clock_ms();
  return well;
}

static bool accept(hw__bus_pull *pull, natsMsg *message, hw__bus_message *out) {
  jsMsgMetaData *meta = NULL;
  const bool ok = natsMsg_GetMetaData(&meta, message) == NATS_OK && meta->Sequence.Consumer == pull->delivered + 1 &&
                  (int64_t)meta->Sequence.Stream > pull->after;
  if (ok) {
    *out = (hw__bus_message){.seq = (int64_t)meta->Sequence.Stream,
                             .time_us = meta->Timestamp / 1000,
                             .pending = meta->NumPending,
                             .subject = natsMsg_GetSubject(message),
                             .data = natsMsg_GetData(message),
                             .size = (size_t)natsMsg_GetDataLength(message),
                             .handle = message};
    pull->after = out->seq;
    pull->delivered++;
  }
  jsMsgMetaData_Destroy(meta);
  return ok;
}

hw__bus_status hw__bus_pull_fetch(hw__bus_pull *pull, hw__bus_message *out, size_t limit, int timeout_ms,
                                  size_t *count) {
  *count = 0;
  if (!hw__bus_connected(pull->bus) || (!pull->subscription && !ask(pull))) {
    forget(pull);
    hw__clock_nap_ms(200);
    return HW_BUS_AWAY;
  }
  natsMsgList list = {NULL, 0};
  const natsStatus s = natsSubscription_Fetch(&list, pull->subscription, (int)limit, timeout_ms, NULL);
  bool whole = s == NATS_OK || s == NATS_TIMEOUT;
  for (int i = 0; i < list.Count; i++) {
    whole = whole && accept(pull, list.Msgs[i], &out[*count]);
    if (whole) {
      list.Msgs[i] = NULL; /* ours now */
      ++*count;
    }
  }
  pull->heard_ms = list.Count ? hw__clock_ms() : pull->heard_ms;
  natsMsgList_Destroy(&list);
  if (!whole || (hw__clock_ms() - pull->heard_ms > DOUBT_MS && !consumer_is_well(pull))) {
    forget(pull);
    if (s != NATS_OK && s != NATS_TIMEOUT) {
      hw__clock_nap_ms(100); /* electing a leader takes a while */
    }
  }
  return HW_BUS_OK;
}
