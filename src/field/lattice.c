#include "field/lattice.h"

#include <math.h>
#include <string.h>

double hw__amplitude_evidence(double cross, double square, double alpha, double *amplitude) {
  const double inside = cross * cross - 4 * alpha * square;
  if (!(cross > 0) || !(square > 0) || !(inside > 0)) {
    return -INFINITY;
  }
  const double a = (cross + sqrt(inside)) / (2 * square);
  const double curvature = 2 * square * a * a - cross * a;
  *amplitude = a;
  return -alpha * log(a) + a * (cross - 0.5 * square * a) + 0.5 * log(2 * M_PI / curvature);
}

/* One mesh: columns of (shape, lead), each with its own window of places. */
typedef struct {
  int leads, places;
  double lead_lo, lead_step;
  double from[HW__SHAPES][HW__WIDE_LEADS]; /* first place y */
  double step[HW__SHAPES][HW__WIDE_LEADS]; /* 0: column not used */
  double log_weight[HW__SHAPES][HW__WIDE_LEADS][HW__WIDE_PLACES];
  float amplitude[HW__SHAPES][HW__WIDE_LEADS][HW__WIDE_PLACES];
  double highest;
} mesh;

/* Readings as the kernel wants them. */
typedef struct {
  int count;
  float time[HW__OUTLINE_SIZE], weight[HW__OUTLINE_SIZE], weighted[HW__OUTLINE_SIZE];
} track;

static void make_track(const hw__outline *outline, size_t most, double damp, track *out) {
  const size_t stride = (outline->count + most - 1) / most;
  out->count = 0;
  for (size_t i = 0; i < outline->count; i += stride) {
    double time = 0, value = 0, weight = 0;
    for (size_t j = i; j < i + stride && j < outline->count; j++) {
      const hw__point *p = &outline->point[j];
      time += p->weight * p->time_s;
      value += p->weight * p->value;
      weight += p->weight;
    }
    out->time[out->count] = (float)(time / weight);
    out->weight[out->count] = (float)(damp * weight);
    out->weighted[out->count++] = (float)(damp * value);
  }
}

static void evaluate_column(const hw__shape *shape, const track *readings, const hw__population *population,
                            double log_lead, int k, int h, mesh *m) {
  const double skew = (shape->skew - population->skew_mean) / population->skew_sd;
  /* Flat in phi = y lead: a cell of a wide pulse counts for more. */
  const double prior = log_lead + log(m->step[k][h]) - 0.5 * skew * skew;
  const float per_s = (float)exp(-log_lead);
  for (int p = 0; p < m->places; p++) {
    const float y = (float)(m->from[k][h] + m->step[k][h] * p);
    float cross = 0, square = 0;
    for (int i = 0; i < readings->count; i++) {
      const float g = hw__shape_at(shape, readings->time[i] * per_s - y);
      cross += readings->weighted[i] * g;
      square += readings->weight[i] * g * g;
    }
    double amplitude = 0;
    const double evidence =
        hw__amplitude_evidence((double)cross, (double)square, population->amplitude_power, &amplitude);
    m->log_weight[k][h][p] = evidence + prior;
    m->amplitude[k][h][p] = (float)amplitude;
    m->highest = fmax(m->highest, evidence + prior);
  }
}

static void evaluate(const hw__shapes *shapes, const track *readings, const hw__population *population, mesh *m) {
  m->highest = -INFINITY;
  for (int k = 0; k < HW__SHAPES; k++) {
    for (int h = 0; h < m->leads; h++) {
      if (m->step[k][h] > 0) {
        evaluate_column(&shapes->shape[k], readings, population, m->lead_lo + h * m->lead_step, k, h, m);
      }
    }
  }
}

