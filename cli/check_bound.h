/* check, the paper's part: prints the local error bound. */
#ifndef HW_CLI_CHECK_BOUND_H
#define HW_CLI_CHECK_BOUND_H

#include "headwater/headwater.h"

void cli_print_error_bound(const hw_error_bound *e);
/* As one JSON object. */
void cli_print_error_bound_json(const hw_error_bound *e);

#endif
