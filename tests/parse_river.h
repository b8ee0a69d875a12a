/* A river from text, for tests: what is odd about it is kept in `warnings`, a line each. */
#ifndef HW_TESTS_PARSE_RIVER_H
#define HW_TESTS_PARSE_RIVER_H

#include <stdio.h>
#include <string.h>

#include "headwater/headwater.h"

static char warnings[4096];

static void note_warning(void *context, const char *sentence) {
  (void)context;
  snprintf(warnings + strlen(warnings), sizeof warnings - strlen(warnings), "%s\n", sentence);
}

static hw_river parse(const char *name, const char *text) {
  hw_river river;
  hw_error error = {""};
  warnings[0] = '\0';
  if (hw_river_parse(name, text, strlen(text), note_warning, NULL, &river, &error) != HW_OK) {
    fail_msg("%s", error.text);
  }
  return river;
}

#endif
