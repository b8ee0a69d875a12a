/* Input that nobody wrote: damaged files, and a machine without memory. Whatever comes in, a call ends with a
 * status, a sentence, and nothing leaked; the sanitizers and valgrind watch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "headwater/headwater.h"

/* Allocations of the library fail from number fail_from on; 0: none does. Linked with --wrap. */
static size_t allocations, fail_from;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool refuse(void) {
  allocations++;
  return fail_from && allocations >= fail_from;
}

void *__wrap_malloc(size_t size) {
  return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  return refuse() ? NULL : __real_realloc(old, size);
}

static const char river_text[] =
    "name: Truckee River\n"
    "hydraulics:\n  velocity_m_s: {median: 1.42, factor: 1.15}\n  dispersion_m2_s: 37.5\n  area_m2: 60\n"
    "reaches:\n  - {to_m: -20000, velocity_m_s: 1.5}\n  - {to_m: 0, dispersion_m2_s: 30}\n"
    "search: {mass_g: [1000, 3000], location_m: [-30000, -10000], time_s: [-24000, -8700]}\n"
    "sensors:\n  - {id: s1, location_m: -14210.5, gain_factor: 1.1}\n  - {id: s2, location_m: 0}\n"
    "candidates: [{id: mill, name: Paper mill, location_m: -21000, extent_m: 14.2}]\n"
    "intakes: [{id: reno, location_m: 21999.7, alarm_g_m3: 0.001}]\ncenterline: map.geojson\n";

static const char csv_text[] =
    "# log\ntime_min,sensor,concentration_mg_l,note\n-145,s1,0,\n-141,s1,0.0008,\"a "
    "\"\"b\"\"\"\n-139,s2,<0.002,x\n-137,s1,,\n"
    "-145,s1,0,\n-135.5,s2,1.3e-2,#\n";

static const char ndjson_text[] =
    "{\"time\": \"2026-03-01T08:15:00Z\", \"sensor\": \"s1\", \"concentration_ug_l\": 14.2}\n"
    "{\"time\": \"2026-03-01T09:15:00+01:00\", \"sensor\": \"s\\u0032\", \"concentration_ug_l\": \"<0.37\", \"x\": "
    "[{}, \"]\"]}\n";

/* Bytes that break formats, and any others. */
static char odd_byte(hw_rng *rng) {
  static const char likely[] = "{}[]:,#\"'\\\n\r\t-+.eE<&*!|>%@` 0\xff\xef";
  const uint64_t pick = hw_rng_bits(rng);
  return pick & 1 ? likely[(pick >> 8) % (sizeof likely)] : (char)(pick >> 16);
}

/* A copy with a few bytes changed, taken out, doubled, or the end cut off; to be freed. */
static char *damage(hw_rng *rng, const char *text, size_t *size) {
  const size_t length = strlen(text);
  char *copy = malloc(2 * length + 64);
  assert_non_null(copy);
  memcpy(copy, text, length);
  *size = length;
  const uint64_t changes = 1 + hw_rng_bits(rng) % 4;
  for (uint64_t i = 0; i<changes && * size> 1; i++) {
    const size_t at = (size_t)(hw_rng_bits(rng) % *size);
    const size_t part = 1 + (size_t)(hw_rng_bits(rng) % 16);
    const size_t run = part < *size - at ? part : *size - at;
    switch (hw_rng_bits(rng) % 4) {
      case 0:
        copy[at] = odd_byte(rng);
        break;
      case 1:
        memmove(copy + at, copy + at + run, *size - at - run);
        *size -= run;
        break;
      case 2:
        if (*size + run < 2 * length) {
          memmove(copy + at + run, copy + at, *size - at);
          *size += run;
        }
        break;
      default:
        *size = hw_rng_bits(rng) % 8 ? *size : at;
    }
  }
  return copy;
}

static void expect_sentence(hw_status status, const hw_error *error) {
  assert_true(status == HW_EINPUT || status == HW_ENOMEM);
  assert_true(status == HW_ENOMEM || strncmp(error->text, "x:", 2) == 0);
  assert_true(status == HW_ENOMEM || strstr(error->text, "expected") || strlen(error->text) == sizeof error->text - 1);
  for (const char *p = error->text; *p; p++) {
    assert_true((unsigned char)*p >= 0x20);
  }
}

static void test_damaged_rivers_end_in_a_sentence(void **state) {
  (void)state;
  hw_rng rng;
  hw_rng_seed(&rng, 37, 1);
  size_t usable = 0;
  for (int i = 0; i < 4000; i++) {
    size_t size;
    char *text = damage(&rng, river_text, &size);
    hw_river river;
    hw_error error = {""};
    const hw_status status = hw_river_parse("x", text, size, NULL, NULL, &river, &error);
    if (status == HW_OK) {
      usable++;
      assert_int_equal(hw_river_check(&river, NULL), HW_OK);
      hw_river_free(&river);
    } else {
      expect_sentence(status, &error);
    }
    free(text);
  }
  assert_true(usable > 40 && usable < 3960); /* the damage is neither always fatal nor always harmless */
}

