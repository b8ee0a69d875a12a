/* Export: every table in pages by its key, inside one reading transaction. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "store/move_table.h"

enum { PAGE = 500 };

typedef struct {
  FILE *out;
  gnutls_hash_hd_t hash;
  char *line; /* being made */
  size_t size, capacity;
  uint64_t bytes, rows;
  bool out_of_memory;
} writer;

static void put(writer *w, const char *bytes, size_t size) {
  if (w->size + size > w->capacity) {
    const size_t wanted = 2 * (w->size + size) + 256;
    char *grown = realloc(w->line, wanted);
    if (!grown) {
      w->out_of_memory = true;
      return;
    }
    w->line = grown;
    w->capacity = wanted;
  }
  memcpy(w->line + w->size, bytes, size);
  w->size += size;
}

static void put_text(writer *w, const char *text) {
  put(w, text, strlen(text));
}

static void end_line(writer *w) {
  put_text(w, "\n");
  gnutls_hash(w->hash, w->line, w->size);
  fwrite(w->line, 1, w->size, w->out);
  w->bytes += w->size;
  w->size = 0;
}

static void put_string(writer *w, const char *bytes, size_t size) {
  put_text(w, "\"");
  size_t from = 0;
  for (size_t i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)bytes[i];
    if (c < 0x20 || c == '"' || c == '\\') {
      char escaped[8];
      put(w, bytes + from, i - from);
      snprintf(escaped, sizeof escaped, c < 0x20 ? "\\u%04x" : "\\%c", c);
      put_text(w, escaped);
      from = i + 1;
    }
  }
  put(w, bytes + from, size - from);
  put_text(w, "\"");
}

/* The shortest of two lengths that leads back to the same number. JSON has no infinity. */
static void put_real(writer *w, double x) {
  char text[32];
  if (isinf(x)) {
    put_text(w, x > 0 ? "\"inf\"" : "\"-inf\"");
    return;
  }
  snprintf(text, sizeof text, "%.15g", x);
  if (strtod(text, NULL) != x) {
    snprintf(text, sizeof text, "%.17g", x);
  }
  put_text(w, text);
}

static void put_base64(writer *w, const char *bytes, size_t size) {
  const gnutls_datum_t raw = {(unsigned char *)bytes, (unsigned)size};
  gnutls_datum_t text = {NULL, 0};
  if (gnutls_base64_encode2(&raw, &text) == 0) {
    put_string(w, (const char *)text.data, text.size);
    gnutls_free(text.data);
  } else {
    w->out_of_memory = true;
  }
}

static void put_value(writer *w, const hw__value *value) {
  char number[32];
  switch (value->kind) {
    case HW_VALUE_INTEGER:
      snprintf(number, sizeof number, "%" PRId64, value->integer);
      put_text(w, number);
      break;
    case HW_VALUE_REAL:
      put_real(w, value->real);
      break;
    case HW_VALUE_TEXT:
      put_string(w, value->bytes, value->size);
      break;
    case HW_VALUE_BLOB:
      put_base64(w, value->bytes, value->size);
      break;
    case HW_VALUE_NULL:
      put_text(w, "null");
      break;
  }
}

static void put_row(writer *w, const hw__value *row, size_t columns) {
  put_text(w, "[");
  for (size_t i = 0; i < columns; i++) {
    put_text(w, i ? "," : "");
    put_value(w, &row[i]);
  }
  put_text(w, "]");
  end_line(w);
  w->rows++;
}

static void put_table_head(writer *w, const hw__moved_table *table) {
  put_text(w, "{\"table\": \"");
  put_text(w, table->name);
  put_text(w, "\", \"columns\": [\"");
  for (const char *at = table->columns; *at; at++) {
    if (*at == ',') {
      put_text(w, "\", \"");
      at++; /* the space */
    } else {
      put(w, at, 1);
    }
  }
  put_text(w, "\"]}");
  end_line(w);
}

/* Where a page ended: the key of its last row, text copied. */
typedef struct {
  hw__value values[3]; /* and the limit */
  char *text;
} place;

