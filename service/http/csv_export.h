/* Readings out of the log as CSV, page by page while they are sent: whole, however many there are. */
#ifndef HW_HTTP_CSV_EXPORT_H
#define HW_HTTP_CSV_EXPORT_H

#include "http/http.h"

/* Which readings: first those before the record `before` (0: none), then those after `after` up to `upto`, each in the
 * order they became durable. */
typedef struct {
  const hw__site *site;
  hw__record_kind kind; /* readings, or discharges */
  int64_t sensor;       /* key of one sensor or gauge; 0: all */
  int64_t path;         /* key of a sensor: readings of those above and below it only; 0: of all */
  double from_s, to_s;  /* on the readings' clock */
  int64_t before, after, upto;
} hw__csv_selection;

hw__reply hw__csv_export(hw__request *request, const hw__csv_selection *selection, bool calendar);

#endif
