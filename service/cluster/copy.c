#include "cluster/copy.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/log.h"
#include "base/metrics.h"
#include "cluster/feed.h"
#include "store/verify.h"

enum { PIECE = 512 << 10, GROUP = 8, PUBLISH_MS = 5000, DIGEST = 32, TEXT = 400, PATH = 600, PATIENCE_MS = 2000 };
static const int64_t largest = INT64_C(4) << 30; /* anybody may write a manifest, so larger figures in it are refused */

/* What the manifest says, in this order. */
typedef struct {
  char slot; /* 'A' or 'B' */
  int64_t cursor, pieces, packed, plain;
  char digest[2 * DIGEST + 1]; /* of the packed bytes */
} manifest;

static void digest_text(const uint8_t raw[DIGEST], char out[2 * DIGEST + 1]) {
  for (size_t i = 0; i < DIGEST; i++) {
    snprintf(out + 2 * i, 3, "%02x", raw[i]);
  }
}

static void digest_of(const uint8_t *data, size_t size, char out[2 * DIGEST + 1]) {
  uint8_t raw[DIGEST] = {0};
  gnutls_hash_fast(GNUTLS_DIG_SHA256, data, size, raw);
  digest_text(raw, out);
}

static void piece_subject(const hw__copies *c, char slot, int64_t piece, char out[128]) {
  snprintf(out, 128, "hw.snap.%zu.%c.%" PRId64, c->lease->partition, slot, piece);
}

static hw__bus_status read_manifest(hw__copies *c, manifest *m) {
  char key[32], text[TEXT];
  snprintf(key, sizeof key, "p%zu", c->lease->partition);
  const hw__bus_status status = hw__bus_get(c->cluster->bus, "hw_snap", key, text, sizeof text, &c->revision);
  if (status == HW_BUS_ABSENT) {
    c->revision = 0;
  }
  if (status != HW_BUS_OK) {
    return status;
  }
  const int fields = sscanf(text, "%c %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %64s", &m->slot, &m->cursor,
                            &m->pieces, &m->packed, &m->plain, m->digest);
  const bool sound = fields == 6 && (m->slot == 'A' || m->slot == 'B') && m->cursor >= 0 && m->packed > 0 &&
                     m->packed < largest && m->plain > 0 && m->plain < largest &&
                     m->pieces == (m->packed + PIECE - 1) / PIECE;
  c->slot = sound ? m->slot : c->slot;
  return sound ? HW_BUS_OK : HW_BUS_ABSENT;
}

/* --- bringing one back --- */

/* Pieces on their way into a file. Each is in memory only until it is written, however large the manifest says the
 * whole is.
 */
typedef struct {
  FILE *file;
  gnutls_hash_hd_t hash;
  z_stream zip;
  bool ended; /* of the compressed bytes */
  int64_t packed, plain;
} unpacking;

static const char *inflate_piece(unpacking *u, const manifest *m, const hw__bus_message *piece) {
  uint8_t plain[64 << 10];
  u->packed += (int64_t)piece->size;
  if (u->packed > m->packed || gnutls_hash(u->hash, piece->data, piece->size) != 0) {
    return "it is longer than was told";
  }
  u->zip.next_in = (Bytef *)piece->data;
  u->zip.avail_in = (uInt)piece->size;
  while (!u->ended && u->zip.avail_in) {
    u->zip.next_out = plain;
    u->zip.avail_out = sizeof plain;
    const int code = inflate(&u->zip, Z_NO_FLUSH);
    const size_t made = sizeof plain - u->zip.avail_out;
    u->ended = code == Z_STREAM_END;
    u->plain += (int64_t)made;
    if ((code != Z_OK && !u->ended) || u->plain > m->plain) {
      return "it does not become what was told";
    }
    if (fwrite(plain, 1, made, u->file) != made) {
      return "it could not be written";
    }
  }
  return NULL;
}

static const char *fetch_piece(const hw__copies *c, const manifest *m, int64_t i, unpacking *u) {
  char subject[128];
  hw__bus_message piece;
  hw__bus_status status;
  piece_subject(c, m->slot, i, subject);
  while ((status = hw__bus_get_message(c->cluster->bus, "HW_SNAP", subject, &piece)) == HW_BUS_AWAY &&
         hw__lease_holds(c->lease)) {
    hw__clock_nap_ms(100);
  }
  if (status != HW_BUS_OK) {
    return "a piece is missing";
  }
  const char *fault = inflate_piece(u, m, &piece);
  hw__bus_message_free(&piece);
  return fault;
}

