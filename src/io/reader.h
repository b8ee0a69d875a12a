/* Inside a reader: lines come from the source, a format splits them into a row of text, the row becomes a reading. */
#ifndef HW_IO_READER_H
#define HW_IO_READER_H

#include "io/foreign.h"
#include "io/lines.h"
#include "io/row.h"
#include "io/seen.h"
#include "io/sensor_index.h"

struct hw_reader {
  const hw_river *river;
  char *name;
  hw__lines lines;
  bool ndjson;
  hw__header header;
  hw__foreign *foreign; /* NULL: written our way */
  hw_columns *columns;  /* of a foreign table */
  bool row_pending;     /* the first NDJSON line was read to tell the format */
  hw__slice pending;
  hw__sensor_index index;
  double *latest_s; /* per sensor; -inf before the first */
  hw__seen *seen;
  bool kind_known, calendar, has_origin;
  double origin_unix_s;
  char scratch[HW__ROW_TEXTS][HW__SCRATCH_SIZE];
  hw_reader_counts counts;
  hw_take_flow take_flow; /* NULL: discharges are not asked for */
  void *flow_context;
};

/* All give one sentence without file and line in *error. */

/* The row as a reading. *keep is false for a row that is counted and passed over. */
hw_status hw__reader_take_row(hw_reader *reader, const hw__row *row, hw_reading *out, bool *keep, hw_error *error);
/* The row as a discharge, handed to whoever asked for them. */
hw_status hw__reader_take_discharge(hw_reader *reader, const hw__row *row, hw_error *error);
/* Has an object all that a reading needs? */
hw_status hw__row_complete(const hw__row *row, hw_error *error);

#endif
