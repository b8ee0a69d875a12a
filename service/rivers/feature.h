/* GeoJSON features, for maps of the command line and of the service. */
#ifndef HW_RIVERS_FEATURE_H
#define HW_RIVERS_FEATURE_H

#include <jansson.h>

/* A Feature whose properties also say its kind. Takes geometry and properties over. */
json_t *hw__feature(const char *kind, json_t *geometry, json_t *properties);

/* The element of a list of objects with this id; borrowed, NULL when there is none. */
json_t *hw__with_id(const json_t *list, const char *id);

#endif
