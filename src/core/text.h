/* Sentences for people, bounded. */
#ifndef HW_CORE_TEXT_H
#define HW_CORE_TEXT_H

#include "headwater/status.h"

/* Fill *error (NULL is fine) and hand back the status, so that a failing call is one statement. */
hw_status hw__fail(hw_error *error, hw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
