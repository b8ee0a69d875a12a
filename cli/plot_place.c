/* Panels about the source: along the river, place against time, the suspects. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot_panels.h"

enum { MOST_SAMPLES = 4096, CELLS = 60 };

static double km(double location_m) {
  return location_m / 1000;
}

/* Rows of the river panel, so that nothing covers anything. */
enum { ROW_ESTIMATE = 3, ROW_BOX = 2, ROW_SENSORS = 1, ROW_CANDIDATES = 0 };

static void write_marks(cli_canvas *canvas, const char *first_id, size_t stride, size_t count, double row,
                        double (*place)(const void *)) {
  FILE *f = canvas->script.file;
  fprintf(f, "$d%d << EOD\n", ++canvas->blocks);
  for (size_t i = 0; i < count; i++) {
    const char *item = first_id + i * stride;
    fprintf(f, "%.6g %g \"", km(place(item)), row);
    /* Ids in a data block: quotes would end the field. */
    for (const char *p = item; *p; p++) {
      fputc(*p == '"' || *p == '\\' ? '\'' : *p, f);
    }
    fprintf(f, "\"\n");
  }
  fprintf(f, "EOD\n");
}

static double sensor_place(const void *sensor) {
  return ((const hw_sensor *)sensor)->location_m;
}

static double candidate_place(const void *candidate) {
  return ((const hw_candidate *)candidate)->location_m;
}

/* Labels of neighbours stand at different heights, so that they do not run into each other. */
static void label_marks(cli_canvas *canvas, int block, int heights) {
  static const double offsets[] = {-1, 0.9, -1.8};
  for (int i = 0; i < heights; i++) {
    fprintf(canvas->script.file,
            ", $d%d using 1:2:(int($0)%%%d == %d ? strcol(3) : '') with labels offset 0,%g font ',9'", block, heights,
            i, offsets[i]);
  }
}

/* The estimated place with its interval as a data block; its number, or -1 without a source. */
static int write_release(cli_canvas *canvas, const hw_estimate *e) {
  if (!e->has_source) {
    return -1;
  }
  const double lo = e->has_interval ? e->interval.lo.location_m : e->source.location_m;
  const double hi = e->has_interval ? e->interval.hi.location_m : e->source.location_m;
  fprintf(canvas->script.file, "$d%d << EOD\n%.6g %d %.6g %.6g\nEOD\n", ++canvas->blocks, km(e->source.location_m),
          ROW_ESTIMATE, km(lo), km(hi));
  return canvas->blocks;
}

void cli_panel_river(cli_canvas *canvas) {
  const hw_river *river = canvas->picture->result->river;
  const hw_estimate *e = canvas->picture->result->estimate;
  FILE *f = canvas->script.file;
  write_marks(canvas, river->sensors[0].id, sizeof(hw_sensor), river->sensor_count, ROW_SENSORS, sensor_place);
  const int sensors = canvas->blocks;
  int candidates = -1;
  if (river->candidate_count) {
    write_marks(canvas, river->candidates[0].id, sizeof(hw_candidate), river->candidate_count, ROW_CANDIDATES,
                candidate_place);
    candidates = canvas->blocks;
  }
  const int estimate = write_release(canvas, e);
  fprintf(f, "$d%d << EOD\n%.6g %d %.6g %.6g %g %g\nEOD\n", ++canvas->blocks, km(river->search.lo.location_m), ROW_BOX,
          km(river->search.lo.location_m), km(river->search.hi.location_m), ROW_BOX - 0.12, ROW_BOX + 0.12);
  const int box = canvas->blocks;
  cli_panel_title(canvas, "Where along the river");
  cli_plain_axis(canvas, 'x');
  cli_plain_axis(canvas, 'y');
  fprintf(f, "set xlabel 'river kilometre (water flows to the right)'\nunset ylabel\n");
  fprintf(f, "set yrange [%g:3.7]\nset ytics ('release' %d, 'searched' %d, 'sensors' %d%s)\nunset key\n",
          candidates > 0 ? -0.9 : 0.3, ROW_ESTIMATE, ROW_BOX, ROW_SENSORS, candidates > 0 ? ", 'suspects' 0" : "");
  fprintf(f, "set offsets graph 0.06, graph 0.08, 0, 0\n");
  fprintf(f, "plot $d%d using 1:2:3:4:5:6 with boxxyerror lc rgb '#999999'", box);
  if (estimate > 0) {
    fprintf(f, ", $d%d using 1:2:3:4 with xerrorbars ls 3", estimate);
  }
  fprintf(f, ", $d%d using 1:2 with points lc rgb '#222222' pt 9 ps 1.2", sensors);
  label_marks(canvas, sensors, 2);
  if (candidates > 0) {
    fprintf(f, ", $d%d using 1:2 with points lc rgb '#8e5ea2' pt 13 ps 1.2", candidates);
    label_marks(canvas, candidates, 3);
  }
  fprintf(f, "\nset key\nset offsets 0, 0, 0, 0\n");
}

