/* The panel of a river with branches: a schematic tree, drawn by the way of the water to the outlet. Every branch has a
 * row of its own; where it joins, a line leads to the row of the branch it joins. */
#include <math.h>
#include <stdlib.h>

#include "cli/plot_panels.h"

enum { MOST_NAMED = 14 }; /* branches that are named, and things on them */

/* Rows 0, 1, -1, 2, -2 ... in the order of the file, the outlet's own in the middle. */
static double row_of(const hw_river *river, size_t branch) {
  const size_t outlet = hw_river_outlet(river);
  const size_t place = branch == outlet ? 0 : branch < outlet ? branch + 1 : branch;
  const size_t step = (place + 1) / 2;
  return place % 2 ? (double)step : -(double)step;
}

/* Kilometres to the end of the river, which is negative: the water flows to the right. */
static double across_km(const hw_river *river, size_t branch, double location_m) {
  const size_t outlet = hw_river_outlet(river);
  double end_m = 0;
  for (size_t i = 0; i < river->sensor_count; i++) {
    end_m = river->sensors[i].branch == outlet ? fmax(end_m, river->sensors[i].location_m) : end_m;
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    end_m = river->intakes[i].branch == outlet ? fmax(end_m, river->intakes[i].location_m) : end_m;
  }
  return -hw_river_way_m(river, branch, location_m, outlet, fmax(end_m, location_m)) / 1000;
}

static void write_point(cli_canvas *canvas, const hw_river *river, size_t branch, double location_m, const char *id) {
  FILE *f = canvas->script.file;
  fprintf(f, "%.6g %g \"", across_km(river, branch, location_m), row_of(river, branch));
  for (const char *p = id; *p; p++) { /* quotes would end the field */
    fputc(*p == '"' || *p == '\\' ? '\'' : *p, f);
  }
  fprintf(f, "\"\n");
}

static int write_branches(cli_canvas *canvas, const hw_river *river) {
  FILE *f = canvas->script.file;
  fprintf(f, "$d%d << EOD\n", ++canvas->blocks);
  for (size_t b = 0; b < river->branch_count; b++) {
    const hw_branch *own = &river->branches[b];
    const bool joins = own->joins != HW_OUTLET;
    fprintf(f, "%.6g %g\n%.6g %g\n", across_km(river, b, own->head_m), row_of(river, b),
            joins ? across_km(river, b, 0) : 0, row_of(river, b));
    if (joins) {
      fprintf(f, "%.6g %g\n", across_km(river, own->joins, own->joins_at_m), row_of(river, own->joins));
    }
    fprintf(f, "\n");
  }
  fprintf(f, "EOD\n");
  return canvas->blocks;
}

static int write_heads(cli_canvas *canvas, const hw_river *river) {
  fprintf(canvas->script.file, "$d%d << EOD\n", ++canvas->blocks);
  for (size_t b = 0; b < river->branch_count && river->branch_count <= MOST_NAMED; b++) {
    write_point(canvas, river, b, river->branches[b].head_m, river->branches[b].id);
  }
  fprintf(canvas->script.file, "EOD\n");
  return canvas->blocks;
}

static int write_region(cli_canvas *canvas, const hw_river *river, const hw_estimate *e) {
  fprintf(canvas->script.file, "$d%d << EOD\n", ++canvas->blocks);
  for (size_t i = 0; i < e->region_count; i++) {
    const hw_region *r = &e->regions[i];
    write_point(canvas, river, r->branch, r->lo_m, "");
    write_point(canvas, river, r->branch, r->hi_m, "");
    fprintf(canvas->script.file, "\n");
  }
  fprintf(canvas->script.file, "EOD\n");
  return canvas->blocks;
}

static int write_places(cli_canvas *canvas, const hw_river *river, bool candidates) {
  fprintf(canvas->script.file, "$d%d << EOD\n", ++canvas->blocks);
  const size_t count = candidates ? river->candidate_count : river->sensor_count;
  for (size_t i = 0; i < count; i++) {
    const char *id = candidates ? river->candidates[i].id : river->sensors[i].id;
    const size_t branch = candidates ? river->candidates[i].branch : river->sensors[i].branch;
    const double at_m = candidates ? river->candidates[i].location_m : river->sensors[i].location_m;
    write_point(canvas, river, branch, at_m, count <= MOST_NAMED ? id : "");
  }
  fprintf(canvas->script.file, "EOD\n");
  return canvas->blocks;
}

void cli_panel_tree(cli_canvas *canvas) {
  const hw_river *river = canvas->picture->result->river;
  const hw_estimate *e = canvas->picture->result->estimate;
  FILE *f = canvas->script.file;
  const int branches = write_branches(canvas, river), heads = write_heads(canvas, river);
  const int region = write_region(canvas, river, e), sensors = write_places(canvas, river, false);
  const int candidates = river->candidate_count ? write_places(canvas, river, true) : -1;
  cli_panel_title(canvas, "Where in the network");
  cli_plain_axis(canvas, 'x');
  cli_plain_axis(canvas, 'y');
  const size_t rows = river->branch_count / 2;
  fprintf(f,
          "set xlabel 'km to the end of the river, the water flows to the right'\nunset ylabel\nunset ytics\n"
          "set autoscale x\nset yrange [%g:%g]\n",
          -(double)rows - 0.9, (double)rows + 1.1);
  fprintf(f, "plot $d%d using 1:2 with lines lw 2 lc rgb '#9ab5cc' notitle", branches);
  if (e->region_count) {
    fprintf(f, ", $d%d using 1:2 with lines lw 8 lc rgb '#80c0392b' title '%.0f %% region'", region, 100 * e->level);
  }
  fprintf(f, ", $d%d using 1:2 with points pt 9 ps 1.2 lc rgb '#222222' title 'sensors'", sensors);
  fprintf(f, ", $d%d using 1:2:3 with labels offset 0,-1 font ',9' notitle", sensors);
  if (candidates > 0) {
    fprintf(f, ", $d%d using 1:2 with points pt 6 ps 1.1 lc rgb '#0072b2' title 'candidates'", candidates);
    fprintf(f, ", $d%d using 1:2:3 with labels offset 0,0.9 font ',9' tc rgb '#0072b2' notitle", candidates);
  }
  fprintf(f, ", $d%d using 1:2:3 with labels right offset -1,0 font ',10' tc rgb '#555555' notitle", heads);
  if (e->has_source) {
    fprintf(f, ", '-' using 1:2 with points ls 3 title 'estimate'\n%.6g %g\ne",
            across_km(river, e->source.branch, e->source.location_m), row_of(river, e->source.branch));
  }
  fprintf(f, "\nset ytics\n");
}
