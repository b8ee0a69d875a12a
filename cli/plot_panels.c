/* Panels over time: sensors and intakes. */
#include "cli/plot_panels.h"

#include <math.h>
#include <stdlib.h>

enum { CURVE_POINTS = 300 };

double cli_shown_time(const cli_canvas *canvas, double time_s) {
  return (canvas->origin_s + time_s) / canvas->time_unit_s;
}

/* A step that gives at most seven ticks and divides hours or days evenly. */
static double tick_step_s(double span_s) {
  static const double steps[] = {1,   2,    5,    10,   20,    30,    60,    120,   300,    600,
                                 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800};
  size_t i = 0;
  while (i + 1 < sizeof steps / sizeof steps[0] && span_s / steps[i] > 7) {
    i++;
  }
  return fmax(steps[i], 86400 * floor(span_s / 7 / 86400));
}

void cli_time_axis(cli_canvas *canvas, char axis, const char *label, double from_s, double to_s) {
  FILE *f = canvas->script.file;
  if (canvas->calendar) {
    fprintf(f, "set %cdata time\nset timefmt '%%s'\nset format %c \"%s\"\nset %ctics %.10g\n", axis, axis,
            axis == 'x' ? "%H:%M\\n%d %b" : "%d %b %H:%M", axis, tick_step_s(to_s - from_s));
    fprintf(f, "set %crange ['%.0f':'%.0f']\n", axis, cli_shown_time(canvas, from_s), cli_shown_time(canvas, to_s));
  } else {
    cli_plain_axis(canvas, axis);
    fprintf(f, "set %crange [%.10g:%.10g]\n", axis, cli_shown_time(canvas, from_s), cli_shown_time(canvas, to_s));
  }
  fprintf(f, "set %clabel '%s, %s'\n", axis, label, canvas->time_unit);
}

void cli_plain_axis(cli_canvas *canvas, char axis) {
  fprintf(canvas->script.file, "set %cdata\nset format %c '%%g'\nset %ctics autofreq\nset %crange [*:*]\n", axis, axis,
          axis, axis);
}

void cli_panel_title(cli_canvas *canvas, const char *title) {
  fprintf(canvas->script.file, "set title ");
  hw_gnuplot_quote(&canvas->script, title);
  fprintf(canvas->script.file, "\n");
}

typedef struct {
  size_t branch;
  double x_m;
} spot;

/* "km -3.10", with its branch where there are any. */
static void name_spot(const cli_canvas *canvas, spot at, char out[96]) {
  const hw_river *river = canvas->picture->result->river;
  snprintf(out, 96, "%s%skm %.2f", river->branch_count ? river->branches[at.branch].id : "",
           river->branch_count ? " " : "", at.x_m / 1000);
}

/* The curve at a place: lo, mid, hi from the method itself, or the fitted concentration alone.
 * False when neither can be had, as without a source. */
static bool curve_at(cli_canvas *canvas, spot at, double background_g_m3, const double *time_s, hw_range *out,
                     bool *has_band) {
  const hw_prediction prediction = {
      .x_m = at.x_m, .branch = at.branch, .time_s = time_s, .count = CURVE_POINTS, .out_g_m3 = out};
  *has_band = false;
  if (!canvas->picture->result->estimate->has_source) {
    return false;
  }
  *has_band = hw_run_predict(canvas->picture->run, &prediction) == HW_OK;
  if (*has_band) {
    return true;
  }
  if (!canvas->transport) {
    return false;
  }
  const hw_source *source = &canvas->picture->result->estimate->source;
  const double background = isnan(background_g_m3) ? 0 : background_g_m3;
  const hw_leg leg = hw_transport_leg_between(canvas->transport, source->branch, source->location_m, at.branch, at.x_m);
  for (size_t i = 0; i < CURVE_POINTS; i++) {
    out[i].mid =
        background + (leg.travel_s > 0 ? source->mass_g * hw_leg_response(&leg, time_s[i] - source->time_s) : 0);
  }
  return true;
}

static void spread_times(double from_s, double to_s, double time_s[CURVE_POINTS]) {
  for (int i = 0; i < CURVE_POINTS; i++) {
    time_s[i] = from_s + (to_s - from_s) * i / (CURVE_POINTS - 1);
  }
}

/* Narrows a wide window to where the pulse at this place can be seen. */
static void trim_to_pulse(cli_canvas *canvas, spot at, double *from_s, double *to_s) {
  double time_s[CURVE_POINTS];
  hw_range curve[CURVE_POINTS];
  bool has_band = false;
  spread_times(*from_s, *to_s, time_s);
  if (!curve_at(canvas, at, 0, time_s, curve, &has_band)) {
    return;
  }
  double highest = 0;
  for (int i = 0; i < CURVE_POINTS; i++) {
    highest = fmax(highest, has_band ? curve[i].hi : curve[i].mid);
  }
  int first = 0, last = CURVE_POINTS - 1;
  while (first < last && !((has_band ? curve[first].hi : curve[first].mid) > 0.01 * highest)) {
    first++;
  }
  while (last > first && !((has_band ? curve[last].hi : curve[last].mid) > 0.01 * highest)) {
    last--;
  }
  const double margin_s = 0.1 * (time_s[last] - time_s[first]) + 60;
  *from_s = time_s[first] - margin_s;
  *to_s = time_s[last] + margin_s;
}

