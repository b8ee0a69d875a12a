/* Charts as gnuplot scripts with their data inside.
 * Colours: the palette of Okabe and Ito, which colour-blind readers can tell apart. */
#include "experiments/reproduce/chart.h"

#include <math.h>
#include <stdio.h>

#include "plot/gnuplot.h"

static const char *const palette[] = {"#000000", "#e69f00", "#0072b2", "#009e73",
                                      "#d55e00", "#cc79a7", "#56b4e9", "#999999"};
enum { COLOURS = sizeof palette / sizeof palette[0] };

static void write_data(FILE *script, const hw_chart *chart) {
  for (size_t i = 0; i < chart->series_count; i++) {
    const hw_series *s = &chart->series[i];
    fprintf(script, "$data%zu << end\n", i);
    for (size_t k = 0; k < s->count; k++) {
      const double x = s->x ? s->x[k] : (double)(k + 1);
      /* A logarithmic axis has no place for zero: the line starts at the first positive value. */
      if (isfinite(s->y[k]) && (!chart->log_y || s->y[k] > 0)) {
        fprintf(script, "%.9g %.9g\n", x, s->y[k]);
      }
    }
    fprintf(script, "end\n");
  }
}

static void write_plot(FILE *script, const hw_chart *chart) {
  for (size_t i = 0; i < chart->series_count; i++) {
    const hw_series *s = &chart->series[i];
    fprintf(script, "%s$data%zu using 1:2 with %s lw 2 pt 7 ps 0.6 dt %d lc rgb '%s' title '%s'", i ? ", " : "plot ", i,
            chart->marks ? "linespoints" : "lines", s->dash ? s->dash : 1, palette[(size_t)s->colour % COLOURS],
            s->label);
  }
  fprintf(script, "\n");
}

static void write_axes(hw_gnuplot *script, const hw_chart *chart) {
  static const char *const keys[] = {"title", "xlabel", "ylabel"};
  const char *const texts[] = {chart->title, chart->x_label, chart->y_label};
  for (size_t i = 0; i < 3; i++) {
    fprintf(script->file, "set %s ", keys[i]);
    hw_gnuplot_quote(script, texts[i]);
    fputc('\n', script->file);
  }
  fprintf(script->file, "set key outside right top\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\n");
  fprintf(script->file, "%s", chart->log_y ? "" : "set yrange [0:*]\n");
  fprintf(script->file, "set format y '%s'\n%s%s", chart->log_y ? "%.0e" : "%g", chart->log_x ? "set logscale x\n" : "",
          chart->log_y ? "set logscale y\n" : "");
}

hw_status hw_chart_draw(const hw_chart *chart, const char *path, hw_error *error) {
  hw_gnuplot script;
  hw_status status = hw_gnuplot_open(&script, path, 800, 460, error);
  if (status == HW_OK) {
    write_axes(&script, chart);
    write_data(script.file, chart);
    write_plot(script.file, chart);
    status = hw_gnuplot_run(&script, error);
  }
  return status;
}
