/* headwater work: a worker of a cluster. */
#include "worker.h"

#include <signal.h>
#include <stdio.h>

#include "cli/service.h"

static volatile sig_atomic_t stop;

static void on_signal(int number) {
  (void)number;
  stop = 1;
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  hw_worker_options o = {0};
  const cli_option options[] = {
      CLI_NATS_ROWS(o.nats, "servers of the cluster; required"),
      {"dir", OPTION_TEXT, &o.dir, "DIR", "folder for the databases of the partitions processed here; required", NULL},
      {"name", OPTION_TEXT, &o.name, "NAME", "name of this worker; default host and process number", NULL},
      {"listen", OPTION_TEXT, &o.listen, "ADDR:PORT", "answer /metrics and /healthz there; default: nowhere", NULL},
      CLI_PROCESSING_ROWS(o.processing),
      {"keep", OPTION_POSITIVE, &o.retention_days, "DAYS",
       "retention: remove older readings, here and in the streams; default: keep all", NULL},
      {"copy-every", OPTION_POSITIVE, &o.copy_s, "S",
       "time between copies of a partition to the cluster; default " CLI_TEXT(HW_DEFAULT_COPY_S), NULL},
      {"threads", OPTION_THREADS, &o.threads, "N",
       "threads for the engines of one partition; default " CLI_TEXT(HW_DEFAULT_WORKER_THREADS), NULL},
  };
  const cli_usage usage = {
      &cli_verb_work,
      "RIVER... --nats URL --dir DIR [options]",
      "Processes some of a cluster's rivers: detection, incidents, estimates. Any number of workers divide the\n"
      "rivers among themselves; when one dies, others take its rivers over. RIVER is a river file, ID=FILE or a\n"
      "folder of them; all workers of a cluster are given the same rivers and options. headwater serve --nats\n"
      "accepts the readings and shows the answers. Prints a line when it is ready; SIGTERM stops it.",
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
  cli_login nats;
  cli_take_login("HEADWATER_NATS", &nats, &o.nats.user, &o.nats.password);
  cli_catch_stop(on_signal);
  hw_error error = {{0}};
  const hw_status status = hw_worker_run(&o, &stop, stdout, &error);
  return cli_end_service(status, &error);
}

const cli_verb cli_verb_work = {"work", "process some of a cluster's rivers", run};
