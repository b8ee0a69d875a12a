#include "http/host_header.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_port(const char *text, unsigned *out) {
  const size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 5 || text[digits]) {
    return false;
  }
  *out = (unsigned)strtoul(text, NULL, 10);
  return *out > 0 && *out <= 65535;
}

bool hw__authority_parse(const char *text, hw__authority *out) {
  *out = (hw__authority){.v6 = *text == '['};
  const char *start = text + (out->v6 ? 1 : 0);
  const size_t length = strcspn(start, out->v6 ? "]" : ":");
  const char *rest = start + length;
  if (length == 0 || length >= sizeof out->host || (out->v6 && *rest++ != ']')) {
    return false;
  }
  memcpy(out->host, start, length);
  if (out->host[strspn(out->host, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_:")]) {
    return false;
  }
  return *rest == '\0' || (*rest == ':' && parse_port(rest + 1, &out->port));
}

bool hw__authority_is_loopback(const hw__authority *authority) {
  struct in_addr v4;
  struct in6_addr v6;
  if (authority->v6) {
    return inet_pton(AF_INET6, authority->host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return strcasecmp(authority->host, "localhost") == 0 ||
         (inet_pton(AF_INET, authority->host, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127);
}

bool hw__authority_is_origin(const hw__authority *host, const char *origin) {
  static const char plain[] = "http://", secure[] = "https://";
  const bool encrypted = strncmp(origin, secure, sizeof secure - 1) == 0;
  if (!encrypted && strncmp(origin, plain, sizeof plain - 1) != 0) {
    return false; /* "null", of a sandboxed page, among them */
  }
  hw__authority from;
  if (!hw__authority_parse(origin + (encrypted ? sizeof secure : sizeof plain) - 1, &from)) {
    return false;
  }
  const unsigned usual = encrypted ? 443 : 80;
  return from.v6 == host->v6 && strcasecmp(from.host, host->host) == 0 &&
         (from.port ? from.port : usual) == (host->port ? host->port : usual);
}
