/* What Tables 1 to 3 share: a source against the real readings and the truth, as a row. */
#ifndef HW_REPRODUCE_TABLES_H
#define HW_REPRODUCE_TABLES_H

#include "experiments/reproduce/reproduce.h"

/* Mean square misfit of a source over the real readings, (ug/l)^2. */
double hw_real_loss(const hw_reproduction *r, const hw_source *source);
/* The source of least loss there is. */
hw_status hw_real_optimum(const hw_reproduction *r, hw_source *best);

/* Relative errors in percent: mass, place, time. */
void hw_relative_errors(const hw_source *found, double percent[3]);

void hw_put_head(hw_reproduction *r, const char *first, const char *last);
/* One row: who, the estimate, its errors, its loss unless it has none; `more` is a last cell. */
void hw_put_row(hw_reproduction *r, const char *who, const char *variant, const hw_source *x, bool has_loss,
                const char *more);
/* The row of a run over the real readings, its seconds noted. */
void hw_put_trial(hw_reproduction *r, const char *who, const char *variant, const hw_trial *t);

/* "90 %: place ... to ... m, time ... to ... min". */
void hw_say_interval(const hw_box *interval, char *out, size_t size);

#endif
