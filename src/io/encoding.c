#include "io/encoding.h"

#include <stdint.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd };

hw_encoding hw__encoding_mark(hw__slice head, size_t *size) {
  static const struct {
    const char *mark;
    size_t size;
    hw_encoding encoding;
  } marks[] = {{"\xef\xbb\xbf", 3, HW_UTF8}, {"\xff\xfe", 2, HW_UTF16LE}, {"\xfe\xff", 2, HW_UTF16BE}};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    if (head.size >= marks[i].size && memcmp(head.text, marks[i].mark, marks[i].size) == 0) {
      *size = marks[i].size;
      return marks[i].encoding;
    }
  }
  *size = 0;
  return HW_ENCODING_OPEN;
}

hw_encoding hw__encoding_unmarked(hw__slice head) {
  if (head.size < 4) {
    return HW_ENCODING_OPEN;
  }
  const bool even = head.text[0] && head.text[2], odd = head.text[1] && head.text[3];
  const bool zeros = even ? !head.text[1] && !head.text[3] : odd && !head.text[0] && !head.text[2];
  return zeros ? (even ? HW_UTF16LE : HW_UTF16BE) : HW_ENCODING_OPEN;
}

const char *hw__encoding_binary(hw__slice head) {
  static const struct {
    const char *begin, *sentence;
  } kinds[] = {{"PK\x03\x04", "a zipped file such as an Excel workbook, expected the sheet saved as CSV"},
               {"\xd0\xcf\x11\xe0", "an Excel file of the old kind, expected the sheet saved as CSV"},
               {"\x1f\x8b", "a gzip file, expected text; pipe it through zcat and read from -"}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const size_t size = strlen(kinds[i].begin);
    if (head.size >= size && memcmp(head.text, kinds[i].begin, size) == 0) {
      return kinds[i].sentence;
    }
  }
  return "binary data, expected readings as CSV or NDJSON text";
}

bool hw__encoding_is_utf8(hw__slice text) {
  const unsigned char *p = (const unsigned char *)text.text, *end = p + text.size;
  while (p < end) {
    const size_t more = *p < 0x80                 ? 0
                        : *p >= 0xc2 && *p < 0xe0 ? 1
                        : (*p & 0xf0) == 0xe0     ? 2
                        : (*p & 0xf8) == 0xf0     ? 3
                                                  : 4;
    if (more == 4) {
      return false;
    }
    for (size_t i = 1; i <= more; i++) {
      if (p + i == end) {
        return true;
      }
      if ((p[i] & 0xc0) != 0x80) {
        return false;
      }
    }
    p += more + 1;
  }
  return true;
}

static size_t put(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xc0 | (code >> 6));
    out[1] = (char)(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = (char)(0xe0 | (code >> 12));
    out[1] = (char)(0x80 | ((code >> 6) & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = (char)(0xf0 | (code >> 18));
  out[1] = (char)(0x80 | ((code >> 12) & 0x3f));
  out[2] = (char)(0x80 | ((code >> 6) & 0x3f));
  out[3] = (char)(0x80 | (code & 0x3f));
  return 4;
}

static uint32_t unit_at(const unsigned char *p, bool little) {
  return little ? (uint32_t)(p[0] | p[1] << 8) : (uint32_t)(p[0] << 8 | p[1]);
}

static size_t decode_utf16(bool little, hw__slice in, size_t *used, char *out) {
  const unsigned char *p = (const unsigned char *)in.text;
  size_t at = 0, size = 0;
  while (at + 2 <= in.size) {
    uint32_t code = unit_at(p + at, little);
    size_t taken = 2;
    if (code >= 0xd800 && code < 0xdc00) {
      if (at + 4 > in.size) {
        break;
      }
      const uint32_t low = unit_at(p + at + 2, little);
      const bool pair = low >= 0xdc00 && low < 0xe000;
      code = pair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
      taken = pair ? 4 : 2;
    } else if (code >= 0xdc00 && code < 0xe000) {
      code = REPLACEMENT;
    }
    size += put(code, out + size);
    at += taken;
  }
  *used = at;
  return size;
}

/* Latin-1 with Microsoft's letters where it has control characters. */
static size_t decode_windows1252(hw__slice in, size_t *used, char *out) {
  static const uint16_t upper[32] = {0x20ac,      REPLACEMENT, 0x201a, 0x0192, 0x201e, 0x2026,      0x2020, 0x2021,
                                     0x02c6,      0x2030,      0x0160, 0x2039, 0x0152, REPLACEMENT, 0x017d, REPLACEMENT,
                                     REPLACEMENT, 0x2018,      0x2019, 0x201c, 0x201d, 0x2022,      0x2013, 0x2014,
                                     0x02dc,      0x2122,      0x0161, 0x203a, 0x0153, REPLACEMENT, 0x017e, 0x0178};
  size_t size = 0;
  for (size_t i = 0; i < in.size; i++) {
    const unsigned char c = (unsigned char)in.text[i];
    size += put(c >= 0x80 && c < 0xa0 ? upper[c - 0x80] : c, out + size);
  }
  *used = in.size;
  return size;
}

size_t hw__encoding_decode(hw_encoding encoding, hw__slice in, size_t *used, char *out) {
  if (encoding == HW_WINDOWS1252) {
    return decode_windows1252(in, used, out);
  }
  return decode_utf16(encoding == HW_UTF16LE, in, used, out);
}
