/* Sentences for people, bounded. */
#ifndef HW_CORE_TEXT_H
#define HW_CORE_TEXT_H

#include <stddef.h>

#include "headwater/status.h"

/* Fill *error (NULL is fine) and hand back the status, so that a failing call is one statement. */
hw_status hw__fail(hw_error *error, hw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A file that could not be opened or read, by errno: a name that leads nowhere is the caller's slip (HW_EINPUT), the
 * rest is the machine's (HW_EIO). `expected` says what should have been there. */
hw_status hw__fail_file(hw_error *error, const char *path, const char *expected);

/* The first of `count` texts that stands further ahead in the list already; `stride` bytes lead from one to the next.
 * In n log n: a list may be long.
 * Returned: *at, its place, or count when each occurs once. Status: HW_ENOMEM */
hw_status hw__text_repeated(const char *first, size_t stride, size_t count, size_t *at);

#endif
