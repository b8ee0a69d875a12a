/* GeoJSON features as a GeoPackage (OGC 12-128r18): an SQLite file with a table of points and one of lines. */
#ifndef HW_RIVERS_GEOPACKAGE_H
#define HW_RIVERS_GEOPACKAGE_H

#include <jansson.h>

#include "headwater/status.h"

/* Features without geometry are left out. An existing file is replaced. Status: HW_EIO, HW_ENOMEM, *error */
hw_status hw__geopackage_write(const char *path, const json_t *features, hw_error *error);

#endif
