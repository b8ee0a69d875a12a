// The library from C++: one page through the public headers, linked as any C++ program would be.
#include <cmath>
#include <cstdio>

#include "headwater/headwater.h"

namespace {

const char river_text[] =
    "name: test\n"
    "hydraulics: {velocity_m_s: 0.37, dispersion_m2_s: 14.2, area_m2: 21.5}\n"
    "sensors:\n"
    "  - {id: low, location_m: 1800, noise_relative: 0.05}\n"
    "search: {mass_g: [1, 9000], location_m: [-5000, 1500], time_s: [-20000, 3000]}\n";

int complain(hw_status status, const hw_error &error) {
  std::fprintf(stderr, "%s: %s\n", hw_status_name(status), error.text);
  return 1;
}

}  // namespace

int main() {
  hw_error error = {};
  hw_river river = {};
  hw_status status = hw_river_parse("river", river_text, sizeof river_text - 1, nullptr, nullptr, &river, &error);
  if (status != HW_OK) {
    return complain(status, error);
  }
  hw_problem problem = {};
  problem.river = &river;
  const hw_options options = {};
  hw_run *run = nullptr;
  hw_estimate estimate;
  hw_estimate_init(&estimate);
  status = hw_run_create(hw_method_find("atgd"), &problem, &options, &run);
  for (int i = 0; i < 40 && status == HW_OK; i++) {
    hw_reading reading = {};
    reading.time_s = 300.0 * i;
    reading.concentration_g_m3 = std::exp(-0.5 * std::pow((reading.time_s - 6000) / 1200, 2));
    status = hw_run_observe(run, &reading);
  }
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  hw_run_free(run);
  hw_river_free(&river);
  const bool ok = status == HW_OK && estimate.readings == 40 && std::isfinite(estimate.source.mass_g);
  return ok ? 0 : complain(status, error);
}
