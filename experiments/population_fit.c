/* Fitting the population constants.
 *
 * The law, the reach above the first sensor and the reaches onward: maximum likelihood of their t distributions over
 * releases. Velocities: regressions by least squares, the scale of their t from held-out rivers, one at a time.
 * Recovery: maximum likelihood of a normal whose variance grows with age. What is fitted is the engine's own reading of
 * each completed pulse, with the reading's own variance.
 */
#include "population_fit.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 256 };

static void measure_pulse(hw__field *f, size_t pulse, const release *r, measured *out) {
  const hw_sensor *sensor = &r->river.sensors[f->pulse_sensor[pulse]];
  const hw__lattice *lattice = hw__field_lattice(f, f->pulse_sensor[pulse]);
  double phi = 0, lead = 0, lead2 = 0, skew = 0, skew2 = 0, area = 0;
  for (size_t i = 0; i < HW__DRAWS; i++) {
    const hw__pick *pick = &f->pick[i * f->pulse_capacity + pulse];
    const hw__pulse p = hw__lattice_pick(lattice, (double)pick->pick, (double)pick->across, (double)pick->along);
    const hw__shape *shape = &f->shapes.shape[p.shape];
    phi += p.phi_s / HW__DRAWS;
    lead += p.log_lead / HW__DRAWS;
    lead2 += p.log_lead * p.log_lead / HW__DRAWS;
    skew += shape->skew / HW__DRAWS;
    skew2 += shape->skew * shape->skew / HW__DRAWS;
    area += p.height_g_m3 * shape->area * exp(p.log_lead) / HW__DRAWS;
  }
  const size_t m = out->count++;
  out->sensor[m] = sensor;
  out->age_s[m] = phi - r->truth.time_s;
  out->log_lead[m] = lead;
  out->lead_variance[m] = fmax(lead2 - lead * lead, 0);
  out->skew[m] = skew;
  out->skew_variance[m] = fmax(skew2 - skew * skew, 0);
  out->place_m[m] = sensor->location_m - r->truth.location_m;
  out->log_recovery[m] =
      release_mass_is_comparable(r->name) ? log(sensor->discharge_m3_s * area / r->truth.mass_g) : NAN;
}

hw__field *field_on(const hw_river *river, const hw__population *population) {
  const hw_problem problem = {.river = river};
  const hw_options options = {.seed = 1, .level = 0.9};
  void *state = NULL;
  return hw__field_create_with(&problem, &options, population, &state) == HW_OK ? state : NULL;
}

void field_read(hw__field *f, const release *r) {
  for (size_t i = 0; i < r->count; i++) {
    (void)hw__field_observe(f, &r->readings[i]);
  }
}

bool population_measure(const release *r, const hw__population *population, measured *out) {
  *out = (measured){.release = r};
  hw__field *f = field_on(&r->river, population);
  if (!f) {
    return false;
  }
  field_read(f, r);
  hw__field_settle(f);
  for (size_t m = 0; m < f->pulse_count; m++) {
    measure_pulse(f, m, r, out);
  }
  hw__field_destroy(f);
  return out->count > 0;
}

/* The releases in play. */
typedef struct {
  const measured *release[ROWS_MOST];
  size_t count;
  hw__population *population;
  double value[ROWS_MOST], weight[ROWS_MOST], age_days[ROWS_MOST], depth_m[ROWS_MOST]; /* scalar samples */
  size_t values;
  double freedom; /* of theirs, for spread_misfit */
  bool by_depth;
} pool;

static double velocity_above(const measured *r) {
  return r->place_m[0] / r->age_s[0];
}

static double velocity_between(const measured *r, size_t m) {
  return (r->place_m[m] - r->place_m[m - 1]) / (r->age_s[m] - r->age_s[m - 1]);
}

static double minimise(double (*f)(const gsl_vector *, void *), void *context, size_t n, double *x, double step) {
  gsl_multimin_function function = {f, n, context};
  gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
  gsl_vector *at = gsl_vector_alloc(n), *steps = gsl_vector_alloc(n);
  double best = INFINITY;
  /* Started again from where it ended: a simplex may have collapsed. */
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < n; i++) {
      gsl_vector_set(at, i, x[i]);
    }
    gsl_vector_set_all(steps, step);
    gsl_multimin_fminimizer_set(m, &function, at, steps);
    for (int i = 0; i < 3000 && gsl_multimin_fminimizer_iterate(m) == 0 && gsl_multimin_fminimizer_size(m) > 1e-5;
         i++) {
    }
    for (size_t i = 0; i < n; i++) {
      x[i] = gsl_vector_get(m->x, i);
    }
    best = m->fval;
  }
  gsl_multimin_fminimizer_free(m);
  gsl_vector_free(at);
  gsl_vector_free(steps);
  return best;
}

