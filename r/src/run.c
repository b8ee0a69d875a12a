/* One method at work. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  const hw_river *river;
  const hw_method *method;
  hw_run *run;
  hw_options options;
  hw_reader_counts counts;
  bool calendar;
  double origin_unix_s;
  double seconds; /* spent so far */
} hw_r_work;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void release(SEXP pointer) {
  hw_r_work *work = R_ExternalPtrAddr(pointer);
  if (work) {
    hw_run_free(work->run);
    free(work);
    R_ClearExternalPtr(pointer);
  }
}

static hw_r_work *work_of(SEXP run) {
  hw_r_work *found = TYPEOF(run) == EXTPTRSXP ? R_ExternalPtrAddr(run) : NULL;
  if (!found) {
    Rf_error("no run, expected one of hw_run()");
  }
  return found;
}

SEXP hw_r_run(SEXP river, SEXP name, SEXP seed, SEXP level, SEXP threads) {
  hw_r_work work = {.river = hw_r_river_of(river),
                    .method = hw_method_find(hw_r_text(name)),
                    .options = {.seed = (uint64_t)Rf_asReal(seed),
                                .level = Rf_asReal(level),
                                .threads = (size_t)Rf_asInteger(threads),
                                .per_sensor = true,
                                .steady = true}};
  work.calendar = work.river->search_is_calendar;
  if (!(work.options.level > 0 && work.options.level < 1)) {
    Rf_error("level %g, expected a share between 0 and 1", work.options.level);
  }
  if (!work.method) {
    Rf_error("no method '%.60s', expected one of those in hw_methods()", hw_r_text(name));
  }
  hw_status status = hw_run_create(work.method, &(hw_problem){.river = work.river}, &work.options, &work.run);
  hw_r_work *kept = status == HW_OK ? malloc(sizeof *kept) : NULL;
  if (!kept) {
    hw_run_free(work.run);
    hw_r_stop(status == HW_OK ? HW_ENOMEM : status, NULL);
  }
  *kept = work;
  /* The river stays as long as the run does. */
  SEXP pointer = PROTECT(R_MakeExternalPtr(kept, R_NilValue, river));
  R_RegisterCFinalizerEx(pointer, release, TRUE);
  UNPROTECT(1);
  return pointer;
}

/* The instant of time_s = 0, for times of a calendar; NA: only asks. */
SEXP hw_r_origin(SEXP run, SEXP origin_unix_s) {
  hw_r_work *work = work_of(run);
  const double wanted = Rf_asReal(origin_unix_s);
  if (!ISNAN(wanted)) {
    if (work->counts.readings && work->calendar && work->origin_unix_s != wanted) {
      Rf_error("readings that count their time from another instant, expected the same in one run");
    }
    work->calendar = true;
    work->origin_unix_s = wanted;
  }
  return Rf_ScalarReal(work->calendar ? work->origin_unix_s : NA_REAL);
}

SEXP hw_r_observe(SEXP run, SEXP time_s, SEXP sensor, SEXP value, SEXP below, SEXP above) {
  hw_r_work *work = work_of(run);
  const R_xlen_t rows = XLENGTH(time_s);
  const double begin_s = now_s();
  for (R_xlen_t i = 0; i < rows; i++) {
    if (ISNAN(REAL(value)[i])) {
      work->counts.missing++;
      continue;
    }
    const hw_reading reading = {.sensor = (size_t)(INTEGER(sensor)[i] - 1),
                                .time_s = REAL(time_s)[i],
                                .concentration_g_m3 = REAL(value)[i],
                                .below_limit = LOGICAL(below)[i] == TRUE,
                                .above_limit = LOGICAL(above)[i] == TRUE};
    const hw_status status = hw_run_observe(work->run, &reading);
    if (status != HW_OK) {
      Rf_error("row %lld: %s", (long long)i + 1, hw_status_text(status));
    }
    work->counts.readings++;
  }
  work->seconds += now_s() - begin_s;
  return Rf_ScalarReal((double)work->counts.readings);
}

/* The object headwater.estimate/1 as text, and the answer in words. */
SEXP hw_r_estimate(SEXP run) {
  hw_r_work *work = work_of(run);
  hw_estimate estimate;
  const double begin_s = now_s();
  hw_status status = hw_run_estimate(work->run, &estimate);
  work->seconds += now_s() - begin_s;
  const hw_result result = {.river = work->river,
                            .method = work->method->name,
                            .seed = work->options.seed,
                            .estimate = &estimate,
                            .counts = work->counts,
                            .calendar = work->calendar,
                            .origin_unix_s = work->origin_unix_s,
                            .seconds = work->seconds,
                            .reading_us_median = NAN,
                            .reading_us_p99 = NAN};
  char *json = NULL, *words = NULL;
  if (status == HW_OK) {
    status = hw_result_json(&result, true, &json);
  }
  if (status == HW_OK) {
    status = hw_result_text(&result, &words);
  }
  if (status != HW_OK) {
    free(json);
    hw_r_stop(status, NULL);
  }
  SEXP out = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(out, 0, Rf_mkCharCE(json, CE_UTF8));
  SET_STRING_ELT(out, 1, Rf_mkCharCE(words, CE_UTF8));
  free(json);
  free(words);
  UNPROTECT(1);
  return out;
}

SEXP hw_r_samples(SEXP run, SEXP most) {
  hw_r_work *work = work_of(run);
  const double wanted = Rf_asReal(most);
  if (!(wanted >= 1 && wanted <= 1e9)) {
    Rf_error("samples of less than one, expected more");
  }
  hw_sample *drawn = malloc((size_t)wanted * sizeof *drawn);
  size_t count = 0;
  const hw_status status = drawn ? hw_run_samples(work->run, drawn, (size_t)wanted, &count) : HW_ENOMEM;
  if (status != HW_OK) {
    free(drawn);
    hw_r_stop(status, NULL);
  }
  static const char *names[] = {"mass_g",       "location_m",      "time_s", "branch",
                                "velocity_m_s", "dispersion_m2_s", "weight", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int k = 0; names[k][0]; k++) {
    SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, (R_xlen_t)count));
  }
  for (size_t i = 0; i < count; i++) {
    const hw_sample *s = &drawn[i];
    const double row[] = {s->source.mass_g, s->source.location_m, s->source.time_s, (double)s->source.branch,
                          s->velocity_m_s,  s->dispersion_m2_s,   s->weight};
    for (int k = 0; names[k][0]; k++) {
      REAL(VECTOR_ELT(out, k))[i] = row[k];
    }
  }
  free(drawn);
  UNPROTECT(1);
  return out;
}

SEXP hw_r_predict(SEXP run, SEXP location_m, SEXP time_s) {
  hw_r_work *work = work_of(run);
  const size_t count = (size_t)XLENGTH(time_s);
  hw_range *band = malloc((count + 1) * sizeof *band);
  const hw_prediction wanted = {Rf_asReal(location_m), REAL(time_s), count, band, 0};
  const hw_status status = band ? hw_run_predict(work->run, &wanted) : HW_ENOMEM;
  if (status != HW_OK) {
    free(band);
    hw_r_stop(status, NULL);
  }
  static const char *names[] = {"lo", "mid", "hi", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int k = 0; k < 3; k++) {
    SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, (R_xlen_t)count));
  }
  for (size_t i = 0; i < count; i++) {
    REAL(VECTOR_ELT(out, 0))[i] = band[i].lo;
    REAL(VECTOR_ELT(out, 1))[i] = band[i].mid;
    REAL(VECTOR_ELT(out, 2))[i] = band[i].hi;
  }
  free(band);
  UNPROTECT(1);
  return out;
}
