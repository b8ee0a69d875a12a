/* Which headwater this is. */
#ifndef HEADWATER_VERSION_H
#define HEADWATER_VERSION_H

#define HW_VERSION "0.1.0"

#endif
