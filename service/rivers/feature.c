#include "rivers/feature.h"

#include <string.h>

json_t *hw__feature(const char *kind, json_t *geometry, json_t *properties) {
  json_object_set_new(properties, "kind", json_string(kind));
  return json_pack("{s:s, s:o, s:o}", "type", "Feature", "geometry", geometry, "properties", properties);
}

json_t *hw__with_id(const json_t *list, const char *id) {
  size_t i;
  json_t *each;
  json_array_foreach(list, i, each) {
    const char *here = json_string_value(json_object_get(each, "id"));
    if (here && strcmp(here, id) == 0) {
      return each;
    }
  }
  return NULL;
}
