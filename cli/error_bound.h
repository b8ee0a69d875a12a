/* The part of `check` that asks whether the paper's error-bound conditions hold at an estimate. */
#ifndef HW_CLI_ERROR_BOUND_H
#define HW_CLI_ERROR_BOUND_H

#include "cli/cli.h"

/* A few sentences. */
void cli_error_bound_text(const hw_error_bound *bound);
/* One JSON object, no line end. */
void cli_error_bound_json(const hw_error_bound *bound);

#endif
