/* One week's truth and answer as a line of text, so that a study that was stopped goes on where it was. */
#ifndef WEEKS_RESULT_H
#define WEEKS_RESULT_H

#include <stdio.h>

#include "weeks/answer.h"

typedef struct {
  uint64_t index, strata;
  double truth[UNKNOWNS], distance_m, travel_s;
  bool fallen, failed; /* failed: no answer at all, not even a refusal */
  int guilty;
  size_t rows;
  answer answer;
} result;

/* Enough for any line. */
enum { RESULT_LINE = 1200 };

void result_write(const result *r, char line[RESULT_LINE]);
bool result_read(const char *line, result *out);

#endif
