/* identify --per-sensor: what each sensor says alone, as the paper's section 3.2 has it. */
#ifndef HW_CLI_SENSORS_H
#define HW_CLI_SENSORS_H

#include "cli/session.h"

typedef struct {
  const hw_method *method;
  const hw_options *options;
  size_t round; /* readings of a sensor in a round; 0: all of them are one */
  bool json;
} sensors_request;

/* Every sensor's own source, round by round, then their mean with Student's interval (eq. 8). The text is the CSV that
 * `plan --identifications` reads. -1 or an exit code. */
int cli_identify_sensors(cli_session *session, const sensors_request *request);

#endif
