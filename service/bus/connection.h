/* Inside the NATS backend: the connection and the letters waiting for an answer. */
#ifndef HW_BUS_CONNECTION_H
#define HW_BUS_CONNECTION_H

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>

#include "bus/bus.h"

enum { API_MS = 1500 }; /* for an answer of the engine itself */

/* Letters of one call of hw__bus_publish that are under way. */
typedef struct hw__bus_batch {
  uint64_t number;
  hw__bus_letter *letters;
  size_t count;
  struct hw__bus_batch *next;
} hw__bus_batch;

struct hw__bus {
  natsConnection *connection;
  jsCtx *js;
  char inbox[64]; /* answers come to <inbox>.<batch>.<letter> */
  natsSubscription *answers, *words;
  atomic_bool closing;
  hw__bus_hear hear;
  void *hear_context;
  pthread_mutex_t lock; /* batches */
  pthread_cond_t answered;
  hw__bus_batch *batches;
  uint64_t batch_count;
};

/* Called by the library with an answer. */
void hw__bus_on_answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *bus);

#endif
