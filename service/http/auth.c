#include "http/auth.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_BYTES = 32, TOKENS_MAX = 1024, LINE_BYTES = 512 };

typedef struct {
  unsigned char hash[HASH_BYTES];
  unsigned roles;
} grant;

typedef struct {
  grant *grants;
  size_t count;
} grant_list;

struct hw__auth {
  char *path;
  pthread_rwlock_t lock; /* all below */
  grant_list list;
  unsigned version;
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

static hw_status parse_line(grant_list *list, char *line, const char *path, size_t number, hw_error *error) {
  line[strcspn(line, "#\r\n")] = '\0';
  char *rest = NULL;
  char *roles = strtok_r(line, " \t", &rest);
  char *hash = strtok_r(NULL, " \t", &rest);
  if (!roles) {
    return HW_OK;
  }
  if (list->count == TOKENS_MAX) {
    snprintf(error->text, sizeof error->text, "%s:%zu: one token more than %d, expected no more", path, number,
             TOKENS_MAX);
    return HW_EINPUT;
  }
  grant *new = &list->grants[list->count];
  if (!hash || !parse_roles(roles, &new->roles) || !parse_hash(hash, new->hash)) {
    snprintf(error->text, sizeof error->text,
             "%s:%zu: not a token, expected `read,ingest,admin SHA256` with 64 hexadecimal digits", path, number);
    return HW_EINPUT;
  }
  list->count++;
  return HW_OK;
}

static hw_status read_list(const char *path, grant_list *out, hw_error *error) {
  FILE *file = fopen(path, "re");
  if (!file) {
    snprintf(error->text, sizeof error->text, "%s: %s", path, strerror(errno));
    return HW_EIO;
  }
  grant_list list = {calloc(TOKENS_MAX, sizeof *list.grants), 0};
  hw_status status = list.grants ? HW_OK : HW_ENOMEM;
  char line[LINE_BYTES];
  for (size_t number = 1; status == HW_OK && fgets(line, sizeof line, file); number++) {
    /* What does not fit would come as a line of its own, and the tail of a comment grant something. */
    if (!strchr(line, '\n') && !feof(file)) {
      snprintf(error->text, sizeof error->text, "%s:%zu: longer than %d bytes, expected a shorter note", path, number,
               LINE_BYTES - 2);
      status = HW_EINPUT;
    } else {
      status = parse_line(&list, line, path, number, error);
    }
  }
  if (status == HW_OK && list.count == 0) {
    snprintf(error->text, sizeof error->text, "%s: no token, expected at least one line", path);
    status = HW_EINPUT;
  }
  fclose(file);
  if (status != HW_OK) {
    free(list.grants);
    return status;
  }
  *out = list;
  return HW_OK;
}

hw_status hw__auth_load(const char *path, hw__auth **out, hw_error *error) {
  *out = NULL;
  grant_list list;
  const hw_status status = read_list(path, &list, error);
  if (status != HW_OK) {
    return status;
  }
  hw__auth *auth = calloc(1, sizeof *auth);
  char *copy = strdup(path);
  if (!auth || !copy) {
    free(list.grants);
    free(auth);
    free(copy);
    return HW_ENOMEM;
  }
  auth->path = copy;
  auth->list = list;
  pthread_rwlock_init(&auth->lock, NULL);
  *out = auth;
  return HW_OK;
}

hw_status hw__auth_reload(hw__auth *auth, hw_error *error) {
  grant_list list;
  const hw_status status = read_list(auth->path, &list, error);
  if (status != HW_OK) {
    return status;
  }
  pthread_rwlock_wrlock(&auth->lock);
  grant *old = auth->list.grants;
  auth->list = list;
  auth->version++;
  pthread_rwlock_unlock(&auth->lock);
  free(old);
  return HW_OK;
}

unsigned hw__auth_version(hw__auth *auth) {
  if (!auth) {
    return 0;
  }
  pthread_rwlock_rdlock(&auth->lock);
  const unsigned version = auth->version;
  pthread_rwlock_unlock(&auth->lock);
  return version;
}

void hw__auth_free(hw__auth *auth) {
  if (auth) {
    pthread_rwlock_destroy(&auth->lock);
    free(auth->list.grants);
    free(auth->path);
    free(auth);
  }
}

unsigned hw__auth_roles(hw__auth *auth, const char *token) {
  if (!auth) {
    return HW_ROLE_ALL;
  }
  unsigned char hash[HASH_BYTES];
  if (!token || !*token || gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), hash) != 0) {
    return 0;
  }
  unsigned roles = 0;
  pthread_rwlock_rdlock(&auth->lock);
  for (size_t i = 0; i < auth->list.count; i++) {
    const unsigned same = (unsigned)(gnutls_memcmp(hash, auth->list.grants[i].hash, HASH_BYTES) == 0);
    roles |= auth->list.grants[i].roles & (0U - same);
  }
  pthread_rwlock_unlock(&auth->lock);
  return roles;
}
