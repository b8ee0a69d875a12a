#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

bool hw__address_split(const char *address, char *host, size_t size, unsigned *port) {
  const char *colon = strrchr(address, ':');
  if (!colon || colon == address || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) {
    return false;
  }
  const char *start = address;
  size_t length = (size_t)(colon - address);
  if (*start == '[' && length > 2 && start[length - 1] == ']') {
    start++;
    length -= 2;
  }
  const unsigned long number = strtoul(colon + 1, NULL, 10);
  if (length >= size || number > 65535) {
    return false;
  }
  memcpy(host, start, length);
  host[length] = '\0';
  *port = (unsigned)number;
  return true;
}

bool hw__address_socket(const char *host, unsigned port, struct sockaddr_storage *out, bool *loopback) {
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, numeric, &v4.sin_addr) == 1) {
    *loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    memcpy(out, &v4, sizeof v4);
    return true;
  }
  if (inet_pton(AF_INET6, numeric, &v6.sin6_addr) == 1) {
    *loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    memcpy(out, &v6, sizeof v6);
    return true;
  }
  return false;
}
