/* Import: an untrusted stream into an empty store, in one transaction. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/move_value.h"

enum { LINE_MOST = 1 << 29, TEXT_SHOWN = 40 };

typedef struct {
  hw__db *db;
  const char *name; /* of the stream */
  char store[256];
  FILE *in;
  hw_error *error;
  char *line;
  size_t capacity, size;
  uint64_t number, bytes, rows;
  gnutls_hash_hd_t hash;          /* of all lines before this one */
  const hw__moved_table *table;   /* the rows now are of; NULL before the first */
  size_t column[HW_COLUMNS_MOST]; /* of the table, by position in the stream's rows */
  size_t column_count;
} reader;

static hw_status fail(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static hw_status fail(reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int at = snprintf(r->error->text, sizeof r->error->text, "%s:%" PRIu64 ": ", r->name, r->number);
  if (at > 0 && (size_t)at < sizeof r->error->text) {
    vsnprintf(r->error->text + at, sizeof r->error->text - (size_t)at, format, arguments);
  }
  va_end(arguments);
  return HW_EINPUT;
}

static hw_status fail_memory(reader *r) {
  snprintf(r->error->text, sizeof r->error->text, "%s: out of memory", r->name);
  return HW_ENOMEM;
}

/* What the database says of rows that were well formed. */
static hw_status fail_store(reader *r, hw__db_status status) {
  const char *reason = r->db->driver->reason(r->db);
  if (status == HW_DB_CLASH) {
    return fail(r, "here or shortly before, %s (%s)", hw__db_text(status), reason);
  }
  snprintf(r->error->text, sizeof r->error->text, "%s: %s (%.150s)", r->store, hw__db_text(status), reason);
  return status == HW_DB_MEMORY ? HW_ENOMEM : HW_EIO;
}

/* --- lines --- */

/* Like getline, but a line without end cannot take all memory. */
static hw_status next_line(reader *r) {
  int c = 0;
  r->size = 0;
  r->number++;
  while (c != '\n' && (c = getc_unlocked(r->in)) != EOF) {
    if (r->size == r->capacity) {
      const size_t wanted = r->capacity ? 2 * r->capacity : 4096;
      if (wanted > LINE_MOST) {
        return fail(r, "a line of more than %zu bytes, expected none so long", r->size);
      }
      char *grown = realloc(r->line, wanted);
      if (!grown) {
        return fail_memory(r);
      }
      r->line = grown;
      r->capacity = wanted;
    }
    r->line[r->size++] = (char)c;
  }
  r->bytes += r->size;
  if (ferror(r->in)) {
    snprintf(r->error->text, sizeof r->error->text, "%s: cannot be read", r->name);
    return HW_EIO;
  }
  return c == '\n' ? HW_OK : fail(r, "the file ends here, expected a last line {\"end\": ...}: it is not whole");
}

static hw_status parse_line(reader *r, json_t **out) {
  json_error_t fault;
  const hw_status status = hw__json_load(r->line, r->size, JSON_REJECT_DUPLICATES, out, &fault);
  if (status == HW_EINPUT) {
    return fail(r, "%.100s, expected one JSON value a line", fault.text);
  }
  return status == HW_OK ? HW_OK : fail_memory(r);
}

static hw_status read_head(reader *r) {
  json_t *head = NULL;
  hw_status status = next_line(r);
  if (status == HW_EIO || status == HW_ENOMEM) {
    return status;
  }
  json_error_t fault;
  if (hw__json_load(r->line, r->size, 0, &head, &fault) == HW_ENOMEM) {
    return fail_memory(r);
  }
  const char *schema = json_string_value(json_object_get(head, "schema"));
  const json_t *number = json_object_get(head, "version");
  const json_int_t version = json_integer_value(number);
  if (!schema || !json_is_integer(number) || strncmp(schema, HW_EXPORT_SCHEMA, strlen(HW_EXPORT_SCHEMA) - 1) != 0) {
    status = fail(r, "not an export of headwater, expected {\"schema\": \"" HW_EXPORT_SCHEMA "\", ...}");
  } else if (strcmp(schema, HW_EXPORT_SCHEMA) != 0 || version > hw__db_schema_version()) {
    status = fail(r, "an export of a newer version (%.40s, %lld), expected at most %s, %d", schema, (long long)version,
                  HW_EXPORT_SCHEMA, hw__db_schema_version());
  }
  json_decref(head);
  gnutls_hash(r->hash, r->line, r->size);
  return status;
}

/* --- tables and rows --- */

/* Position of a column in the table's list; SIZE_MAX: none of that name. */
static size_t find_column(const hw__moved_table *table, const char *name) {
  const size_t length = strlen(name);
  const char *at = table->columns;
  for (size_t i = 0;; i++) {
    const size_t size = strcspn(at, ",");
    if (size == length && strncmp(at, name, size) == 0) {
      return i;
    }
    if (!at[size]) {
      return SIZE_MAX;
    }
    at += size + 2;
  }
}

/* Columns that a stream of an older version lacks get nothing, 0 or "" (see hw__moved_row_empty). */
static hw_status begin_table(reader *r, const json_t *head) {
  const char *name = json_string_value(json_object_get(head, "table"));
  const json_t *columns = json_object_get(head, "columns");
  const hw__moved_table *table = r->table ? r->table + 1 : hw__moved_tables;
  while (name && table < hw__moved_tables + HW_TABLES && strcmp(table->name, name) != 0) {
    table++;
  }
  if (!name || table == hw__moved_tables + HW_TABLES) {
    return fail(r, "table '%.*s', expected one of an export, once and in its order", TEXT_SHOWN, name ? name : "");
  }
  bool seen[HW_COLUMNS_MOST] = {false};
  r->table = table;
  r->column_count = json_array_size(columns);
  for (size_t i = 0; i < r->column_count; i++) {
    const char *column = json_string_value(json_array_get(columns, i));
    const size_t at = column ? find_column(table, column) : SIZE_MAX;
    if (at == SIZE_MAX || seen[at]) {
      return fail(r, "column '%.*s', expected those of %s, each once", TEXT_SHOWN, column ? column : "", name);
    }
    seen[at] = true;
    r->column[i] = at;
  }
  return r->column_count ? HW_OK : fail(r, "no columns, expected those of %s", name);
}

static hw_status read_row(reader *r, const json_t *json) {
  hw__value row[HW_COLUMNS_MOST];
  gnutls_datum_t memory = {NULL, 0}; /* no table has more than one column of bytes */
  hw_status status = HW_OK;
  if (!r->table || json_array_size(json) != r->column_count) {
    return fail(r, "a row of %zu values, expected %zu", json_array_size(json), r->table ? r->column_count : 0);
  }
  hw__moved_row_empty(r->table, row);
  for (size_t i = 0; i < r->column_count && status == HW_OK; i++) {
    const char kind = r->table->kinds[r->column[i]];
    status = hw__moved_value(json_array_get(json, i), kind, &row[r->column[i]], &memory);
    if (status == HW_ENOMEM) {
      fail_memory(r);
    } else if (status != HW_OK) {
      char *found = json_dumps(json_array_get(json, i), JSON_ENCODE_ANY);
      status = fail(r, "value %zu of a row of %s is %.*s, expected %s", i + 1, r->table->name, TEXT_SHOWN,
                    found ? found : "?", hw__moved_kind_text(kind));
      free(found);
    }
  }
  if (status == HW_OK) {
    const hw__db_status stored = hw__sql_run(r->db, r->table->put, row, strlen(r->table->kinds));
    status = stored == HW_DB_OK ? HW_OK : fail_store(r, stored);
    r->rows++;
  }
  gnutls_free(memory.data);
  return status;
}

/* The last line: is this all, and all as it was written? */
static hw_status read_end(reader *r, json_t *end) {
  const json_t *number = json_object_get(end, "rows");
  const json_int_t rows = json_integer_value(number);
  const char *told = json_string_value(json_object_get(end, "sha256"));
  char digest[2 * HW_DIGEST_BYTES + 1];
  hw__digest_text(r->hash, digest);
  if (!json_is_integer(number) || !told) {
    return fail(r, "the last line, expected {\"end\": {\"rows\": ..., \"sha256\": ...}}");
  }
  if ((uint64_t)rows != r->rows) {
    return fail(r, "%" PRIu64 " rows, expected the %lld that were written", r->rows, (long long)rows);
  }
  if (strcmp(told, digest) != 0) {
    return fail(r, "the file was changed since it was written (its SHA-256 is another)");
  }
  if (getc(r->in) != EOF) {
    r->number++;
    return fail(r, "more lines, expected none behind the last");
  }
  return HW_OK;
}

static hw_status read_lines(reader *r, const hw_move_watcher *watch) {
  hw_status status = read_head(r);
  bool ended = false;
  while (status == HW_OK && !ended) {
    json_t *json = NULL;
    status = next_line(r);
    if (status == HW_OK) {
      status = parse_line(r, &json);
    }
    json_t *end = json_object_get(json, "end");
    if (status == HW_OK && json_is_array(json)) {
      status = read_row(r, json);
    } else if (status == HW_OK) {
      status = end ? read_end(r, end) : begin_table(r, json);
    }
    ended = end != NULL;
    gnutls_hash(r->hash, r->line, r->size);
    json_decref(json);
    if (status == HW_OK && watch && r->number % HW_WATCH_EVERY == 0 &&
        !watch->go_on(watch->context, r->bytes, r->rows)) {
      snprintf(r->error->text, sizeof r->error->text, "stopped; nothing was stored");
      status = HW_EIO;
    }
  }
  return status;
}

/* --- the store --- */

static hw_status check_empty(reader *r) {
  for (size_t t = 0; t < HW_TABLES; t++) {
    const hw__moved_table *table = &hw__moved_tables[t];
    const hw__value first[] = {hw__key_start(table, 0), table->keys > 1 ? hw__key_start(table, 1) : of_integer(1),
                               of_integer(1)};
    hw__value row[HW_COLUMNS_MOST];
    hw__db_status status = r->db->driver->start(r->db, table->page, first, table->keys + 1);
    if (status == HW_DB_OK) {
      status = r->db->driver->next(r->db, table->page, row);
    }
    r->db->driver->finish(r->db, table->page);
    if (status == HW_DB_OK) {
      snprintf(r->error->text, sizeof r->error->text, "%s: has rows in %s, expected an empty store", r->store,
               table->name);
      return HW_EINPUT;
    }
    if (status != HW_DB_ABSENT) {
      return fail_store(r, status);
    }
  }
  return HW_OK;
}

static hw_status check_sense(reader *r) {
  static const struct {
    hw__sql which;
    const char *fault;
  } checks[] = {
#define ROW(name, sql, fault) {name, fault},
      HW_CHECK_LIST(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
    int64_t found = 0;
    const hw__db_status status = hw__sql_integer(r->db, checks[i].which, &found, HW_NO_VALUES);
    if (status == HW_DB_OK) {
      snprintf(r->error->text, sizeof r->error->text, "%s: %s (number %" PRId64 ")", r->name, checks[i].fault, found);
      return HW_EINPUT;
    }
    if (status != HW_DB_ABSENT) {
      return fail_store(r, status);
    }
  }
  return HW_OK;
}

static hw_status import_all(reader *r, const hw_move_watcher *watch) {
  hw__db_status stored = hw__db_begin(r->db);
  if (stored != HW_DB_OK) {
    return fail_store(r, stored);
  }
  hw_status status = check_empty(r);
  if (status == HW_OK) {
    status = read_lines(r, watch);
  }
  if (status == HW_OK) {
    status = check_sense(r);
  }
  if (status == HW_OK) {
    stored = hw__db_commit(r->db);
    status = stored == HW_DB_OK ? HW_OK : fail_store(r, stored);
  }
  if (status != HW_OK) {
    hw__db_rollback(r->db);
  }
  return status;
}

hw_status hw_import(const char *store, const char *name, FILE *in, const hw_move_watcher *watch, uint64_t *rows,
                    hw_error *error) {
  reader r = {.name = name, .in = in, .error = error};
  hw__db_name(store, r.store, sizeof r.store);
  const hw__db_status opened = hw__db_open(store, true, &r.db, error->text, sizeof error->text);
  if (opened != HW_DB_OK) {
    return opened == HW_DB_MEMORY ? HW_ENOMEM : HW_EIO;
  }
  hw_status status = HW_ENOMEM;
  if (gnutls_hash_init(&r.hash, GNUTLS_DIG_SHA256) == 0) {
    status = import_all(&r, watch);
    gnutls_hash_deinit(r.hash, NULL);
  } else {
    fail_memory(&r);
  }
  *rows = r.rows;
  free(r.line);
  hw__db_close(r.db);
  return status;
}
