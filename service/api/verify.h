/* Checks that a store still holds what was stored in it (docs/operations.md, Checking a store). */
#ifndef HW_API_VERIFY_H
#define HW_API_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "headwater/status.h"

typedef struct {
  const char *kind;     /* changed, missing, lost, added, unreadable, names, structure, earlier */
  int64_t first, last;  /* numbers of the records it is about; 0: none */
  int64_t records;      /* how many of them; 0: not known */
  const char *sentence; /* which, when, whose */
} hw_verify_fault;

typedef struct {
  void (*tell)(void *context, const hw_verify_fault *fault);
  bool (*go_on)(void *context, uint64_t records); /* false ends it */
  void *context;
} hw_verify_watcher;

typedef struct {
  uint64_t records;   /* compared with their checksums */
  uint64_t unchained; /* stored by an earlier version, without one */
  uint64_t faults;
  char name[200]; /* what messages call the store: never with a password */
} hw_verify_tally;

/* Checks all of a store; a service may run on it meanwhile. Status: HW_EIO with *error. A fault that was found is
 * not a failure of the call. */
hw_status hw_verify(const char *store, const hw_verify_watcher *watch, hw_verify_tally *tally, hw_error *error);

/* Accepts the log as it is now: checksums, chain and head are computed again, and faults on record are removed. No
 * service may run on the store. Status: HW_EIO with *error; then nothing has changed. */
hw_status hw_verify_accept(const char *store, const hw_verify_watcher *watch, hw_verify_tally *tally, hw_error *error);

#endif