/* The window of one column's places above `cut`, widened by a cell; false when there is none. */
static bool column_window(const mesh *m, int k, int h, double cut, double *lo, double *hi) {
  if (!(m->step[k][h] > 0)) {
    return false;
  }
  bool any = false;
  for (int p = 0; p < m->places; p++) {
    if (m->log_weight[k][h][p] > cut) {
      const double y = m->from[k][h] + m->step[k][h] * p;
      *lo = fmin(*lo, y - m->step[k][h]);
      *hi = fmax(*hi, y + m->step[k][h]);
      any = true;
    }
  }
  return any;
}

/* Leads of the columns that hold anything above the cut, widened by a column. */
static bool lead_window(const mesh *m, double cut, double *lo, double *hi) {
  int first = m->leads, last = -1;
  for (int k = 0; k < HW__SHAPES; k++) {
    for (int h = 0; h < m->leads; h++) {
      double a = INFINITY, b = -INFINITY;
      if (column_window(m, k, h, cut, &a, &b)) {
        first = h < first ? h : first;
        last = h > last ? h : last;
      }
    }
  }
  if (last < 0) {
    return false;
  }
  const double end = m->lead_lo + m->lead_step * (m->leads - 1);
  *lo = fmax(m->lead_lo, m->lead_lo + m->lead_step * (first - 1));
  *hi = fmin(end, m->lead_lo + m->lead_step * (last + 1));
  return true;
}

/* Lay a finer mesh over what the coarse one holds within `depth` of its best. A new column takes the
 * windows of the coarse columns to its left and right, of its own shape and the shapes beside it. */
static bool refine(const mesh *coarse, double depth, mesh *fine) {
  const int leads = HW__FINE_LEADS, places = HW__FINE_PLACES;
  const double cut = coarse->highest - depth;
  double lo = 0, hi = 0;
  if (!lead_window(coarse, cut, &lo, &hi)) {
    return false;
  }
  fine->leads = leads;
  fine->places = places;
  fine->lead_lo = lo;
  fine->lead_step = (hi - lo) / (leads - 1);
  for (int k = 0; k < HW__SHAPES; k++) {
    for (int h = 0; h < leads; h++) {
      const double at = (lo + fine->lead_step * h - coarse->lead_lo) / coarse->lead_step;
      const int left = (int)fmax(floor(at + 1e-9), 0), right = (int)fmin(ceil(at - 1e-9), coarse->leads - 1);
      double from = INFINITY, to = -INFINITY;
      for (int near = k > 0 ? k - 1 : 0; near <= k + 1 && near < HW__SHAPES; near++) {
        column_window(coarse, near, left, cut, &from, &to);
        column_window(coarse, near, right, cut, &from, &to);
      }
      fine->from[k][h] = from;
      fine->step[k][h] = to > from ? (to - from) / (places - 1) : 0;
    }
  }
  return true;
}

static void start_mesh(hw__lead_range leads, mesh *m) {
  m->leads = HW__WIDE_LEADS;
  m->places = HW__WIDE_PLACES;
  m->lead_lo = leads.lo;
  m->lead_step = (leads.hi - leads.lo) / (m->leads - 1);
  for (int k = 0; k < HW__SHAPES; k++) {
    for (int h = 0; h < m->leads; h++) {
      m->from[k][h] = -6;
      m->step[k][h] = k % 2 == 0 ? 12.0 / (m->places - 1) : 0;
    }
  }
}

static void collect(const mesh *m, hw__lattice *out) {
  double total = 0;
  for (int k = 0; k < HW__SHAPES; k++) {
    for (int h = 0; h < m->leads; h++) {
      for (int p = 0; m->step[k][h] > 0 && p < m->places; p++) {
        const double log_weight = m->log_weight[k][h][p] - m->highest;
        if (log_weight > -12) {
          total += exp(log_weight);
          out->cell[out->count++] = (hw__cell){.log_lead = (float)(m->lead_lo + m->lead_step * h),
                                               .y = (float)(m->from[k][h] + m->step[k][h] * p),
                                               .y_step = (float)m->step[k][h],
                                               .amplitude = m->amplitude[k][h][p],
                                               .cumulative = (float)total,
                                               .shape = (unsigned char)k};
        }
      }
    }
  }
  for (size_t i = 0; i < out->count; i++) {
    out->cell[i].cumulative /= (float)total;
  }
  out->log_lead_step = m->lead_step;
}

