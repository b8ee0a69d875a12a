/* How often does detection cry wolf, and how late does it notice?
 *
 * False alarms: simulated sensor-years of readings every 15 minutes with no spill in them, under noises from
 * kind to unkind. Delay: pulses of given height over the noise, from the reading where the pulse first exceeds
 * one sd to the alarm, and the share noticed at all. The detector is the service's own (service/incidents/detect.h).
 *
 *   study_detect [YEARS] [PULSES]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "headwater/rng.h"
#include "incidents/detect.h"

static const double every_s = 900;
enum { READINGS_PER_YEAR = 35040 };

/* Noise of unit sd about a background of 30 sd, reading by reading. */
typedef struct {
  const char *name;
  double correlation; /* lag one, of a Gaussian part */
  double daily;       /* amplitude of a daily cycle, sd */
  double spikes;      /* share of readings that are a lone spike of 20 sd */
  double drift;       /* sd a day */
  double heavy;       /* share of readings with three times the sd */
  double step;        /* of the digits the sensor gives, sd */
} climate;

static const climate climates[] = {
    {"white noise", 0, 0, 0, 0, 0, 0},
    {"correlated noise, rho 0.6", 0.6, 0, 0, 0, 0, 0},
    {"correlated noise, rho 0.9", 0.9, 0, 0, 0, 0, 0},
    {"daily cycle of 2 sd", 0, 2, 0, 0, 0, 0},
    {"drift of 0.2 sd a day", 0, 0, 0, 0.2, 0, 0},
    {"lone spikes, 1 in 1000", 0, 0, 1e-3, 0, 0, 0},
    {"heavy tails, 5 % at 3 sd", 0, 0, 0, 0, 0.05, 0},
    {"coarse digits of 2 sd", 0, 0, 0, 0, 0, 2},
    {"rho 0.6, cycle, spikes, tails", 0.6, 1, 1e-3, 0, 0.05, 0},
};

typedef struct {
  const climate *climate;
  hw_rng rng;
  double wander;
  size_t n;
} weather;

static double next_value(weather *w) {
  const climate *c = w->climate;
  const double day = (double)w->n++ * every_s / 86400;
  w->wander = c->correlation * w->wander + sqrt(1 - c->correlation * c->correlation) * hw_rng_normal(&w->rng);
  double value = 30 + w->wander * (hw_rng_uniform(&w->rng) < c->heavy ? 3 : 1);
  value += c->daily * sin(2 * acos(-1) * day) + c->drift * day;
  value += hw_rng_uniform(&w->rng) < c->spikes ? 20 : 0;
  return c->step > 0 ? c->step * round(value / c->step) : value;
}

static hw_sensor sensor_of_study(void) {
  hw_sensor sensor;
  hw_sensor_init(&sensor);
  sensor.noise_relative = 0; /* everything is to be learned */
  return sensor;
}

static double false_alarms_per_year(const climate *c, size_t years) {
  const hw_sensor sensor = sensor_of_study();
  size_t alarms = 0;
  for (size_t y = 0; y < years; y++) {
    weather w = {.climate = c};
    hw__detector d;
    hw_rng_seed(&w.rng, 1, y);
    hw__detect_init(&d);
    for (size_t i = 0; i < READINGS_PER_YEAR; i++) {
      alarms += hw__detect_step(&d, &sensor, every_s * (double)i, next_value(&w), false) == HW_DETECT_RAISED;
    }
  }
  return (double)alarms / (double)years;
}

static int ascending(const void *a, const void *b) {
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Pulses rise over 6 and fall over 18 readings; the wait is in readings from one sd above the background. */
static void delays(const climate *c, double height, size_t pulses) {
  const hw_sensor sensor = sensor_of_study();
  int *waits = calloc(pulses, sizeof *waits);
  size_t noticed = 0;
  for (size_t p = 0; p < pulses && waits; p++) {
    weather w = {.climate = c};
    hw__detector d;
    hw_rng_seed(&w.rng, 2, p);
    hw__detect_init(&d);
    int began = -1;
    for (int i = 0; i < 1060; i++) {
      const int into = i - 1000;
      const double pulse = into < 0 ? 0 : height * (into < 6 ? into / 6.0 : exp(-(into - 6) / 6.0));
      began = began < 0 && pulse >= 1 ? i : began;
      const hw__detection found = hw__detect_step(&d, &sensor, every_s * i, next_value(&w) + pulse, false);
      if (found == HW_DETECT_RAISED && began >= 0) {
        waits[noticed++] = i - began;
        break;
      }
    }
  }
  qsort(waits, noticed, sizeof *waits, ascending);
  printf("| %g sd | %.3f | %d | %d |\n", height, (double)noticed / (double)pulses, noticed ? waits[noticed / 2] : -1,
         noticed ? waits[noticed * 9 / 10] : -1);
  free(waits);
}

int main(int argc, char **argv) {
  const size_t years = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
  const size_t pulses = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
  printf("Readings every 15 minutes; background, noise and correlation learned online; seed 1.\n\n");
  printf("| no spill, %zu sensor-years of | false alarms per sensor-year |\n|---|---|\n", years);
  for (size_t i = 0; i < sizeof climates / sizeof climates[0]; i++) {
    printf("| %s | %.3f |\n", climates[i].name, false_alarms_per_year(&climates[i], years));
    fflush(stdout);
  }
  const size_t shown[] = {0, 1, 8};
  static const double heights[] = {3, 5, 10, 30, 100};
  for (size_t s = 0; s < 3; s++) {
    printf("\n| pulse over %s | noticed | median wait, readings | 90 %% wait |\n|---|---|---|---|\n",
           climates[shown[s]].name);
    for (size_t h = 0; h < 5; h++) {
      delays(&climates[shown[s]], heights[h], pulses);
    }
  }
  return 0;
}
