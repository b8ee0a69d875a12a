/* What the river file says. */
#include <stdio.h>

#include "weeks/setting.h"

static const double season_s = 180 * 86400.0;

static void write_number(FILE *out, const char *name, double value, double factor) {
  if (factor > 1) {
    fprintf(out, "%s: {median: %.5g, factor: %.5g}", name, value, factor);
  } else {
    fprintf(out, "%s: %.5g", name, value);
  }
}

static void write_quantity(FILE *out, const char *name, double value, double factor) {
  fputs("  ", out);
  write_number(out, name, value, factor);
  fputc('\n', out);
}

static void write_reach(FILE *out, const setting *s, size_t i) {
  fprintf(out, "  - {to_m: %.0f, ", s->to_m[i]);
  write_number(out, "velocity_m_s", s->reach_velocity_m_s[i], s->reach_velocity_factor[i]);
  fputs(", ", out);
  write_number(out, "dispersion_m2_s", s->reach_dispersion_m2_s[i], s->reach_dispersion_factor[i]);
  fputs("}\n", out);
}

static void write_sensor(FILE *out, const setting *s, size_t k) {
  const record_plan *plan = &s->plan;
  fprintf(out, "  - {id: s%zu, location_m: %.0f", k + 1, plan->station[k].location_m);
  if (plan->special != NOISE_UNSTATED) {
    fprintf(out, ", noise_relative: %.5g, noise_absolute_g_m3: %.5g", plan->noise_relative, plan->noise_absolute_g_m3);
  }
  if (plan->limit_g_m3 > 0) {
    fprintf(out, ", detection_limit_g_m3: %.5g", plan->limit_g_m3);
  }
  if (s->declared) {
    fprintf(out, ", background_g_m3: %.5g", plan->station[k].background_g_m3);
  }
  fprintf(out, "}\n");
}

char *setting_write(const setting *s, uint64_t index) {
  const double season = s->plan.special == OTHER_SEASON ? -season_s : 0;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  fprintf(out, "name: Week %llu\nhydraulics:\n", (unsigned long long)index);
  if (s->plan.special == HYDRAULICS_UNKNOWN) {
    fprintf(out, "  velocity_m_s: unknown\n  dispersion_m2_s: unknown\n");
  } else {
    write_quantity(out, "velocity_m_s", s->velocity_m_s, s->velocity_factor);
    write_quantity(out, "dispersion_m2_s", s->dispersion_m2_s, s->dispersion_factor);
  }
  if (s->area_m2 > 0) {
    write_quantity(out, "area_m2", s->area_m2, 1);
  } else {
    write_quantity(out, "discharge_m3_s", s->stated.discharge_m3_s, 1);
  }
  fprintf(out, "  decay_per_s: %.5g\n%s", s->stated.decay_per_s, s->reaches ? "reaches:\n" : "");
  for (size_t i = 0; i < s->reaches; i++) {
    write_reach(out, s, i);
  }
  fprintf(out, "search:\n  mass_g: [%.5g, %.5g]\n  location_m: [%.0f, %.0f]\n  time_s: [%.0f, %.0f]\nsensors:\n",
          s->box.lo.mass_g, s->box.hi.mass_g, s->box.lo.location_m, s->box.hi.location_m, s->box.lo.time_s + season,
          s->box.hi.time_s + season);
  for (size_t k = 0; k < s->plan.sensors; k++) {
    write_sensor(out, s, k);
  }
  fprintf(out, "candidates:\n");
  for (size_t i = 0; i < SETTING_CANDIDATES; i++) {
    fprintf(out, "  - {id: c%zu, location_m: %.0f}\n", i + 1, s->candidate_m[i]);
  }
  fclose(out);
  return text;
}
