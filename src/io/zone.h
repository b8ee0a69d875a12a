/* Local times of a place, by the system's time zone database (RFC 8536) or a fixed offset. */
#ifndef HW_IO_ZONE_H
#define HW_IO_ZONE_H

#include <stdint.h>

#include "headwater/status.h"
#include "io/number.h"

typedef struct hw__zone hw__zone;

/* "Europe/Berlin", "UTC", "+01:00", "EST".
 * Returned: *out, to be released. Status: HW_EINPUT for a place nobody knows, HW_ENOMEM, with *error filled */
hw_status hw__zone_open(const char *name, hw__zone **out, hw_error *error);
/* The same from the bytes of a database file; false when they are not one. */
bool hw__zone_parse(const uint8_t *data, size_t size, hw__zone **out);
void hw__zone_free(hw__zone *zone);

/* Seconds east of UTC at an instant. */
double hw__zone_offset(const hw__zone *zone, double unix_s);
/* The instants at which clocks there show local_s (the calendar read as if it were UTC), earlier first: none in the
 * hour that is left out in spring, two in the one that comes twice in autumn. Returned: how many */
size_t hw__zone_instants(const hw__zone *zone, double local_s, double unix_s[2]);

/* "+01:00", "-0500", "Z", and abbreviations such as EST and CEST that mean one offset. */
bool hw__zone_offset_named(hw__slice name, double *offset_s);

#endif
