/* headwater serve: readings in, answers out, on a screen, with nothing lost.
 *
 * Zero or NULL means the default everywhere but for the rivers.
 */
#ifndef HW_API_SERVE_H
#define HW_API_SERVE_H

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "headwater/status.h"
#include "nats.h"
#include "processing.h"
#include "store.h"

#define HW_DEFAULT_LISTEN         "127.0.0.1:8080"
#define HW_DEFAULT_SPEED          60
#define HW_DEFAULT_FUTURE_S       300
#define HW_DEFAULT_BODY_LIMIT     8388608
#define HW_DEFAULT_RATE           1000
#define HW_DEFAULT_CONNECTIONS    512
#define HW_DEFAULT_ENGINE_THREADS 2

typedef struct {
  const char *const *rivers; /* FILE, ID=FILE or a folder */
  size_t river_count;
  const char *listen; /* ADDR:PORT */
  const char *store;  /* where the data are (db.h) */
  hw_processing_options processing;
  const char *token_file;
  const char *tls_cert, *tls_key;
  hw_nats_options nats;                  /* with servers: readings go to the cluster, answers come from there */
  const char *mqtt;                      /* broker: HOST:PORT, mqtt://HOST[:PORT] or, encrypted, mqtts://HOST[:PORT] */
  const char *mqtt_ca;                   /* CA certificates for it, PEM; default the system's */
  const char *mqtt_credentials;          /* file: user on the first line, password on the second */
  const char *mqtt_user, *mqtt_password; /* without that file */
  const char *mqtt_client;               /* id; default headwater */
  const char *replay;                    /* readings to play in, for one river */
  double speed;                          /* of the replay */
  const char *webhook;                   /* URL events are posted to */
  const char *command;                   /* program run with an event on its standard input */
  const char *tiles;                     /* URL of map tiles with {z}, {x} and {y}; NULL: no tiles */
  double retention_days;                 /* retention: older readings are removed; default 0: none are */
  double verify_hours;                   /* hours between checks of the log; below 0: it is never checked */
  double future_s;                       /* readings dated further ahead are refused */
  size_t body_limit;                     /* bytes */
  double rate_per_s;                     /* requests per second from one address */
  size_t connections;                    /* at once */
  size_t threads;                        /* for engines */
} hw_serve_options;

/* Set by signal handlers; the wait is interrupted by the signal. */
typedef struct {
  volatile sig_atomic_t stop;   /* not 0: end */
  volatile sig_atomic_t reload; /* not 0: read the token file again; set back when it is done */
} hw_serve_signals;

/* Run until told to stop. Says on `out`, when not NULL, where it listens, in one line.
 * Status: HW_EDOMAIN for a wrong option, HW_EINPUT for a faulty river file, HW_EIO when the machine fails; each with
 * *error. */
hw_status hw_serve(const hw_serve_options *options, hw_serve_signals *signals, FILE *out, hw_error *error);

#endif
