/* Rivers from files and from memory. The format itself is in river_yaml.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "io/flow_file.h"
#include "io/river_yaml.h"

enum { LARGEST_FILE = 16 << 20 };

hw_status hw_river_parse(const char *name, const char *text, size_t size, hw_warn warn, void *context, hw_river *out,
                         hw_error *error) {
  hw__yaml yaml = {.name = name, .wanted = "a river", .warn = warn, .warn_context = context, .error = error};
  if (size > LARGEST_FILE) {
    return hw__fail(error, HW_EINPUT, "%s:1: a file of %zu bytes, expected a river of at most %d", name, size,
                    LARGEST_FILE);
  }
  hw_status status = hw__yaml_open(&yaml, text, size);
  if (status != HW_OK) {
    return status;
  }
  hw_river river;
  hw_river_init(&river);
  status = hw__river_read(&yaml, &river);
  hw__yaml_close(&yaml);
  if (status != HW_OK) {
    hw_river_free(&river);
    return status;
  }
  *out = river;
  return HW_OK;
}

/* At most one byte more than is allowed, so that a pipe or device without end ends here. */
static hw_status read_whole(FILE *stream, char **text, size_t *size) {
  size_t capacity = 1 << 14, length = 0;
  char *buffer = malloc(capacity);
  while (buffer && length <= LARGEST_FILE) {
    const size_t got = fread(buffer + length, 1, capacity - length, stream);
    length += got;
    if (length < capacity) {
      break;
    }
    capacity *= 2;
    char *larger = realloc(buffer, capacity);
    if (!larger) {
      free(buffer);
    }
    buffer = larger;
  }
  if (!buffer) {
    return HW_ENOMEM;
  }
  if (ferror(stream)) {
    free(buffer);
    return HW_EIO;
  }
  *text = buffer;
  *size = length;
  return HW_OK;
}

hw_status hw_river_load(const char *path, hw_warn warn, void *context, hw_river *out, hw_error *error) {
  FILE *stream = fopen(path, "rb");
  if (!stream) {
    return hw__fail_file(error, path, "a river file");
  }
  char *text = NULL;
  size_t size = 0;
  hw_status status = read_whole(stream, &text, &size);
  if (status == HW_OK) {
    hw_river river;
    hw_river_init(&river);
    status = hw_river_parse(path, text, size, warn, context, &river, error);
    if (status == HW_OK && river.flow_file) {
      status = hw__flow_load(&river, warn, context, error);
      if (status != HW_OK) {
        hw_river_free(&river);
      }
    }
    if (status == HW_OK) {
      *out = river;
    }
  } else if (status == HW_EIO) {
    status = hw__fail_file(error, path, "a river file");
  } else {
    hw__fail(error, status, "%s: %s", path, hw_status_text(status));
  }
  free(text);
  fclose(stream);
  return status;
}
