#include "posterior/view.h"

#include <math.h>
#include <string.h>

#include "posterior/lastings.h"

static bool is_near(const hw__focus *focus, double time_s) {
  return fabs(time_s - focus->middle_s) <= focus->reach_s;
}

/* How wide a point may be at this time: a quarter of the pulse's width or its flank's, and `scale` times that where the
 * pulse cannot be. Only when that is not enough does the pulse itself lose its resolution. But no record becomes fewer
 * than so many points by it: what looks like a wide pulse may be the background drifting, and a narrow one must show
 * beside it. */
static double allowed_s(const hw__focus *focus, double length_s, double time_s, double scale) {
  static const double patience = 256, least_points = 96;
  const double off_flank = fabs(fabs(time_s - focus->middle_s) - focus->flank_s);
  const double width = off_flank <= HW__FLANK * focus->flank_width_s ? focus->flank_width_s : focus->width_s;
  const double plain = fmin(0.25 * width, length_s / least_points);
  if (is_near(focus, time_s)) {
    return plain * fmax(scale / patience, 1);
  }
  /* A wide point smears the curve that it is compared with: it must not reach to the pulse by that. */
  return fmin(plain * scale, fmax(plain, 0.25 * fabs(time_s - focus->middle_s)));
}

/* A single reading far above or far below both of its neighbours: a bubble, a fish, a dropped value. */
static bool is_lone(const hw__series *series, size_t i, const hw__focus *focus) {
  const hw__span *s = &series->span[i];
  if (i == 0 || i + 1 >= series->count || s->side != HW__MEASURED || s->count > 1 || !(focus->floor_g_m3 > 0)) {
    return false;
  }
  const double a = series->span[i - 1].value_g_m3, b = series->span[i + 1].value_g_m3;
  const double above = s->value_g_m3 - fmax(a, b), below = fmin(a, b) - s->value_g_m3;
  const double sd = hypot(focus->floor_g_m3, focus->share * fmax(fmax(a, b), 0));
  return fmax(above, below) > 6 * sd;
}

static bool join(const hw__span *a, const hw__span *b, double first_s, const hw__focus *focus, double length_s,
                 double scale) {
  if (!hw__span_alike(a, b)) {
    return false;
  }
  return b->time_s - first_s <=
         fmin(allowed_s(focus, length_s, first_s, scale), allowed_s(focus, length_s, b->time_s, scale));
}

/* Clipped readings are set apart before anything is merged: a mean over both kinds would say neither. */
static hw__span span_at(const hw__series *series, size_t i, const hw__focus *focus) {
  hw__span span = series->span[i];
  if (focus->clipped_g_m3 > 0 && span.side == HW__MEASURED && !(span.value_g_m3 < focus->clipped_g_m3)) {
    span.side = HW__ABOVE;
  }
  return span;
}

/* A point in the making for each side of a limit: away from the pulse, where there is no room for all of them,
 * non-detects and measured values that come in turn merge with those of their kind, over the others. */
typedef struct {
  hw__span span[3];
  size_t count;
} window;

static hw__span *same_side(window *w, const hw__span *span) {
  size_t i = 0;
  while (i < w->count && w->span[i].side != span->side) {
    i++;
  }
  return i < w->count ? &w->span[i] : NULL;
}

static bool take(window *w, const hw__span *next, double first_s, const hw__focus *focus, double length_s,
                 double scale) {
  hw__span *like = same_side(w, next);
  const bool across = scale > 1 && !is_near(focus, first_s) && !is_near(focus, next->time_s);
  if (!across && like != &w->span[0]) {
    return false;
  }
  if (!join(like ? like : next, next, first_s, focus, length_s, scale)) {
    return false;
  }
  if (like) {
    *like = hw__span_merged(like, next);
  } else {
    w->span[w->count++] = *next;
  }
  return true;
}

