/* check, where the river's dispersion is unknown. */
#ifndef HW_CLI_CHECK_FIELD_H
#define HW_CLI_CHECK_FIELD_H

#include "cli/session.h"

typedef struct {
  size_t places;
  double every_s, mass_g;
  bool json;
  uint64_t seed;
} check_field_request;

/* Prints; returned: -1, or the exit code after the fault was reported. */
int cli_check_field(const cli_session *session, const check_field_request *r);

#endif
