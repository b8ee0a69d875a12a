/* Sentences for people, bounded. */
#ifndef HW_CORE_TEXT_H
#define HW_CORE_TEXT_H

#include <stddef.h>

#include "headwater/status.h"

/* Fill *error (NULL is fine) and hand back the status, so that a failing call is one statement. */
hw_status hw__fail(hw_error *error, hw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A file that could not be opened or read, by errno: a name of no file is the caller's mistake (HW_EINPUT),
 * everything else is a failure of the machine (HW_EIO). `expected` says what should have been there. */
hw_status hw__fail_file(hw_error *error, const char *path, const char *expected);

/* The first of `count` texts that occurs earlier in the list already; consecutive texts are `stride` bytes apart.
 * Takes n log n steps, because a list may be long.
 * Returned: *at, its index, or count when each occurs once. Status: HW_ENOMEM */
hw_status hw__text_repeated(const char *first, size_t stride, size_t count, size_t *at);

#endif
