/* Which headwater this is. */
#ifndef HEADWATER_VERSION_H
#define HEADWATER_VERSION_H

#define HW_VERSION "0.1.0"
/* Grows with every change after which the same readings give another answer. Results of another engine are computed
 * again while readings of the incident come in, and engines with different numbers cannot share a cluster. 0.1.0 was
 * 1. */
#define HW_ENGINE 2

#endif