/* Parameters: intercept, between, within, velocity, ln scale, ln length, ln nugget. Length and nugget are poorly told
 * by few rivers and get a wide prior. */
static void set_law(const gsl_vector *x, hw__population *p) {
  p->law_intercept = gsl_vector_get(x, 0);
  p->law_between = gsl_vector_get(x, 1);
  p->law_within = gsl_vector_get(x, 2);
  p->law_velocity = gsl_vector_get(x, 3);
  p->law_scale = exp(gsl_vector_get(x, 4));
  p->law_length = exp(gsl_vector_get(x, 5));
  p->law_nugget = exp(gsl_vector_get(x, 6));
}

static double law_misfit(const gsl_vector *x, void *context) {
  const pool *all = context;
  hw__population p = *all->population;
  set_law(x, &p);
  double sum = 0;
  for (size_t i = 0; i < all->count; i++) {
    const measured *r = all->release[i];
    /* Where there is one sensor only, the reach between sensors is as usual slower than the one above. */
    const double v = r->count > 1 ? log(velocity_between(r, 1)) : log(velocity_above(r)) - p.reach_shift;
    double residual[HW__PULSES], log_age[HW__PULSES];
    for (size_t m = 0; m < r->count; m++) {
      log_age[m] = log(r->age_s[m]);
      residual[m] = r->log_lead[m] - hw__law_lead(&p, log_age[0], log_age[m], v);
    }
    sum -= hw__law_log_density(&p, r->count, residual, log_age, r->lead_variance);
  }
  const double length = log(p.law_length) / 0.7, nugget = (log(p.law_nugget) - log(0.055)) / 0.5;
  return sum + 0.5 * (length * length + nugget * nugget);
}

static void fit_law(pool *all) {
  double x[7] = {8.45, 0.8, 0.8, -0.25, log(0.22), 0, log(0.055)};
  minimise(law_misfit, all, 7, x, 0.1);
  const gsl_vector_view view = gsl_vector_view_array(x, 7);
  set_law(&view.vector, all->population);
}

/* Parameters: ln scale and, where it is sought, the centre. */
static double spread_misfit(const gsl_vector *x, void *context) {
  const pool *all = context;
  const double log_scale = gsl_vector_get(x, 0), centre = x->size > 1 ? gsl_vector_get(x, 1) : 0;
  double sum = 0;
  for (size_t i = 0; i < all->values; i++) {
    const double t = (all->value[i] - centre) * exp(-log_scale);
    sum += all->weight[i] * (log_scale - hw__t_log_density(t, all->freedom));
  }
  return sum;
}

/* Every two sensors of a release may be the first two of a river: the velocity above the upper one over that between
 * them, a release counting once however many pairs it has. */
static void fit_reach(pool *all) {
  all->values = 0;
  for (size_t i = 0; i < all->count; i++) {
    const measured *r = all->release[i];
    const double pairs = 0.5 * (double)(r->count * (r->count - 1));
    for (size_t m = 0; m < r->count; m++) {
      for (size_t n = m + 1; n < r->count && all->values < ROWS_MOST; n++) {
        const double between = (r->place_m[n] - r->place_m[m]) / (r->age_s[n] - r->age_s[m]);
        all->weight[all->values] = 1 / pairs;
        all->value[all->values++] = log(r->place_m[m] / r->age_s[m] / between);
      }
    }
  }
  all->freedom = all->population->reach_freedom;
  double y[2] = {log(0.15), 0.1};
  minimise(spread_misfit, all, 2, y, 0.1);
  all->population->reach_scale = exp(y[0]);
  all->population->reach_shift = y[1];
}

