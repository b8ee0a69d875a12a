#include "weeks/collection.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool collect(collection *all, const result *r) {
  if (all->count == all->capacity) {
    const size_t more = 2 * all->capacity + 256;
    result *row = realloc(all->row, more * sizeof *row);
    if (!row) {
      return false;
    }
    all->row = row;
    all->capacity = more;
  }
  all->row[all->count++] = *r;
  return true;
}

static int by_index(const void *a, const void *b) {
  const result *x = a, *y = b;
  return (x->index > y->index) - (x->index < y->index);
}

bool collection_load(const char *path, uint64_t print, collection *all) {
  char line[RESULT_LINE];
  uint64_t found = 0;
  *all = (collection){0};
  FILE *in = fopen(path, "r");
  const bool ours =
      in && fgets(line, sizeof line, in) && sscanf(line, "# %" SCNx64, &found) == 1 && (found == print || print == 0);
  while (ours && fgets(line, sizeof line, in)) {
    result r;
    if (result_read(line, &r) && !collect(all, &r)) {
      break;
    }
  }
  if (in) {
    fclose(in);
  }
  qsort(all->row, all->count, sizeof *all->row, by_index);
  return ours;
}

const result *collection_find(const collection *all, uint64_t index) {
  const result key = {.index = index};
  return all->count ? bsearch(&key, all->row, all->count, sizeof key, by_index) : NULL;
}

void collection_free(collection *all) {
  free(all->row);
  *all = (collection){0};
}

int collection_open(const char *path, uint64_t print, bool ours) {
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | (ours ? 0 : O_TRUNC), 0666);
  if (file >= 0 && !ours) {
    dprintf(file, "# %" PRIx64 "\n", print);
  }
  return file;
}

bool collection_append(int file, const result *r) {
  char line[RESULT_LINE];
  result_write(r, line);
  const size_t size = strlen(line);
  return write(file, line, size) == (ssize_t)size;
}
