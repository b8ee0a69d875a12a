/* The HTTP side: requests in, replies out, limits and tokens before anything else, a body included.
 *
 * One thread a connection (libmicrohttpd): a handler may simply wait for the disk, and a stream for
 * news. Connections, body size and requests per second are bounded, so threads and memory are too.
 */
#ifndef HW_HTTP_HTTP_H
#define HW_HTTP_HTTP_H

#include <jansson.h>
#include <microhttpd.h>

#include "http/auth.h"
#include "live/service.h"

enum { HW_CAPTURES = 2 };

typedef struct {
  hw__service *service;
  struct MHD_Connection *connection;
  const char *method;
  const char *path;
  char *body; /* zero-terminated */
  size_t size;
  char captured[HW_CAPTURES][128]; /* what stood for {} in the route */
} hw__request;

/* What a handler gives back. Exactly one of text and response is set. */
typedef struct {
  unsigned code;
  char *text; /* malloc'd, freed when sent */
  size_t size;
  const char *type;              /* default application/json */
  struct MHD_Response *response; /* for streams and assets */
  bool stream;                   /* goes on until somebody ends it */
  unsigned retry_after_s;        /* 0: not told */
  bool close;                    /* nothing more is read from this connection */
} hw__reply;

typedef hw__reply (*hw__handler)(hw__request *request);

typedef struct {
  const char *method;
  const char *path; /* {} stands for one segment */
  unsigned role;    /* 0: anybody */
  hw__handler handle;
  size_t body_bytes;                /* most of a body, within --body-limit; 0: what comes is passed over */
  void (*retell)(hw__reply *fault); /* puts {"error": ...} into the words of whoever asks here; NULL: as it is */
} hw__route;

/* Every route there is, ended by a NULL path. */
extern const hw__route hw__routes[];

hw__reply hw__reply_json(unsigned code, json_t *root);                 /* takes the reference */
hw__reply hw__reply_text(unsigned code, const char *type, char *text); /* takes the text */
/* {"error": sentence} */
hw__reply hw__reply_error(unsigned code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 503 with Retry-After: nothing is wrong with the request. */
hw__reply hw__reply_later(const char *sentence);
hw__reply hw__reply_db(hw__db_status status);

const char *hw__query(const hw__request *request, const char *name);
/* A number in the query; fallback when absent. false: it is there but not a number. */
bool hw__query_number(const hw__request *request, const char *name, double fallback, double *out);
/* A reading time in the query: seconds, or ISO 8601. */
bool hw__query_time(const hw__request *request, const char *name, double fallback, double *out);

/* libmicrohttpd's callbacks; the context is the service. */
enum MHD_Result hw__http_on_request(void *context, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data, size_t *data_size,
                                    void **state);
void hw__http_on_completed(void *context, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode code);

/* Listening (listen.c); *error says why not. Prepare checks what was asked for and reads the keys; it goes first. */
hw_status hw__http_prepare(hw__service *service, hw_error *error);
hw_status hw__http_start(hw__service *service, hw_error *error);
void hw__http_stop(hw__service *service);

#endif
