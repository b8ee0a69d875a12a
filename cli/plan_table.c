#include "cli/plan_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

enum { FIELDS = 5, MOST_NUMBER = 1000000 };

/* One line; what follows a # is a comment. */
static bool parse_line(const char *line, double field[FIELDS]) {
  char copy[256], *rest = NULL;
  size_t count = 0;
  const size_t length = strcspn(line, "#");
  if (length >= sizeof copy) {
    return false;
  }
  memcpy(copy, line, length);
  copy[length] = '\0';
  for (char *part = strtok_r(copy, ", \r\n", &rest); part; part = strtok_r(NULL, ", \r\n", &rest)) {
    if (count == FIELDS || !cli_number(part, &field[count])) {
      return false;
    }
    count++;
  }
  return count == FIELDS;
}

static bool is_number_of(double value) {
  return value >= 1 && value <= MOST_NUMBER && value == floor(value);
}

static bool keep(plan_table *table, const double f[FIELDS]) {
  if (table->count == table->capacity) {
    const size_t capacity = table->capacity ? 2 * table->capacity : 64;
    plan_row *rows = realloc(table->rows, capacity * sizeof *rows);
    if (!rows) {
      return false;
    }
    table->rows = rows;
    table->capacity = capacity;
  }
  const plan_row row = {(size_t)f[0], (size_t)f[1], {f[2], f[3], f[4]}};
  table->rows[table->count++] = row;
  table->rounds = row.round > table->rounds ? row.round : table->rounds;
  table->sensors = row.sensor > table->sensors ? row.sensor : table->sensors;
  return true;
}

int plan_table_read(const char *path, plan_table *out) {
  FILE *file = fopen(path, "r");
  if (!file) {
    return cli_fail(EXIT_MACHINE, "%s: cannot be opened, expected a file that can be read", path);
  }
  int code = -1;
  char line[512];
  for (size_t number = 1; code < 0 && fgets(line, sizeof line, file); number++) {
    double f[FIELDS];
    if (line[0] == '#' || line[0] == '\n' || strncmp(line, "round,", 6) == 0) {
      continue;
    }
    if (!parse_line(line, f)) {
      code = cli_fail(EXIT_INPUT, "%s:%zu: found '%.*s', expected round,sensor,mass_g,location_m,time_s", path, number,
                      (int)strcspn(line, "\r\n"), line);
    } else if (!is_number_of(f[0]) || !is_number_of(f[1])) {
      code =
          cli_fail(EXIT_INPUT, "%s:%zu: round %g, sensor %g, expected whole numbers from 1", path, number, f[0], f[1]);
    } else if (!keep(out, f)) {
      code = cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
    }
  }
  fclose(file);
  if (code < 0 && out->count == 0) {
    code = cli_fail(EXIT_INPUT, "%s: no identifications, expected rows of round,sensor,mass_g,location_m,time_s", path);
  }
  return code;
}

bool plan_table_find(const plan_table *table, size_t round, size_t sensor, hw_source *out) {
  for (size_t i = 0; i < table->count; i++) {
    if (table->rows[i].round == round && table->rows[i].sensor == sensor) {
      *out = table->rows[i].source;
      return true;
    }
  }
  return false;
}

void plan_table_free(plan_table *table) {
  free(table->rows);
  *table = (plan_table){0};
}
