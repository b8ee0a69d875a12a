/* The dashboard's files, made into the program by embed.py. */
#ifndef HW_HTTP_ASSETS_H
#define HW_HTTP_ASSETS_H

#include <stddef.h>

typedef struct {
  const char *path; /* as asked for, "/index.html" */
  const char *type;
  const char *etag;
  const unsigned char *data;
  size_t size;
  const unsigned char *packed; /* the same by gzip; NULL: no smaller */
  size_t packed_size;
} hw__asset;

extern const hw__asset hw__assets[];
extern const size_t hw__asset_count;

#endif
