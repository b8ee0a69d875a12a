/* The readings a picture shows: every one while they are few, every second, fourth, ... once a sensor has
 * more than the picture can resolve. Constant memory. */
#ifndef HW_CLI_ALBUM_H
#define HW_CLI_ALBUM_H

#include "cli/cli.h"

enum { CLI_ALBUM_SIZE = 2048 };

typedef struct {
  hw_reading *readings; /* CLI_ALBUM_SIZE of them */
  size_t count;
  uint64_t stride, seen;
} cli_page;

typedef struct {
  cli_page *pages; /* one per sensor */
  size_t count;
} cli_album;

bool cli_album_create(cli_album *album, size_t sensors);
void cli_album_add(cli_album *album, const hw_reading *reading);
void cli_album_free(cli_album *album);
/* First and last time kept of a page; false when it is empty. */
bool cli_page_span(const cli_page *page, double *first_s, double *last_s);

#endif
