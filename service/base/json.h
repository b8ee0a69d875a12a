/* Numbers and times as JSON: what is not finite, or no date, is null. */
#ifndef HW_BASE_JSON_H
#define HW_BASE_JSON_H

#include <jansson.h>

#include "headwater/headwater.h"

/* A number, or null where it is not finite. */
json_t *hw__real(double value);
/* ISO 8601, or null for a time that is not calendar or not finite. */
json_t *hw__instant(bool calendar, double unix_s);
json_t *hw__instant_us(int64_t us); /* null for 0 */
json_t *hw__range_json(const hw_range *range);

#endif