/* Mean and spread of passage and lead over the cells. */
static void sum_up(hw__lattice *lattice) {
  double y = 0, y2 = 0, lead = 0, lead2 = 0, before = 0;
  for (size_t i = 0; i < lattice->count; i++) {
    const hw__cell *cell = &lattice->cell[i];
    const double weight = (double)cell->cumulative - before, log_lead = (double)cell->log_lead;
    const double after = (double)cell->y * exp(log_lead);
    before = (double)cell->cumulative;
    y += weight * after;
    y2 += weight * after * after;
    lead += weight * log_lead;
    lead2 += weight * log_lead * log_lead;
  }
  lattice->gist.found = lattice->count > 0;
  lattice->gist.phi_s = lattice->anchor_s + y;
  lattice->gist.phi_sd_s = sqrt(fmax(y2 - y * y, 0));
  lattice->gist.log_lead_sd = sqrt(fmax(lead2 - lead * lead, 0));
}

/* How far the readings are from the most probable cell's pulse. */
static double misfit_of(const hw__shapes *shapes, const hw__outline *outline, const hw__lattice *lattice) {
  size_t best = 0;
  double most = 0, before = 0, sum = 0;
  for (size_t i = 0; i < lattice->count; i++) {
    const double weight = (double)lattice->cell[i].cumulative - before;
    before = (double)lattice->cell[i].cumulative;
    best = weight > most ? i : best;
    most = fmax(most, weight);
  }
  const hw__cell *cell = &lattice->cell[best];
  for (size_t i = 0; i < outline->count; i++) {
    const float y = (float)(outline->point[i].time_s * exp(-(double)cell->log_lead)) - cell->y;
    const double off =
        outline->point[i].value - (double)(cell->amplitude * hw__shape_at(&shapes->shape[cell->shape], y));
    sum += off * off;
  }
  return sqrt(sum / (double)outline->count);
}

void hw__lattice_build(const hw__shapes *shapes, const hw__outline *outline, hw__lead_range leads,
                       const hw__population *population, hw__lattice *out) {
  out->count = 0;
  out->gist = (hw__gist){0};
  out->anchor_s = outline->anchor_s;
  out->height_g_m3 = outline->height_g_m3;
  mesh coarse, fine;
  track readings;
  start_mesh(leads, &coarse);
  make_track(outline, 32, 0.1, &readings);
  evaluate(shapes, &readings, population, &coarse);
  if (!refine(&coarse, 4, &fine)) {
    return;
  }
  make_track(outline, 48, 0.4, &readings);
  evaluate(shapes, &readings, population, &fine);
  if (!refine(&fine, 6, &coarse)) {
    return;
  }
  make_track(outline, HW__OUTLINE_SIZE, 1, &readings);
  evaluate(shapes, &readings, population, &coarse);
  if (isfinite(coarse.highest)) {
    collect(&coarse, out);
    sum_up(out);
    out->gist.misfit = misfit_of(shapes, outline, out);
  }
}

hw__pulse hw__lattice_pick(const hw__lattice *lattice, double pick, double across, double along) {
  size_t lo = 0, hi = lattice->count - 1;
  while (lo < hi) {
    const size_t middle = (lo + hi) / 2;
    if ((double)lattice->cell[middle].cumulative > pick) {
      hi = middle;
    } else {
      lo = middle + 1;
    }
  }
  const hw__cell *cell = &lattice->cell[lo];
  const double log_lead = (double)cell->log_lead + (across - 0.5) * lattice->log_lead_step;
  const double y = (double)cell->y + (along - 0.5) * (double)cell->y_step;
  return (hw__pulse){.phi_s = lattice->anchor_s + y * exp((double)cell->log_lead),
                     .log_lead = log_lead,
                     .height_g_m3 = (double)cell->amplitude * lattice->height_g_m3,
                     .shape = cell->shape};
}
