/* make demo-songhua: the spill of November 2005 in the Songhua, day by day as the bulletins told it.
 *
 *   demo_songhua FOLDER [PICTURE.svg]
 *
 * After each day's samples: where headwater would have looked for the source, when it would have said it was, how far
 * down the water was bad, and when Harbin and Jiamusi would have to close. What came of it stands below. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "songhua.h"

/* "08 Dec 04 h" in China. */
static const char *when(double unix_s, char out[24]) {
  static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  char iso[48];
  int month = 1, day = 1, hour = 0;
  if (!isfinite(unix_s)) {
    return strcpy(out, "-");
  }
  hw_time_format(3600 * round((unix_s + 8 * 3600.0) / 3600), iso, sizeof iso);
  sscanf(iso, "%*d-%d-%dT%d", &month, &day, &hour);
  snprintf(out, 24, "%02d %s %02d h", day, months[(month + 11) % 12], hour);
  return out;
}

static void print_span(const hw_range *r) {
  char lo[24], mid[24], hi[24];
  printf("%s (%s to %s)", when(r->mid, mid), when(r->lo, lo), when(r->hi, hi));
}

static void print_day(const songhua_story *story, const songhua_day *d) {
  char now[24];
  const char *trust = hw_trust_text(d->trust);
  printf("%s, %zu samples, trust %s\n", when(d->end_s, now), d->samples, trust ? trust : "not judged");
  if (!d->has_source) {
    printf("  no source is given: %s\n", d->reason[0] ? d->reason : "no spill seen");
    return;
  }
  printf("  source    km %.0f below Jilin (%.0f to %.0f), released ", d->place_m.mid / 1000, d->place_m.lo / 1000,
         d->place_m.hi / 1000);
  print_span(&d->released_s);
  printf("\n  front     ");
  if (isfinite(d->front_m.lo)) {
    printf("km %.0f (%.0f to %.0f)", d->front_m.mid / 1000, d->front_m.lo / 1000, d->front_m.hi / 1000);
  } else if (isfinite(d->front_m.mid)) { /* at its low end the band exceeds the level nowhere */
    printf("km %.0f (at most %.0f)", d->front_m.mid / 1000, d->front_m.hi / 1000);
  } else {
    printf("not said");
  }
  printf("\n");
  for (size_t k = 0; k < SONGHUA_TOWNS; k++) {
    if (isfinite(d->first_s[k].mid)) {
      printf("  %-9s above 0.017 mg/l from ", story->river.intakes[k].name);
      print_span(&d->first_s[k]);
      printf(", with probability %.0f %%\n", 100 * d->exceeds[k]);
    }
  }
}

/* Does the interval cover the true value, within the accuracy to which that is known? */
static bool covers(const hw_range *r, double truth, double give) {
  return r->lo - give <= truth && truth <= r->hi + give;
}

/* On how many days the interval of a time covered it, of the days before it had come. */
static void count_forecasts(const songhua_story *story, size_t town, const hw_range *real, int *said, int *covered) {
  for (size_t i = 0; i < story->day_count; i++) {
    const songhua_day *d = &story->days[i];
    if (isfinite(d->first_s[town].mid) && d->end_s < real->hi) {
      const double lo = isfinite(real->lo) ? real->lo : -INFINITY;
      ++*said;
      *covered += d->first_s[town].lo <= real->hi && d->first_s[town].hi >= lo;
    }
  }
}

static void print_outcome(const songhua_story *story) {
  static const double jilin_s = 1131860700, place_m = 25000, time_s = 7200; /* 2005-11-13T13:45+08:00 */
  int spoke = 0, place = 0, time = 0;
  char a[24], b[24], c[24];
  for (size_t i = 0; i < story->day_count; i++) {
    const songhua_day *d = &story->days[i];
    spoke += d->has_source;
    place += d->has_source && covers(&d->place_m, 0, 2 * place_m);
    time += d->has_source && covers(&d->released_s, jilin_s, 2 * time_s);
  }
  printf("\nWhat came of it\n");
  printf("  The plant blew up at km 0 on %s; what ran into the river ran for hours to days.\n", when(jilin_s, a));
  printf(
      "  On %d of %zu days a source was given. Its 90 %% interval covered the place on %d of them, "
      "the time on %d.\n",
      spoke, story->day_count, place, time);
  for (size_t k = 0; k < SONGHUA_TOWNS; k++) {
    const hw_intake *town = &story->river.intakes[k];
    const hw_range real = songhua_passed(story, town->location_m, town->alarm_g_m3);
    int said = 0, covered = 0;
    count_forecasts(story, k, &real, &said, &covered);
    printf("  %s: the first sample above the level is of %s, the last below before it of %s, the highest of %s.\n",
           town->name, when(real.hi, a), when(real.lo, b), when(songhua_highest_s(story, town->location_m), c));
    if (said) {
      printf("    Foretold on %d day%s before; the interval covered it on %d.\n", said, said == 1 ? "" : "s", covered);
    } else {
      printf("    Never foretold: the record begins there.\n");
    }
  }
}

int main(int argc, char **argv) {
  static songhua_story story;
  if (argc < 2 || !songhua_tell(argv[1], &story)) {
    fprintf(stderr, "demo_songhua FOLDER [PICTURE.svg]\n");
    return 1;
  }
  printf("%s, from %zu samples at %zu stations. Kilometres are below the plant at Jilin, hours are China's.\n",
         story.river.name, story.reading_count, story.river.sensor_count);
  printf("In brackets: the 90 %% interval.\n\n");
  for (size_t i = 0; i < story.day_count; i++) {
    print_day(&story, &story.days[i]);
  }
  print_outcome(&story);
  hw_error error = {{0}};
  hw_status status = argc > 2 ? songhua_draw(&story, argv[2], &error) : HW_OK;
  if (status != HW_OK) {
    fprintf(stderr, "%s\n", error.text);
  } else if (argc > 2) {
    printf("\nThe picture is %s.\n", argv[2]);
  }
  songhua_free(&story);
  return status == HW_OK ? 0 : 3;
}
