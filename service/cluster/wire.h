/* The messages on the bus, as bytes: readings and commands on their way to the workers, and results on their way to
 * the services that show them.
 *
 * Everything is JSON with numbers to the bit (17 digits). Anyone who may publish can put anything there, so every
 * message is checked as if it came from a stranger; what cannot be read is counted and skipped, by every reader in
 * the same way. Rivers and sensors are given by name, because their numbers differ from database to database.
 *
 *   hw.in.<partition>.<river>.readings    readings of one river, in order; stored whole or not at all
 *   hw.in.<partition>.<river>.command     a person opens, acknowledges or closes an incident
 *   hw.out.<partition>.<river>.<kind>     what happened
 *
 * A record's number is its message's place in the stream times HW_WIRE_STRIDE, plus its place in the
 * message: unique and in order over all rivers, and the same for whoever reads the stream.
 */
#ifndef HW_CLUSTER_WIRE_H
#define HW_CLUSTER_WIRE_H

#include "store/db.h"

enum { HW_WIRE_STRIDE = 1024, HW_WIRE_ROWS = 1000, HW_WIRE_SUBJECT = 256, HW_WIRE_TRACKS = 64 };

/* Every message says its version as "v". Those of former versions stay readable: the streams hold them. 1, without a
 * number, was 0.1.0; 2 has answers without a source, readings at or above a limit, and discharges. */
enum { HW_WIRE_VERSION = 2 };

/* Which partition a river belongs to: FNV-1a (32 bits) of its token modulo the number of partitions,
 * the same as the engine's own {{partition(N,1)}}. */
size_t hw__wire_partition(const char *river, size_t partitions);
/* "hw.<way>.<partition>.<river>.<kind>"; dots in a river's id become %2E. */
void hw__wire_subject(const char *way, size_t partition, const char *river, const char *kind,
                      char out[HW_WIRE_SUBJECT]);

typedef struct {
  size_t partition;
  char river[HW_ID_SIZE];
  char kind[24];
} hw__wire_address;
/* The other way round. Returned: false when it is not one of our subjects. */
bool hw__wire_read_address(const char *subject, hw__wire_address *out);

/* At most HW_WIRE_ROWS entries of one river. *out is malloc'd; NULL without memory. */
char *hw__wire_readings(const hw__site *site, const hw__checked_reading *const *entries, size_t count);
/* Rows join ingest->entries, `line` being their place in the message, or its tally with their fate.
 * Status: HW_EINPUT when it is not readable as a whole, HW_ENOMEM: to be read again. */
hw_status hw__wire_read_readings(const char *text, size_t size, const char *river, hw__ingest *ingest);

/* HW_RECORD_OPEN, _CLOSE or _ACKNOWLEDGE, whose note is malloc'd into *note; the river is the subject's, number and
 * time of receipt are the stream's. */
char *hw__wire_command(const hw__log_record *record);
/* Status: as above. */
hw_status hw__wire_read_command(const char *text, size_t size, hw__log_record *out, char **note);

/* Something that happened, with all that a reader needs to show it, whatever it has seen before. */
typedef struct {
  int64_t fence; /* of the lease under which it was computed */
  hw__event event;
  hw__incident incident;
  hw__track tracks[HW_WIRE_TRACKS]; /* history up to the event */
  size_t track_count;
} hw__wire_news;

char *hw__wire_write_news(const hw__catalog *catalog, const hw__wire_news *news);
/* event.body is malloc'd. Status: HW_EINPUT when it is not readable, or of a river this catalog has not; HW_ENOMEM. */
hw_status hw__wire_read_news(const char *text, size_t size, const hw__catalog *catalog, hw__wire_news *out);

#endif