/* The window's points in order of time; returned: how many there are now, stored or not. */
static size_t put(window *w, size_t n, hw__view *out) {
  for (size_t k = 0; k < w->count; k++, n++) {
    size_t first = k;
    for (size_t j = k + 1; j < w->count; j++) {
      first = w->span[j].time_s < w->span[first].time_s ? j : first;
    }
    const hw__span span = w->span[first];
    w->span[first] = w->span[k];
    if (n < HW__VIEW_POINTS) {
      out->time_s[n] = span.time_s;
      out->spread_s2[n] = span.spread_s2;
      out->value_g_m3[n] = span.value_g_m3;
      out->readings[n] = span.count;
      out->side[n] = (signed char)span.side;
    }
  }
  return n;
}

static size_t condense(const hw__series *series, const hw__focus *focus, double scale, hw__view *out) {
  const double length_s = series->count > 0 ? series->span[series->count - 1].time_s - series->span[0].time_s : 0;
  size_t n = 0;
  for (size_t i = 0; i < series->count;) {
    window w = {{span_at(series, i, focus)}, 1};
    const double first = w.span[0].time_s;
    const bool lone = is_lone(series, i, focus);
    for (i++; i < series->count && !lone; i++) {
      const hw__span next = span_at(series, i, focus);
      if (is_lone(series, i, focus) || !take(&w, &next, first, focus, length_s, scale)) {
        break;
      }
    }
    n = put(&w, n, out);
  }
  return n;
}

/* Near the focus non-detects and measured values in turn do not merge: where they alone fill the view, the ones
 * furthest from it go. */
static void keep_nearest(hw__view *view, const hw__series *series, const hw__focus *focus) {
  const size_t most = HW__VIEW_POINTS;
  size_t from = 0;
  while (from + most < series->count &&
         fabs(series->span[from].time_s - focus->middle_s) > fabs(series->span[from + most].time_s - focus->middle_s)) {
    from++;
  }
  view->count = 0;
  for (size_t i = from; i < series->count && view->count < most; i++) {
    const hw__span span = span_at(series, i, focus);
    view->time_s[view->count] = span.time_s;
    view->spread_s2[view->count] = span.spread_s2;
    view->value_g_m3[view->count] = span.value_g_m3;
    view->readings[view->count] = span.count;
    view->side[view->count++] = (signed char)span.side;
  }
}

void hw__view_make(const hw__series *series, const hw__focus *focus, hw__view *out) {
  double scale = 1;
  size_t n = condense(series, focus, scale, out);
  for (int tries = 0; n > HW__VIEW_POINTS && tries < 40; tries++) {
    scale *= 1.5;
    n = condense(series, focus, scale, out);
  }
  out->count = n;
  if (n > HW__VIEW_POINTS) {
    keep_nearest(out, series, focus);
  }
}

/* One curve at up to four times. */
HW__CLONES static void curve_at_four(const hw__curve *curve, size_t n, const double *time_s, const double *spread_s2,
                                     double *out) {
  hw__curves same = {{0}};
  hw__v4 time, spread;
  for (size_t lane = 0; lane < HW__LANES; lane++) { /* the last one again to fill the lanes */
    const size_t i = lane < n ? lane : n - 1;
    hw__curves_set(&same, lane, *curve);
    time[lane] = time_s[i];
    spread[lane] = spread_s2[i];
  }
  const hw__v4 widest = hw__widest_apart(&same), spread_s = hw__v4_sqrt(spread);
  hw__v4 found;
  if (curve->duration_s > 0) {
    const hw__lastings lasts = hw__lastings_of(&same);
    found = hw__lastings_about(&same, &lasts, widest, time, spread_s);
  } else {
    found = hw__instants_about(&same, widest, time, spread_s);
  }
  memcpy(out, &found, n * sizeof *out);
}

void hw__curve_over(const hw__curve *curve, size_t n, const double *time_s, const double *spread_s2, double *out) {
  if (!(curve->travel_s > 0)) {
    memset(out, 0, n * sizeof *out);
    return;
  }
  for (size_t i = 0; i < n; i += HW__LANES) {
    const size_t here = n - i < HW__LANES ? n - i : HW__LANES;
    curve_at_four(curve, here, time_s + i, spread_s2 + i, out + i);
  }
}

