/* The field model's interval before any reading; outlook.h. */
#include "headwater/outlook.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "field/engine.h"

/* Quantiles a side; their sums are the distribution of ln distance. */
enum { POINTS = 101 };

typedef struct {
  double value, weight;
} error;

static int by_value(const void *a, const void *b) {
  const double x = ((const error *)a)->value, y = ((const error *)b)->value;
  return (x > y) - (x < y);
}

/* The central range of weighted errors of a logarithm, as factors. Sorts. */
static hw_range range_of(error *errors, size_t n, double level) {
  const double want[3] = {0.5 - 0.5 * level, 0.5, 0.5 + 0.5 * level};
  double found[3] = {NAN, NAN, NAN}, total = 0, below = 0;
  qsort(errors, n, sizeof *errors, by_value);
  for (size_t i = 0; i < n; i++) {
    total += errors[i].weight;
  }
  for (size_t i = 0; i < n; i++) {
    below += errors[i].weight / total;
    for (int k = 0; k < 3; k++) {
      found[k] = isnan(found[k]) && below >= want[k] - 1e-12 ? exp(errors[i].value) : found[k];
    }
  }
  return (hw_range){found[0], found[1], found[2]};
}

/* How far this river may stray. The further sensors tell it beforehand, their fronts agreeing with each other well or
 * badly: with m of them, agreeing as well as in the middle one of many rivers, what strays is a t with m more degrees
 * of freedom than the population's and its scale this factor of the population's. */
typedef struct {
  double freedom, factor;
} straying;

static straying straying_with(const hw__population *p, size_t further) {
  const double m = (double)further, n = p->law_freedom;
  return (straying){n + m, further ? sqrt((n + m * gsl_cdf_fdist_Pinv(0.5, m, n)) / (n + m)) : 1};
}

/* The velocity's doubt at the quantile u: what the river file or the regression leaves and, where two sensors see the
 * pulse, what the reach between them tells as well. */
static error velocity_error(const hw__velocity_prior *prior, const hw__population *p, bool reach_seen, double u) {
  if (prior->given) {
    return (error){prior->scale * gsl_cdf_ugaussian_Pinv(u), 1};
  }
  if (!reach_seen) {
    return (error){prior->scale * hw__t_quantile(u, p->velocity_freedom), 1};
  }
  const double reach = p->reach_scale * hw__t_quantile(u, p->reach_freedom);
  return (error){reach, exp(hw__t_log_density(reach / prior->scale, p->velocity_freedom))};
}

/* A longer front than the law's would be taken for an older pulse: its residual counts against the age. */
static double age_error(const hw__population *p, const straying *river, double u) {
  return -river->factor * hw__law_scale(p) * gsl_cdf_tdist_Pinv(u, river->freedom) / p->law_between;
}

/* Peak of the pulse at a sensor; NAN without a discharge. */
static double height_at(const hw__field *f, const hw_sensor *sensor, const hw_source *source, double velocity,
                        double age_s, double lead_s) {
  const double discharge = hw__discharge_of(f->river, sensor, velocity);
  if (!(discharge > 0)) {
    return NAN;
  }
  const hw__shape *middle = &f->shapes.shape[HW__SHAPES / 2];
  return source->mass_g * exp(hw__recovery_at(f, sensor, age_s).mean) / (discharge * middle->area * lead_s);
}

static const hw_range none = {NAN, NAN, NAN};

static hw_outlook_passage passage_at(const hw__field *f, const hw_sensor *s, const hw_source *source, double level) {
  const hw_outlook_passage unseen = {NAN, NAN, none};
  if (!(s->location_m > source->location_m)) {
    return unseen;
  }
  const double ln_v = hw__velocity_prior_of(f->river, s, &f->population).mean;
  const double age = hw__travel_s(f->river, source->location_m, s->location_m, exp(ln_v));
  const double lead = exp(hw__law_lead(&f->population, log(age), log(age), ln_v));
  const double floor = fmax(fmax(s->noise_absolute_g_m3, s->detection_limit_g_m3 / 2), 0);
  if (height_at(f, s, source, exp(ln_v), age, lead) <= 5 * floor) { /* not a pulse to hw__trace_settle */
    return unseen;
  }
  hw_outlook_passage found = {age, lead, none};
  if (hw__discharge_of(f->river, s, exp(ln_v)) > 0) {
    const double sd = hypot(hw__recovery_at(f, s, age).sd, log(s->gain_factor));
    const double z = gsl_cdf_ugaussian_Pinv(0.5 + 0.5 * level);
    found.mass = (hw_range){exp(-z * sd), 1, exp(z * sd)};
  }
  return found;
}

