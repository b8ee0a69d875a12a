/* The whole of headwater in one page: a river, readings, one method, the answer.
 *
 *   cc identify.c -o identify $(pkg-config --cflags --libs headwater)
 *   ./identify river.yaml readings.csv
 *
 * Every call that can fail says so; nothing here prints but this program. */
#include <headwater/headwater.h>
#include <stdio.h>

static int complain(hw_status status, const hw_error *error) {
  fprintf(stderr, "identify: %s\n", error->text[0] ? error->text : hw_status_text(status));
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: identify RIVER READINGS\n");
    return 2;
  }
  hw_error error = {""};
  hw_river river;
  hw_status status = hw_river_load(argv[1], NULL, NULL, &river, &error);
  if (status != HW_OK) {
    return complain(status, &error);
  }
  hw_reader *reader = NULL;
  hw_run *run = NULL;
  hw_estimate estimate;
  status = hw_reader_open(argv[2], &river, &reader, &error);
  if (status == HW_OK) {
    /* All options at their defaults. */
    status = hw_run_create(hw_method_find("atgd"), &(hw_problem){.river = &river}, &(hw_options){0}, &run);
  }
  if (status == HW_OK) {
    /* A reading goes in ... */
    hw_reading reading;
    while ((status = hw_reader_next(reader, &reading, &error)) == HW_OK) {
      status = hw_run_observe(run, &reading);
      if (status != HW_OK) {
        break;
      }
    }
    /* ... an estimate comes out; here after the last, but it is there after each. */
    if (status == HW_EEND) {
      status = hw_run_estimate(run, &estimate);
    }
  }
  if (status == HW_OK) {
    printf("%zu readings: %.0f g at %.0f m, released at %.0f s\n", estimate.readings, estimate.source.mass_g,
           estimate.source.location_m, estimate.source.time_s);
  } else {
    complain(status, &error);
  }
  hw_run_free(run);
  hw_reader_free(reader);
  hw_river_free(&river);
  return status == HW_OK ? 0 : 1;
}