/* Writes the copy into the file. Returned: NULL when the file is whole, else the reason why it is not. */
static const char *fetch_pieces(const hw__copies *c, const manifest *m, const char *path) {
  unpacking u = {.file = fopen(path, "we")};
  const char *fault = u.file && inflateInit(&u.zip) == Z_OK ? NULL : "it could not be written";
  if (!fault && gnutls_hash_init(&u.hash, GNUTLS_DIG_SHA256) != 0) {
    u.hash = NULL;
    fault = "out of memory";
  }
  for (int64_t i = 0; !fault && i < m->pieces; i++) {
    fault = fetch_piece(c, m, i, &u);
  }
  uint8_t raw[DIGEST] = {0};
  char digest[2 * DIGEST + 1];
  if (u.hash) {
    gnutls_hash_deinit(u.hash, raw);
  }
  digest_text(raw, digest);
  if (!fault && strcmp(digest, m->digest) != 0) {
    fault = "its hash is another";
  }
  if (!fault && (!u.ended || u.plain != m->plain)) {
    fault = "it does not become what was told";
  }
  inflateEnd(&u.zip);
  return u.file && fclose(u.file) != 0 && !fault ? "it could not be written" : fault;
}

/* Moves the file, and what belongs to it, out of the way. */
static void put_aside(const char *path, bool keep) {
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < 3; i++) {
    char from[PATH], to[PATH];
    snprintf(from, sizeof from, "%s%s", path, endings[i]);
    snprintf(to, sizeof to, "%s.aside%s", path, endings[i]);
    if (keep) {
      rename(from, to);
    } else {
      unlink(from);
    }
  }
}

void hw__copies_put_aside(const hw__copies *c) {
  hw__log(HW_LOG_WARNING, "file_put_aside", "path", c->path);
  put_aside(c->path, true);
}

static void count_fault(void *context, const hw__fault *fault) {
  hw__log_fault(fault);
  ++*(size_t *)context;
}

/* Are the records of the copy those that were stored? It may have been made of a damaged file. */
static bool is_sound(const char *path) {
  hw__db *db = NULL;
  char sentence[256];
  size_t faults = 0;
  const hw__fault_teller teller = {count_fault, &faults};
  const bool read =
      hw__db_open(path, false, &db, sentence, sizeof sentence) == HW_DB_OK && hw__verify_log(db, &teller) == HW_DB_OK;
  hw__db_close(db);
  return read && !faults;
}

static bool bring_back(const hw__copies *c, const manifest *m) {
  char part[PATH];
  snprintf(part, sizeof part, "%s.part", c->path);
  const char *fault = fetch_pieces(c, m, part);
  if (!fault && !is_sound(part)) {
    fault = "its records are not those that were stored";
  }
  if (!fault) {
    put_aside(c->path, false);
    fault = rename(part, c->path) == 0 ? NULL : "it could not be written";
  }
  if (fault) {
    unlink(part);
    hw__log_fields(HW_LOG_WARNING, "copy_not_usable", "{s:I, s:s}", "partition", (json_int_t)c->lease->partition,
                   "reason", fault);
  }
  return !fault;
}

/* Does the stream reach that far? A stream that lost its end (all its nodes lost power at once, say) will give the
 * same numbers to other readings. A leader that was just elected gets some seconds to find out where the stream
 * ends. */
static bool stream_reaches(const hw__copies *c, int64_t cursor) {
  const int64_t until_ms = hw__clock_ms() + PATIENCE_MS;
  for (;;) {
    int64_t last = 0;
    const hw__bus_status status = hw__bus_last(c->cluster->bus, "HW_IN", &last);
    if ((status == HW_BUS_OK && last >= cursor) || !hw__lease_holds(c->lease)) {
      return true;
    }
    if (status == HW_BUS_OK && hw__clock_ms() > until_ms) {
      return false;
    }
    hw__clock_nap_ms(100);
  }
}

/* How far the file on this machine has come; -1: there is no usable one. */
static int64_t local_cursor(const hw__copies *c) {
  hw__db *db = NULL;
  char sentence[256];
  int64_t cluster = 0, cursor = 0;
  if (access(c->path, F_OK) != 0) {
    return -1;
  }
  const bool ok = hw__db_open(c->path, true, &db, sentence, sizeof sentence) == HW_DB_OK &&
                  hw__db_cursor(db, "cluster", &cluster) == HW_DB_OK && cluster == c->cluster->id;
  const bool begun = ok && hw__db_cursor(db, HW_FEED_CURSOR, &cursor) == HW_DB_OK;
  hw__db_close(db);
  if (!ok || !stream_reaches(c, cursor)) {
    hw__copies_put_aside(c);
    return -1;
  }
  return begun ? cursor : 0;
}

const char *hw__copies_restore(hw__copies *c) {
  manifest m;
  hw__bus_status status;
  const int64_t local = local_cursor(c);
  while ((status = read_manifest(c, &m)) == HW_BUS_AWAY && hw__lease_holds(c->lease)) {
    hw__clock_nap_ms(100);
  }
  c->made_ms = hw__clock_ms();
  if (status == HW_BUS_OK && m.cursor > local && stream_reaches(c, m.cursor)) {
    c->cursor = m.cursor;
    if (bring_back(c, &m)) {
      return "copy";
    }
  }
  return local >= 0 ? "file" : "stream";
}

