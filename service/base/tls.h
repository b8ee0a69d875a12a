/* What we speak and accept under TLS: 1.2 and 1.3, keys that a stolen certificate does not open later (ECDHE), ciphers
 * that authenticate what they encrypt. In GnuTLS's words. */
#ifndef HW_BASE_TLS_H
#define HW_BASE_TLS_H

#define HW_TLS_PRIORITY                                                                          \
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL"       \
  ":+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1" \
  ":%SERVER_PRECEDENCE"

#endif
