#include "binding.h"

#include <R_ext/Rdynload.h>
#include <stdlib.h>
#include <string.h>

void hw_r_stop(hw_status status, const char *sentence) {
  Rf_error("%s", sentence && sentence[0] ? sentence : hw_status_text(status));
}

const char *hw_r_text(SEXP text) {
  return text == R_NilValue ? NULL : Rf_translateCharUTF8(Rf_asChar(text));
}

void hw_r_notes_take(void *context, const char *sentence) {
  hw_r_notes *notes = context;
  char **larger = realloc(notes->sentences, (notes->count + 1) * sizeof *larger);
  if (larger) {
    notes->sentences = larger;
    larger[notes->count] = strdup(sentence);
    notes->count += larger[notes->count] != NULL;
  }
}

SEXP hw_r_notes_vector(hw_r_notes *notes) {
  SEXP vector = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)notes->count));
  for (size_t i = 0; i < notes->count; i++) {
    SET_STRING_ELT(vector, (R_xlen_t)i, Rf_mkCharCE(notes->sentences[i], CE_UTF8));
    free(notes->sentences[i]);
  }
  free(notes->sentences);
  *notes = (hw_r_notes){0};
  UNPROTECT(1);
  return vector;
}

static SEXP methods(void) {
  size_t count;
  const hw_method *const *table = hw_methods(&count);
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
  SEXP summaries = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
  for (size_t i = 0; i < count; i++) {
    SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkChar(table[i]->name));
    SET_STRING_ELT(summaries, (R_xlen_t)i, Rf_mkChar(table[i]->summary));
  }
  Rf_setAttrib(summaries, R_NamesSymbol, names);
  UNPROTECT(2);
  return summaries;
}

static const R_CallMethodDef calls[] = {{"hw_r_methods", (DL_FUNC)(void *)methods, 0},
                                        {"hw_r_river", (DL_FUNC)(void *)hw_r_river, 1},
                                        {"hw_r_river_describe", (DL_FUNC)(void *)hw_r_river_describe, 1},
                                        {"hw_r_read", (DL_FUNC)(void *)hw_r_read, 4},
                                        {"hw_r_run", (DL_FUNC)(void *)hw_r_run, 5},
                                        {"hw_r_origin", (DL_FUNC)(void *)hw_r_origin, 2},
                                        {"hw_r_observe", (DL_FUNC)(void *)hw_r_observe, 6},
                                        {"hw_r_estimate", (DL_FUNC)(void *)hw_r_estimate, 1},
                                        {"hw_r_samples", (DL_FUNC)(void *)hw_r_samples, 2},
                                        {"hw_r_predict", (DL_FUNC)(void *)hw_r_predict, 3},
                                        {NULL, NULL, 0}};

void R_init_headwater(DllInfo *info);

void R_init_headwater(DllInfo *info) {
  R_registerRoutines(info, NULL, calls, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
