#include "auth.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32, TOKENS_MAX = 1024 };

typedef struct {
  unsigned char hash[HASH_BYTES];
  unsigned roles;
} grant;

struct hw_auth {
  grant *grants;
  size_t count;
};

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static bool parse_hash(const char *text, unsigned char out[HASH_BYTES]) {
  if (strlen(text) != 2 * HASH_BYTES) {
    return false;
  }
  for (int i = 0; i < HASH_BYTES; i++) {
    const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    out[i] = (unsigned char)(high * 16 + low);
  }
  return true;
}

static bool parse_roles(char *text, unsigned *out) {
  char *rest = NULL;
  *out = 0;
  for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    const unsigned role = strcmp(word, "read") == 0     ? HW_ROLE_READ
                          : strcmp(word, "ingest") == 0 ? HW_ROLE_INGEST
                          : strcmp(word, "admin") == 0  ? HW_ROLE_ADMIN
                                                        : 0;
    if (!role) {
      return false;
    }
    *out |= role;
  }
  return *out != 0;
}

static hw_status parse_line(hw_auth *auth, char *line, const char *path, size_t number, hw_error *error) {
  line[strcspn(line, "#\r\n")] = '\0';
  char *rest = NULL;
  char *roles = strtok_r(line, " \t", &rest);
  char *hash = strtok_r(NULL, " \t", &rest);
  if (!roles) {
    return HW_OK;
  }
  grant *new = &auth->grants[auth->count];
  if (!hash || !parse_roles(roles, &new->roles) || !parse_hash(hash, new->hash)) {
    snprintf(error->text, sizeof error->text,
             "%s:%zu: not a token, expected `read,ingest,admin SHA256` with 64 hexadecimal digits", path, number);
    return HW_EINPUT;
  }
  auth->count++;
  return HW_OK;
}

hw_status hw__auth_load(const char *path, hw_auth **out, hw_error *error) {
  *out = NULL;
  FILE *file = fopen(path, "re");
  if (!file) {
    snprintf(error->text, sizeof error->text, "%s: %s", path, strerror(errno));
    return HW_EIO;
  }
  hw_auth *auth = calloc(1, sizeof *auth);
  hw_status status = HW_ENOMEM;
  if (auth && (auth->grants = calloc(TOKENS_MAX, sizeof *auth->grants))) {
    char line[512];
    status = HW_OK;
    for (size_t number = 1; status == HW_OK && auth->count < TOKENS_MAX && fgets(line, sizeof line, file); number++) {
      status = parse_line(auth, line, path, number, error);
    }
    if (status == HW_OK && auth->count == 0) {
      snprintf(error->text, sizeof error->text, "%s: no token, expected at least one line", path);
      status = HW_EINPUT;
    }
  }
  fclose(file);
  if (status != HW_OK) {
    hw__auth_free(auth);
    return status;
  }
  *out = auth;
  return HW_OK;
}

void hw__auth_free(hw_auth *auth) {
  if (auth) {
    free(auth->grants);
    free(auth);
  }
}

unsigned hw__auth_roles(const hw_auth *auth, const char *token) {
  if (!auth) {
    return HW_ROLE_ALL;
  }
  unsigned char hash[HASH_BYTES];
  if (!token || !*token || gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), hash) != 0) {
    return 0;
  }
  unsigned roles = 0;
  for (size_t i = 0; i < auth->count; i++) {
    const unsigned same = (unsigned)(gnutls_memcmp(hash, auth->grants[i].hash, HASH_BYTES) == 0);
    roles |= auth->grants[i].roles & (0U - same);
  }
  return roles;
}
