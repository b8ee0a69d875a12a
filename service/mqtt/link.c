#include "mqtt/link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/tls.h"

enum { PATIENCE_S = 10 };

hw_status hw__trust_load(const char *path, hw__trust *out, hw_error *error) {
  hw__trust trust = NULL;
  *out = NULL;
  if (gnutls_certificate_allocate_credentials(&trust) < 0) {
    return HW_ENOMEM;
  }
  const int found = path ? gnutls_certificate_set_x509_trust_file(trust, path, GNUTLS_X509_FMT_PEM)
                         : gnutls_certificate_set_x509_system_trust(trust);
  if (found <= 0) {
    snprintf(error->text, sizeof error->text, "%s: %s, expected certificates (PEM)",
             path ? path : "the machine's own certificates", found < 0 ? gnutls_strerror(found) : "none found");
    gnutls_certificate_free_credentials(trust);
    return found == GNUTLS_E_FILE_ERROR ? HW_EIO : HW_EINPUT;
  }
  *out = trust;
  return HW_OK;
}

void hw__trust_free(hw__trust trust) {
  if (trust) {
    gnutls_certificate_free_credentials(trust);
  }
}

static int dial(const char *host, const char *port, char *why, size_t size) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  const int fault = getaddrinfo(host, port, &hints, &found);
  if (fault != 0) {
    snprintf(why, size, "%s", gai_strerror(fault));
    return -1;
  }
  int connected = -1;
  for (const struct addrinfo *a = found; a && connected < 0; a = a->ai_next) {
    const int s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    if (s < 0) {
      continue;
    }
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(s, a->ai_addr, a->ai_addrlen) == 0) {
      connected = s;
    } else {
      snprintf(why, size, "%s", strerror(errno));
      close(s);
    }
  }
  freeaddrinfo(found);
  return connected;
}

static void tell_refusal(const hw__link *link, int code, char *why, size_t size) {
  gnutls_datum_t text = {0};
  if (code == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR &&
      gnutls_certificate_verification_status_print(gnutls_session_get_verify_cert_status(link->session),
                                                   GNUTLS_CRT_X509, &text, 0) == 0) {
    snprintf(why, size, "%s", (const char *)text.data);
    gnutls_free(text.data);
  } else {
    snprintf(why, size, "TLS: %s", gnutls_strerror(code));
  }
}

static bool encrypt(hw__link *link, const char *host, hw__trust trust, char *why, size_t size) {
  int code = gnutls_init(&link->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
  if (code < 0) {
    link->session = NULL;
    snprintf(why, size, "TLS: %s", gnutls_strerror(code));
    return false;
  }
  gnutls_priority_set_direct(link->session, HW_TLS_PRIORITY, NULL);
  gnutls_credentials_set(link->session, GNUTLS_CRD_CERTIFICATE, trust);
  gnutls_server_name_set(link->session, GNUTLS_NAME_DNS, host, strlen(host));
  gnutls_session_set_verify_cert(link->session, host, 0);
  gnutls_transport_set_int(link->session, link->socket);
  gnutls_handshake_set_timeout(link->session, PATIENCE_S * 1000);
  do {
    code = gnutls_handshake(link->session);
  } while (code < 0 && !gnutls_error_is_fatal(code));
  if (code < 0) {
    tell_refusal(link, code, why, size);
  }
  return code >= 0;
}

bool hw__link_open(hw__link *link, const char *host, const char *port, hw__trust trust, char *why, size_t size) {
  *link = (hw__link){.socket = dial(host, port, why, size)};
  if (link->socket < 0) {
    return false;
  }
  if (trust && !encrypt(link, host, trust, why, size)) {
    hw__link_close(link);
    return false;
  }
  return true;
}

bool hw__link_send(hw__link *link, const uint8_t *data, size_t size) {
  while (size) {
    const ssize_t sent =
        link->session ? gnutls_record_send(link->session, data, size) : send(link->socket, data, size, MSG_NOSIGNAL);
    const bool again = link->session ? sent == GNUTLS_E_INTERRUPTED : sent < 0 && errno == EINTR;
    if (sent < 0 && !again) {
      return false;
    }
    if (sent > 0) {
      data += sent;
      size -= (size_t)sent;
    }
  }
  return true;
}

ssize_t hw__link_receive(hw__link *link, uint8_t *out, size_t capacity, int timeout_ms) {
  if (!link->session || gnutls_record_check_pending(link->session) == 0) {
    struct pollfd wait = {.fd = link->socket, .events = POLLIN};
    const int ready = poll(&wait, 1, timeout_ms);
    if (ready <= 0) {
      return ready == 0 || errno == EINTR ? 0 : -1;
    }
  }
  const ssize_t got =
      link->session ? gnutls_record_recv(link->session, out, capacity) : recv(link->socket, out, capacity, 0);
  const bool later = link->session ? got < 0 && !gnutls_error_is_fatal((int)got) : got < 0 && errno == EINTR;
  return got > 0 ? got : later ? 0 : -1;
}

void hw__link_close(hw__link *link) {
  if (link->session) {
    gnutls_bye(link->session, GNUTLS_SHUT_WR);
    gnutls_deinit(link->session);
  }
  if (link->socket >= 0) {
    close(link->socket);
  }
  *link = (hw__link){.socket = -1};
}
