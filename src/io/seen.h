/* Which sensor and time were met before, in bounded memory. */
#ifndef HW_IO_SEEN_H
#define HW_IO_SEEN_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers at least the last HW__SEEN_SPAN pairs: two generations, the older forgotten whole when the
 * younger is full, so nothing is ever deleted singly. */
enum { HW__SEEN_SPAN = 65536 };

typedef struct hw__seen hw__seen;
hw__seen *hw__seen_create(void);
/* True when the pair was met before; remembers it either way. */
bool hw__seen_before(hw__seen *seen, size_t sensor, double time_s);
void hw__seen_free(hw__seen *seen);

#endif
