#include "store/move_value.h"

#include <math.h>

#include "base/json.h"

/* X(kind, least, most, words). Numbers end well before what counting on would overflow. */
#define NUMBER_LIST(X)                                               \
  X('k', 1, INT64_C(1) << 53, "a whole number from 1 on")            \
  X('n', 0, INT64_C(1) << 53, "a whole number from 0 on")            \
  X('i', INT64_MIN, INT64_MAX, "a whole number")                     \
  X('f', 0, 1, "0 or 1")                                             \
  X('g', 0, HW_DISCHARGE, "0, 1, 2 or 3")                            \
  X('c', HW_RECORD_OPEN, HW_RECORD_ACKNOWLEDGE, "a kind of command") \
  X('h', HW_TIME_UNSET, HW_TIME_CALENDAR, "a kind of time")

static bool read_number(const json_t *json, char kind, hw__value *out) {
  const int64_t x = json_integer_value(json);
  bool fits = false;
#define ROW(letter, least, most, words) \
  fits = fits || (kind == (letter) && x >= (int64_t)(least) && x <= (int64_t)(most));
  NUMBER_LIST(ROW)
#undef ROW
  *out = of_integer(x);
  return json_is_integer(json) && fits;
}

const char *hw__moved_kind_text(char kind) {
  switch (tolower((unsigned char)kind)) {
#define ROW(letter, least, most, words) \
  case letter:                          \
    return words;
    NUMBER_LIST(ROW)
#undef ROW
    case 'q':
    case 'r':
      return "a number";
    case 'j':
      return "text that is JSON";
    case 'b':
      return "bytes in base64";
    default:
      return "text";
  }
}

static bool read_real(const json_t *json, hw__value *out) {
  const char *text = json_string_value(json);
  const bool up = text && strcmp(text, "inf") == 0, down = text && strcmp(text, "-inf") == 0;
  *out = of_real(up ? HUGE_VAL : down ? -HUGE_VAL : json_number_value(json));
  return json_is_number(json) || up || down;
}

static hw_status read_text(const json_t *json, bool is_json, hw__value *out) {
  const char *text = json_string_value(json);
  if (!text) {
    return HW_EINPUT;
  }
  *out = of_text(text);
  if (!is_json) {
    return HW_OK;
  }
  json_t *inner = NULL;
  json_error_t fault;
  const hw_status status = hw__json_load(text, strlen(text), 0, &inner, &fault);
  json_decref(inner);
  return status;
}

static hw_status read_bytes(const json_t *json, hw__value *out, gnutls_datum_t *memory) {
  const gnutls_datum_t text = {(unsigned char *)json_string_value(json), (unsigned)json_string_length(json)};
  const int code = text.data ? gnutls_base64_decode2(&text, memory) : GNUTLS_E_BASE64_DECODING_ERROR;
  if (code != 0) {
    return code == GNUTLS_E_MEMORY_ERROR ? HW_ENOMEM : HW_EINPUT;
  }
  *out = of_blob(memory->data, memory->size);
  return HW_OK;
}

hw_status hw__moved_value(const json_t *json, char kind, hw__value *out, gnutls_datum_t *memory) {
  if (json_is_null(json)) {
    *out = (hw__value){0};
    return isupper((unsigned char)kind) ? HW_OK : HW_EINPUT;
  }
  switch (tolower((unsigned char)kind)) {
    case 'q':
    case 'r':
      return read_real(json, out) && (kind != 'q' || isfinite(out->real)) ? HW_OK : HW_EINPUT;
    case 't':
    case 'j':
      return read_text(json, tolower((unsigned char)kind) == 'j', out);
    case 'b':
      return read_bytes(json, out, memory);
    default:
      return read_number(json, (char)tolower((unsigned char)kind), out) ? HW_OK : HW_EINPUT;
  }
}

void hw__moved_row_empty(const hw__moved_table *table, hw__value *row) {
  for (size_t i = 0; table->kinds[i]; i++) {
    const char kind = table->kinds[i];
    row[i] = isupper((unsigned char)kind) ? (hw__value){0}
             : kind == 't'                ? of_text("")
             : kind == 'r'                ? of_real(0)
                                          : of_integer(0);
  }
}
