/* Three panels over the same days: the river with its samples and the front as it was said to be; the source; Jiamusi.
 * Colours: the palette of Okabe and Ito. */
#include <math.h>
#include <stdio.h>

#include "plot/gnuplot.h"
#include "songhua.h"

static const double china_s = 8 * 3600.0; /* the axis shows China's hours */

static void write_samples(FILE *f, const songhua_story *story, bool below, const char *name) {
  fprintf(f, "$%s << end\n", name);
  for (size_t i = 0; i < story->reading_count; i++) {
    const hw_reading *r = &story->readings[i];
    if (r->below_limit == below) {
      fprintf(f, "%.0f %.1f %.4g\n", r->time_s + china_s, story->river.sensors[r->sensor].location_m / 1000,
              r->concentration_g_m3);
    }
  }
  fprintf(f, "end\n");
}

/* One row a day: when, and a range in units of `unit` from `origin` on. */
static void write_ranges(FILE *f, const songhua_story *story, const char *name,
                         const hw_range *(*of)(const songhua_day *), double origin, double unit) {
  fprintf(f, "$%s << end\n", name);
  for (size_t i = 0; i < story->day_count; i++) {
    const songhua_day *d = &story->days[i];
    const hw_range *r = of(d);
    if (d->has_source && isfinite(r->mid)) {
      const double lo = isfinite(r->lo) ? r->lo : r->mid, hi = isfinite(r->hi) ? r->hi : r->mid;
      fprintf(f, "%.0f %.9g %.9g %.9g\n", d->end_s + china_s, (r->mid - origin) / unit, (lo - origin) / unit,
              (hi - origin) / unit);
    }
  }
  fprintf(f, "end\n");
}

static const hw_range *front_of(const songhua_day *d) {
  return &d->front_m;
}

static const hw_range *place_of(const songhua_day *d) {
  return &d->place_m;
}

static const hw_range *jiamusi_of(const songhua_day *d) {
  return &d->first_s[1];
}

hw_status songhua_draw(const songhua_story *story, const char *picture, hw_error *error) {
  hw_gnuplot script;
  const hw_status status = hw_gnuplot_open(&script, picture, 900, 1080, error);
  if (status != HW_OK) {
    return status;
  }
  FILE *f = script.file;
  const hw_range passed = songhua_passed(story, story->river.intakes[1].location_m, story->river.intakes[1].alarm_g_m3);
  write_samples(f, story, false, "samples");
  write_samples(f, story, true, "limits");
  write_ranges(f, story, "front", front_of, 0, 1000);
  write_ranges(f, story, "source", place_of, 0, 1000);
  write_ranges(f, story, "jiamusi", jiamusi_of, -china_s, 1);
  fprintf(f,
          "set multiplot layout 3,1 title 'Songhua 2005: what could be said at the end of each day' font ',13' margins "
          "0.13,0.97,0.06,0.93 spacing 0.1,0.07\n"
          "set border 3\nset tics nomirror out\nset grid lc rgb '#d8d8d8'\nset xdata time\nset timefmt '%%s'\n"
          "set format x '%%d %%b'\nset xrange ['1132790400':'1134950400']\nset key bottom right\n"
          "set ylabel 'km below Jilin'\nset yrange [560:1340]\n"
          "plot $front using 1:2:3:4 with yerrorbars lw 2 pt 5 ps 0.6 lc rgb '#0072b2' title 'front above 0.017 mg/l, "
          "as said, 90 %%', $samples using 1:2:(0.4+2.2*sqrt($3)) with points pt 7 ps variable lc rgb '#d55e00' title "
          "'samples, by concentration', $limits using 1:2 with points pt 6 ps 0.8 lc rgb '#555555' title 'not "
          "detected'\n"
          "set yrange [-1050:650]\nset ylabel 'source, km below Jilin'\nset key bottom right\n"
          "plot $source using 1:2:3:4 with yerrorbars lw 2 pt 5 ps 0.6 lc rgb '#0072b2' title 'place of the release, "
          "as said, 90 %%', 0 lw 2 lc rgb '#d55e00' title 'the plant'\n"
          "set ydata time\nset format y '%%d %%b'\nset yrange ['1132790400':'1135814400']\n"
          "set ylabel 'Jiamusi passes 0.017 mg/l'\nset key top right\n");
  if (isfinite(passed.hi)) {
    fprintf(f,
            "set object 1 rectangle from graph 0, first '%.0f' to graph 1, first '%.0f' fc rgb '#d55e00' fs "
            "transparent solid 0.3 noborder\n",
            (isfinite(passed.lo) ? passed.lo : passed.hi - 3600) + china_s, passed.hi + china_s);
  }
  fprintf(f,
          "plot $jiamusi using 1:2:3:4 with yerrorbars lw 2 pt 5 ps 0.6 lc rgb '#0072b2' title 'as said, 90 %%', "
          "NaN with boxes fc rgb '#d55e00' fs transparent solid 0.3 title 'it did'\nunset multiplot\n");
  return hw_gnuplot_run(&script, error);
}
