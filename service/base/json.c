#include "base/json.h"

#include <math.h>

json_t *hw__real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *hw__instant(bool calendar, double unix_s) {
  char text[48];
  if (!calendar || !isfinite(unix_s)) {
    return json_null();
  }
  hw_time_format(unix_s, text, sizeof text);
  return json_string(text);
}

json_t *hw__instant_us(int64_t us) {
  return hw__instant(us != 0, (double)us * 1e-6);
}

json_t *hw__range_json(const hw_range *range) {
  return json_pack("[o, o, o]", hw__real(range->lo), hw__real(range->mid), hw__real(range->hi));
}
