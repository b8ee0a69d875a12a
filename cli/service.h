/* What `serve` and `work` have in common: rows of their option tables, passwords, signals, the exit code. */
#ifndef HW_CLI_SERVICE_H
#define HW_CLI_SERVICE_H

#include "cli/options.h"
#include "headwater/method.h"
#include "nats.h"
#include "processing.h"

/* clang-format off */
/* How readings become incidents and answers, into a hw_processing_options. */
#define CLI_PROCESSING_ROWS(processing)                                                                                \
  {"method", OPTION_TEXT, &(processing).method, "NAME", "method for new incidents; default " HW_DEFAULT_METHOD, NULL}, \
  {"seed", OPTION_SEED, &(processing).seed, "N",                                                                       \
   "seed of their random numbers; default " CLI_TEXT(HW_DEFAULT_SEED), NULL},                                          \
  {"level", OPTION_SHARE, &(processing).level, "P",                                                                    \
   "coverage of the intervals; default " CLI_TEXT(HW_DEFAULT_LEVEL), NULL},                                            \
  {"candidate-probability", OPTION_SHARE, &(processing).candidate_probability, "P",                                    \
   "a candidate that exceeds it is an event; default " CLI_TEXT(HW_DEFAULT_CANDIDATE_PROBABILITY), NULL},              \
  {"intake-probability", OPTION_SHARE, &(processing).intake_probability, "P",                                          \
   "a forecast alarm at an intake this probable is an event; default " CLI_TEXT(HW_DEFAULT_INTAKE_PROBABILITY),        \
   NULL},                                                                                                              \
  {"lead-in", OPTION_POSITIVE, &(processing).lead_in_s, "S",                                                           \
   "use readings from this long before the rise; default " CLI_TEXT(HW_DEFAULT_LEAD_IN_S), NULL},                      \
  {"quiet", OPTION_POSITIVE, &(processing).quiet_s, "S",                                                               \
   "keep an incident open this long after the pulse; default " CLI_TEXT(HW_DEFAULT_QUIET_S), NULL}

/* The cluster, into a hw_nats_options. */
#define CLI_NATS_ROWS(nats, help)                                                                                      \
  {"nats", OPTION_TEXT, &(nats).servers, "URL[,URL...]", help, NULL},                                                  \
  {"nats-creds", OPTION_TEXT, &(nats).credentials, "FILE", "credentials for the NATS servers", NULL},                  \
  {"nats-ca", OPTION_TEXT, &(nats).ca, "FILE", "CA certificates for tls:// servers (PEM)", NULL},                      \
  {"partitions", OPTION_COUNT, &(nats).partitions, "N",                                                                \
   "number of partitions, fixed when the cluster is created; default " CLI_TEXT(HW_DEFAULT_PARTITIONS), NULL},         \
  {"replicas", OPTION_COUNT, &(nats).replicas, "R",                                                                    \
   "copies of each stream that is created now; default " CLI_TEXT(HW_DEFAULT_REPLICAS) ", on a single server 1", NULL}
/* clang-format on */

/* Passwords come from the environment, where the list of processes does not show them, and are taken out of it, so that
 * programs we start do not find them. */
typedef struct {
  char user[256], password[256];
} cli_login;

/* From NAME_USER and NAME_PASSWORD; *user and *password are NULL where not set, else borrowed from `login`. */
void cli_take_login(const char *name, cli_login *login, const char **user, const char **password);

void cli_catch_signal(int number, void (*handler)(int number));
/* SIGTERM and SIGINT go to the handler. A closed connection and a file at its size limit do not end the program: they
 * are errors of the write that meets them. */
void cli_catch_stop(void (*handler)(int number));

/* The exit code, after the fault was reported where there is one. */
int cli_end_service(hw_status status, const hw_error *error);

#endif