static void fit_onward(pool *all) {
  all->values = 0;
  for (size_t i = 0; i < all->count; i++) {
    const measured *r = all->release[i];
    for (size_t m = 2; m < r->count; m++) {
      all->weight[all->values] = 1;
      all->value[all->values++] = log(velocity_between(r, m) / velocity_between(r, m - 1));
    }
  }
  all->freedom = hw__onward_freedom;
  double y[1] = {log(0.15)};
  minimise(spread_misfit, all, 1, y, 0.1);
  all->population->onward_scale = exp(y[0]);
}

/* Least squares of ln velocity on `columns` predictors, without the releases of one river. */
static void regress(const pool *all, const double (*row)[3], int columns, const char *without, double *b) {
  double normal[9] = {0}, right[3] = {0};
  for (size_t i = 0; i < all->count; i++) {
    if (without && release_same_river(all->release[i]->release->name, without)) {
      continue;
    }
    for (int j = 0; j < columns; j++) {
      right[j] += row[i][j] * log(velocity_above(all->release[i]));
      for (int k = 0; k < columns; k++) {
        normal[j * columns + k] += row[i][j] * row[i][k];
      }
    }
  }
  gsl_matrix_view a = gsl_matrix_view_array(normal, (size_t)columns, (size_t)columns);
  gsl_vector_view y = gsl_vector_view_array(right, (size_t)columns), x = gsl_vector_view_array(b, (size_t)columns);
  gsl_linalg_HH_solve(&a.matrix, &y.vector, &x.vector);
}

/* Coefficients on all, the scale of Cauchy's distribution on held-out rivers. */
static double regress_on_new(pool *all, const double (*row)[3], int columns, double *b) {
  for (size_t i = 0; i < all->count; i++) {
    regress(all, row, columns, all->release[i]->release->name, b);
    double miss = log(velocity_above(all->release[i]));
    for (int j = 0; j < columns; j++) {
      miss -= b[j] * row[i][j];
    }
    all->value[i] = miss;
    all->weight[i] = 1;
  }
  all->values = all->count;
  all->freedom = all->population->velocity_freedom;
  double log_scale[1] = {log(0.3)};
  minimise(spread_misfit, all, 1, log_scale, 0.1);
  regress(all, row, columns, NULL, b);
  return exp(log_scale[0]);
}

static void fit_velocities(pool *all) {
  hw__population *p = all->population;
  double both[ROWS_MOST][3], discharge[ROWS_MOST][3], section[ROWS_MOST][3], nothing[ROWS_MOST][3], b[3];
  for (size_t i = 0; i < all->count; i++) {
    const hw_sensor *s = all->release[i]->sensor[0];
    const double q = log(s->discharge_m3_s), v = log(s->section_velocity_m_s);
    both[i][0] = discharge[i][0] = section[i][0] = nothing[i][0] = 1;
    both[i][1] = discharge[i][1] = q;
    both[i][2] = section[i][1] = v;
  }
  p->both_scale = regress_on_new(all, both, 3, b);
  p->both_intercept = b[0];
  p->both_discharge = b[1];
  p->both_section = b[2];
  p->discharge_scale = regress_on_new(all, discharge, 2, b);
  p->discharge_intercept = b[0];
  p->discharge_slope = b[1];
  p->section_scale = regress_on_new(all, section, 2, b);
  p->section_intercept = b[0];
  p->section_slope = b[1];
  p->velocity_scale = regress_on_new(all, nothing, 1, b);
  p->velocity_mean = b[0];
}

static double recovery_misfit(const gsl_vector *x, void *context) {
  const pool *all = context;
  double sum = 0;
  for (size_t i = 0; i < all->values; i++) {
    const double days = all->age_days[i];
    const double along = all->by_depth ? days / all->depth_m[i] : sqrt(days);
    const double variance = exp(gsl_vector_get(x, 2)) + exp(gsl_vector_get(x, 3)) * days;
    const double miss = all->value[i] - gsl_vector_get(x, 0) - gsl_vector_get(x, 1) * along;
    sum += 0.5 * log(variance) + 0.5 * miss * miss / variance;
  }
  return sum;
}

