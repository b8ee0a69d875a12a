/* A picture is a gnuplot script with its data inside, kept beside the picture so that people can change it
 * and run it again: `gnuplot FILE.gp` in the picture's folder. */
#ifndef HW_PLOT_GNUPLOT_H
#define HW_PLOT_GNUPLOT_H

#include <stdio.h>

#include "headwater/status.h"

enum { HW_GNUPLOT_PATH_SIZE = 4096 };
#define HW_GNUPLOT_PAPER_RATIO (297.0 / 210.0) /* height of a page over its width */

typedef struct {
  FILE *file;                        /* the script being written */
  char script[HW_GNUPLOT_PATH_SIZE]; /* PICTURE.gp */
  char folder[HW_GNUPLOT_PATH_SIZE];
  const char *picture; /* as given */
} hw_gnuplot;

/* Begins the script with terminal, size in pixels and output; a .pdf has pages of A4, on which so many pixels are the
 * width. The picture's name ends in .svg, .png or .pdf, is at least 8 bytes shorter than a path may be, and has no
 * quote, backslash or control character. Status: HW_EIO with *error */
hw_status hw_gnuplot_open(hw_gnuplot *plot, const char *picture, int width, int height, hw_error *error);
/* Closes the script and runs gnuplot on it, without a shell. Status: HW_EIO with *error */
hw_status hw_gnuplot_run(hw_gnuplot *plot, hw_error *error);

/* Writes text as a gnuplot string. */
void hw_gnuplot_quote(hw_gnuplot *plot, const char *text);

#endif
