/* From the first look at a table to a mapping with nothing open. */
#ifndef HW_IO_IMPORT_H
#define HW_IO_IMPORT_H

#include "io/foreign.h"
#include "io/lines.h"

typedef struct {
  hw__lines *lines;
  const char *name;
  const hw_river *river;            /* NULL: not known */
  const hw_reader_options *options; /* NULL: the river's mapping alone */
  hw_warn doubt;                    /* NULL: the first in *error is enough */
} hw__import;

/* Begins with the text: takes a byte-order mark, and where there is none finds out UTF-16 by itself, if somebody hears
 * of it or the river's mapping says the same. Status: HW_EIO, HW_ENOMEM */
hw_status hw__import_begin(const hw__import *import);
/* Is the first line with something on it neither a header of ours nor an object? Takes nothing. Status: HW_EIO */
hw_status hw__import_is_foreign(hw__lines *lines, bool *foreign);
/* Completes the mapping given from the table's head, and reads on to the first row.
 * Returned: *columns and *foreign, to be released, also on failure. Status: HW_EINPUT, HW_EIO, HW_ENOMEM with *error
 * filled */
hw_status hw__import_open(const hw__import *import, hw_columns **columns, hw__foreign **foreign, hw_error *error);

#endif
