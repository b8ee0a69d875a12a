/* A build without NATS: the bus cannot be opened, so none of the other calls is ever made. */
#include <stdio.h>

#include "bus/bus.h"

hw_status hw__bus_open(const hw__bus_options *options, hw__bus **out, hw_error *error) {
  *out = NULL;
  (void)options;
  snprintf(error->text, sizeof error->text, "--nats: this build has no NATS (build it with libnats-dev)");
  return HW_EUNSUPPORTED;
}

void hw__bus_close(hw__bus *bus) {
  (void)bus;
}

bool hw__bus_connected(const hw__bus *bus) {
  (void)bus;
  return false;
}

hw__bus_status hw__bus_make(hw__bus *bus, const hw__bus_stream *stream) {
  (void)bus, (void)stream;
  return HW_BUS_AWAY;
}

bool hw__bus_refused(const hw__bus *bus, hw_error *error) {
  (void)bus;
  (void)error;
  return false;
}

bool hw__bus_can_store(hw__bus *bus, const char *stream) {
  (void)bus;
  (void)stream;
  return false;
}

bool hw__bus_may_fork(hw__bus *bus, const char *stream) {
  (void)bus;
  (void)stream;
  return false;
}

hw__bus_status hw__bus_last(hw__bus *bus, const char *stream, int64_t *seq) {
  (void)bus, (void)stream, (void)seq;
  return HW_BUS_AWAY;
}

hw__bus_status hw__bus_publish(hw__bus *bus, hw__bus_letter *letters, size_t count, int timeout_ms) {
  (void)bus, (void)letters, (void)count, (void)timeout_ms;
  return HW_BUS_AWAY;
}

hw__bus_status hw__bus_get(hw__bus *bus, const char *bucket, const char *key, char *value, size_t size,
                           int64_t *revision) {
  (void)bus, (void)bucket, (void)key, (void)value, (void)size, (void)revision;
  return HW_BUS_AWAY;
}

hw__bus_status hw__bus_set(hw__bus *bus, const char *bucket, const char *key, const char *value, int64_t expected,
                           int64_t *revision) {
  (void)bus, (void)bucket, (void)key, (void)value, (void)expected, (void)revision;
  return HW_BUS_AWAY;
}

void hw__bus_message_free(hw__bus_message *message) {
  (void)message;
}

hw__bus_status hw__bus_get_message(hw__bus *bus, const char *stream, const char *subject, hw__bus_message *out) {
  (void)bus, (void)stream, (void)subject, (void)out;
  return HW_BUS_AWAY;
}

hw_status hw__bus_pull_open(hw__bus *bus, const char *stream, const char *filter, int64_t after, hw__bus_pull **out) {
  (void)bus, (void)stream, (void)filter, (void)after;
  *out = NULL;
  return HW_EUNSUPPORTED;
}

void hw__bus_pull_close(hw__bus_pull *pull) {
  (void)pull;
}

hw__bus_status hw__bus_pull_fetch(hw__bus_pull *pull, hw__bus_message *out, size_t limit, int timeout_ms,
                                  size_t *count) {
  (void)pull, (void)out, (void)limit, (void)timeout_ms;
  *count = 0;
  return HW_BUS_AWAY;
}

void hw__bus_say(hw__bus *bus, const char *subject) {
  (void)bus, (void)subject;
}

hw__bus_status hw__bus_listen(hw__bus *bus, const char *pattern, hw__bus_hear hear, void *context) {
  (void)bus, (void)pattern, (void)hear, (void)context;
  return HW_BUS_AWAY;
}
