/* An answer on the map: the river's line, its sensors, candidates and intakes, the source and the stretch it came from,
 * for programs that draw maps. */
#ifndef HW_API_MAP_H
#define HW_API_MAP_H

#include "headwater/io.h"

/* Given:    path, which ends in .geojson or .gpkg (GeoPackage 1.3, WGS 84); answer, the text of hw_result_json
 * Status: HW_EINPUT for a centerline that cannot be used, or for a GeoPackage of a river without one (GeoJSON has
 * features without geometry then); HW_EIO, HW_ENOMEM; with *error */
hw_status hw_map_write(const char *path, const hw_river *river, const char *answer, hw_error *error);

#endif
