/* The message bus: NATS JetStream behind a small interface. Nothing outside bus*.c knows that it is NATS.
 *
 * Every call may find the cluster electing a leader, restarting or gone: it tries for the time it is given and then
 * returns HW_BUS_AWAY; the connection is restored in the background. Safe from any thread, but a pull and a message
 * belong to one thread.
 */
#ifndef HW_BUS_BUS_H
#define HW_BUS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "headwater/status.h"

typedef struct hw__bus hw__bus;

typedef enum {
  HW_BUS_OK,
  HW_BUS_ABSENT,   /* no such message or key */
  HW_BUS_CONFLICT, /* somebody else wrote in between */
  HW_BUS_AWAY      /* no answer in time */
} hw__bus_status;

typedef struct {
  const char *servers;         /* URL[,URL...]: nats://, or tls:// for all of them to be encrypted */
  const char *credentials;     /* file, or NULL */
  const char *ca;              /* certificates trusted for tls:// servers, PEM; NULL: the machine's own */
  const char *user, *password; /* for servers whose URL has none; NULL: none */
  const char *name;            /* our name, as the servers' monitoring shows it */
} hw__bus_options;

/* Starts connecting, and goes on in the background where no server answers yet.
 * Status: HW_EDOMAIN for servers whose URL is wrong, that refuse us or whose certificate is not trusted, HW_EINPUT
 * for files that cannot be read, HW_EUNSUPPORTED in a build without NATS, with *error. */
hw_status hw__bus_open(const hw__bus_options *options, hw__bus **out, hw_error *error);
void hw__bus_close(hw__bus *bus);
bool hw__bus_connected(const hw__bus *bus);
/* Have the servers refused our credentials, so that trying again is of no use? *error says so then. */
bool hw__bus_refused(const hw__bus *bus, hw_error *error);

/* --- streams and buckets --- */

typedef struct {
  const char *name;     /* of the stream; a bucket's is KV_<bucket> */
  const char *subjects; /* one pattern */
  size_t replicas;      /* 0: three where the servers form a cluster, else one */
  double keep_s;        /* older messages are removed; 0: never, or as the stream has it */
  bool latest;          /* only the last message of every subject is kept */
  bool bucket;          /* the same, as a key-value bucket */
} hw__bus_stream;

/* Creates it unless it exists. */
hw__bus_status hw__bus_make(hw__bus *bus, const hw__bus_stream *stream);
hw__bus_status hw__bus_last(hw__bus *bus, const char *stream, int64_t *seq);
/* Could the stream acknowledge a message now? That is: it has a leader that has lately heard from a majority of the
 * copies. */
bool hw__bus_can_store(hw__bus *bus, const char *stream);
/* Does the stream have several copies on servers older than NATS 2.10, which let copies differ after a leader was
 * cut off? */
bool hw__bus_may_fork(hw__bus *bus, const char *stream);

/* --- publishing --- */

typedef enum { HW_BUS_WAITING, HW_BUS_STORED, HW_BUS_REFUSED, HW_BUS_FAILED } hw__bus_answer;

typedef struct {
  const char *subject;
  const char *data;
  size_t size;
  const char *id;        /* of several messages with the same id the stream stores one; may be NULL */
  bool guarded;          /* store only if the subject's last message is `expected` (0: none) */
  int64_t expected;      /* revision */
  hw__bus_answer answer; /* filled in, as are those below */
  int64_t seq;           /* its place in the stream */
  bool repeated;         /* the stream had one with its id before this call */
  unsigned sends;        /* how often it went out */
} hw__bus_letter;

/* Publish them all and return when the stream has answered for each, trying again what failed, for at
 * most timeout_ms. Those of one call may be stored in any order.
 * Returned: HW_BUS_CONFLICT when a guarded one was refused, HW_BUS_AWAY when one has no answer. */
hw__bus_status hw__bus_publish(hw__bus *bus, hw__bus_letter *letters, size_t count, int timeout_ms);

/* --- keys of buckets --- */

/* The value, cut to size - 1 and zero-terminated, and its revision. */
hw__bus_status hw__bus_get(hw__bus *bus, const char *bucket, const char *key, char *value, size_t size,
                           int64_t *revision);
/* Set when its revision is still the expected one (0: absent). */
hw__bus_status hw__bus_set(hw__bus *bus, const char *bucket, const char *key, const char *value, int64_t expected,
                           int64_t *revision);

/* --- reading --- */

typedef struct {
  int64_t seq;
  int64_t time_us;  /* when the stream took it */
  uint64_t pending; /* messages after it, when it was sent */
  const char *subject;
  const char *data;
  size_t size;
  void *handle;
} hw__bus_message;
void hw__bus_message_free(hw__bus_message *message);

/* The last message on a subject. */
hw__bus_status hw__bus_get_message(hw__bus *bus, const char *stream, const char *subject, hw__bus_message *out);

/* A reader of a stream from a place on, in order and without gaps, over whatever happens to the cluster. */
typedef struct hw__bus_pull hw__bus_pull;
hw_status hw__bus_pull_open(hw__bus *bus, const char *stream, const char *filter, int64_t after, hw__bus_pull **out);
void hw__bus_pull_close(hw__bus_pull *pull);
/* At most `limit`; none when the time is up. */
hw__bus_status hw__bus_pull_fetch(hw__bus_pull *pull, hw__bus_message *out, size_t limit, int timeout_ms,
                                  size_t *count);

/* --- messages that are not stored --- */

typedef void (*hw__bus_hear)(void *context, const char *subject);
void hw__bus_say(hw__bus *bus, const char *subject);
/* One listener for as long as the bus is open. It is called from a thread of the bus. */
hw__bus_status hw__bus_listen(hw__bus *bus, const char *pattern, hw__bus_hear hear, void *context);

#endif
