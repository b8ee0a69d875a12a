/* headwater serve: the live service and dashboard. */
#include "serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/secret.h"

static hw_serve_signals signals;

static void on_signal(int number) {
  if (number == SIGHUP) {
    signals.reload = 1;
  } else {
    signals.stop = 1;
  }
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, NULL); /* a client that goes away is its own business */
  sigaction(SIGXFSZ, &action, NULL); /* a file at its limit is a full disk, and told as one */
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  hw_serve_options o = {0};
  const char *file = NULL;
  double verify_hours = 24;
  const cli_option options[] = {
      {"listen", OPTION_TEXT, &o.listen, "ADDR:PORT", "default 127.0.0.1:8080; port 0: any free one", NULL},
      {"store", OPTION_TEXT, &o.store, "STORE", "a database FILE (default headwater.db) or postgresql://...", NULL},
      {"db", OPTION_TEXT, &file, "FILE", "the same as --store FILE", NULL},
      {"method", OPTION_TEXT, &o.processing.method, "NAME", "of new incidents; default posterior", NULL},
      {"seed", OPTION_SEED, &o.processing.seed, "N", "of their engines; default 1", NULL},
      {"level", OPTION_SHARE, &o.processing.level, "P", "of intervals; default 0.9", NULL},
      {"replay", OPTION_TEXT, &o.replay, "READINGS", "play these in as if they came now ([ID=]FILE)", NULL},
      {"speed", OPTION_POSITIVE, &o.speed, "N", "of the replay, in times real time; default 60", NULL},
      {"token-file", OPTION_TEXT, &o.token_file, "FILE", "tokens and their roles: read, ingest, admin", NULL},
      {"tls-cert", OPTION_TEXT, &o.tls_cert, "FILE", "certificate chain, PEM", NULL},
      {"tls-key", OPTION_TEXT, &o.tls_key, "FILE", "its key, PEM", NULL},
      {"nats", OPTION_TEXT, &o.nats, "URL[,URL...]",
       "take readings in and show answers for a cluster (see headwater work)", NULL},
      {"nats-creds", OPTION_TEXT, &o.nats_credentials, "FILE", "credentials for its servers", NULL},
      {"nats-ca", OPTION_TEXT, &o.nats_ca, "FILE", "CA certificates for tls:// servers (PEM)", NULL},
      {"partitions", OPTION_COUNT, &o.partitions, "N",
       "number of partitions, fixed when the cluster is made; default 16", NULL},
      {"replicas", OPTION_COUNT, &o.replicas, "R", "of streams made now; default 3, on a single server 1", NULL},
      {"mqtt", OPTION_TEXT, &o.mqtt, "BROKER", "take readings from HOST:PORT or mqtts://HOST[:PORT] too", NULL},
      {"mqtt-ca", OPTION_TEXT, &o.mqtt_ca, "FILE", "CA certificates for mqtts:// (PEM); default the system's", NULL},
      {"mqtt-credentials", OPTION_TEXT, &o.mqtt_credentials, "FILE", "user and password for it, each on a line", NULL},
      {"mqtt-client", OPTION_TEXT, &o.mqtt_client, "ID", "its name for our session; default headwater", NULL},
      {"candidate-probability", OPTION_SHARE, &o.processing.candidate_probability, "P",
       "a candidate passing it is an event; default " CLI_TEXT(HW_DEFAULT_CANDIDATE_PROBABILITY), NULL},
      {"intake-probability", OPTION_SHARE, &o.processing.intake_probability, "P",
       "a forecast alarm at an intake this probable is an event; default " CLI_TEXT(HW_DEFAULT_INTAKE_PROBABILITY),
       NULL},
      {"webhook", OPTION_TEXT, &o.webhook, "URL", "post events there: openings, candidates, intake alarms, closings",
       NULL},
      {"command", OPTION_TEXT, &o.command, "PROGRAM", "run it for every event, the event on its standard input", NULL},
      {"tiles", OPTION_TEXT, &o.tiles, "URL",
       "map tiles behind the rivers, https://HOST/{z}/{x}/{y}.png; default: no other host is asked", NULL},
      {"lead-in", OPTION_POSITIVE, &o.processing.lead_in_s, "S",
       "readings this long before the rise go in too; default " CLI_TEXT(HW_DEFAULT_LEAD_IN_S), NULL},
      {"quiet", OPTION_POSITIVE, &o.processing.quiet_s, "S",
       "an incident stays open this long after the pulse; default " CLI_TEXT(HW_DEFAULT_QUIET_S), NULL},
      {"future", OPTION_POSITIVE, &o.future_s, "S", "readings dated later than now by more are refused; default 300",
       NULL},
      {"keep", OPTION_POSITIVE, &o.retention_days, "DAYS",
       "retention: remove readings received longer ago; default: keep all", NULL},
      {"verify", OPTION_AMOUNT, &verify_hours, "HOURS",
       "compare the log with its checksums so often, the first time after the start; default 24, 0: never", NULL},
      {"body-limit", OPTION_COUNT, &o.body_limit, "BYTES", "of a request; default 8388608", NULL},
      {"rate", OPTION_POSITIVE, &o.rate_per_s, "N", "rate limit: requests a second from one address; default 1000",
       NULL},
      {"connections", OPTION_COUNT, &o.connections, "N", "at once; default 512", NULL},
      {"threads", OPTION_COUNT, &o.threads, "N", "for the engines; default 2", NULL},
  };
  const cli_usage usage = {
      &cli_verb_serve,
      "RIVER... [options]",
      "Takes readings in over HTTP and MQTT, opens an incident when they leave their background, runs the\n"
      "method on it and shows the answer: http://127.0.0.1:8080/. RIVER is a river file, ID=FILE or a folder.\n"
      "Prints the address when it is ready; logs go to stderr, one JSON object a line. SIGTERM stops it,\n"
      "SIGHUP makes it read the token file again.",
      positional,
      options,
      sizeof options / sizeof options[0]};
  const char *operands[CLI_MOST_OPERANDS];
  size_t count = 0;
  const int code = cli_parse(&usage, argc, argv, operands, &count);
  if (code >= 0) {
    return code;
  }
  if (file && o.store) {
    return cli_fail(EXIT_USAGE, "--db and --store: expected one of them");
  }
  o.store = file ? file : o.store;
  o.verify_hours = verify_hours > 0 ? verify_hours : -1;
  o.rivers = operands;
  o.river_count = count;
  char user[256], password[256];
  o.mqtt_user = cli_take_secret("HEADWATER_MQTT_USER", user, sizeof user);
  o.mqtt_password = cli_take_secret("HEADWATER_MQTT_PASSWORD", password, sizeof password);
  char nats_user[256], nats_password[256];
  o.nats_user = cli_take_secret("HEADWATER_NATS_USER", nats_user, sizeof nats_user);
  o.nats_password = cli_take_secret("HEADWATER_NATS_PASSWORD", nats_password, sizeof nats_password);
  catch_signals();
  hw_error error = {{0}};
  const hw_status status = hw_serve(&o, &signals, stdout, &error);
  if (status != HW_OK) {
    return cli_fail(cli_exit_code(status), "%s", error.text[0] ? error.text : hw_status_text(status));
  }
  return cli_finish(EXIT_DONE);
}

const cli_verb cli_verb_serve = {"serve", "the live service and dashboard", run};
