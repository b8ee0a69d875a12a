#include "cli/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_panels.h"

enum { MOST_SENSORS = 6, MOST_INTAKES = 4, PANEL_WIDTH = 560, PANEL_HEIGHT = 320 };

static int picture_height(size_t rows) {
  return (int)rows * PANEL_HEIGHT + 40;
}

/* One unit for all times and one for all concentrations of the picture. */
static void choose_units(cli_canvas *canvas, const cli_picture *picture) {
  double first_s = INFINITY, last_s = -INFINITY, highest = 0;
  for (size_t i = 0; i < picture->album->count; i++) {
    const cli_page *page = &picture->album->pages[i];
    double from_s, to_s;
    if (cli_page_span(page, &from_s, &to_s)) {
      first_s = fmin(first_s, from_s);
      last_s = fmax(last_s, to_s);
    }
    for (size_t j = 0; j < page->count; j++) {
      highest = fmax(highest, page->readings[j].concentration_g_m3);
    }
  }
  const double span_s = last_s - first_s;
  canvas->calendar = picture->result->calendar;
  canvas->origin_s = canvas->calendar ? picture->result->origin_unix_s : 0;
  canvas->time_unit_s = canvas->calendar ? 1 : span_s < 6 * 3600.0 ? 60 : span_s < 6 * 86400.0 ? 3600 : 86400;
  canvas->time_unit = canvas->calendar             ? "UTC"
                      : canvas->time_unit_s < 61   ? "minutes"
                      : canvas->time_unit_s < 3601 ? "hours"
                                                   : "days";
  canvas->value_scale = highest < 0.1 ? 1000 : 1;
  canvas->value_unit = highest < 0.1 ? "µg/l" : "mg/l";
}

/* The sensors worth a panel: the ones with most readings, shown in the river's order. */
static size_t choose_sensors(const cli_picture *picture, size_t chosen[MOST_SENSORS]) {
  const cli_album *album = picture->album;
  size_t count = 0;
  for (size_t i = 0; i < album->count; i++) {
    size_t busier = 0;
    for (size_t j = 0; j < album->count; j++) {
      const uint64_t mine = album->pages[i].seen, other = album->pages[j].seen;
      busier += other > mine || (other == mine && j < i);
    }
    if (busier < MOST_SENSORS && album->pages[i].seen > 0) {
      chosen[count++] = i;
    }
  }
  return count;
}

static const char *judgement(const hw_estimate *e) {
  return e->trust == HW_TRUST_NONE ? ": the readings cannot be explained"
         : !e->has_source          ? ": no spill seen"
         : e->provisional          ? " (provisional)"
                                   : "";
}

/* The share of a page's height that the panels take: all of a picture, of paper no more than they need. */
static double share_of(const char *picture, size_t rows) {
  const char *dot = strrchr(picture, '.');
  const double needed = (double)picture_height(rows) / (2 * PANEL_WIDTH * HW_GNUPLOT_PAPER_RATIO);
  return dot && strcmp(dot, ".pdf") == 0 ? fmin(1, needed) : 1;
}

static void write_heading(cli_canvas *canvas, const cli_picture *picture, size_t rows) {
  char title[400];
  const hw_estimate *e = picture->result->estimate;
  snprintf(title, sizeof title, "%s%s%s after %zu reading%s%s", picture->result->river->name,
           picture->result->river->name[0] ? ": " : "", picture->result->method, e->readings,
           e->readings == 1 ? "" : "s", judgement(e));
  FILE *f = canvas->script.file;
  const double share = share_of(picture->picture, rows);
  const double row = share / (double)rows; /* height of a row of panels */
  fprintf(f, "set multiplot layout %zu,2 title ", rows);
  hw_gnuplot_quote(&canvas->script, title);
  fprintf(
      f,
      " font ',13' margins 0.1,0.98,%.3f,%.3f spacing 0.1,%.3f\n"
      "set border 3\nset tics nomirror out\nset grid lc rgb '#d8d8d8' lw 1\nset key top center horizontal samplen 2\n"
      "set style line 1 lc rgb '#1f6fb4' lw 2\n"             /* the fit */
      "set style line 2 lc rgb '#222222' pt 7 ps 0.5\n"      /* readings */
      "set style line 3 lc rgb '#c0392b' lw 2 pt 2 ps 1.6\n" /* the estimate */
      "set style fill transparent solid 0.25 noborder\n",
      1 - share + 0.24 * row, 1 - 0.22 * row, 0.4 * row);
}

int cli_plot_check_name(const char *option, const char *path) {
  for (const char *p = path; *p; p++) {
    if ((unsigned char)*p < 0x20 || strchr("'`\"\\", *p)) {
      return cli_fail(EXIT_USAGE, "%s with a quote, backslash or control character in the name, expected a plain one",
                      option);
    }
  }
  return strlen(path) + 8 < HW_GNUPLOT_PATH_SIZE
             ? -1
             : cli_fail(EXIT_USAGE, "%s with a name of %zu bytes", option, strlen(path));
}

int cli_plot_check(const char *picture) {
  const char *dot = strrchr(picture, '.');
  const char *extension = dot ? dot : "";
  if (strcmp(extension, ".svg") != 0 && strcmp(extension, ".png") != 0) {
    return cli_fail(EXIT_USAGE, "--plot '%s', expected a file name that ends in .svg or .png", picture);
  }
  return cli_plot_check_name("--plot", picture);
}

int cli_plot(const cli_picture *picture) {
  const hw_estimate *e = picture->result->estimate;
  size_t sensors[MOST_SENSORS];
  const size_t sensor_count = choose_sensors(picture, sensors);
  const hw_arrival *arrivals[MOST_INTAKES];
  size_t intakes = 0;
  for (size_t i = 0; e->has_source && i < e->arrival_count && intakes < MOST_INTAKES; i++) {
    if (isfinite(e->arrivals[i].peak_s.mid)) {
      arrivals[intakes++] = &e->arrivals[i];
    }
  }
  const size_t panels = sensor_count + 1 + e->has_source + (e->suspicion_count > 0) + intakes;
  const size_t rows = (panels + 1) / 2;
  cli_canvas canvas = {.picture = picture};
  choose_units(&canvas, picture);
  hw_error error;
  if (hw_gnuplot_open(&canvas.script, picture->picture, 2 * PANEL_WIDTH, picture_height(rows), &error) != HW_OK) {
    return cli_fail(EXIT_MACHINE, "%s", error.text);
  }
  if (hw_river_has_hydraulics(picture->result->river) &&
      hw_transport_create(picture->result->river, NULL, &canvas.transport) != HW_OK) {
    canvas.transport = NULL;
  }
  if (picture->front) {
    picture->front(&canvas.script, picture->front_context);
  }
  write_heading(&canvas, picture, rows);
  for (size_t i = 0; i < sensor_count; i++) {
    cli_panel_sensor(&canvas, sensors[i]);
  }
  (picture->result->river->branch_count ? cli_panel_tree : cli_panel_river)(&canvas);
  if (e->has_source) {
    cli_panel_place_and_time(&canvas);
  }
  if (e->suspicion_count > 0) {
    cli_panel_suspects(&canvas);
  }
  for (size_t i = 0; i < intakes; i++) {
    cli_panel_intake(&canvas, arrivals[i]);
  }
  fprintf(canvas.script.file, "unset multiplot\nset output\n");
  hw_transport_free(canvas.transport);
  return hw_gnuplot_run(&canvas.script, &error) == HW_OK ? -1 : cli_fail(EXIT_MACHINE, "%s", error.text);
}
