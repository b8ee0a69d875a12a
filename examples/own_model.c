/* A forward model of one's own, without derivatives.
 *
 * Below Willow Island the river runs in two arms, the right one slower and wider spread, so a pulse
 * arrives twice:
 *
 *   c(x, t) = s sum_k  share_k / (A sqrt(4 pi D_k T)) exp(-(X - v_k T)^2 / (4 D_k T)),  X = x - l,  T = t - t0.
 *
 * The equation built into headwater has one velocity and cannot say this. `bandit` needs only the value
 * of the model, so the function below is all that has to be written.
 *
 * Build: cc own_model.c $(pkg-config --cflags --libs headwater) -lm      Output: own_model.expected
 */
#include <headwater/headwater.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double share, velocity_m_s, dispersion_m2_s;
} arm;

typedef struct {
  double area_m2;
  arm arms[2];
} island;

/* The user's model: an hw_forward. */
static double two_arms(void *context, const hw_source *source, double x_m, double t_s) {
  const island *river = context;
  const double way_m = x_m - source->location_m, age_s = t_s - source->time_s;
  if (!(way_m > 0) || !(age_s > 0)) {
    return 0;
  }
  double sum = 0;
  for (int k = 0; k < 2; k++) {
    const arm *a = &river->arms[k];
    const double spread = 4 * a->dispersion_m2_s * age_s, off_m = way_m - a->velocity_m_s * age_s;
    sum += a->share * exp(-off_m * off_m / spread) / sqrt(3.14159265358979 * spread);
  }
  return source->mass_g * sum / river->area_m2;
}

/* Two sensors and a search box; velocity and dispersion stay unknown, the model above knows them. */
static void describe(hw_river *river) {
  hw_river_init(river);
  snprintf(river->name, sizeof river->name, "Willow Island");
  river->search = (hw_box){{100, -9000, -7200}, {2000, -500, 0}};
  river->sensors = calloc(2, sizeof *river->sensors);
  if (!river->sensors) {
    exit(3);
  }
  river->sensor_count = 2;
  for (int i = 0; i < 2; i++) {
    hw_sensor_init(&river->sensors[i]);
    snprintf(river->sensors[i].id, sizeof river->sensors[i].id, i ? "lower" : "upper");
    river->sensors[i].location_m = i ? 3000 : 0;
  }
}

int main(void) {
  island arms = {.area_m2 = 24, .arms = {{0.7, 0.9, 12}, {0.3, 0.6, 25}}};
  const hw_source truth = {640, -4200, -3600};
  hw_river river;
  describe(&river);
  const hw_problem problem = {.river = &river, .forward = two_arms, .forward_context = &arms};
  hw_run *run = NULL;
  hw_status status = hw_run_create(hw_method_find("bandit"), &problem, NULL, &run);
  hw_rng rng;
  hw_rng_seed(&rng, 1, 0);
  /* A reading every five minutes from both sensors for four hours, with 5 % noise. */
  for (double t_s = 0; status == HW_OK && t_s <= 4 * 3600; t_s += 300) {
    for (size_t sensor = 0; status == HW_OK && sensor < 2; sensor++) {
      const double c = two_arms(&arms, &truth, river.sensors[sensor].location_m, t_s);
      const hw_reading reading = {
          .sensor = sensor, .time_s = t_s, .concentration_g_m3 = c * (1 + 0.05 * hw_rng_normal(&rng))};
      status = hw_run_observe(run, &reading);
    }
  }
  hw_estimate estimate;
  if (status == HW_OK) {
    status = hw_run_estimate(run, &estimate);
  }
  if (status == HW_OK) {
    printf("truth     %4.0f g  %6.0f m  %5.0f s\n", truth.mass_g, truth.location_m, truth.time_s);
    printf("estimate  %4.0f g  %6.0f m  %5.0f s  after %zu readings\n", estimate.source.mass_g,
           estimate.source.location_m, estimate.source.time_s, estimate.readings);
  } else {
    fprintf(stderr, "own_model: %s\n", hw_status_text(status));
  }
  hw_run_free(run);
  hw_river_free(&river);
  return status == HW_OK ? 0 : 1;
}
