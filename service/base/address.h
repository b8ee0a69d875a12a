/* Where to listen or to connect, as people write it and as the system wants it. */
#ifndef HW_BASE_ADDRESS_H
#define HW_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Split ADDR:PORT; [::1]:8080 for IPv6. */
bool hw__address_split(const char *address, char *host, size_t size, unsigned *port);
/* A numeric address as the system wants it. */
bool hw__address_socket(const char *host, unsigned port, struct sockaddr_storage *out, bool *loopback);

#endif
