/* Making a clock: splitting the flow readings by gauge, and following the water upstream from the reference place. */
#include <math.h>
#include <stdlib.h>

#include "river/along.h"
#include "river/clock_inside.h"
#include "river/flow_doubt.h"
#include "river/network.h"

/* Places of the table are at most this far apart. */
#define STEP_M 2000.0
enum { MOST_DROPS = 1500 };
/* A gauge on a tributary that carries less than this share of the river says nothing about it. */
#define LEAST_SHARE 0.3

/* A gauge that has readings, in the order of the graphs. */
typedef struct {
  size_t branch;
  double x_m, theta_s, discharge_m3_s;
} station;

/* Everything the making of a clock looks at. */
typedef struct {
  const hw_river *river;
  const hw_transport *transport;
  station *stations;
  hw__clock *clock;
} maker;

static double theta_at(const maker *k, size_t branch, double x_m) {
  return hw__transport_integrals_on(k->transport, branch, x_m).theta;
}

static bool passes(const hw_river *river, size_t from, double from_m, size_t to, double to_m) {
  double enters_m = from_m;
  if (from == to) {
    return from_m <= to_m;
  }
  return river->branch_count && hw__branch_enters(river, from, to, &enters_m) && to_m > enters_m;
}

/* Which gauges tell about a place: the nearest below, and above the nearest on the same branch or else the largest. */
static hw__clock_view look(const maker *k, size_t branch, double x_m) {
  const double theta_s = theta_at(k, branch, x_m), m = k->clock->exponent;
  const double discharge = hw_transport_leg_between(k->transport, branch, x_m, branch, x_m).discharge_m3_s;
  hw__clock_view v = {.above = HW_OUTLET, .below = HW_OUTLET};
  double above_s = INFINITY, below_s = INFINITY, largest = LEAST_SHARE * discharge;
  size_t strongest = 0;
  for (size_t g = 0; g < k->clock->gauge_count; g++) {
    const station *s = &k->stations[g];
    strongest = s->discharge_m3_s > k->stations[strongest].discharge_m3_s ? g : strongest;
    if (passes(k->river, branch, x_m, s->branch, s->x_m) && s->theta_s - theta_s < below_s) {
      below_s = s->theta_s - theta_s;
      v.below = g;
    }
    const bool own = s->branch == branch;
    const bool better = own ? theta_s - s->theta_s < above_s : isinf(above_s) && s->discharge_m3_s >= largest;
    if (better && passes(k->river, s->branch, s->x_m, branch, x_m)) {
      above_s = own ? theta_s - s->theta_s : above_s;
      largest = own ? largest : s->discharge_m3_s;
      v.above = g;
    }
  }
  if (v.above == HW_OUTLET && v.below == HW_OUTLET) {
    v.above = strongest; /* no gauge on its water at all: as the river at large, without lag */
    return v;
  }
  above_s = v.above == HW_OUTLET ? 0 : theta_s - k->stations[v.above].theta_s;
  below_s = v.below == HW_OUTLET ? 0 : below_s;
  v.above_s = (1 - m) * above_s;
  v.below_s = (1 - m) * below_s;
  v.below_weight = v.above == HW_OUTLET    ? 1
                   : v.below == HW_OUTLET  ? 0
                   : above_s + below_s > 0 ? above_s / (above_s + below_s)
                                           : 0.5;
  return v;
}

static double factor_at(const hw__clock *c, const hw__clock_view *v, double time_s) {
  return exp(c->exponent * hw__clock_log_ratio(c, v, time_s));
}