static bool move_on(place *at, const hw__moved_table *table, const hw__value *row) {
  for (size_t k = 0; k < table->keys; k++) {
    at->values[k] = row[k];
  }
  if (row[0].kind == HW_VALUE_TEXT) {
    char *copy = hw__value_duplicate(&row[0]);
    free(at->text);
    at->text = copy;
    at->values[0] = copy ? of_text(copy) : (hw__value){0};
  }
  return row[0].kind != HW_VALUE_TEXT || at->text;
}

static hw__db_status put_page(hw__db *db, const hw__moved_table *table, writer *w, place *at, size_t *rows) {
  hw__value row[HW_COLUMNS_MOST];
  *rows = 0;
  hw__db_status status = db->driver->start(db, table->page, at->values, table->keys + 1);
  while (status == HW_DB_OK && (status = db->driver->next(db, table->page, row)) == HW_DB_OK) {
    put_row(w, row, strlen(table->kinds));
    ++*rows;
    status = *rows < PAGE || move_on(at, table, row) ? HW_DB_OK : HW_DB_MEMORY;
  }
  db->driver->finish(db, table->page);
  return status == HW_DB_ABSENT ? HW_DB_OK : status;
}

static hw__db_status put_table(hw__db *db, const hw__moved_table *table, writer *w, const hw_move_watcher *watch,
                               bool *stopped) {
  place at = {.text = NULL};
  for (size_t k = 0; k < table->keys; k++) {
    at.values[k] = hw__key_start(table, k);
  }
  at.values[table->keys] = of_integer(PAGE);
  put_table_head(w, table);
  hw__db_status status = HW_DB_OK;
  size_t rows = PAGE;
  while (rows == PAGE && status == HW_DB_OK && !*stopped) {
    status = put_page(db, table, w, &at, &rows);
    *stopped = ferror(w->out) || w->out_of_memory || (watch && !watch->go_on(watch->context, w->bytes, w->rows));
  }
  free(at.text);
  return status;
}

static hw__db_status put_all(hw__db *db, writer *w, const hw_move_watcher *watch, bool *stopped) {
  char text[160];
  snprintf(text, sizeof text, "{\"schema\": \"%s\", \"version\": %d}", HW_EXPORT_SCHEMA, hw__db_schema_version());
  put_text(w, text);
  end_line(w);
  hw__db_status status = db->driver->begin(db, false);
  for (size_t t = 0; t < HW_TABLES && status == HW_DB_OK && !*stopped; t++) {
    status = put_table(db, &hw__moved_tables[t], w, watch, stopped);
  }
  db->driver->rollback(db); /* it only read */
  char digest[2 * HW_DIGEST_BYTES + 1];
  hw__digest_text(w->hash, digest);
  snprintf(text, sizeof text, "{\"end\": {\"rows\": %" PRIu64 ", \"sha256\": \"%s\"}}", w->rows, digest);
  put_text(w, text);
  end_line(w);
  return status;
}

hw_status hw_export(const char *store, FILE *out, const hw_move_watcher *watch, uint64_t *rows, hw_error *error) {
  hw__db *db = NULL;
  hw__db_status status = hw__db_open(store, false, &db, error->text, sizeof error->text);
  if (status != HW_DB_OK) {
    return status == HW_DB_MEMORY ? HW_ENOMEM : HW_EIO;
  }
  writer w = {.out = out};
  bool stopped = false;
  status = HW_DB_MEMORY;
  if (gnutls_hash_init(&w.hash, GNUTLS_DIG_SHA256) == 0) {
    status = put_all(db, &w, watch, &stopped);
    gnutls_hash_deinit(w.hash, NULL);
  }
  const bool written = fflush(out) == 0 && !ferror(out);
  if (status != HW_DB_OK) {
    char name[256];
    hw__db_name(store, name, sizeof name);
    snprintf(error->text, sizeof error->text, "%s: %s (%s)", name, hw__db_text(status), db->driver->reason(db));
  } else if (stopped || !written) {
    snprintf(error->text, sizeof error->text, "%s",
             !written          ? "the export could not be written"
             : w.out_of_memory ? "out of memory"
                               : "stopped");
  }
  *rows = w.rows;
  free(w.line);
  hw__db_close(db);
  if (status == HW_DB_MEMORY || w.out_of_memory) {
    return HW_ENOMEM;
  }
  return status == HW_DB_OK && written && !stopped ? HW_OK : HW_EIO;
}
