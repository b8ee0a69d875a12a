/* Many weeks in one table, a row per stratum, and what is asked of each row. */
#ifndef WEEKS_TABLE_H
#define WEEKS_TABLE_H

#include "weeks/result.h"

/* Prints the table. Returned: how many of its figures are outside what is asked. */
size_t table_print(const result *r, size_t count);

/* For few weeks: the same of sound, broken, wrong and empty weeks as a whole, each figure given three standard errors.
 * Returned: how many are outside. */
size_t table_check(const result *r, size_t count);

/* How often a candidate that was given a probability did it. */
void table_candidates(const result *r, size_t count);

#endif
