/* The panels of a picture; each function writes one. */
#ifndef HW_CLI_PLOT_PANELS_H
#define HW_CLI_PLOT_PANELS_H

#include "cli/plot.h"

typedef struct {
  const cli_picture *picture;
  hw_gnuplot script;
  hw_transport *transport; /* NULL: the river's hydraulics are not known */
  bool calendar;
  double origin_s;    /* added to times before they are shown */
  double time_unit_s; /* of the time axes; 1 on the calendar */
  const char *time_unit;
  double value_scale; /* g/m3 to the unit shown */
  const char *value_unit;
  int blocks; /* data blocks written; gives each its name */
} cli_canvas;

void cli_panel_sensor(cli_canvas *canvas, size_t sensor);
void cli_panel_river(cli_canvas *canvas);
/* The same for a river with branches. */
void cli_panel_tree(cli_canvas *canvas);
void cli_panel_place_and_time(cli_canvas *canvas);
void cli_panel_suspects(cli_canvas *canvas);
void cli_panel_intake(cli_canvas *canvas, const hw_arrival *arrival);

/* Shared by the panels. */
double cli_shown_time(const cli_canvas *canvas, double time_s);
/* Sets up axis 'x' or 'y' for times between the two, which also become its range. */
void cli_time_axis(cli_canvas *canvas, char axis, const char *label, double from_s, double to_s);
void cli_plain_axis(cli_canvas *canvas, char axis);
void cli_panel_title(cli_canvas *canvas, const char *title);

#endif