static double curve_at(const hw__curve *curve, double time_s, double spread_s2) {
  const double lag = time_s - curve->passage_s, age = lag + curve->travel_s;
  if (!(age > 0) || !(curve->travel_s > 0)) {
    return 0;
  }
  const double r = curve->travel_s / ((curve->variance_s2 + spread_s2) * age);
  return curve->area_g_s_m3 * sqrt(r / (2 * M_PI)) * exp(-0.5 * r * lag * lag - curve->decay_per_s * age);
}

double hw__curve_at(const hw__curve *curve, double time_s, double spread_s2) {
  if (curve->duration_s > 0 && curve->travel_s > 0) {
    double found;
    curve_at_four(curve, 1, &time_s, &spread_s2, &found);
    return found;
  }
  if (!(spread_s2 > 0)) {
    return curve_at(curve, time_s, 0);
  }
  const double apart = fmin(spread_s2, HW__APART * curve->variance_s2), node = sqrt(apart);
  return 0.5 * (curve_at(curve, time_s - node, spread_s2 - apart) + curve_at(curve, time_s + node, spread_s2 - apart));
}

/* ln Phi is less than -0.5 HW__LOUDEST below it; so far out nothing needs to be looked up. */
static const double loudest_from = -5.5;

/* As whatever is above the limit moves: signal or background. */
static hw__by_level censored_by_signal(const hw__view *view, size_t i, const hw__tails *tails, double signal) {
  const double n = view->readings[i], sd = sqrt(hw__view_variance(view, i, signal) * n);
  const double sign = view->side[i] == HW__BELOW ? -1 : 1;
  const double z = sign * (hw__view_level(view, i) + signal - view->value_g_m3[i]) / sd;
  if (z > HW__TAIL_TO) {
    return (hw__by_level){0, 0, 0};
  }
  const hw__by_level loudest = {-0.5 * n * HW__LOUDEST, 0, 0}; /* as any other reading, and then no matter how far */
  if (z < loudest_from) {
    return loudest;
  }
  double slope;
  const double value = hw__tails_at(tails, z, &slope);
  if (value < -0.5 * HW__LOUDEST) {
    return loudest;
  }
  return (hw__by_level){n * value, n * sign * slope / sd, n * hw__tail_curvature(z, slope) / (sd * sd)};
}

hw__by_level hw__view_censored_by_level(const hw__view *view, size_t i, const hw__tails *tails, double signal) {
  const hw__by_level all = censored_by_signal(view, i, tails, signal);
  /* Quiet ones make the end of a hidden level's range, and that is all they say of it. */
  const bool tells = hw__view_on_level(view, i) && !(view->hidden && !(signal > 0));
  return tells ? all : (hw__by_level){all.value, 0, 0};
}

hw__by_level hw__view_measured_by_level(const hw__view *view, size_t i, double signal) {
  const double off = view->value_g_m3[i] - hw__view_level(view, i) - signal;
  const double variance = hw__view_variance(view, i, signal), square = off * off / variance;
  const double weight = hw__soft(square, view->readings[i]) / variance, here = hw__view_on_level(view, i) ? weight : 0;
  return (hw__by_level){-0.5 * weight * off * off - 0.5 * log(variance / hw__view_variance(view, i, 0)), here * off,
                        here};
}

static void add(hw__by_level *sum, hw__by_level part) {
  sum->value += part.value;
  sum->slope += part.slope;
  sum->curvature += part.curvature;
}

hw__by_level hw__view_without(const hw__view *view, const hw__tails *tails, size_t from, size_t to) {
  hw__by_level sum = {0, 0, 0};
  for (size_t i = from; i < to; i++) {
    add(&sum, view->side[i] == HW__MEASURED ? hw__view_measured_by_level(view, i, 0)
                                            : hw__view_censored_by_level(view, i, tails, 0));
  }
  return sum;
}

/* ln Phi, 0 where it is next to nothing. */
static double log_below(const hw__tails *tails, double z) {
  double slope;
  return z > HW__TAIL_TO ? 0 : hw__tails_at(tails, z, &slope);
}

