/* River files as named on a command line: FILE, ID=FILE, or a folder with one file or folder a river. */
#ifndef HW_RIVERS_RIVER_FILES_H
#define HW_RIVERS_RIVER_FILES_H

#include <stddef.h>

#include "headwater/status.h"

typedef struct {
  char **arguments; /* FILE or ID=FILE, in order; those of a folder by name */
  size_t count;
} hw__river_files;

/* Status: HW_EINPUT for a folder without rivers, HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__river_files_list(const char *const *arguments, size_t count, hw__river_files *out, hw_error *error);
void hw__river_files_free(hw__river_files *rivers);

#endif
