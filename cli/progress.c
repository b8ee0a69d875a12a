#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

enum { WIDTH = 40 };

void cli_progress_start(cli_progress *progress, const char *path) {
  const char *term = getenv("TERM");
  *progress = (cli_progress){.on = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0, .unit = "readings"};
  struct stat status;
  if (progress->on && strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
    progress->size = (double)status.st_size;
  }
  progress->next_s = cli_now_s() + 0.5;
}

static void draw_bar(double share) {
  static const char full[] = "########################################";
  share = share < 1 ? share : 1;
  const int done = (int)(share * WIDTH);
  fprintf(stderr, "\r\033[K[%.*s%*s] %3.0f %%  ", done, full, WIDTH - done, "", 100 * share);
}

void cli_progress_update(cli_progress *progress, double now_s, uint64_t bytes, uint64_t readings) {
  if (!progress->on || now_s < progress->next_s) {
    return;
  }
  progress->next_s = now_s + 0.1;
  progress->drawn = true;
  if (progress->size > 0) {
    draw_bar((double)bytes / progress->size);
    fprintf(stderr, "%" PRIu64 " %s", readings, progress->unit);
  } else {
    fprintf(stderr, "\r%" PRIu64 " %s", readings, progress->unit);
  }
}

void cli_progress_share(cli_progress *progress, double share, const char *words) {
  const double now_s = cli_now_s();
  if (progress->on && now_s >= progress->next_s) {
    progress->next_s = now_s + 0.1;
    progress->drawn = true;
    draw_bar(share);
    fputs(words, stderr);
  }
}

void cli_progress_say(cli_progress *progress, const char *words) {
  if (progress->on) {
    progress->drawn = true;
    fprintf(stderr, "\r\033[K%s ...", words);
  }
}

void cli_progress_end(cli_progress *progress) {
  if (progress->drawn) {
    fprintf(stderr, "\r\033[K");
    progress->drawn = false;
  }
}
