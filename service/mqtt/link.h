/* A connection to another machine, plain or encrypted (TLS by GnuTLS), for one thread.
 *
 * Encrypted means verified too: the other side must show a certificate for the name that was asked for, signed by
 * somebody trusted. This cannot be switched off.
 */
#ifndef HW_MQTT_LINK_H
#define HW_MQTT_LINK_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "headwater/status.h"

/* The CA certificates that servers are verified against. */
typedef gnutls_certificate_credentials_t hw__trust;

/* Given: a PEM file of certificates, or NULL for the machine's own list.
 * Status: HW_EINPUT for a file without a certificate, HW_EIO, HW_ENOMEM, with *error. */
hw_status hw__trust_load(const char *path, hw__trust *out, hw_error *error);
void hw__trust_free(hw__trust trust);

typedef struct {
  int socket;               /* -1: not connected */
  gnutls_session_t session; /* NULL: plain */
} hw__link;

/* trust NULL: plain. Returned: false with what failed in `why`. */
bool hw__link_open(hw__link *link, const char *host, const char *port, hw__trust trust, char *why, size_t size);
bool hw__link_send(hw__link *link, const uint8_t *data, size_t size);
/* Returned: bytes received, 0 when nothing came within the time, -1 when the connection is gone. */
ssize_t hw__link_receive(hw__link *link, uint8_t *out, size_t capacity, int timeout_ms);
/* Closing one that is closed is fine. */
void hw__link_close(hw__link *link);

#endif
