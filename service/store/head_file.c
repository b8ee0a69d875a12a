#include "store/head_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

static const char opening[] = "headwater.head/1 ";
enum { SLOT = 512, SLOTS = 2, TEXT = 160, PATH = 4096 };

static void path_of(const char *database, char out[PATH]) {
  snprintf(out, PATH, "%s-head", database);
}

/* A new file survives a power cut only after its folder was synced. */
static void sync_folder(const char *path) {
  char folder[PATH];
  snprintf(folder, sizeof folder, "%s", path);
  const int descriptor = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
}

void hw__head_file_close(hw__head_file *file) {
  if (file->descriptor >= 0) {
    hw__head_file_sync(file);
    close(file->descriptor);
  }
  file->descriptor = -1;
}

static char *put_hex(char *at, uint64_t x) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    *at++ = "0123456789abcdef"[x >> shift & 15];
  }
  *at++ = ' ';
  return at;
}

/* The line and its own checksum, all of it in hexadecimal. It is written with every commit, where printf was a part of
 * the cost that could be measured. */
static size_t write_line(int64_t turn, const hw__mark *head, char out[TEXT]) {
  char *at = (char *)memcpy(out, opening, sizeof opening - 1) + sizeof opening - 1;
  at = put_hex(at, (uint64_t)turn);
  at = put_hex(at, (uint64_t)head->seq);
  at = put_hex(at, (uint64_t)head->records);
  at = put_hex(at, head->hash);
  at = put_hex(at, hw__fnv(hw__fnv_start(), out, (size_t)(at - out)));
  at[-1] = '\n';
  return (size_t)(at - out);
}

bool hw__head_file_keep(hw__head_file *file, const hw__mark *head) {
  char line[TEXT];
  const size_t size = write_line(++file->turn, head, line);
  const off_t at = file->turn % SLOTS * SLOT;
  if (file->descriptor >= 0 && pwrite(file->descriptor, line, size, at) != (ssize_t)size) {
    hw__log(HW_LOG_WARNING, "head_not_kept", "consequence", "a loss of the last records may not be noticed");
    close(file->descriptor); /* logged once; the next start tries again */
    file->descriptor = -1;
  }
  file->unsynced = file->descriptor >= 0;
  return file->unsynced;
}

void hw__head_file_sync(hw__head_file *file) {
  if (file->unsynced) {
    fdatasync(file->descriptor);
  }
  file->unsynced = false;
}

/* Returned: the number of its turn; 0: the slot is not valid. */
static int64_t read_line(const char *text, hw__mark *out) {
  char again[TEXT];
  uint64_t turn = 0, seq = 0, records = 0;
  *out = (hw__mark){0};
  if (sscanf(text, "headwater.head/1 %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &turn, &seq, &records,
             &out->hash) != 4) {
    return 0;
  }
  out->seq = (int64_t)seq;
  out->records = (int64_t)records;
  const size_t size = write_line((int64_t)turn, out, again);
  return strncmp(text, again, size) == 0 ? (int64_t)turn : 0;
}

static int64_t read_latest(int descriptor, hw__mark *out) {
  char bytes[SLOTS * SLOT + 1] = {0};
  const ssize_t size = pread(descriptor, bytes, SLOTS * SLOT, 0);
  int64_t latest = 0;
  for (ssize_t at = 0; at < size; at += SLOT) {
    hw__mark head;
    const int64_t turn = read_line(bytes + at, &head);
    if (turn > latest) {
      latest = turn;
      *out = head;
    }
  }
  return latest;
}

hw__db_status hw__head_file_read(const char *database, hw__mark *out) {
  char path[PATH];
  path_of(database, path);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  int64_t turn = 0;
  if (descriptor >= 0) {
    turn = read_latest(descriptor, out);
    close(descriptor);
  }
  return turn ? HW_DB_OK : HW_DB_ABSENT;
}

void hw__head_file_open(hw__head_file *file, const char *database) {
  char path[PATH];
  hw__mark ignored;
  path_of(database, path);
  const bool there = access(path, F_OK) == 0;
  *file = (hw__head_file){.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (file->descriptor >= 0 && !there) {
    static const char empty[SLOTS * SLOT];
    if (pwrite(file->descriptor, empty, sizeof empty, 0) == (ssize_t)sizeof empty && fsync(file->descriptor) == 0) {
      sync_folder(path);
    }
  } else if (file->descriptor >= 0) {
    file->turn = read_latest(file->descriptor, &ignored);
  }
}
