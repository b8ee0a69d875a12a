/* Most readings have few digits. When the digits make an integer below 2^53 and the power of ten is at
 * most 10^22, both are exact doubles and one multiplication or division rounds correctly (Clinger,
 * 1990); everything else goes to strtod on a bounded copy. */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headwater/io.h"

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { LONGEST_NUMBER = 400 }; /* characters; longer ones are not written by people or programs */

/* The parts of a number: digits without the point, the point's place folded into the exponent. */
typedef struct {
  uint64_t digits;
  int digit_count; /* significant ones seen */
  int exponent;
  bool negative;
} parts;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool parse_exponent(const char *p, const char *end, int *exponent) {
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) {
    p++;
  }
  if (p == end) {
    return false;
  }
  int value = 0;
  for (; p < end; p++) {
    if (!is_digit(*p)) {
      return false;
    }
    value = value < 100000 ? value * 10 + (*p - '0') : value;
  }
  *exponent += negative ? -value : value;
  return true;
}

static bool parse_parts(hw__slice slice, parts *out) {
  const char *p = slice.text, *end = slice.text + slice.size;
  parts n = {0};
  if (p < end && (*p == '-' || *p == '+')) {
    n.negative = *p++ == '-';
  }
  bool any = false, point = false;
  for (; p < end; p++) {
    if (is_digit(*p)) {
      any = true;
      n.exponent -= point;
      if (n.digit_count < 19) {
        n.digits = n.digits * 10 + (uint64_t)(*p - '0');
      }
      n.digit_count += n.digits != 0;
    } else if (*p == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (!any) {
    return false;
  }
  if (p < end && ((*p != 'e' && *p != 'E') || !parse_exponent(p + 1, end, &n.exponent))) {
    return false;
  }
  *out = n;
  return true;
}

/* The grammar has been checked; strtod wants the point of the process's locale. */
static double parse_slowly(hw__slice slice) {
  char copy[LONGEST_NUMBER + 1];
  memcpy(copy, slice.text, slice.size);
  copy[slice.size] = '\0';
  char *point = strchr(copy, '.');
  if (point) {
    *point = localeconv()->decimal_point[0];
  }
  return strtod(copy, NULL);
}

bool hw__number_parse(hw__slice slice, double *out) {
  parts n;
  if (slice.size > LONGEST_NUMBER || !parse_parts(slice, &n)) {
    return false;
  }
  double value;
  if (n.digit_count <= 19 && n.digits <= (UINT64_C(1) << 53) && n.exponent >= -22 && n.exponent <= 22) {
    const double digits = (double)n.digits;
    value = n.exponent < 0 ? digits / powers_of_ten[-n.exponent] : digits * powers_of_ten[n.exponent];
    value = n.negative ? -value : value;
  } else {
    value = parse_slowly(slice);
  }
  if (!isfinite(value)) {
    return false;
  }
  *out = value;
  return true;
}

hw_status hw_number_parse(const char *text, double *out) {
  return hw__number_parse((hw__slice){text, strlen(text)}, out) ? HW_OK : HW_EINPUT;
}

void hw__number_format(double value, char *out, size_t size) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, size, "%.*g", digits, value);
    char *comma = strchr(out, ',');
    if (comma) {
      *comma = '.';
    }
    double back;
    if (hw__number_parse((hw__slice){out, strlen(out)}, &back) && back == value) {
      return;
    }
  }
}

hw__slice hw__slice_trim(hw__slice slice) {
  while (slice.size && (slice.text[0] == ' ' || slice.text[0] == '\t')) {
    slice.text++;
    slice.size--;
  }
  while (slice.size && (slice.text[slice.size - 1] == ' ' || slice.text[slice.size - 1] == '\t')) {
    slice.size--;
  }
  return slice;
}

bool hw__slice_is(hw__slice slice, const char *word) {
  return strlen(word) == slice.size && memcmp(slice.text, word, slice.size) == 0;
}

const char *hw__excerpt(hw__slice slice, char out[HW__EXCERPT_SIZE]) {
  const size_t longest = 40;
  const size_t shown = slice.size < longest ? slice.size : longest;
  for (size_t i = 0; i < shown; i++) {
    const unsigned char c = (unsigned char)slice.text[i];
    out[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
  }
  memcpy(out + shown, slice.size > longest ? "..." : "", slice.size > longest ? 4 : 1);
  return out;
}
