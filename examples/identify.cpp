// headwater from C++: the C API with owners that clean up by themselves.
//
//   c++ -std=c++17 identify.cpp -o identify $(pkg-config --cflags --libs headwater)
//   ./identify river.yaml readings.csv
#include <headwater/headwater.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

void check(hw_status status, const hw_error &error) {
  if (status != HW_OK) {
    throw std::runtime_error(error.text[0] ? error.text : hw_status_text(status));
  }
}

struct River {
  hw_river it;
  explicit River(const char *path) {
    hw_error error = {""};
    check(hw_river_load(path, nullptr, nullptr, &it, &error), error);
  }
  ~River() {
    hw_river_free(&it);
  }
  River(const River &) = delete;
  River &operator=(const River &) = delete;
};

template <typename T, void (*free_it)(T *)>
struct Release {
  void operator()(T *it) const {
    free_it(it);
  }
};
using Reader = std::unique_ptr<hw_reader, Release<hw_reader, hw_reader_free>>;
using Run = std::unique_ptr<hw_run, Release<hw_run, hw_run_free>>;

Reader open_readings(const char *path, const River &river) {
  hw_reader *reader = nullptr;
  hw_error error = {""};
  check(hw_reader_open(path, &river.it, &reader, &error), error);
  return Reader(reader);
}

Run start(const char *method, const River &river) {
  hw_run *run = nullptr;
  hw_problem problem = {};
  problem.river = &river.it;
  check(hw_run_create(hw_method_find(method), &problem, nullptr, &run), {""});
  return Run(run);
}

void identify(const char *river_path, const char *readings_path) {
  const River river(river_path);
  const Reader reader = open_readings(readings_path, river);
  const Run run = start("atgd", river);
  hw_reading reading;
  hw_error error = {""};
  hw_status status;
  while ((status = hw_reader_next(reader.get(), &reading, &error)) == HW_OK) {
    check(hw_run_observe(run.get(), &reading), {""});
  }
  check(status == HW_EEND ? HW_OK : status, error);
  hw_estimate estimate;
  check(hw_run_estimate(run.get(), &estimate), {""});
  char when[40];
  hw_time_format(estimate.source.time_s, when, sizeof when);
  std::printf("%zu readings: %.2f kg at km %.1f, released at %.16s\n", estimate.readings, estimate.source.mass_g / 1000,
              estimate.source.location_m / 1000, when);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: identify RIVER READINGS\n");
    return 2;
  }
  try {
    identify(argv[1], argv[2]);
  } catch (const std::exception &fault) {
    std::fprintf(stderr, "identify: %s\n", fault.what());
    return 1;
  }
  return 0;
}