/* errors: POINTS x POINTS to work in */
static void fill_ranges(const hw__field *f, const hw_sensor *first, size_t visible, double level, error *errors,
                        hw_range *distance, hw_range *age) {
  const hw__population *p = &f->population;
  const hw__velocity_prior prior = hw__velocity_prior_of(f->river, first, p);
  const straying river = straying_with(p, (visible < HW__PULSES ? visible : HW__PULSES) - 1);
  const bool reach_seen = !prior.given && visible > 1;
  double of_age[POINTS];
  for (size_t i = 0; i < POINTS; i++) {
    of_age[i] = age_error(p, &river, ((double)i + 0.5) / POINTS);
    errors[i] = (error){of_age[i], 1};
  }
  *age = range_of(errors, POINTS, level);
  for (size_t j = 0; j < POINTS; j++) {
    const error v = velocity_error(&prior, p, reach_seen, ((double)j + 0.5) / POINTS);
    for (size_t i = 0; i < POINTS; i++) {
      errors[i * POINTS + j] = (error){of_age[i] + v.value, v.weight};
    }
  }
  *distance = range_of(errors, (size_t)POINTS * POINTS, level);
}

/* The model without readings and shapes; NULL without memory. */
static hw__field *bare_model(const hw_river *river) {
  hw__field *f = calloc(1, sizeof *f);
  if (f) {
    f->river = river;
    f->population = hw__population_shipped;
  }
  return f;
}

hw_status hw_outlook_passages(const hw_river *river, const hw_source *source, double level, hw_outlook_passage *out) {
  if (!(level > 0 && level < 1) || !(source->mass_g > 0) || !isfinite(source->mass_g) ||
      !isfinite(source->location_m)) {
    return HW_EDOMAIN;
  }
  hw__field *f = bare_model(river);
  if (!f) {
    return HW_ENOMEM;
  }
  hw__shapes_build(&f->shapes);
  for (size_t k = 0; k < river->sensor_count; k++) {
    out[k] = passage_at(f, &river->sensors[k], source, level);
  }
  free(f);
  return HW_OK;
}

hw_status hw_outlook_ranges(const hw_river *river, size_t first, size_t visible, double level, hw_range *distance,
                            hw_range *age) {
  if (!(level > 0 && level < 1) || first >= river->sensor_count || visible < 1) {
    return HW_EDOMAIN;
  }
  hw__field *f = bare_model(river);
  error *errors = calloc((size_t)POINTS * POINTS, sizeof *errors);
  const hw_status status = f && errors ? HW_OK : HW_ENOMEM;
  if (status == HW_OK) {
    fill_ranges(f, &river->sensors[first], visible, level, errors, distance, age);
  }
  free(f);
  free(errors);
  return status;
}

hw_status hw_outlook_source(const hw_river *river, const hw_source *source, double level, hw_outlook *out) {
  hw_outlook_passage *passages = calloc(river->sensor_count + 1, sizeof *passages);
  if (!passages) {
    return HW_ENOMEM;
  }
  hw_outlook found = {.location_m = NAN, .travel_s = NAN, .lead_s = NAN, .distance = none, .age = none, .mass = none};
  hw_status status = hw_outlook_passages(river, source, level, passages);
  size_t first = 0;
  for (size_t k = 0; status == HW_OK && k < river->sensor_count; k++) {
    const double at_m = river->sensors[k].location_m;
    found.downstream += at_m > source->location_m;
    if (isnan(passages[k].travel_s)) {
      continue;
    }
    found.visible++;
    if (!(found.location_m <= at_m)) {
      first = k;
      found.location_m = at_m;
      found.travel_s = passages[k].travel_s;
      found.lead_s = passages[k].lead_s;
      found.mass = passages[k].mass;
    }
  }
  if (status == HW_OK && found.visible > 0) {
    status = hw_outlook_ranges(river, first, found.visible, level, &found.distance, &found.age);
  }
  free(passages);
  if (status == HW_OK) {
    *out = found;
  }
  return status;
}