/* Writes the curve between two times as a data block; its number, or -1. */
static int write_curve(cli_canvas *canvas, spot at, double background_g_m3, double from_s, double to_s,
                       bool *has_band) {
  double time_s[CURVE_POINTS];
  hw_range curve[CURVE_POINTS];
  spread_times(from_s, to_s, time_s);
  if (!curve_at(canvas, at, background_g_m3, time_s, curve, has_band)) {
    return -1;
  }
  FILE *f = canvas->script.file;
  const double scale = canvas->value_scale;
  fprintf(f, "$d%d << EOD\n", ++canvas->blocks);
  for (int i = 0; i < CURVE_POINTS; i++) {
    const double mid = scale * curve[i].mid;
    fprintf(f, "%.10g %.6g %.6g %.6g\n", cli_shown_time(canvas, time_s[i]), mid, *has_band ? scale * curve[i].lo : mid,
            *has_band ? scale * curve[i].hi : mid);
  }
  fprintf(f, "EOD\n");
  return canvas->blocks;
}

/* Detects and non-detects in two blocks; an empty one would be an error to gnuplot. */
static int write_readings(cli_canvas *canvas, const cli_page *page, bool below) {
  size_t count = 0;
  FILE *f = canvas->script.file;
  for (size_t i = 0; i < page->count; i++) {
    const hw_reading *r = &page->readings[i];
    if (r->below_limit != below) {
      continue;
    }
    if (count++ == 0) {
      fprintf(f, "$d%d << EOD\n", ++canvas->blocks);
    }
    fprintf(f, "%.10g %.6g\n", cli_shown_time(canvas, r->time_s), canvas->value_scale * r->concentration_g_m3);
  }
  if (count == 0) {
    return -1;
  }
  fprintf(f, "EOD\n");
  return canvas->blocks;
}

static double lowest_reading(const cli_page *page) {
  double lowest = 0;
  for (size_t i = 0; i < page->count; i++) {
    lowest = fmin(lowest, page->readings[i].concentration_g_m3);
  }
  return lowest;
}

void cli_panel_sensor(cli_canvas *canvas, size_t sensor) {
  const hw_sensor *s = &canvas->picture->result->river->sensors[sensor];
  const cli_page *page = &canvas->picture->album->pages[sensor];
  const spot at = {s->branch, s->location_m};
  FILE *f = canvas->script.file;
  double from_s = 0, to_s = 0;
  cli_page_span(page, &from_s, &to_s);
  const double margin_s = to_s > from_s ? 0.05 * (to_s - from_s) : 60;
  const int found = write_readings(canvas, page, false);
  const int below = write_readings(canvas, page, true);
  bool has_band = false;
  const int curve = write_curve(canvas, at, s->background_g_m3, from_s - margin_s, to_s + margin_s, &has_band);
  char title[200], place[96];
  name_spot(canvas, at, place);
  snprintf(title, sizeof title, "Sensor %s at %s", s->id, place);
  cli_panel_title(canvas, title);
  cli_time_axis(canvas, 'x', "time", from_s - margin_s, to_s + margin_s);
  cli_plain_axis(canvas, 'y');
  fprintf(f, "set ylabel 'concentration, %s'\nset offsets 0, 0, graph 0.22, 0\nset yrange [%s:*]\n", canvas->value_unit,
          lowest_reading(page) < 0 ? "*" : "0");
  fprintf(f, "plot NaN notitle");
  if (curve > 0 && has_band) {
    fprintf(f, ", $d%d using 1:3:4 with filledcurves lc rgb '#1f6fb4' title '%.0f %% band'", curve,
            100 * canvas->picture->result->estimate->level);
  }
  if (curve > 0) {
    fprintf(f, ", $d%d using 1:2 with lines ls 1 title 'fit'", curve);
  }
  if (found > 0) {
    fprintf(f, ", $d%d using 1:2 with points ls 2 title 'readings'", found);
  }
  if (below > 0) {
    fprintf(f, ", $d%d using 1:2 with points lc rgb '#888888' pt 11 ps 0.7 title 'below limit'", below);
  }
  fprintf(f, "\nset offsets 0, 0, 0, 0\n");
}

void cli_panel_intake(cli_canvas *canvas, const hw_arrival *arrival) {
  const hw_intake *k = &canvas->picture->result->river->intakes[arrival->intake];
  FILE *f = canvas->script.file;
  const double travel_s = arrival->peak_s.mid - canvas->picture->result->estimate->source.time_s;
  double from_s = arrival->peak_s.mid - 0.5 * travel_s, to_s = arrival->peak_s.mid + travel_s;
  const spot at = {k->branch, k->location_m};
  trim_to_pulse(canvas, at, &from_s, &to_s);
  bool has_band = false;
  const int curve = write_curve(canvas, at, 0, from_s, to_s, &has_band);
  char title[300], place[96];
  name_spot(canvas, at, place);
  snprintf(title, sizeof title, "Forecast for %s at %s", k->name[0] ? k->name : k->id, place);
  cli_panel_title(canvas, title);
  cli_time_axis(canvas, 'x', "time", from_s, to_s);
  cli_plain_axis(canvas, 'y');
  fprintf(f, "set ylabel 'concentration, %s'\nset yrange [0:*]\nset offsets 0, 0, graph 0.22, 0\nplot NaN notitle",
          canvas->value_unit);
  if (curve > 0 && has_band) {
    fprintf(f, ", $d%d using 1:3:4 with filledcurves lc rgb '#1f6fb4' title '%.0f %% band'", curve,
            100 * canvas->picture->result->estimate->level);
  }
  if (curve > 0) {
    fprintf(f, ", $d%d using 1:2 with lines ls 1 title 'expected'", curve);
    if (k->alarm_g_m3 > 0) {
      fprintf(f, ", $d%d using 1:(%.6g) with lines lc rgb '#c0392b' dt 2 lw 1.5 title 'alarm level'", curve,
              canvas->value_scale * k->alarm_g_m3);
    }
  }
  fprintf(f, "\nset offsets 0, 0, 0, 0\n");
}
