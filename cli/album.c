#include "cli/album.h"

#include <math.h>
#include <stdlib.h>

bool cli_album_create(cli_album *album, size_t sensors) {
  *album = (cli_album){.pages = calloc(sensors, sizeof *album->pages), .count = sensors};
  for (size_t i = 0; album->pages && i < sensors; i++) {
    album->pages[i].stride = 1;
    album->pages[i].readings = malloc(CLI_ALBUM_SIZE * sizeof *album->pages[i].readings);
    if (!album->pages[i].readings) {
      cli_album_free(album);
      return false;
    }
  }
  return album->pages != NULL;
}

void cli_album_free(cli_album *album) {
  for (size_t i = 0; album->pages && i < album->count; i++) {
    free(album->pages[i].readings);
  }
  free(album->pages);
  *album = (cli_album){0};
}

void cli_album_add(cli_album *album, const hw_reading *reading) {
  cli_page *page = &album->pages[reading->sensor];
  if (page->seen++ % page->stride != 0) {
    return;
  }
  if (page->count == CLI_ALBUM_SIZE) {
    for (size_t i = 0; i < CLI_ALBUM_SIZE / 2; i++) {
      page->readings[i] = page->readings[2 * i];
    }
    page->count = CLI_ALBUM_SIZE / 2;
    page->stride *= 2;
  }
  page->readings[page->count++] = *reading;
}

bool cli_page_span(const cli_page *page, double *first_s, double *last_s) {
  if (page->count == 0) {
    return false;
  }
  *first_s = INFINITY;
  *last_s = -INFINITY;
  for (size_t i = 0; i < page->count; i++) {
    *first_s = fmin(*first_s, page->readings[i].time_s);
    *last_s = fmax(*last_s, page->readings[i].time_s);
  }
  return true;
}
