/* headwater work: a share of a cluster's rivers. */
#include "worker.h"

#include <signal.h>
#include <string.h>

#include "cli/options.h"
#include "cli/secret.h"

static volatile sig_atomic_t stop;

static void on_signal(int number) {
  (void)number;
  stop = 1;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL); /* a file at its limit is a full disk, and told as one */
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  hw_worker_options o = {0};
  const cli_option options[] = {
      {"nats", OPTION_TEXT, &o.nats, "URL[,URL...]", "servers of the cluster", NULL},
      {"nats-creds", OPTION_TEXT, &o.nats_credentials, "FILE", "credentials for them", NULL},
      {"nats-ca", OPTION_TEXT, &o.nats_ca, "FILE", "CA certificates for tls:// servers (PEM)", NULL},
      {"dir", OPTION_TEXT, &o.dir, "DIR", "folder for the databases of the partitions processed here", NULL},
      {"name", OPTION_TEXT, &o.name, "NAME", "of this worker; default host and process number", NULL},
      {"listen", OPTION_TEXT, &o.listen, "ADDR:PORT", "answer /metrics and /healthz there; default: nowhere", NULL},
      {"partitions", OPTION_COUNT, &o.partitions, "N",
       "number of partitions, fixed when the cluster is made; default 16", NULL},
      {"replicas", OPTION_COUNT, &o.replicas, "R", "of streams made now; default 3, on a single server 1", NULL},
      {"method", OPTION_TEXT, &o.processing.method, "NAME", "of new incidents; default posterior", NULL},
      {"seed", OPTION_SEED, &o.processing.seed, "N", "of their engines; default 1", NULL},
      {"level", OPTION_SHARE, &o.processing.level, "P", "of intervals; default 0.9", NULL},
      {"candidate-probability", OPTION_SHARE, &o.processing.candidate_probability, "P",
       "a candidate passing it is an event; default " CLI_TEXT(HW_DEFAULT_CANDIDATE_PROBABILITY), NULL},
      {"intake-probability", OPTION_SHARE, &o.processing.intake_probability, "P",
       "a forecast alarm at an intake this probable is an event; default " CLI_TEXT(HW_DEFAULT_INTAKE_PROBABILITY),
       NULL},
      {"lead-in", OPTION_POSITIVE, &o.processing.lead_in_s, "S",
       "readings this long before the rise go in too; default " CLI_TEXT(HW_DEFAULT_LEAD_IN_S), NULL},
      {"quiet", OPTION_POSITIVE, &o.processing.quiet_s, "S",
       "an incident stays open this long after the pulse; default " CLI_TEXT(HW_DEFAULT_QUIET_S), NULL},
      {"keep", OPTION_POSITIVE, &o.retention_days, "DAYS",
       "retention: remove older readings, here and in the streams; default: keep all", NULL},
      {"copy-every", OPTION_POSITIVE, &o.copy_s, "S", "time between copies of a partition to the cluster; default 30",
       NULL},
      {"threads", OPTION_COUNT, &o.threads, "N", "for the engines of one partition; default 1", NULL},
  };
  const cli_usage usage = {
      &cli_verb_work,
      "RIVER... --nats URL --dir DIR [options]",
      "Processes some of a cluster's rivers: detection, incidents, estimates. Any number of workers divide the\n"
      "rivers among themselves; when one dies, others take its rivers over. RIVER is a river file, ID=FILE or a\n"
      "folder of them; all workers of a cluster are given the same rivers and options. Readings come in, and\n"
      "answers are shown, by headwater serve --nats. Prints a line when it is ready; SIGTERM stops it.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  static const char *operands[CLI_MOST_OPERANDS];
  size_t count = 0;
  const int code = cli_parse(&usage, argc, argv, operands, &count);
  if (code >= 0) {
    return code;
  }
  o.rivers = operands;
  o.river_count = count;
  char user[256], password[256];
  o.nats_user = cli_take_secret("HEADWATER_NATS_USER", user, sizeof user);
  o.nats_password = cli_take_secret("HEADWATER_NATS_PASSWORD", password, sizeof password);
  catch_signals();
  hw_error error = {{0}};
  const hw_status status = hw_worker_run(&o, &stop, stdout, &error);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", error.text[0] ? error.text : hw_status_text(status));
  }
  return cli_finish(EXIT_DONE);
}

const cli_verb cli_verb_work = {"work", "process some of a cluster's rivers", run};
