/* Text in other encodings as UTF-8, piece by piece. */
#ifndef HW_IO_ENCODING_H
#define HW_IO_ENCODING_H

#include "headwater/columns.h"
#include "io/number.h"

/* At most this many bytes of UTF-8 come of one byte that goes in. */
enum { HW__ENCODING_GROWTH = 3 };

/* What a byte-order mark at the beginning says, or HW_ENCODING_OPEN; *size is its length. */
hw_encoding hw__encoding_mark(hw__slice head, size_t *size);
/* UTF-16 without a mark, recognised by the zero bytes beside its first letters; else HW_ENCODING_OPEN. */
hw_encoding hw__encoding_unmarked(hw__slice head);
/* What a file that is not text seems to be, and what was expected instead. */
const char *hw__encoding_binary(hw__slice head);
/* Is it UTF-8 throughout, apart from a character that is cut off at the end? */
bool hw__encoding_is_utf8(hw__slice text);
/* Decodes as much of `in` as makes whole characters; the rest, at most three bytes, is to come again in front of the
 * next piece. Invalid bytes become U+FFFD. Returned: bytes written; *used of `in`. */
size_t hw__encoding_decode(hw_encoding encoding, hw__slice in, size_t *used, char *out);

#endif
