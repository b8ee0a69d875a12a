/* River files as named on a command line: FILE, ID=FILE, or a folder with one file or folder a river. */
#ifndef HW_RIVERS_RIVER_FILES_H
#define HW_RIVERS_RIVER_FILES_H

#include <stddef.h>

#include "headwater/status.h"

typedef struct {
  char **arguments; /* FILE or ID=FILE, in order; those of a folder by name */
  size_t count;
} hw_rivers;

/* Status: HW_EINPUT for a folder without rivers, HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__rivers_list(const char *const *arguments, size_t count, hw_rivers *out, hw_error *error);
void hw__rivers_free(hw_rivers *rivers);

#endif
