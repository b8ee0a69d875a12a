#include <string.h>

#include "method/methods.h"

static const hw_method *const methods[] = {
#define ROW(name) &hw_method_##name,
    HW_METHOD_LIST(ROW)
#undef ROW
        NULL,
};

const hw_method *const *hw_methods(size_t *count) {
  *count = sizeof methods / sizeof methods[0] - 1;
  return methods;
}

const hw_method *hw_method_find(const char *name) {
  for (size_t i = 0; methods[i]; i++) {
    if (strcmp(methods[i]->name, name) == 0) {
      return methods[i];
    }
  }
  return NULL;
}
