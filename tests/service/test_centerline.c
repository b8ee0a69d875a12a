/* GeoJSON as people have it, and as they should not: what becomes of each. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service_fixture.h"

/* Nominal metres of a degree of latitude on the sphere of the code: 2 pi 6371008.8 / 360. */
static const double degree_m = 111195.08023353294;

static const hw_river *river(void) {
  static hw__catalog *catalog;
  catalog = catalog ? catalog : fixture_catalog(1);
  return &hw__catalog_site(catalog, 0)->river;
}

/* JSON with single quotes, which C need not escape. */
static hw_status parse(const char *text, hw__centerline *line, hw_error *error) {
  char json[1024];
  snprintf(json, sizeof json, "%s", text);
  for (char *c = json; (c = strchr(c, '\'')); c++) {
    *c = '"';
  }
  return hw__centerline_parse("line.geojson", json, strlen(json), river(), 0, line, error);
}

static hw__centerline read_well(const char *text) {
  hw__centerline line = {0};
  hw_error error = {{0}};
  if (parse(text, &line, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return line;
}

static void assert_refused(const char *text, const char *expected) {
  hw__centerline line = {0};
  hw_error error = {{0}};
  assert_int_equal(parse(text, &line, &error), HW_EINPUT);
  if (strncmp(error.text, "line.geojson:", 13) != 0 || !strstr(error.text, expected)) {
    fail_msg("'%s' does not say '%s'", error.text, expected);
  }
  assert_null(line.points);
}

#define LINE                          "{'type': 'LineString', 'coordinates': [[7, 50], [7, 50.05], [7, 50.2]]}"
#define FEATURE(properties, geometry) "{'type': 'Feature', 'properties': " properties ", 'geometry': " geometry "}"

static void assert_metres(const hw__centerline *line, const double *metres, size_t count) {
  assert_int_equal(line->count, count);
  for (size_t i = 0; i < count; i++) {
    /* Rounding of a chain of a few distances of 1e5 m. */
    assert_true(fabs(line->points[i].at_m - metres[i]) < 1e-6);
  }
}

static void test_places_between_known_ends_are_found_by_distance(void **state) {
  (void)state;
  hw__centerline line = read_well(FEATURE("{'from_m': -1000, 'to_m': 9000}", LINE));
  assert_metres(&line, (const double[]){-1000, 1500, 9000}, 3);
  json_t *point = hw__centerline_point(&line, 4000);
  const json_t *at = json_object_get(point, "coordinates");
  assert_true(fabs(json_number_value(json_array_get(at, 0)) - 7) < 1e-12);
  assert_true(fabs(json_number_value(json_array_get(at, 1)) - 50.1) < 1e-9);
  json_decref(point);
  hw__centerline_free(&line);
}

static void test_a_bare_line_reaches_from_the_first_place_to_the_last(void **state) {
  (void)state;
  hw__centerline line = read_well(LINE); /* the mill at -12 km, the town at 15 km */
  assert_metres(&line, (const double[]){-12000, -12000 + 27000 * 0.25, 15000}, 3);
  hw__centerline_free(&line);
}

static void test_one_known_end_and_the_length_on_the_ground(void **state) {
  (void)state;
  hw__centerline line = read_well(FEATURE("{'to_m': 370}", LINE));
  assert_metres(&line, (const double[]){370 - 0.2 * degree_m, 370 - 0.15 * degree_m, 370}, 3);
  hw__centerline_free(&line);
}

static void test_a_line_drawn_from_the_mouth_up_is_turned_round(void **state) {
  (void)state;
  hw__centerline line = read_well(FEATURE("{'from_m': 9000, 'to_m': -1000}", LINE));
  assert_metres(&line, (const double[]){-1000, 6500, 9000}, 3);
  assert_true(fabs(line.points[0].latitude - 50.2) < 1e-12);
  hw__centerline_free(&line);
}

/* As map programs export a river: one feature a stretch, among features of other kinds. */
static void test_stretches_of_a_collection_are_one_line_with_their_own_metres(void **state) {
  (void)state;
  static const char text[] =
      "{'type': 'FeatureCollection', 'features': ["
      "{'type': 'Feature', 'properties': {'name': 'weir'}, 'geometry': {'type': 'Point', 'coordinates': [1, 2]}},"
      "{'type': 'Feature', 'properties': {'from_m': 0, 'to_m': 5000}, 'geometry':"
      " {'type': 'LineString', 'coordinates': [[7, 50], [7, 50.05]]}},"
      "{'type': 'Feature', 'properties': {'from_m': 5000, 'to_m': 30000}, 'geometry':"
      " {'type': 'MultiLineString', 'coordinates': [[[7, 50.05], [7, 50.1]], [[7, 50.1], [7, 50.2]]]}},"
      "{'type': 'Feature', 'properties': {}, 'geometry': null}]}";
  hw__centerline line = read_well(text);
  assert_metres(&line, (const double[]){0, 5000, 5000 + 25000 / 3.0, 30000}, 4);
  hw__centerline_free(&line);
}

static void test_a_stretch_has_its_ends_and_what_lies_between(void **state) {
  (void)state;
  hw__centerline line = read_well(FEATURE("{'from_m': -1000, 'to_m': 9000}", LINE));
  json_t *part = hw__centerline_stretch(&line, 1000, 20000); /* the end stands for all beyond it */
  const json_t *list = json_object_get(part, "coordinates");
  assert_string_equal(json_string_value(json_object_get(part, "type")), "LineString");
  assert_int_equal(json_array_size(list), 3); /* 1000 m, the bend, the last point */
  json_decref(part);
  hw__centerline_free(&line);
  const hw__centerline none = {0};
  json_t *nothing = hw__centerline_point(&none, 1);
  assert_true(json_is_null(nothing));
  json_decref(nothing);
}

static void test_what_is_no_centreline_is_refused_with_a_sentence(void **state) {
  (void)state;
  assert_refused("{'type': 'LineString',\n'coordinates': [[7,", "line.geojson:2: ");
  assert_refused("[]", "no line, expected a LineString");
  assert_refused("{'type': 'Point', 'coordinates': [7, 50]}", "no line, expected a LineString");
  assert_refused("{'type': 'LineString', 'coordinates': [[7, 50], [7, 50]]}", "two points or more");
  assert_refused("{'type': 'LineString', 'coordinates': 14.2}", "without coordinates");
  assert_refused("{'type': 'LineString', 'coordinates': [[7, 50], ['7', 51]]}", "point 2");
  /* Projected coordinates, the usual mistake. */
  assert_refused("{'type': 'LineString', 'coordinates': [[356821.5, 5612034.2], [356900, 5612100]]}",
                 "[longitude, latitude] in degrees");
  assert_refused(FEATURE("{'from_m': 'km 3'}", LINE), "from_m, expected river metres");
  assert_refused(FEATURE("{'from_m': 5, 'to_m': 5}", LINE), "go up and down");
  assert_refused(
      "{'type': 'FeatureCollection', 'features': ["
      "{'type': 'Feature', 'properties': {'from_m': 0, 'to_m': 5000}, 'geometry':"
      " {'type': 'LineString', 'coordinates': [[7, 50], [7, 50.05]]}},"
      "{'type': 'Feature', 'properties': {'to_m': 3000}, 'geometry':"
      " {'type': 'LineString', 'coordinates': [[7, 50.05], [7, 51]]}}]}",
      "go up and down");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_between_known_ends_are_found_by_distance),
      cmocka_unit_test(test_a_bare_line_reaches_from_the_first_place_to_the_last),
      cmocka_unit_test(test_one_known_end_and_the_length_on_the_ground),
      cmocka_unit_test(test_a_line_drawn_from_the_mouth_up_is_turned_round),
      cmocka_unit_test(test_stretches_of_a_collection_are_one_line_with_their_own_metres),
      cmocka_unit_test(test_a_stretch_has_its_ends_and_what_lies_between),
      cmocka_unit_test(test_what_is_no_centreline_is_refused_with_a_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
