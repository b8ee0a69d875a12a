/* Parts of headwater.estimate/1 that headwater.comparison/1 has too. */
#ifndef HW_IO_RESULT_JSON_H
#define HW_IO_RESULT_JSON_H

#include "headwater/io.h"
#include "io/json_out.h"

/* mass_g, branch, location_m, time_s, time: begun under this key and left open for more. */
void hw__json_open_source(hw__json *json, const char *key, const hw_result *result, const hw_source *source);
/* The keys of one estimate, without the braces around them. */
void hw__json_result(hw__json *json, const hw_result *result);

#endif