/* A smooth picture of the weighted draws: counts on a grid, then a small binomial blur, twice. */
typedef struct {
  double place_m[2], time_s[2];
  double cells[CELLS][CELLS];
} density;

static void widen(double range[2]) {
  const double margin = range[1] > range[0] ? 0.1 * (range[1] - range[0]) : 1;
  range[0] -= margin;
  range[1] += margin;
}

static void blur(density *d) {
  static const double kernel[3] = {0.25, 0.5, 0.25};
  density *copy = malloc(sizeof *copy);
  if (!copy) {
    return;
  }
  memcpy(copy, d, sizeof *copy);
  for (int i = 1; i < CELLS - 1; i++) {
    for (int j = 1; j < CELLS - 1; j++) {
      double sum = 0;
      for (int a = -1; a <= 1; a++) {
        for (int b = -1; b <= 1; b++) {
          sum += kernel[a + 1] * kernel[b + 1] * copy->cells[i + a][j + b];
        }
      }
      d->cells[i][j] = sum;
    }
  }
  free(copy);
}

static void fill_density(density *d, const hw_sample *samples, size_t count) {
  *d = (density){.place_m = {INFINITY, -INFINITY}, .time_s = {INFINITY, -INFINITY}};
  for (size_t i = 0; i < count; i++) {
    const hw_source *s = &samples[i].source;
    if (samples[i].weight > 1e-4 / (double)count) {
      d->place_m[0] = fmin(d->place_m[0], s->location_m);
      d->place_m[1] = fmax(d->place_m[1], s->location_m);
      d->time_s[0] = fmin(d->time_s[0], s->time_s);
      d->time_s[1] = fmax(d->time_s[1], s->time_s);
    }
  }
  widen(d->place_m);
  widen(d->time_s);
  for (size_t i = 0; i < count; i++) {
    const double x = (samples[i].source.location_m - d->place_m[0]) / (d->place_m[1] - d->place_m[0]);
    const double y = (samples[i].source.time_s - d->time_s[0]) / (d->time_s[1] - d->time_s[0]);
    if (x >= 0 && x < 1 && y >= 0 && y < 1) {
      d->cells[(int)(x * CELLS)][(int)(y * CELLS)] += samples[i].weight;
    }
  }
  blur(d);
  blur(d);
}

/* The draws as a data block, and the part of the plane they take; its number, or -1 when the method has none. */
static int write_density(cli_canvas *canvas, hw_box *shown) {
  hw_sample *samples = malloc(MOST_SAMPLES * sizeof *samples);
  density *d = malloc(sizeof *d);
  size_t count = 0;
  int block = -1;
  if (samples && d && hw_run_samples(canvas->picture->run, samples, MOST_SAMPLES, &count) == HW_OK && count > 1) {
    FILE *f = canvas->script.file;
    fill_density(d, samples, count);
    block = ++canvas->blocks;
    *shown = (hw_box){{0, d->place_m[0], d->time_s[0]}, {0, d->place_m[1], d->time_s[1]}};
    fprintf(f, "$d%d << EOD\n", block);
    for (int j = 0; j < CELLS; j++) {
      for (int i = 0; i < CELLS; i++) {
        const double place_m = d->place_m[0] + (i + 0.5) / CELLS * (d->place_m[1] - d->place_m[0]);
        const double time_s = d->time_s[0] + (j + 0.5) / CELLS * (d->time_s[1] - d->time_s[0]);
        fprintf(f, "%.6g %.10g %.4g\n", km(place_m), cli_shown_time(canvas, time_s), d->cells[i][j]);
      }
    }
    fprintf(f, "EOD\n");
  }
  free(samples);
  free(d);
  return block;
}

