/* A bar on stderr while long work runs, on a terminal only. */
#ifndef HW_CLI_PROGRESS_H
#define HW_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  bool on;
  bool drawn;
  double size;      /* bytes of the file; 0 when not known */
  double next_s;    /* when to draw again */
  const char *unit; /* of what is counted; readings, unless changed after the start */
} cli_progress;

/* path: of the readings; "-" or a pipe has no size. Nothing is drawn in the first half second. */
void cli_progress_start(cli_progress *progress, const char *path);
/* Cheap enough for every reading. */
void cli_progress_update(cli_progress *progress, double now_s, uint64_t bytes, uint64_t readings);
/* A bar for a share of the whole, 0 to 1, and words behind it. */
void cli_progress_share(cli_progress *progress, double share, const char *words);
/* A line of words instead of a bar. */
void cli_progress_say(cli_progress *progress, const char *words);
/* Wipes the bar. */
void cli_progress_end(cli_progress *progress);

#endif
