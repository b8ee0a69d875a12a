#include "weeks/strata.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name;
  stratum_kind kind;
} strata[STRATA] = {
#define STRATA_ROW(id, name, kind) {name, kind},
    STRATA_LIST(STRATA_ROW)
#undef STRATA_ROW
};

const char *stratum_name(stratum s) {
  return strata[s].name;
}

stratum_kind stratum_kind_of(stratum s) {
  return strata[s].kind;
}

stratum stratum_find(const char *name) {
  size_t s = 0;
  while (s < STRATA && strcmp(strata[s].name, name) != 0) {
    s++;
  }
  return (stratum)s;
}
