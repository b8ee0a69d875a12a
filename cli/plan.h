/* The two halves of the verb plan: how many sensors, and where. */
#ifndef HW_CLI_PLAN_H
#define HW_CLI_PLAN_H

#include "cli/session.h"

typedef struct {
  /* How many. */
  cli_source accept, spread, source;
  const char *identifications, *method;
  double level;
  size_t readings, round_length, first, pool; /* readings and pool 0: what the file of identifications has */
  /* Where. */
  size_t place, sources;
  double every_s;
  cli_span sites;
  /* Both. */
  uint64_t seed;
  const char *format;
} plan_request;

/* The stretch that may hold sensors: --sites, or from the head of the search box to the last sensor or intake. */
void plan_stretch(const cli_session *session, const plan_request *request, double *from_m, double *to_m);

int plan_how_many(const cli_session *session, const plan_request *request);
int plan_where(const cli_session *session, const plan_request *request);

#endif
