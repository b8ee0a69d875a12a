/* A whole store as one stream of text, and back: from one engine to another, one machine to another, or into an
 * archive.
 *
 * The stream (docs/operations.md) is NDJSON: a line that says what it is, for each table a line with its columns and
 * one array a row, and a last line with the number of rows and the SHA-256 of all before it. The same store gives the
 * same bytes whatever its engine.
 */
#ifndef HW_API_MOVE_H
#define HW_API_MOVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "headwater/status.h"

/* Told every few hundred rows. Returned: false to stop. */
typedef struct {
  bool (*go_on)(void *context, uint64_t bytes, uint64_t rows);
  void *context;
} hw_move_watcher;

/* Write all of a store, as it is at one moment: a service may be writing to it meanwhile.
 * Status: HW_EIO or HW_ENOMEM, with *error. */
hw_status hw_export(const char *store, FILE *out, const hw_move_watcher *watch, uint64_t *rows, hw_error *error);

/* Read a stream into an empty store, made when there is none; all of it or nothing. `name` is what messages call the
 * stream. Status: HW_EINPUT when the stream is at fault or the store not empty, HW_EIO or HW_ENOMEM; each with
 * *error. */
hw_status hw_import(const char *store, const char *name, FILE *in, const hw_move_watcher *watch, uint64_t *rows,
                    hw_error *error);

#endif
