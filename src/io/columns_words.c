#include "io/columns_words.h"

#include <string.h>

const hw__word hw__encoding_words[] = {{"utf-8", HW_UTF8},
                                       {"utf-16le", HW_UTF16LE},
                                       {"utf-16be", HW_UTF16BE},
                                       {"windows-1252", HW_WINDOWS1252},
                                       {NULL, 0}};
const hw__word hw__separator_words[] = {{",", ','}, {";", ';'}, {"tab", '\t'}, {"|", '|'}, {NULL, 0}};
const hw__word hw__decimal_words[] = {{".", '.'}, {",", ','}, {NULL, 0}};
const hw__word hw__time_words[] = {{"ymd", HW_TIME_YMD},     {"dmy", HW_TIME_DMY},   {"mdy", HW_TIME_MDY},
                                   {"excel", HW_TIME_EXCEL}, {"unix", HW_TIME_UNIX}, {"s", HW_TIME_SECONDS},
                                   {"min", HW_TIME_MINUTES}, {"h", HW_TIME_HOURS},   {NULL, 0}};
const hw__word hw__twice_words[] = {
    {"first", HW_TWICE_FIRST}, {"second", HW_TWICE_SECOND}, {"by order", HW_TWICE_BY_ORDER}, {NULL, 0}};

const char *hw__word_of(const hw__word *words, int value) {
  while (words->word && words->value != value) {
    words++;
  }
  return words->word;
}

bool hw__column_is(hw__slice name, const char *wanted) {
  if (wanted[0] != '*' || !wanted[1]) {
    return hw__slice_is(name, wanted);
  }
  const size_t size = strlen(wanted + 1);
  return name.size >= size && memcmp(name.text + name.size - size, wanted + 1, size) == 0;
}

double hw__unit_per_g_m3(const char *unit) {
  static const struct {
    const char *name;
    double per_g_m3;
  } units[] = {{"g/m3", 1}, {"mg/l", 1}, {"ppm", 1}, {"ug/l", 1e3}, {"mg/m3", 1e3}, {"ppb", 1e3}, {"ng/l", 1e6}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(unit, units[i].name) == 0) {
      return units[i].per_g_m3;
    }
  }
  return 0;
}
