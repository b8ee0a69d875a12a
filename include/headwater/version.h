/* Which headwater this is. */
#ifndef HEADWATER_VERSION_H
#define HEADWATER_VERSION_H

#define HW_VERSION "0.1.0"
/* Grows with every change after which the same readings give another answer: what was worked out by another engine is
 * worked out again while its readings come in, and engines of two numbers do not share a cluster. 0.1.0 was 1. */
#define HW_ENGINE 2

#endif
