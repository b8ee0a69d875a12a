/* Rows of another program's table, translated into ours: an instant in ISO 8601 or a number of seconds, a sensor's
 * id, a number with a point. What comes out is read by the one grammar of readings (reader.c). */
#ifndef HW_IO_FOREIGN_H
#define HW_IO_FOREIGN_H

#include "io/row.h"

typedef struct hw__foreign hw__foreign;

/* Given:    columns with nothing open, borrowed; the line that names them; the river, borrowed
 * Returned: *out, to be released
 * Status:   HW_EINPUT for a column that is not there or there twice, or a time zone nobody knows; HW_ENOMEM.
 *           *sentence without file and line */
hw_status hw__foreign_create(const hw_columns *columns, const hw_river *river, hw__slice header, hw__foreign **out,
                             hw_error *sentence);
void hw__foreign_free(hw__foreign *foreign);

/* Takes a line, which must stay valid until its rows were read. A line whose fields are all empty has no rows. */
hw_status hw__foreign_line(hw__foreign *foreign, hw__slice line, hw_error *sentence);
/* Has the line rows that were not read yet? It has one row, or one per sensor. */
bool hw__foreign_pending(const hw__foreign *foreign);
hw_status hw__foreign_row(hw__foreign *foreign, char scratch[3][HW__SCRATCH_SIZE], hw__row *out, hw_error *sentence);

/* Is this line a comment? A # alone may also be the name of the first column. */
bool hw__foreign_comment(hw__slice line, char separator);

#endif
