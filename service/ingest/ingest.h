/* From a request body or a message to readings with a fate each.
 *
 * Every row of every body ends in exactly one fate of fate.h's list, is counted under it, and, when
 * rejected, is reported with its line and the reason. One bad row never spoils its neighbours.
 */
#ifndef HW_INGEST_INGEST_H
#define HW_INGEST_INGEST_H

#include <stdint.h>

#include "base/budget.h"
#include "ingest/fate.h"
#include "rivers/catalog.h"

/* A reading good enough to be stored; the store decides between accepted, duplicate and conflict. */
typedef struct {
  size_t line;
  hw__place place;
  double time_s;
  double concentration_g_m3;     /* at a gauge the discharge, m3/s */
  bool below_limit, above_limit; /* below, or at or above, the number */
  bool calendar;                 /* time_s counts from 1970, told as a date */
  hw__fate fate;
} hw__checked_reading;

typedef struct {
  size_t line;
  hw__fate fate;
  char reason[160];
} hw__reject;

/* As the store keeps it. */
enum { HW_BELOW = 1, HW_ABOVE = 2, HW_DISCHARGE = 3 };
static inline int hw__censoring(const hw__checked_reading *reading) {
  return reading->place.gauge ? HW_DISCHARGE : reading->below_limit ? HW_BELOW : reading->above_limit ? HW_ABOVE : 0;
}

enum { HW_REJECTS_REPORTED = 1000 }; /* more are counted, not listed */

typedef struct {
  const hw__catalog *catalog;
  const char *river;  /* for rows that name none; NULL or "": by sensor */
  double now_unix_s;  /* for the future check */
  double possible_s;  /* later than now_unix_s while the clock is in doubt: times in between cannot be judged */
  bool undecided;     /* such a reading came: nothing of this body may be stored or refused yet */
  double future_s;    /* tolerance */
  double nanoseconds; /* line protocol: length of one tick of its timestamps; 0 means 1 */
  hw__budget *budget; /* for the entries; NULL: no bound */
  hw__checked_reading *entries;
  size_t count, capacity;
  hw__reject *rejects;
  size_t reject_count, reject_capacity;
  uint64_t tally[HW_FATE_COUNT];
} hw__ingest;

typedef enum { HW_BODY_CSV, HW_BODY_NDJSON, HW_BODY_JSON, HW_BODY_LINE, HW_BODY_UNKNOWN } hw__body_kind;

/* By Content-Type, parameters ignored: text/csv; application/x-ndjson, application/jsonl;
 * application/json; text/plain, application/x-influx-line-protocol. */
hw__body_kind hw__ingest_kind(const char *content_type);

/* Parse a whole body. Status: HW_ENOMEM only, also where the budget is spent; faults of the input are fates. */
hw_status hw__ingest_body(hw__ingest *ingest, hw__body_kind kind, const char *body, size_t size);
/* One MQTT payload for the sensor its topic named: a JSON object, or `VALUE TIME` with TIME in ISO 8601 or
 * plain seconds; the topic of a gauge that no sensor shares its name with takes discharges in the same way. A time is
 * always needed, here and in line protocol: a message delivered twice could not be recognised without it. */
hw_status hw__ingest_payload(hw__ingest *ingest, const char *sensor, const char *payload, size_t size);
/* Release the arrays; the struct can be used again. */
void hw__ingest_clear(hw__ingest *ingest);

/* --- for the parsers --- */

/* One row as found: pointers may be NULL where the row has no such field. */
typedef struct {
  const char *river;
  const char *sensor;
  const char *time;  /* as text */
  bool calendar;     /* the time is ISO 8601, or seconds since 1970 */
  double unit_s;     /* else: of its unit */
  double time_value; /* used when time is NULL */
  bool has_time;
  const char *value; /* as text; NULL: value_number */
  double value_number;
  bool has_value;
  bool below_limit, above_limit; /* with value_number */
  double per_g_m3;               /* how many of the value's unit make 1 g/m3 */
  bool discharge;                /* the value is m3/s, and `sensor` the id of a gauge */
} hw__raw_row;

hw_status hw__ingest_row(hw__ingest *ingest, size_t line, const hw__raw_row *row);
/* A reading with its place, time and value known: checked for what is implausible in any river, then kept. */
hw_status hw__ingest_entry(hw__ingest *ingest, const hw__checked_reading *entry);
hw_status hw__ingest_reject(hw__ingest *ingest, size_t line, hw__fate fate, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* CSV and NDJSON, by the grammar of files. */
hw_status hw__ingest_rows(hw__ingest *ingest, hw_rows_format format, const char *body, size_t size);
hw_status hw__ingest_line_protocol(hw__ingest *ingest, const char *body, size_t size);
hw_status hw__ingest_json(hw__ingest *ingest, const char *body, size_t size);
hw_status hw__ingest_object(hw__ingest *ingest, size_t line, const char *text, size_t size, const char *sensor);

#endif
