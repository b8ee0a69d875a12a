#include "experiments/reproduce/tables.h"

#include <math.h>
#include <stdio.h>

double hw_real_loss(const hw_reproduction *r, const hw_source *source) {
  hw_transport *transport = NULL;
  double sum = 0;
  if (hw_transport_create(&r->river, NULL, &transport) != HW_OK) {
    return NAN;
  }
  for (size_t i = 0; i < r->real_count; i++) {
    double c = 0;
    hw_transport_concentration(transport, source, r->river.sensors[r->real[i].sensor].location_m, r->real[i].time_s,
                               &c);
    const double off = 1e3 * (c - r->real[i].concentration_g_m3);
    sum += off * off;
  }
  hw_transport_free(transport);
  return sum / (double)r->real_count;
}

hw_status hw_real_optimum(const hw_reproduction *r, hw_source *best) {
  const hw_regret_options options = {.readings = r->real_count};
  hw_regret *regret = NULL;
  double sum;
  hw_status status = hw_regret_create(&r->river, &options, &regret);
  for (size_t i = 0; status == HW_OK && i < r->real_count; i++) {
    status = hw_regret_add(regret, &r->real[i], NULL, NULL);
  }
  if (status == HW_OK) {
    status = hw_regret_hindsight(regret, best, &sum);
  }
  hw_regret_free(regret);
  return status;
}

void hw_relative_errors(const hw_source *found, double percent[3]) {
  const hw_source *truth = &hw_paper_truth;
  percent[0] = 100 * fabs(found->mass_g - truth->mass_g) / fabs(truth->mass_g);
  percent[1] = 100 * fabs(found->location_m - truth->location_m) / fabs(truth->location_m);
  percent[2] = 100 * fabs(found->time_s - truth->time_s) / fabs(truth->time_s);
}

void hw_put_head(hw_reproduction *r, const char *first, const char *last) {
  hw_page_table_begin(r->page);
  hw_page_row(r->page,
              "%s\tvariant\tmass, g\tplace, m\ttime, min\terror mass, %%\tplace, %%\ttime, %%\tloss, (ug/l)^2\t%s",
              first, last);
}

void hw_put_row(hw_reproduction *r, const char *who, const char *variant, const hw_source *x, bool has_loss,
                const char *more) {
  char loss[32] = "";
  double percent[3];
  hw_relative_errors(x, percent);
  if (has_loss) {
    snprintf(loss, sizeof loss, "%.3f", hw_real_loss(r, x));
  }
  hw_page_row(r->page, "%s\t%s\t%.0f\t%.0f\t%.1f\t%.2f\t%.2f\t%.2f\t%s\t%s", who, variant, x->mass_g, x->location_m,
              x->time_s / 60, percent[0], percent[1], percent[2], loss, more);
}

void hw_say_interval(const hw_box *interval, char *out, size_t size) {
  snprintf(out, size, "90 %%: place %.0f to %.0f m, time %.0f to %.0f min", interval->lo.location_m,
           interval->hi.location_m, interval->lo.time_s / 60, interval->hi.time_s / 60);
}

void hw_put_trial(hw_reproduction *r, const char *who, const char *variant, const hw_trial *t) {
  char more[160], label[96];
  if (t->status != HW_OK) {
    hw_page_row(r->page, "%s\t%s\t%s\t\t\t\t\t\t\t", who, variant, hw_status_text(t->status));
    return;
  }
  if (!isfinite(t->found.mass_g)) {
    hw_page_row(r->page, "%s\t%s\tno source\t\t\t\t\t\t\tit says that no release explains the readings", who, variant);
    return;
  }
  if (t->has_interval) {
    hw_say_interval(&t->interval, more, sizeof more);
  } else {
    snprintf(more, sizeof more, "%llu model evaluations", (unsigned long long)t->cost.model_evaluations);
  }
  hw_put_row(r, who, variant, &t->found, true, more);
  snprintf(label, sizeof label, "%s %s, 82 real readings", who, variant);
  hw_note_seconds(r, label, t->seconds);
}
