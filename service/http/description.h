/* The description of the interface (openapi.json), made into the program by embed_description.py. */
#ifndef HW_HTTP_DESCRIPTION_H
#define HW_HTTP_DESCRIPTION_H

#include <stddef.h>

extern const char hw__description[];
extern const size_t hw__description_size;

#endif