/* Splits the river's flow readings by gauge; of two at one time the later in the list counts. */
static hw_status gather(maker *k) {
  const hw_river *river = k->river;
  hw__clock *c = k->clock;
  c->graphs = calloc(river->gauge_count, sizeof *c->graphs);
  c->room = calloc(4 * river->flow_count, sizeof *c->room);
  k->stations = calloc(river->gauge_count, sizeof *k->stations);
  if (!c->graphs || !c->room || !k->stations) {
    return HW_ENOMEM;
  }
  double *room = c->room;
  for (size_t g = 0; g < river->gauge_count; g++) {
    const hw_gauge *gauge = &river->gauges[g];
    hw__hydrograph s = {.exponent = c->exponent, .time_s = room};
    for (size_t i = 0; i < river->flow_count; i++) {
      if (river->flow[i].gauge == g) {
        s.count += s.count == 0 || river->flow[i].time_s > s.time_s[s.count - 1];
        s.time_s[s.count - 1] = river->flow[i].time_s;
      }
    }
    if (s.count == 0) {
      continue;
    }
    s.ratio = s.time_s + s.count;
    s.log_ratio = s.ratio + s.count;
    s.elapsed = s.log_ratio + s.count;
    room = s.elapsed + s.count;
    station *at = &k->stations[c->gauge_count];
    *at = (station){
        gauge->branch, gauge->location_m, theta_at(k, gauge->branch, gauge->location_m),
        hw_transport_leg_between(k->transport, gauge->branch, gauge->location_m, gauge->branch, gauge->location_m)
            .discharge_m3_s};
    size_t n = 0;
    for (size_t i = 0; i < river->flow_count; i++) {
      if (river->flow[i].gauge == g) {
        n += n + 1 < s.count && river->flow[i].time_s > s.time_s[n];
        s.ratio[n] = river->flow[i].discharge_m3_s / at->discharge_m3_s;
      }
    }
    hw__hydrograph_finish(&s);
    c->graphs[c->gauge_count++] = s;
  }
  return HW_OK;
}

/* From where to where a branch is of interest. */
static void extent(const hw_river *river, size_t branch, double *from_m, double *to_m) {
  const hw_branch *b = river->branch_count ? &river->branches[branch] : NULL;
  *from_m = b ? b->head_m : river->search.lo.location_m;
  *to_m = !b ? river->search.hi.location_m : b->joins != HW_OUTLET ? 0 : b->search_hi_m;
  if (b && b->joins != HW_OUTLET) {
    return;
  }
  *to_m = fmax(*to_m, *from_m);
#define REACH_FOR(list, count)                                          \
  for (size_t i = 0; i < river->count; i++) {                           \
    if (river->list[i].branch == branch) {                              \
      *from_m = b ? *from_m : fmin(*from_m, river->list[i].location_m); \
      *to_m = fmax(*to_m, river->list[i].location_m);                   \
    }                                                                   \
  }
  REACH_FOR(sensors, sensor_count)
  REACH_FOR(intakes, intake_count)
  REACH_FOR(gauges, gauge_count)
#undef REACH_FOR
}

static size_t node_count(double from_m, double to_m) {
  return 2 + (size_t)fmin(ceil((to_m - from_m) / STEP_M), 1e5);
}

static hw_status lay_nodes(maker *k) {
  hw__clock *c = k->clock;
  const hw_river *river = k->river;
  c->line_count = river->branch_count ? river->branch_count : 1;
  c->lines = calloc(c->line_count, sizeof *c->lines);
  if (!c->lines) {
    return HW_ENOMEM;
  }
  size_t total = 0;
  double from_m, to_m;
  for (size_t b = 0; b < c->line_count; b++) {
    extent(river, b, &from_m, &to_m);
    c->lines[b].count = node_count(from_m, to_m);
    total += c->lines[b].count;
  }
  c->nodes = calloc(total, sizeof *c->nodes);
  if (!c->nodes) {
    return HW_ENOMEM;
  }
  hw__clock_node *room = c->nodes;
  for (size_t b = 0; b < c->line_count; b++) {
    hw__clock_line *l = &c->lines[b];
    l->nodes = room;
    room += l->count;
    extent(river, b, &from_m, &to_m);
    for (size_t i = 0; i < l->count; i++) {
      hw__clock_node *n = &l->nodes[i];
      n->x_m = i + 1 == l->count ? to_m : from_m + (to_m - from_m) * (double)i / (double)(l->count - 1);
      n->theta_s = theta_at(k, b, n->x_m);
      n->view = look(k, b, n->x_m);
    }
  }
  return HW_OK;
}

/* When the drop passes x: what it is late against the steady river changes evenly, in theta, between two nodes. */
static double drop_passes(const hw__clock_line *l, double x_m, double theta_s, size_t drop) {
  const size_t i = hw__clock_node_above(l, x_m);
  const hw__clock_node *a = &l->nodes[i], *b = a + 1;
  const double share = (theta_s - a->theta_s) / fmax(b->theta_s - a->theta_s, 1e-9);
  const double late_a = a->passes_s[drop] - a->theta_s, late_b = b->passes_s[drop] - b->theta_s;
  return theta_s + late_a + share * (late_b - late_a);
}

