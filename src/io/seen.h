/* Remembers which pairs of sensor and time have come already, in bounded memory. */
#ifndef HW_IO_SEEN_H
#define HW_IO_SEEN_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers at least the last HW__SEEN_SPAN pairs: two generations, of which the older is forgotten as a whole when
 * the younger is full, so that no single pair is ever deleted. */
enum { HW__SEEN_SPAN = 65536 };

typedef struct hw__seen hw__seen;
hw__seen *hw__seen_create(void);
/* Returned: true when the pair has come before. It is remembered either way. */
bool hw__seen_before(hw__seen *seen, size_t sensor, double time_s);
void hw__seen_free(hw__seen *seen);

#endif
