/* The picture of an answer: the readings and the fit at every sensor, the place of the release along the river,
 * place and time together, the suspects, and what intakes must expect. */
#ifndef HW_CLI_PLOT_H
#define HW_CLI_PLOT_H

#include "cli/album.h"
#include "plot/gnuplot.h"

typedef struct {
  const char *picture;
  const hw_result *result; /* with its estimate */
  hw_run *run;             /* asked for predictions and samples where its method has them */
  const cli_album *album;
  void (*front)(hw_gnuplot *script, void *context); /* writes pages before the picture; NULL: none */
  void *front_context;
} cli_picture;

/* Can a picture have this name? It must end in .svg or .png and contain nothing that gnuplot cannot take. -1 or an
 * exit code. */
int cli_plot_check(const char *picture);
/* The second half of that, for any option. */
int cli_plot_check_name(const char *option, const char *path);
/* -1, or an exit code after a fault was reported. */
int cli_plot(const cli_picture *picture);

#endif
