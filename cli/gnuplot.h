/* A picture is a gnuplot script with its data inside, kept beside the picture so that people can change it
 * and run it again: `gnuplot FILE.gp` in the picture's folder. */
#ifndef HW_CLI_GNUPLOT_H
#define HW_CLI_GNUPLOT_H

#include <stdio.h>

#include "cli/cli.h"

enum { CLI_PATH_SIZE = 4096 };

typedef struct {
  FILE *file;                 /* the script being written */
  char script[CLI_PATH_SIZE]; /* PICTURE.gp */
  char folder[CLI_PATH_SIZE];
  const char *picture; /* as given */
} cli_script;

/* Is this a name a picture can have: ends in .svg or .png, nothing gnuplot would stumble over? -1 or an exit code. */
int cli_script_check(const char *picture);
/* Begins the script with terminal, size in pixels and output. -1 or an exit code. */
int cli_script_open(cli_script *script, const char *picture, int width, int height);
/* Closes the script and runs gnuplot on it, without a shell. -1 or an exit code after a fault was told. */
int cli_script_run(cli_script *script);

/* Writes text as a gnuplot string. */
void cli_script_quote(cli_script *script, const char *text);

#endif
