/* What we offer and accept under TLS, as a priority string of GnuTLS: versions 1.2 and 1.3, forward secrecy (ECDHE),
 * and authenticated encryption only. */
#ifndef HW_BASE_TLS_H
#define HW_BASE_TLS_H

#define HW_TLS_PRIORITY                                                                          \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL"       \
  ":+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1" \
  ":%SERVER_PRECEDENCE"

#endif
