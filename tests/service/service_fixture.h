/* A small river for tests of the service: sensors s1 at 0 m and s2 at 8 km, known hydraulics, gauges g1 and s2. */
#ifndef HW_TESTS_SERVICE_FIXTURE_H
#define HW_TESTS_SERVICE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rivers/catalog.h"

static const char fixture_yaml[] =
    "name: Demo River\n"
    "hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}\n"
    "search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}\n"
    "sensors:\n"
    "  - {id: s1, location_m: 0, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}\n"
    "  - {id: s2, location_m: 8000, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}\n"
    "candidates:\n"
    "  - {id: mill, name: Paper mill, location_m: -12000}\n"
    "intakes:\n"
    "  - {id: town, name: Town intake, location_m: 15000, alarm_g_m3: 0.001}\n"
    "gauges:\n"
    "  - {id: g1, location_m: 4000}\n"
    "  - {id: s2, location_m: 8000}\n";

static inline hw__catalog *fixture_catalog(size_t rivers) {
  static const char *const ids[] = {"demo", "other", "third"};
  hw__catalog *catalog = NULL;
  hw_error error;
  if (hw__catalog_create(&catalog) != HW_OK) {
    abort();
  }
  for (size_t i = 0; i < rivers; i++) {
    hw_river river;
    if (hw_river_parse("demo.yaml", fixture_yaml, strlen(fixture_yaml), NULL, NULL, &river, &error) != HW_OK ||
        hw__catalog_add(catalog, ids[i], "demo.yaml", &river, &error) != HW_OK) {
      fprintf(stderr, "%s\n", error.text);
      abort();
    }
  }
  return catalog;
}

#endif
