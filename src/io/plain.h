/* Numbers as other programs write them, put the way our grammar reads them. */
#ifndef HW_IO_PLAIN_H
#define HW_IO_PLAIN_H

#include "io/number.h"

enum { HW__PLAIN_SIZE = 64 };

/* With a point for the decimal mark and without marks between thousands: `1 234,5`, `1.234,5` and `1'234,5` become
 * 1234.5. A single mark that might be a decimal point (1.234 where commas are decimal) does not count as a thousands
 * separator.
 * Given:    decimal, '.' or ','; a `<` or `>` in front stays
 * Returned: *out, in scratch
 * False for what cannot be so written; it may still be no number. */
bool hw__plain(hw__slice text, char decimal, char scratch[HW__PLAIN_SIZE], hw__slice *out);

/* Texts that commonly stand for a missing value: NA, --, -999. */
bool hw__stands_for_nothing(hw__slice text, char decimal);

#endif
