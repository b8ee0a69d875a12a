/* headwater for R: rivers and runs as external pointers, over the public headers. */
#ifndef HW_R_BINDING_H
#define HW_R_BINDING_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <headwater/headwater.h>

/* Ends the call with the sentence, or the status's own where there is none. Release what you hold before. */
void hw_r_stop(hw_status status, const char *sentence) __attribute__((noreturn));

/* Sentences that come while a file is looked at. */
typedef struct {
  char **sentences;
  size_t count;
} hw_r_notes;

void hw_r_notes_take(void *context, const char *sentence);
/* As a character vector; releases them. */
SEXP hw_r_notes_vector(hw_r_notes *notes);

/* The river behind a pointer; stops for anything else. */
const hw_river *hw_r_river_of(SEXP river);

/* A text, or NULL for R's NULL. */
const char *hw_r_text(SEXP text);

SEXP hw_r_river(SEXP path);
SEXP hw_r_river_describe(SEXP river);
SEXP hw_r_read(SEXP path, SEXP river, SEXP columns, SEXP zone);
SEXP hw_r_run(SEXP river, SEXP method, SEXP seed, SEXP level, SEXP threads);
SEXP hw_r_origin(SEXP run, SEXP origin_unix_s);
SEXP hw_r_observe(SEXP run, SEXP time_s, SEXP sensor, SEXP value, SEXP below, SEXP above);
SEXP hw_r_estimate(SEXP run);
SEXP hw_r_samples(SEXP run, SEXP most);
SEXP hw_r_predict(SEXP run, SEXP location_m, SEXP time_s);

#endif
