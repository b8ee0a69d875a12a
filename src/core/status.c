#include "headwater/status.h"

#include <stddef.h>

typedef struct {
  hw_status status;
  const char *name;
  const char *text;
} row;

static const row rows[] = {
#define ROW(name, value, text) {name, #name, text},
    HW_STATUS_LIST(ROW)
#undef ROW
};

static const row *find(hw_status status) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].status == status) {
      return &rows[i];
    }
  }
  return NULL;
}

const char *hw_status_text(hw_status status) {
  const row *found = find(status);
  return found ? found->text : "unknown status";
}

const char *hw_status_name(hw_status status) {
  const row *found = find(status);
  return found ? found->name : "HW_?";
}
