/* Rivers, and files of readings. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static void release(SEXP pointer) {
  hw_river *river = R_ExternalPtrAddr(pointer);
  if (river) {
    hw_river_free(river);
    free(river);
    R_ClearExternalPtr(pointer);
  }
}

const hw_river *hw_r_river_of(SEXP river) {
  const hw_river *found = TYPEOF(river) == EXTPTRSXP ? R_ExternalPtrAddr(river) : NULL;
  if (!found) {
    Rf_error("no river, expected one of hw_river()");
  }
  return found;
}

SEXP hw_r_river(SEXP path) {
  hw_river *river = malloc(sizeof *river);
  if (!river) {
    hw_r_stop(HW_ENOMEM, NULL);
  }
  hw_river_init(river);
  hw_error error = {""};
  hw_r_notes notes = {0};
  const hw_status status = hw_river_load(hw_r_text(path), hw_r_notes_take, &notes, river, &error);
  SEXP warnings = PROTECT(hw_r_notes_vector(&notes));
  if (status != HW_OK) {
    free(river);
    hw_r_stop(status, error.text);
  }
  SEXP pointer = PROTECT(R_MakeExternalPtr(river, R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(pointer, release, TRUE);
  Rf_setAttrib(pointer, Rf_install("warnings"), warnings);
  UNPROTECT(2);
  return pointer;
}

/* name, calendar, and the sensors' ids and places. */
SEXP hw_r_river_describe(SEXP pointer) {
  const hw_river *river = hw_r_river_of(pointer);
  static const char *names[] = {"name", "calendar", "sensor", "location_m", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarString(Rf_mkCharCE(river->name, CE_UTF8)));
  SET_VECTOR_ELT(out, 1, Rf_ScalarLogical(river->search_is_calendar));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(STRSXP, (R_xlen_t)river->sensor_count));
  SET_VECTOR_ELT(out, 3, Rf_allocVector(REALSXP, (R_xlen_t)river->sensor_count));
  for (size_t i = 0; i < river->sensor_count; i++) {
    SET_STRING_ELT(VECTOR_ELT(out, 2), (R_xlen_t)i, Rf_mkCharCE(river->sensors[i].id, CE_UTF8));
    REAL(VECTOR_ELT(out, 3))[i] = river->sensors[i].location_m;
  }
  UNPROTECT(1);
  return out;
}

enum { COLUMNS = 5 };

static void fill_row(double *values, size_t rows, size_t i, const hw_reading *reading) {
  const double row[COLUMNS] = {reading->time_s, (double)reading->sensor, reading->concentration_g_m3,
                               reading->below_limit, reading->above_limit};
  for (size_t k = 0; k < COLUMNS; k++) {
    values[k * rows + i] = row[k];
  }
}

SEXP hw_r_read(SEXP path, SEXP pointer, SEXP map, SEXP zone) {
  const hw_river *river = hw_r_river_of(pointer);
  const char *mapping = hw_r_text(map);
  hw_columns *columns = NULL;
  hw_error error = {""};
  hw_r_notes heard = {0};
  hw_reader *reader = NULL;
  hw_reading *readings = NULL;
  size_t count = 0;
  double origin_unix_s = NA_REAL;
  bool calendar = false;
  hw_status status = mapping ? hw_columns_parse("columns", mapping, strlen(mapping), &columns, &error) : HW_OK;
  if (status == HW_OK) {
    const hw_reader_options options = {
        .columns = columns, .timezone = hw_r_text(zone), .tell = hw_r_notes_take, .context = &heard};
    status = hw_reader_open_with(hw_r_text(path), river, &options, &reader, &error);
  }
  if (status == HW_OK) {
    status = hw_reader_rest(reader, 0, &readings, &count, &error);
  }
  if (status == HW_OK) {
    calendar = hw_reader_calendar(reader, &origin_unix_s);
  }
  hw_reader_free(reader);
  hw_columns_free(columns);
  SEXP notes = PROTECT(hw_r_notes_vector(&heard));
  if (status != HW_OK) {
    hw_r_stop(status, error.text);
  }
  static const char *names[] = {"values", "origin", "notes", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP values = Rf_allocMatrix(REALSXP, (int)count, COLUMNS);
  SET_VECTOR_ELT(out, 0, values);
  for (size_t i = 0; i < count; i++) {
    fill_row(REAL(values), count, i, &readings[i]);
  }
  free(readings);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(calendar ? origin_unix_s : NA_REAL));
  SET_VECTOR_ELT(out, 2, notes);
  UNPROTECT(2);
  return out;
}
