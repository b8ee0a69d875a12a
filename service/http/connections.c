#include "http/connections.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "http/rate_limit.h"

/* A first head comes with the connection; a further one may be long in coming. 8 MiB within the time of a body are
 * 70 kB/s. */
static const double head_s = 10, idle_s = 60, body_s = 120, answer_s = 300;

typedef struct place {
  int socket;
  hw__network network;
  hw__connection_step step;
  double since_s, until_s; /* until_s 0: no deadline */
  bool leaving;
  struct place *next, *before;
} place;

struct hw__connections {
  size_t most, per_address;
  pthread_t thread;
  pthread_mutex_t lock; /* all below, and every place */
  pthread_cond_t wake;
  bool closing;
  place *first;
  size_t streams;
};

/* The lock is held; the place's thread finds its socket at an end. */
static void send_away(place *p) {
  p->leaving = true;
  shutdown(p->socket, SHUT_RDWR);
  hw__metric_add(HW_METRIC_HTTP_CUT, 1);
}

static void end_overdue(hw__connections *connections) {
  const double now_s = hw__clock_s();
  for (place *p = connections->first; p; p = p->next) {
    if (!p->leaving && p->until_s > 0 && now_s > p->until_s) {
      send_away(p);
    }
  }
}

static void *watch_deadlines(void *argument) {
  hw__connections *connections = argument;
  pthread_mutex_lock(&connections->lock);
  while (!connections->closing) {
    end_overdue(connections);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&connections->wake, &connections->lock, &until);
  }
  pthread_mutex_unlock(&connections->lock);
  return NULL;
}

hw__connections *hw__connections_create(size_t most, size_t per_address) {
  hw__connections *connections = calloc(1, sizeof *connections);
  if (!connections) {
    return NULL;
  }
  connections->most = most;
  connections->per_address = per_address;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&connections->lock, NULL);
  pthread_cond_init(&connections->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (pthread_create(&connections->thread, NULL, watch_deadlines, connections) != 0) {
    free(connections);
    return NULL;
  }
  return connections;
}

void hw__connections_free(hw__connections *connections) {
  if (!connections) {
    return;
  }
  pthread_mutex_lock(&connections->lock);
  connections->closing = true;
  pthread_cond_signal(&connections->wake);
  pthread_mutex_unlock(&connections->lock);
  pthread_join(connections->thread, NULL);
  free(connections);
}

unsigned hw__connections_room(const hw__connections *connections) {
  return (unsigned)(2 * connections->most + 64);
}

static bool same_network(const place *a, const place *b) {
  return memcmp(&a->network, &b->network, sizeof a->network) == 0;
}

/* Who gives way to the newcomer, the newcomer itself where nobody can. `alike`: among those of its address alone. */
static place *who_gives_way(const hw__connections *connections, place *newcomer, bool alike) {
  place *found = newcomer;
  for (place *p = connections->first; p; p = p->next) {
    const bool may = p != newcomer && !p->leaving && p->step <= HW_STEP_ANSWER && (!alike || same_network(p, newcomer));
    if (may &&
        (found == newcomer || p->step < found->step || (p->step == found->step && p->since_s < found->since_s))) {
      found = p;
    }
  }
  return found;
}

static void make_room(const hw__connections *connections, place *newcomer) {
  size_t all = 0, alike = 0;
  for (const place *p = connections->first; p; p = p->next) {
    all += !p->leaving;
    alike += !p->leaving && same_network(p, newcomer);
  }
  if (connections->per_address && alike > connections->per_address) {
    send_away(who_gives_way(connections, newcomer, true));
  } else if (all > connections->most) {
    send_away(who_gives_way(connections, newcomer, false));
  }
}

static void add(hw__connections *connections, struct MHD_Connection *connection, void **context) {
  place *p = calloc(1, sizeof *p);
  const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  *context = p;
  if (!p || !fd) {
    free(p);
    *context = NULL;
    return;
  }
  p->socket = fd->connect_fd;
  p->network = hw__rate_limit_network(connection);
  p->since_s = hw__clock_s();
  p->until_s = p->since_s + head_s;
  pthread_mutex_lock(&connections->lock);
  p->next = connections->first;
  if (p->next) {
    p->next->before = p;
  }
  connections->first = p;
  make_room(connections, p);
  pthread_mutex_unlock(&connections->lock);
}

static void remove_place(hw__connections *connections, place *p) {
  pthread_mutex_lock(&connections->lock);
  connections->streams -= p->step == HW_STEP_STREAM;
  if (p->next) {
    p->next->before = p->before;
  }
  *(p->before ? &p->before->next : &connections->first) = p->next;
  pthread_mutex_unlock(&connections->lock);
  free(p);
}

void hw__connections_notify(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    add(context, connection, socket_context);
  } else if (*socket_context) {
    remove_place(context, *socket_context);
    *socket_context = NULL;
  }
}

static double patience_s(hw__connection_step step) {
  return step == HW_STEP_HEAD ? idle_s : step == HW_STEP_BODY ? body_s : step == HW_STEP_ANSWER ? answer_s : 0;
}

bool hw__connections_step(hw__connections *connections, struct MHD_Connection *connection, hw__connection_step step) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  place *p = info ? info->socket_context : NULL;
  if (!p) {
    return true;
  }
  const double now_s = hw__clock_s(), patience = patience_s(step);
  pthread_mutex_lock(&connections->lock);
  const bool granted = step != HW_STEP_STREAM || connections->streams < connections->most - (connections->most + 7) / 8;
  if (granted) {
    connections->streams += (size_t)(step == HW_STEP_STREAM);
    connections->streams -= (size_t)(p->step == HW_STEP_STREAM);
    p->step = step;
    p->since_s = now_s;
    p->until_s = patience > 0 ? now_s + patience : 0;
  }
  pthread_mutex_unlock(&connections->lock);
  return granted;
}
