/* Reading a clock. */
#include <math.h>
#include <stdlib.h>

#include "river/clock_inside.h"

double hw__clock_log_ratio(const hw__clock *c, const hw__clock_view *v, double time_s) {
  double sum = 0;
  if (v->below_weight < 1) {
    sum += (1 - v->below_weight) * hw__hydrograph_log_ratio(&c->graphs[v->above], time_s - v->above_s);
  }
  if (v->below_weight > 0) {
    sum += v->below_weight * hw__hydrograph_log_ratio(&c->graphs[v->below], time_s + v->below_s);
  }
  return sum;
}

size_t hw__clock_node_above(const hw__clock_line *l, double x_m) {
  const double step_m = (l->nodes[l->count - 1].x_m - l->nodes[0].x_m) / (double)(l->count - 1);
  const double at = step_m > 0 ? (x_m - l->nodes[0].x_m) / step_m : 0;
  return at <= 0 ? 0 : at >= (double)(l->count - 2) ? l->count - 2 : (size_t)at;
}

double hw__clock_share_below(const hw__clock_line *l, size_t i, double x_m) {
  const double length_m = l->nodes[i + 1].x_m - l->nodes[i].x_m;
  const double share = length_m > 0 ? (x_m - l->nodes[i].x_m) / length_m : 0;
  return fmin(fmax(share, 0), 1);
}

void hw__clock_free(hw__clock *clock) {
  if (clock) {
    free(clock->graphs);
    free(clock->room);
    free(clock->lines);
    free(clock->nodes);
    free(clock->times);
    free(clock->tau_s);
    free(clock);
  }
}

bool hw__clock_is_one_factor(const hw__clock *clock) {
  return !clock || clock->gauge_count == 1;
}

/* A time of the river's own, and how fast it runs there. */
typedef struct {
  double tau_s, rate;
} ticking;

/* tau at a node: that of the drop which passes it now, and theta put back on. */
static ticking tau_at(const hw__clock *c, const hw__clock_node *n, double time_s) {
  const size_t i = hw__last_before(n->passes_s, c->drops, time_s);
  const double rate = (c->tau_s[i + 1] - c->tau_s[i]) / (n->passes_s[i + 1] - n->passes_s[i]);
  return (ticking){n->theta_s + c->tau_s[i] + rate * (time_s - n->passes_s[i]), rate};
}

/* With several gauges. */
static ticking tau_between(const hw__clock *c, size_t branch, double x_m, double time_s) {
  const hw__clock_line *l = &c->lines[branch];
  const size_t i = hw__clock_node_above(l, x_m);
  const ticking a = tau_at(c, &l->nodes[i], time_s), b = tau_at(c, &l->nodes[i + 1], time_s);
  const double share = hw__clock_share_below(l, i, x_m);
  return (ticking){a.tau_s + share * (b.tau_s - a.tau_s), a.rate + share * (b.rate - a.rate)};
}

double hw__clock_in(const hw__clock *c, size_t branch, double x_m, double time_s) {
  if (!c) {
    return time_s;
  }
  if (c->gauge_count == 1) {
    return c->graphs[0].time_s[0] + hw__hydrograph_elapsed(&c->graphs[0], time_s);
  }
  return tau_between(c, branch, x_m, time_s).tau_s;
}

/* d tau / dt. */
static double rate(const hw__clock *c, size_t branch, double x_m, double time_s) {
  const double half_s = 0.5 * HW__DROP_EVERY_S;
  return (hw__clock_in(c, branch, x_m, time_s + half_s) - hw__clock_in(c, branch, x_m, time_s - half_s)) / (2 * half_s);
}

double hw__clock_out(const hw__clock *c, size_t branch, double x_m, double tau_s) {
  if (!c) {
    return tau_s;
  }
  if (c->gauge_count == 1) {
    return hw__hydrograph_time(&c->graphs[0], tau_s - c->graphs[0].time_s[0]);
  }
  /* Newton: the function is made of straight pieces of much the same slope. */
  double time_s = tau_s;
  for (int i = 0; i < 50; i++) {
    const ticking now = tau_between(c, branch, x_m, time_s);
    time_s -= (now.tau_s - tau_s) / now.rate;
    if (fabs(now.tau_s - tau_s) < 1e-7) {
      break;
    }
  }
  return time_s;
}

double hw__clock_ratio(const hw__clock *c, size_t branch, double x_m, double time_s) {
  if (!c) {
    return 1;
  }
  if (c->gauge_count == 1) {
    return hw__hydrograph_ratio(&c->graphs[0], time_s);
  }
  const hw__clock_line *l = &c->lines[branch];
  const size_t i = hw__clock_node_above(l, x_m);
  const double a = hw__clock_log_ratio(c, &l->nodes[i].view, time_s),
               b = hw__clock_log_ratio(c, &l->nodes[i + 1].view, time_s);
  return exp(a + hw__clock_share_below(l, i, x_m) * (b - a));
}

double hw__clock_dilution(const hw__clock *c, size_t branch, double x_m, double time_s) {
  if (!c) {
    return 1;
  }
  const double ratio = hw__clock_ratio(c, branch, x_m, time_s);
  return ratio / (c->gauge_count == 1 ? pow(ratio, c->exponent) : rate(c, branch, x_m, time_s));
}
