/* Numbers as people write them in files: decimal, a point, an optional exponent; never inf, nan or hex. */
#ifndef HW_IO_NUMBER_H
#define HW_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of text that belongs to somebody else and need not end in a zero byte. */
typedef struct {
  const char *text;
  size_t size;
} hw__slice;

/* The whole slice as one finite number, correctly rounded; false when it is anything else. */
bool hw__number_parse(hw__slice slice, double *out);

/* Shortest of 15 to 17 significant digits that reads back as the same double. At least 32 bytes. */
void hw__number_format(double value, char *out, size_t size);

/* Slice without blanks at either end. */
hw__slice hw__slice_trim(hw__slice slice);
bool hw__slice_is(hw__slice slice, const char *word);

/* What a message may quote of hostile input: printable, at most 40 characters, "..." where cut. */
enum { HW__EXCERPT_SIZE = 48 };
const char *hw__excerpt(hw__slice slice, char out[HW__EXCERPT_SIZE]);

#endif
