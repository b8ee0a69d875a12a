#include "rivers/river_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hw_status add(hw__river_files *rivers, const char *argument) {
  char **grown = realloc(rivers->arguments, (rivers->count + 1) * sizeof *grown);
  if (!grown) {
    return HW_ENOMEM;
  }
  rivers->arguments = grown;
  grown[rivers->count] = strdup(argument);
  return grown[rivers->count] ? (rivers->count++, HW_OK) : HW_ENOMEM;
}

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* NAME.yaml, or NAME/river.yaml. */
static bool is_river(const char *folder, const char *name, char *path, size_t size) {
  const size_t length = strlen(name);
  const bool yaml = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
  snprintf(path, size, yaml ? "%s/%s" : "%s/%s/river.yaml", folder, name);
  return name[0] != '.' && (yaml ? !is_folder(path) : access(path, F_OK) == 0);
}

static hw_status add_folder(hw__river_files *rivers, const char *folder, hw_error *error) {
  struct dirent **names = NULL;
  const int count = scandir(folder, &names, NULL, alphasort);
  const size_t before = rivers->count;
  hw_status status = count < 0 ? HW_EIO : HW_OK;
  for (int i = 0; i < count; i++) {
    char path[4096];
    if (status == HW_OK && is_river(folder, names[i]->d_name, path, sizeof path)) {
      status = add(rivers, path);
    }
    free(names[i]);
  }
  free(names);
  if (count < 0) {
    snprintf(error->text, sizeof error->text, "%.400s: %s", folder, strerror(errno));
  } else if (status == HW_OK && rivers->count == before) {
    snprintf(error->text, sizeof error->text, "%.400s: no river in this folder, expected NAME.yaml or NAME/river.yaml",
             folder);
    status = HW_EINPUT;
  }
  return status;
}

hw_status hw__river_files_list(const char *const *arguments, size_t count, hw__river_files *out, hw_error *error) {
  hw__river_files rivers = {0};
  hw_status status = HW_OK;
  for (size_t i = 0; i < count && status == HW_OK; i++) {
    status = is_folder(arguments[i]) ? add_folder(&rivers, arguments[i], error) : add(&rivers, arguments[i]);
  }
  if (status == HW_OK && rivers.count == 0) {
    snprintf(error->text, sizeof error->text, "no river, expected at least one RIVER.yaml");
    status = HW_EINPUT;
  }
  if (status != HW_OK) {
    hw__river_files_free(&rivers);
    return status;
  }
  *out = rivers;
  return HW_OK;
}

void hw__river_files_free(hw__river_files *rivers) {
  for (size_t i = 0; i < rivers->count; i++) {
    free(rivers->arguments[i]);
  }
  free(rivers->arguments);
  *rivers = (hw__river_files){0};
}