/* One step upstream with the water, midpoint rule. */
static double step_up(const hw__clock *c, const hw__clock_node *down, const hw__clock_node *up, double time_s) {
  const double theta = down->theta_s - up->theta_s;
  const double middle_s = time_s - 0.5 * theta / factor_at(c, &down->view, time_s);
  return time_s - theta / (0.5 * (factor_at(c, &down->view, middle_s) + factor_at(c, &up->view, middle_s)));
}

static void follow(maker *k, size_t branch) {
  hw__clock *c = k->clock;
  hw__clock_line *l = &c->lines[branch];
  const hw_branch *b = k->river->branch_count ? &k->river->branches[branch] : NULL;
  if (b && b->joins != HW_OUTLET) {
    const double theta_s = theta_at(k, b->joins, b->joins_at_m);
    for (size_t j = 0; j < c->drops; j++) {
      l->nodes[l->count - 1].passes_s[j] = drop_passes(&c->lines[b->joins], b->joins_at_m, theta_s, j);
    }
  }
  for (size_t i = l->count - 1; i-- > 0;) {
    for (size_t j = 0; j < c->drops; j++) {
      const double time_s = step_up(c, &l->nodes[i + 1], &l->nodes[i], l->nodes[i + 1].passes_s[j]);
      /* Two drops never pass each other; roundings must not make them. */
      const double before_s = j ? l->nodes[i].passes_s[j - 1] : -INFINITY;
      l->nodes[i].passes_s[j] = time_s > before_s ? time_s : before_s + 1e-6;
    }
  }
}

static hw_status fill_table(maker *k) {
  hw__clock *c = k->clock;
  const hw_river *river = k->river;
  size_t *order = calloc(c->line_count, sizeof *order);
  if (!order) {
    return HW_ENOMEM;
  }
  if (river->branch_count) {
    hw__branch_order(river, order);
  }
  size_t nodes = 0;
  double least_s = INFINITY;
  for (size_t b = 0; b < c->line_count; b++) {
    nodes += c->lines[b].count;
    least_s = fmin(least_s, c->lines[b].nodes[0].theta_s);
  }
  const hw__clock_line *outlet = &c->lines[order[0]];
  const hw__clock_node *last = &outlet->nodes[outlet->count - 1];
  /* Drops enough that every place has seen some before the first flow reading, however slow, and after the last. */
  const double span_s = 3 * (last->theta_s - least_s) + HW__DROP_EVERY_S;
  const double from_s = river->flow[0].time_s - span_s, to_s = river->flow[river->flow_count - 1].time_s + span_s;
  const double step_s = fmax(HW__DROP_EVERY_S, (to_s - from_s) / (MOST_DROPS - 2));
  c->drops = 2 + (size_t)((to_s - from_s) / step_s);
  c->times = calloc(nodes * c->drops, sizeof *c->times);
  c->tau_s = calloc(c->drops, sizeof *c->tau_s);
  if (!c->times || !c->tau_s) {
    free(order);
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < nodes; i++) {
    c->nodes[i].passes_s = c->times + i * c->drops;
  }
  double tau_s = from_s - last->theta_s;
  for (size_t j = 0; j < c->drops; j++) {
    const double now_s = from_s + (double)j * step_s;
    last->passes_s[j] = now_s;
    c->tau_s[j] = tau_s;
    tau_s += step_s / 6 *
             (factor_at(c, &last->view, now_s) + 4 * factor_at(c, &last->view, now_s + 0.5 * step_s) +
              factor_at(c, &last->view, now_s + step_s));
  }
  for (size_t i = 0; i < c->line_count; i++) {
    follow(k, order[i]);
  }
  free(order);
  return HW_OK;
}

hw_status hw__clock_create(const hw_river *river, hw__clock **out) {
  *out = NULL;
  if (river->flow_count == 0) {
    return HW_OK;
  }
  hw_transport *transport = NULL;
  hw_status status = hw_transport_create(river, NULL, &transport);
  if (status != HW_OK) {
    return status;
  }
  hw__clock *c = calloc(1, sizeof *c);
  maker k = {.river = river, .transport = transport, .clock = c};
  if (c) {
    c->exponent = hw__velocity_exponent(river);
  }
  status = c ? gather(&k) : HW_ENOMEM;
  if (status == HW_OK && c->gauge_count > 1) {
    status = lay_nodes(&k);
    if (status == HW_OK) {
      status = fill_table(&k);
    }
  }
  free(k.stations);
  hw_transport_free(transport);
  if (status != HW_OK) {
    hw__clock_free(c);
    return status;
  }
  *out = c;
  return HW_OK;
}