/* ln(Phi(b) - Phi(a)), a < b. */
static double log_between(const hw__tails *tails, double a, double b) {
  if (a > 0) { /* from the tail's own side */
    return log_between(tails, -b, -a);
  }
  const double upper = log_below(tails, b), lower = log_below(tails, a);
  return upper + log(-expm1(fmin(lower - upper, -1e-12)));
}

double hw__view_fold(const hw__view *view, const hw__tails *tails, const hw__by_level *sum, double quiet) {
  const double precision = view->background_precision;
  if (isinf(precision)) {
    return sum->value;
  }
  if (view->hidden) { /* all but evenly between nothing and the most it can be: readings that tell nothing weigh nothing
                       */
    static const double middling = 0.25, log_room = -0.98865; /* ln(Phi(1 - middling) - Phi(-middling)) */
    const double most = view->highest_g_m3, least = 1 / (most * most), off = middling * most - view->background_g_m3;
    const double slope = sum->slope + least * off, curvature = sum->curvature + least, root = sqrt(curvature);
    const double middle = view->background_g_m3 + slope / curvature;
    return sum->value + 0.5 * (slope * slope / curvature - least * off * off - log(curvature / least)) +
           log_between(tails, -middle * root, (most - middle) * root) - log_room;
  }
  const double off = view->background_prior - view->background_g_m3;
  const double slope = sum->slope + precision * off, curvature = sum->curvature + precision;
  return sum->value + 0.5 * (slope * slope / curvature - precision * off * off - log(curvature / (quiet + precision)));
}

double hw__view_clean(const hw__view *view, const hw__by_level *sum) {
  const double b = view->background_g_m3;
  return sum->value - sum->slope * b - 0.5 * sum->curvature * b * b;
}

double hw__view_log_likelihood(const hw__view *view, const hw__tails *tails, const hw__curve *curve) {
  const hw__by_level quiet = hw__view_without(view, tails, 0, view->count);
  hw__by_level sum = {0, 0, 0};
  for (size_t i = 0; i < view->count && curve; i++) {
    const double plume = hw__curve_at(curve, view->time_s[i], view->spread_s2[i]);
    add(&sum, view->side[i] == HW__MEASURED ? hw__view_measured_by_level(view, i, plume)
                                            : hw__view_censored_by_level(view, i, tails, plume));
  }
  return hw__view_fold(view, tails, curve ? &sum : &quiet, quiet.curvature);
}

hw__curve hw__curve_from(const double y[HW__PULSE_SIZE]) {
  const double whole = exp(y[HW__LN_VARIANCE]), share = fmin(exp(y[HW__LN_SHARE]), 1), variance = whole * share;
  const double duration = sqrt(12 * whole * (1 - share));
  return (hw__curve){.passage_s = y[HW__PASSAGE] - 0.5 * duration,
                     .travel_s = sqrt(variance) * exp(-y[HW__LN_SKEW]),
                     .variance_s2 = variance,
                     .area_g_s_m3 = exp(y[HW__LN_AREA]),
                     .duration_s = duration};
}

void hw__curve_to(const hw__curve *curve, double y[HW__PULSE_SIZE]) {
  const double whole = curve->variance_s2 + curve->duration_s * curve->duration_s / 12;
  y[HW__PASSAGE] = curve->passage_s + 0.5 * curve->duration_s;
  y[HW__LN_VARIANCE] = log(whole);
  y[HW__LN_AREA] = log(curve->area_g_s_m3) - curve->decay_per_s * curve->travel_s;
  y[HW__LN_SKEW] = 0.5 * log(curve->variance_s2) - log(curve->travel_s);
  y[HW__LN_SHARE] = curve->duration_s > 0 ? log(curve->variance_s2 / whole) : 0;
}

enum { LEVEL = HW__PULSE_SIZE, UNKNOWNS };

typedef struct {
  double slope[UNKNOWNS], curvature[UNKNOWNS][UNKNOWNS];
} terms;

