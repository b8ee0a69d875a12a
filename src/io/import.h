/* Finds out how a table is written, and completes its mapping. */
#ifndef HW_IO_IMPORT_H
#define HW_IO_IMPORT_H

#include "io/foreign.h"
#include "io/lines.h"

typedef struct {
  hw__lines *lines;
  const char *name;
  const hw_river *river;            /* NULL: not known */
  const hw_reader_options *options; /* NULL: the river's mapping alone */
  hw_warn doubt;                    /* NULL: only the first doubt is reported, in *error */
} hw__import;

/* Starts reading: takes a byte-order mark and, where there is none, recognises UTF-16, provided that somebody is
 * told of it or the river's mapping says the same. Status: HW_EIO, HW_ENOMEM */
hw_status hw__import_begin(const hw__import *import);
/* Is the first line with something on it neither a header of ours nor an object? Takes nothing. Status: HW_EIO */
hw_status hw__import_is_foreign(hw__lines *lines, bool *foreign);
/* Completes the mapping given from the table's head, and reads on to the first row.
 * Returned: *columns and *foreign, to be released, also on failure. Status: HW_EINPUT, HW_EIO, HW_ENOMEM with *error
 * filled */
hw_status hw__import_open(const hw__import *import, hw_columns **columns, hw__foreign **foreign, hw_error *error);

#endif
