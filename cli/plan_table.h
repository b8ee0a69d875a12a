/* Identifications read from a file: what `identify --per-sensor` prints, round,sensor,mass_g,location_m,time_s. */
#ifndef HW_CLI_PLAN_TABLE_H
#define HW_CLI_PLAN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/headwater.h"

typedef struct {
  size_t round, sensor; /* from 1 */
  hw_source source;
} plan_row;

typedef struct {
  plan_row *rows;
  size_t count, capacity;
  size_t rounds, sensors; /* the largest numbers met */
} plan_table;

/* -1, or the exit code after the fault was reported; plan_table_free either way. */
int plan_table_read(const char *path, plan_table *out);
bool plan_table_find(const plan_table *table, size_t round, size_t sensor, hw_source *out);
void plan_table_free(plan_table *table);

#endif