/* A point's part: `by` how its expected value changes with each unknown, `score` and `information` of that value. */
static void add_point(terms *t, const double by[UNKNOWNS], double score, double information) {
  for (size_t a = 0; a < UNKNOWNS; a++) {
    t->slope[a] += score * by[a];
    for (size_t b = 0; b < UNKNOWNS; b++) {
      t->curvature[a][b] += information * by[a] * by[b];
    }
  }
}

static void add_measured(const hw__view *view, size_t i, double plume, const double by[UNKNOWNS], terms *t) {
  const double off = view->value_g_m3[i] - hw__view_level(view, i) - plume;
  const double variance = hw__view_variance(view, i, plume), square = off * off / variance;
  const double soft = hw__soft(square, view->readings[i]);
  add_point(t, by, soft * off / variance, soft / variance);
  /* The noise tells of the signal too: ln variance changes with it, and not with the level. */
  const double following = view->share * plume + view->share_level;
  const double noisier = 2 * view->share * following / (view->readings[i] * variance);
  double through[UNKNOWNS] = {0};
  for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
    through[a] = noisier * by[a];
  }
  add_point(t, through, 0.5 * (fmin(soft * square, 4) - 1), 0.5); /* one that is far off is not noise */
}

static void add_censored(const hw__view *view, size_t i, const hw__tails *tails, double plume,
                         const double by[UNKNOWNS], terms *t) {
  const hw__by_level here = censored_by_signal(view, i, tails, plume);
  add_point(t, by, here.slope, here.curvature);
}

/* How far each coordinate is moved to see what it does; a share cannot grow beyond 1. */
static double step_of(size_t k, double width) {
  static const double step = 1e-4, share_step = -1e-3;
  return k == HW__PASSAGE ? step * width : k == HW__LN_SHARE ? share_step : step;
}

void hw__view_expand(const hw__view *view, const hw__tails *tails, size_t size, const double at[HW__PULSE_SIZE],
                     hw__quadratic *out) {
  const hw__curve here = hw__curve_from(at);
  const double width = sqrt(here.variance_s2);
  hw__curve moved[HW__PULSE_SIZE];
  for (size_t k = 0; k < size; k++) {
    double y[HW__PULSE_SIZE];
    for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
      y[a] = at[a] + (a == k ? step_of(k, width) : 0);
    }
    moved[k] = hw__curve_from(y);
  }
  double signal[HW__VIEW_POINTS], other[HW__PULSE_SIZE][HW__VIEW_POINTS];
  hw__curve_over(&here, view->count, view->time_s, view->spread_s2, signal);
  for (size_t k = 0; k < size; k++) {
    hw__curve_over(&moved[k], view->count, view->time_s, view->spread_s2, other[k]);
  }
  terms t = {{0}, {{0}}};
  for (size_t i = 0; i < view->count; i++) {
    const double plume = signal[i];
    double by[UNKNOWNS] = {0};
    for (size_t k = 0; k < size; k++) {
      by[k] = (other[k][i] - plume) / step_of(k, width);
    }
    by[LEVEL] = isinf(view->background_precision) || !hw__view_on_level(view, i) ? 0 : 1;
    if (view->side[i] == HW__MEASURED) {
      add_measured(view, i, plume, by, &t);
    } else {
      add_censored(view, i, tails, plume, by, &t);
    }
  }
  double level = 1;
  if (!isinf(view->background_precision)) {
    level = t.curvature[LEVEL][LEVEL] + view->background_precision;
    t.slope[LEVEL] += view->background_precision * (view->background_prior - view->background_g_m3);
  }
  out->size = size;
  for (size_t a = 0; a < HW__PULSE_SIZE; a++) {
    out->at[a] = at[a];
    out->slope[a] = t.slope[a] - t.curvature[a][LEVEL] / level * t.slope[LEVEL];
    for (size_t b = 0; b < HW__PULSE_SIZE; b++) {
      out->curvature[a][b] = t.curvature[a][b] - t.curvature[a][LEVEL] * t.curvature[LEVEL][b] / level;
    }
  }
  out->log_at = hw__view_log_likelihood(view, tails, &here);
}
