/* Reading JSON: a faulty text is never mistaken for a lack of memory, nor the other way round. Writing JSON: numbers
 * that are not finite and times that are not dates become null. */
#ifndef HW_BASE_JSON_H
#define HW_BASE_JSON_H

#include <jansson.h>

#include "headwater/headwater.h"

/* Prepares Jansson for hw__json_load. Call it before any thread uses Jansson. */
void hw__json_watch_memory(void);
/* Parse a text. Status: HW_EINPUT with *fault when it is not JSON; HW_ENOMEM, where trying again may help. *out is
 * NULL then. json_loadb itself may damage memory when there is none left. */
hw_status hw__json_load(const char *text, size_t size, size_t flags, json_t **out, json_error_t *fault);

/* The same for callers that need not know why it failed. Returned: NULL then. */
json_t *hw__json_read(const char *text, size_t size);

/* A number, or null where it is not finite. */
json_t *hw__real(double value);
/* ISO 8601, or null for a time that is not calendar or not finite. */
json_t *hw__instant(bool calendar, double unix_s);
json_t *hw__instant_us(int64_t us); /* null for 0 */
json_t *hw__range_json(const hw_range *range);

#endif
