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
  bool beside;
  /* Both. */
  uint64_t seed;
  const char *format;
} plan_request;

/* The stretch that may hold sensors: --sites, or from the head of the search box to the last sensor or intake. */
void plan_stretch(const cli_session *session, const plan_request *request, double *from_m, double *to_m);

/* How far from a confluence its sites are: mixed below, not yet mixed above. */
#define PLAN_ASIDE_M 100.0

/* Sites to choose from; branch NULL on a river without branches. */
typedef struct {
  double *at_m;
  size_t *branch;
  size_t count;
} plan_sites;
/* Along the stretch; with branches above and below every confluence and, of --pool sites, the rest along the channels.
 * Arrays to be freed also on failure. */
int plan_sites_lay_out(const cli_session *session, const plan_request *request, plan_sites *out);

int plan_how_many(const cli_session *session, const plan_request *request);
int plan_where(const cli_session *session, const plan_request *request);

#endif
