/* headwater serve: the live service and dashboard. */
#include "serve.h"

#include <signal.h>
#include <stdio.h>

#include "cli/service.h"

static hw_serve_signals signals;

static void on_signal(int number) {
  if (number == SIGHUP) {
    signals.reload = 1;
  } else {
    signals.stop = 1;
  }
}

static int run(int argc, char **argv) {
  static const char *const positional[] = {"RIVER", NULL};
  hw_serve_options o = {0};
  const char *file = NULL;
  double verify_hours = HW_DEFAULT_VERIFY_HOURS;
  const cli_option options[] = {
      {"listen", OPTION_TEXT, &o.listen, "ADDR:PORT", "default " HW_DEFAULT_LISTEN "; port 0: any free one", NULL},
      {"store", OPTION_TEXT, &o.store, "STORE", "a database FILE (default " HW_DEFAULT_STORE ") or postgresql://...",
       NULL},
      {"db", OPTION_TEXT, &file, "FILE", "the same as --store FILE", NULL},
      CLI_PROCESSING_ROWS(o.processing),
      {"replay", OPTION_TEXT, &o.replay, "READINGS", "replay these readings as if they came now ([ID=]FILE)", NULL},
      {"speed", OPTION_POSITIVE, &o.speed, "N",
       "speed of the replay, in times real time; default " CLI_TEXT(HW_DEFAULT_SPEED), NULL},
      {"token-file", OPTION_TEXT, &o.token_file, "FILE", "tokens and their roles: read, ingest, admin", NULL},
      {"tls-cert", OPTION_TEXT, &o.tls_cert, "FILE", "certificate chain (PEM)", NULL},
      {"tls-key", OPTION_TEXT, &o.tls_key, "FILE", "its private key (PEM)", NULL},
      CLI_NATS_ROWS(o.nats, "accept readings and show answers for a cluster (see headwater work)"),
      {"mqtt", OPTION_TEXT, &o.mqtt, "BROKER", "also accept readings from HOST:PORT or mqtts://HOST[:PORT]", NULL},
      {"mqtt-ca", OPTION_TEXT, &o.mqtt_ca, "FILE", "CA certificates for mqtts:// (PEM); default the system's", NULL},
      {"mqtt-credentials", OPTION_TEXT, &o.mqtt_credentials, "FILE", "user and password for the broker, each on a line",
       NULL},
      {"mqtt-client", OPTION_TEXT, &o.mqtt_client, "ID", "client id of the MQTT session; default headwater", NULL},
      {"webhook", OPTION_TEXT, &o.webhook, "URL", "post events there: openings, candidates, intake alarms, closings",
       NULL},
      {"command", OPTION_TEXT, &o.command, "PROGRAM", "run it for every event, the event on its standard input", NULL},
      {"tiles", OPTION_TEXT, &o.tiles, "URL",
       "map tiles behind the rivers, https://HOST/{z}/{x}/{y}.png; default: none, no other host is asked", NULL},
      {"future", OPTION_POSITIVE, &o.future_s, "S",
       "refuse readings dated further ahead of now; default " CLI_TEXT(HW_DEFAULT_FUTURE_S), NULL},
      {"keep", OPTION_POSITIVE, &o.retention_days, "DAYS",
       "retention: remove readings received longer ago; default: keep all", NULL},
      {"verify", OPTION_AMOUNT, &verify_hours, "HOURS",
       "time between comparisons of the log with its checksums; default " CLI_TEXT(
           HW_DEFAULT_VERIFY_HOURS) ", 0: never",
       NULL},
      {"body-limit", OPTION_COUNT, &o.body_limit, "BYTES",
       "largest body of a request; default " CLI_TEXT(HW_DEFAULT_BODY_LIMIT), NULL},
      {"rate", OPTION_POSITIVE, &o.rate_per_s, "N",
       "rate limit: requests a second from one address; default " CLI_TEXT(HW_DEFAULT_RATE), NULL},
      {"connections", OPTION_COUNT, &o.connections, "N",
       "most connections at once; default " CLI_TEXT(HW_DEFAULT_CONNECTIONS), NULL},
      {"threads", OPTION_THREADS, &o.threads, "N",
       "threads for the engines; default " CLI_TEXT(HW_DEFAULT_ENGINE_THREADS), NULL},
  };
  const cli_usage usage = {
      &cli_verb_serve,
      "RIVER... [options]",
      "Accepts readings over HTTP and MQTT, opens an incident when they leave their background, runs the\n"
      "method on it and shows the answer: http://" HW_DEFAULT_LISTEN
      "/. RIVER is a river file, ID=FILE or a folder.\n"
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
  cli_login mqtt, nats;
  cli_take_login("HEADWATER_MQTT", &mqtt, &o.mqtt_user, &o.mqtt_password);
  cli_take_login("HEADWATER_NATS", &nats, &o.nats.user, &o.nats.password);
  cli_catch_stop(on_signal);
  cli_catch_signal(SIGHUP, on_signal);
  hw_error error = {{0}};
  const hw_status status = hw_serve(&o, &signals, stdout, &error);
  return cli_end_service(status, &error);
}

const cli_verb cli_verb_serve = {"serve", "the live service and dashboard", run};