static void read_all(const char *text, size_t size, const hw_river *river) {
  hw_reader *reader = NULL;
  hw_error error = {""};
  hw_status status = hw_reader_memory(text, size, "x", river, &reader, &error);
  if (status != HW_OK) {
    expect_sentence(status, &error);
    return;
  }
  hw_reading reading;
  int calls = 0;
  while ((status = hw_reader_next(reader, &reading, &error)) != HW_EEND) {
    if (status == HW_OK) {
      assert_true(reading.sensor < river->sensor_count && isfinite(reading.time_s));
      assert_true(isfinite(reading.concentration_g_m3));
    } else {
      expect_sentence(status, &error);
    }
    assert_true(calls++ < 1000);
  }
  hw_reader_free(reader);
}

static void test_damaged_readings_end_in_a_sentence(void **state) {
  (void)state;
  hw_river river;
  assert_int_equal(hw_river_parse("x", river_text, strlen(river_text), NULL, NULL, &river, NULL), HW_OK);
  hw_rng rng;
  hw_rng_seed(&rng, 14, 2);
  for (int i = 0; i < 4000; i++) {
    size_t size;
    char *text = damage(&rng, i % 2 ? csv_text : ndjson_text, &size);
    read_all(text, size, &river);
    free(text);
  }
  hw_river_free(&river);
}

/* Runs `work` with the first, second, ... allocation and all after it failing, until it needs no more. */
static void starve(void (*work)(void)) {
  size_t refused = 0;
  for (size_t from = 1;; from++) {
    allocations = 0;
    fail_from = from;
    work();
    fail_from = 0;
    if (allocations < from) {
      break;
    }
    refused++;
  }
  assert_true(refused >= 3);
}

static void load_river(void) {
  hw_river river;
  hw_error error = {""};
  const hw_status status = hw_river_parse("x", river_text, strlen(river_text), NULL, NULL, &river, &error);
  assert_true(status == HW_OK || status == HW_ENOMEM);
  if (status == HW_OK) {
    hw_river_free(&river);
  }
}

static hw_river shared_river;

static void open_and_read(void) {
  hw_reader *reader = NULL;
  hw_error error = {""};
  FILE *file = tmpfile();
  assert_non_null(file);
  fputs(csv_text, file);
  rewind(file);
  const hw_status status = hw_reader_stream(file, "x", &shared_river, &reader, &error);
  assert_true(status == HW_OK || status == HW_ENOMEM);
  if (status == HW_OK) {
    hw_reading reading;
    while (hw_reader_next(reader, &reading, &error) == HW_OK) {
    }
  } else {
    assert_null(reader);
  }
  hw_reader_free(reader);
  fclose(file);
}

static void write_result(void) {
  const hw_estimate estimate = {.readings = 7, .has_source = true, .source = {1300, -22106, -12900}, .loss = 0.37};
  const hw_result result = {.river = &shared_river, .method = "atgd", .seed = 1, .estimate = &estimate};
  char *text = NULL;
  hw_status status = hw_result_json(&result, false, &text);
  assert_true(status == HW_OK || (status == HW_ENOMEM && !text));
  free(text);
  text = NULL;
  status = hw_result_text(&result, &text);
  assert_true(status == HW_OK || (status == HW_ENOMEM && !text));
  free(text);
  text = NULL;
  status = hw_comparison_json(&result, 1, &estimate.source, &text);
  assert_true(status == HW_OK || (status == HW_ENOMEM && !text));
  free(text);
}

static void test_without_memory_every_call_says_so(void **state) {
  (void)state;
  starve(load_river);
  assert_int_equal(hw_river_parse("x", river_text, strlen(river_text), NULL, NULL, &shared_river, NULL), HW_OK);
  starve(open_and_read);
  starve(write_result);
  hw_river_free(&shared_river);
}

static void test_a_read_that_fails_is_an_io_fault(void **state) {
  (void)state;
  assert_int_equal(hw_river_parse("x", river_text, strlen(river_text), NULL, NULL, &shared_river, NULL), HW_OK);
  hw_reader *reader = NULL;
  hw_error error = {""};
  /* It opens, and the first page of a process cannot be read. */
  assert_int_equal(hw_reader_open("/proc/self/mem", &shared_river, &reader, &error), HW_EIO);
  assert_null(reader);
  assert_string_equal(error.text, "/proc/self/mem:1: Input/output error");
  /* A folder opens too; naming one is the caller's slip. */
  assert_int_equal(hw_reader_open("/", &shared_river, &reader, &error), HW_EINPUT);
  assert_string_equal(error.text, "/: Is a directory, expected a file of readings");
  hw_river_free(&shared_river);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_damaged_rivers_end_in_a_sentence),
      cmocka_unit_test(test_damaged_readings_end_in_a_sentence),
      cmocka_unit_test(test_without_memory_every_call_says_so),
      cmocka_unit_test(test_a_read_that_fails_is_an_io_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
