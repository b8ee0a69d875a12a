/* What export and import both know: the tables, in the order of the stream. */
#ifndef HW_STORE_MOVE_TABLE_H
#define HW_STORE_MOVE_TABLE_H

#include <ctype.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "api/move.h"
#include "store/driver.h"

#define HW_EXPORT_SCHEMA "headwater.export/1"
enum { HW_DIGEST_BYTES = 32, HW_WATCH_EVERY = 256 };

typedef struct {
  const char *name;
  const char *columns; /* separated by ", " */
  const char *kinds;   /* one letter a column */
  size_t keys;         /* how many of the first columns tell rows apart */
  hw__sql page, put;
} hw__moved_table;

static const hw__moved_table hw__moved_tables[] = {
#define ROW(id, table, key, key_marks, limit, columns, marks, kinds) \
  {table, columns, kinds, sizeof key_marks > 3 ? 2 : 1, SQL_PAGE_##id, SQL_PUT_##id},
    HW_TABLE_LIST(ROW)
#undef ROW
};
enum { HW_TABLES = sizeof hw__moved_tables / sizeof hw__moved_tables[0] };

/* Before the first row. */
static inline hw__value hw__key_start(const hw__moved_table *table, size_t key) {
  return table->kinds[key] == 't' ? of_text("") : of_integer(INT64_MIN);
}

static inline void hw__digest_text(gnutls_hash_hd_t hash, char out[2 * HW_DIGEST_BYTES + 1]) {
  unsigned char digest[HW_DIGEST_BYTES];
  gnutls_hash_output(hash, digest);
  for (int i = 0; i < HW_DIGEST_BYTES; i++) {
    snprintf(out + 2 * i, 3, "%02x", digest[i]);
  }
}

#endif