static void fit_recovery(pool *all) {
  hw__population *p = all->population;
  for (int by_depth = 0; by_depth < 2; by_depth++) {
    all->by_depth = by_depth;
    all->values = 0;
    for (size_t i = 0; i < all->count; i++) {
      const measured *r = all->release[i];
      for (size_t m = 0; m < r->count && all->values < ROWS_MOST; m++) {
        /* More than seven times the mass, or less than a seventh, is a slip in the discharge. */
        if (fabs(r->log_recovery[m]) < 2 && (!by_depth || r->sensor[m]->depth_m > 0)) {
          all->value[all->values] = r->log_recovery[m];
          all->age_days[all->values] = r->age_s[m] / 86400;
          all->depth_m[all->values++] = r->sensor[m]->depth_m;
        }
      }
    }
    double x[4] = {0, -0.1, log(0.02), log(0.04)};
    minimise(recovery_misfit, all, 4, x, 0.1);
    *(by_depth ? &p->recovery_depth_intercept : &p->recovery_intercept) = x[0];
    *(by_depth ? &p->recovery_depth_slope : &p->recovery_slope) = x[1];
    *(by_depth ? &p->recovery_depth_variance : &p->recovery_variance) = exp(x[2]);
    *(by_depth ? &p->recovery_depth_growth : &p->recovery_growth) = exp(x[3]);
  }
}

/* Skews of first pulses as read under a wide prior: their mean and spread, what each reading leaves open
 * included, are the prior from here on. */
static void fit_skew(pool *all) {
  const double n = (double)all->count;
  double mean = 0, square = 0;
  for (size_t i = 0; i < all->count; i++) {
    const double skew = all->release[i]->skew[0];
    mean += skew / n;
    square += (skew * skew + all->release[i]->skew_variance[0]) / n;
  }
  all->population->skew_mean = mean;
  all->population->skew_sd = sqrt(square - mean * mean);
}

/* Releases measured under the constants so far, without the held-out river. Returned: rivers among them. */
static size_t gather(const release *releases, size_t count, const char *left_out, measured *pulses, pool *all) {
  size_t rivers = 0;
  all->count = 0;
  for (size_t i = 0; i < count; i++) {
    const char *name = releases[i].name;
    if ((left_out && release_same_river(name, left_out)) ||
        !population_measure(&releases[i], all->population, &pulses[i])) {
      continue;
    }
    bool known = false;
    for (size_t j = 0; j < all->count; j++) {
      known = known || release_same_river(name, all->release[j]->release->name);
    }
    rivers += !known;
    all->release[all->count++] = &pulses[i];
  }
  return rivers;
}

/* Where learning starts: the chosen constants, and for the others round numbers that only say where a
 * lattice looks for leads, so that the outcome does not depend on what was shipped before. */
static void start_neutral(const hw__population *chosen, hw__population *out) {
  *out = (hw__population){.shape_noise = chosen->shape_noise,
                          .shape_readings = chosen->shape_readings,
                          .amplitude_power = chosen->amplitude_power,
                          .law_freedom = chosen->law_freedom,
                          .velocity_freedom = chosen->velocity_freedom,
                          .reach_freedom = chosen->reach_freedom,
                          .skew_mean = 0.5,
                          .skew_sd = 1,
                          .law_intercept = 8.45,
                          .law_between = 0.8,
                          .law_within = 0.8,
                          .law_velocity = -0.25,
                          .law_scale = 0.25,
                          .law_length = 1,
                          .law_nugget = 0.05,
                          .reach_shift = 0.1,
                          .reach_scale = 0.15,
                          .onward_scale = 0.2,
                          .both_intercept = -1.2,
                          .both_scale = 0.7,
                          .discharge_intercept = -1.2,
                          .discharge_scale = 0.7,
                          .section_intercept = -1.2,
                          .section_scale = 0.7,
                          .velocity_mean = -1.2,
                          .velocity_scale = 0.7,
                          .recovery_variance = 0.02,
                          .recovery_depth_variance = 0.02};
}

size_t population_learn(const release *releases, size_t count, const char *left_out, const hw__population *chosen,
                        hw__population *out) {
  measured *pulses = calloc(count, sizeof *pulses);
  if (!pulses || count > ROWS_MOST) {
    free(pulses);
    return 0;
  }
  start_neutral(chosen, out);
  pool all = {.population = out};
  size_t rivers = gather(releases, count, left_out, pulses, &all);
  fit_skew(&all);
  rivers = gather(releases, count, left_out, pulses, &all);
  fit_reach(&all);
  fit_onward(&all);
  fit_law(&all);
  fit_velocities(&all);
  fit_recovery(&all);
  free(pulses);
  return rivers;
}
