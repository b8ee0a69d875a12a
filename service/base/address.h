/* Network addresses: from the text that people write to what the system's calls take. */
#ifndef HW_BASE_ADDRESS_H
#define HW_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Split ADDR:PORT; [::1]:8080 for IPv6. */
bool hw__address_split(const char *address, char *host, size_t size, unsigned *port);
/* A numeric address as the system's calls take it. */
bool hw__address_socket(const char *host, unsigned port, struct sockaddr_storage *out, bool *loopback);

#endif