void cli_panel_place_and_time(cli_canvas *canvas) {
  const hw_estimate *e = canvas->picture->result->estimate;
  FILE *f = canvas->script.file;
  hw_box shown = canvas->picture->result->river->search;
  const int cloud = write_density(canvas, &shown);
  const hw_box point = {e->source, e->source};
  const hw_box *range = e->has_interval ? &e->interval : &point;
  fprintf(f, "$d%d << EOD\n%.6g %.10g %.6g %.6g %.10g %.10g\nEOD\n", ++canvas->blocks, km(e->source.location_m),
          cli_shown_time(canvas, e->source.time_s), km(range->lo.location_m), km(range->hi.location_m),
          cli_shown_time(canvas, range->lo.time_s), cli_shown_time(canvas, range->hi.time_s));
  cli_panel_title(canvas, cloud > 0 ? "Where and when: darker is more probable" : "Where and when");
  cli_plain_axis(canvas, 'x');
  cli_time_axis(canvas, 'y', "release time", shown.lo.time_s, shown.hi.time_s);
  fprintf(f, "set xlabel 'river kilometre'\nset xrange [%.6g:%.6g]\nset key bottom right vertical\nunset colorbox\n",
          km(shown.lo.location_m), km(shown.hi.location_m));
  fprintf(f, "set palette defined (0 'white', 0.2 '#c6dbef', 0.6 '#6baed6', 1 '#08306b')\n");
  fprintf(f, "plot ");
  if (cloud > 0) {
    fprintf(f, "$d%d using 1:2:3 with image notitle, ", cloud);
  }
  if (e->has_interval) {
    fprintf(f, "$d%d using 1:2:3:4:5:6 with xyerrorbars ls 3 title 'estimate, %.0f %% interval'\n", canvas->blocks,
            100 * e->level);
  } else {
    fprintf(f, "$d%d using 1:2 with points ls 3 title 'estimate'\n", canvas->blocks);
  }
  fprintf(f, "set key top center horizontal\n");
}

void cli_panel_suspects(cli_canvas *canvas) {
  const hw_estimate *e = canvas->picture->result->estimate;
  const hw_river *river = canvas->picture->result->river;
  FILE *f = canvas->script.file;
  const size_t shown = e->suspicion_count < 8 ? e->suspicion_count : 8;
  fprintf(f, "$d%d << EOD\n", ++canvas->blocks);
  for (size_t i = 0; i < shown; i++) {
    fprintf(f, "%.6g %zu\n", 100 * e->suspicions[i].probability, shown - i);
  }
  fprintf(f, "EOD\n");
  cli_panel_title(canvas, "Who");
  cli_plain_axis(canvas, 'x');
  cli_plain_axis(canvas, 'y');
  fprintf(f,
          "set xlabel 'probability, %%'\nunset ylabel\nset xrange [0:100]\n"
          "set yrange [0.3:%g]\nunset key\nset ytics (",
          (double)shown + 0.7);
  for (size_t i = 0; i < shown; i++) {
    const ptrdiff_t c = e->suspicions[i].candidate;
    hw_gnuplot_quote(&canvas->script, c < 0 ? "none of these" : river->candidates[c].id);
    fprintf(f, " %zu%s", shown - i, i + 1 < shown ? ", " : ")\n");
  }
  fprintf(f, "plot $d%d using (0.5*$1):2:(0.5*$1):(0.3) with boxxyerror lc rgb '#8e5ea2' fs solid 0.7\n",
          canvas->blocks);
  fprintf(f, "set key\n");
}