/* --- making one --- */

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "re");
  long end = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) {
    end = ftell(file);
  }
  uint8_t *data = end > 0 && end < (long)largest ? malloc((size_t)end) : NULL;
  if (data && (fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)end, file) != (size_t)end)) {
    free(data);
    data = NULL;
  }
  if (file) {
    fclose(file);
  }
  *size = data ? (size_t)end : 0;
  return data;
}

/* The store as it is at one moment, compressed. */
static uint8_t *pack(const hw__copies *c, hw__store *store, manifest *m) {
  char part[PATH];
  snprintf(part, sizeof part, "%s.copy", c->path);
  unlink(part);
  hw__db *db = hw__store_reader(store);
  const bool copied = db && hw__db_copy(db, part) == HW_DB_OK;
  if (db) {
    hw__store_return(store, db);
  }
  size_t size = 0;
  uint8_t *plain = copied ? read_file(part, &size) : NULL;
  hw__db *copy = NULL;
  char sentence[256];
  const bool known = plain && hw__db_open(part, false, &copy, sentence, sizeof sentence) == HW_DB_OK &&
                     hw__db_cursor(copy, HW_FEED_CURSOR, &m->cursor) == HW_DB_OK;
  hw__db_close(copy);
  unlink(part);
  uLongf packed_size = compressBound((uLong)size);
  uint8_t *packed = known ? malloc(packed_size) : NULL;
  if (packed && compress2(packed, &packed_size, plain, (uLong)size, Z_BEST_SPEED) != Z_OK) {
    free(packed);
    packed = NULL;
  }
  free(plain);
  m->plain = (int64_t)size;
  m->packed = (int64_t)packed_size;
  m->pieces = (m->packed + PIECE - 1) / PIECE;
  return packed;
}

static bool send_pieces(const hw__copies *c, const manifest *m, const uint8_t *packed) {
  for (int64_t at = 0; at < m->pieces; at += GROUP) {
    hw__bus_letter letters[GROUP];
    char subjects[GROUP][128];
    size_t n = 0;
    for (; n < GROUP && at + (int64_t)n < m->pieces; n++) {
      const int64_t from = (at + (int64_t)n) * PIECE;
      piece_subject(c, m->slot, at + (int64_t)n, subjects[n]);
      letters[n] = (hw__bus_letter){.subject = subjects[n],
                                    .data = (const char *)packed + from,
                                    .size = (size_t)(m->packed - from < PIECE ? m->packed - from : PIECE)};
    }
    if (!hw__lease_holds(c->lease) || hw__bus_publish(c->cluster->bus, letters, n, PUBLISH_MS) != HW_BUS_OK) {
      return false;
    }
  }
  return true;
}

static hw__bus_status publish_copy(hw__copies *c, manifest *m, const uint8_t *packed) {
  m->slot = c->slot == 'A' ? 'B' : 'A';
  digest_of(packed, (size_t)m->packed, m->digest);
  if (!send_pieces(c, m, packed) || !hw__lease_holds(c->lease)) {
    return HW_BUS_AWAY;
  }
  char key[32], text[TEXT];
  snprintf(key, sizeof key, "p%zu", c->lease->partition);
  snprintf(text, sizeof text, "%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s", m->slot, m->cursor, m->pieces,
           m->packed, m->plain, m->digest);
  const hw__bus_status status = hw__bus_set(c->cluster->bus, "hw_snap", key, text, c->revision, &c->revision);
  c->slot = status == HW_BUS_OK ? m->slot : c->slot;
  return status;
}

hw__bus_status hw__copies_make(hw__copies *c, hw__store *store) {
  const int64_t started_ms = hw__clock_ms();
  manifest m = {0};
  uint8_t *packed = pack(c, store, &m);
  const hw__bus_status status = packed ? publish_copy(c, &m, packed) : HW_BUS_AWAY;
  free(packed);
  c->made_ms = hw__clock_ms();
  c->took_ms = c->made_ms - started_ms;
  hw__metric_add(status == HW_BUS_OK ? HW_METRIC_COPIES : HW_METRIC_COPY_FAILURES, 1);
  if (status == HW_BUS_OK) {
    c->cursor = m.cursor;
    hw__metric_add(HW_METRIC_COPY_BYTES, (uint64_t)m.packed);
    hw__log_fields(HW_LOG_INFO, "copy_made", "{s:I, s:I, s:I, s:I, s:f}", "partition", (json_int_t)c->lease->partition,
                   "cursor", (json_int_t)m.cursor, "bytes", (json_int_t)m.packed, "plain_bytes", (json_int_t)m.plain,
                   "seconds", (double)c->took_ms * 1e-3);
  } else {
    hw__log_fields(HW_LOG_WARNING, "copy_not_made", "{s:I}", "partition", (json_int_t)c->lease->partition);
    manifest other;
    read_manifest(c, &other); /* the answer may have been lost on its way */
  }
  return status;
}
