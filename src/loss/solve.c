/* Projected gradient descent in (s, p, t), p = l - v t, v the velocity at the starting place.
 *
 *   y' = P_m[y - alpha m o g],   m_j = 1 / (d_j + ridge / W_j^2),   d_j = (2/n) sum (dC/dy_j)^2
 *
 * d is the diagonal of the Gauss-Newton matrix; the ridge keeps a coordinate that the readings say nothing
 * about from running away. Steps are clipped to a tenth of the box (essential: from a plateau the
 * quadratic model is worthless), projected in the metric of m (clamping l and t one by one stalls in the
 * corner of ridge and box), and accepted by Armijo's rule.
 *
 * alpha is 1 at first and then what the last step says of the curvature along it, |dy|^2 / <dy, dg> in the metric of m
 * (Barzilai and Borwein 1988). With few readings F is a long curved valley, along which steps of 1 creep.
 */
#include "loss/solve.h"

#include <float.h>
#include <math.h>

#include "loss/box.h"
#include "river/along.h"

static const double armijo = 1e-4, largest_step = 0.1, smallest_move = 1e-13;
static const double least_alpha = 0.5, most_alpha = 1000;
enum { MOST_BACKTRACKS = 60 };

/* What stays the same during one solve. */
typedef struct {
  const hw_box *box;
  double width[3];
  double scale;  /* F times this is unit-free */
  double v;      /* of the phase coordinate; 0 makes it the place itself */
  bool by_width; /* steps by box widths alone */
} frame;

typedef struct {
  double f;
  double y[3];
  double gradient[3];
  double diagonal[3]; /* of the Gauss-Newton matrix */
} point;

static hw_source source_of(const frame *fr, const double y[3]) {
  return (hw_source){y[0], y[1] + fr->v * y[2], y[2]};
}

static void slope_at(hw__misfit *misfit, const hw__packed *packed, const frame *fr, point *at) {
  hw__slope s;
  const hw_source x = source_of(fr, at->y);
  hw__misfit_slope(misfit, packed, &x, &s);
  at->f = s.value * fr->scale;
  at->gradient[0] = s.gradient[0] * fr->scale;
  at->gradient[1] = s.gradient[1] * fr->scale;
  at->gradient[2] = (s.gradient[2] + fr->v * s.gradient[1]) * fr->scale;
  at->diagonal[0] = s.normal[0][0] * fr->scale;
  at->diagonal[1] = s.normal[1][1] * fr->scale;
  at->diagonal[2] = (s.normal[2][2] + 2 * fr->v * s.normal[1][2] + fr->v * fr->v * s.normal[1][1]) * fr->scale;
}

static double clamp(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

/* Nearest feasible point in the metric m: where the place leaves a face, slide along that face. */
static void project(const frame *fr, const double m[3], double y[3]) {
  const hw_box *b = fr->box;
  y[0] = clamp(y[0], b->lo.mass_g, b->hi.mass_g);
  y[2] = clamp(y[2], b->lo.time_s, b->hi.time_s);
  const double l = y[1] + fr->v * y[2];
  const double face = clamp(l, b->lo.location_m, b->hi.location_m);
  if (l != face) {
    const double give = m[1] + fr->v * fr->v * m[2];
    if (give > 0) {
      y[2] = clamp(y[2] + (face - l) * fr->v * m[2] / give, b->lo.time_s, b->hi.time_s);
    }
    y[1] = face - fr->v * y[2];
  }
}

static void metric(const frame *fr, const point *at, double m[3]) {
  double most = 0;
  for (int j = 0; j < 3 && fr->by_width; j++) {
    m[j] = fr->width[j] * fr->width[j];
  }
  if (fr->by_width) {
    return;
  }
  for (int j = 0; j < 3; j++) {
    most = fmax(most, at->diagonal[j] * fr->width[j] * fr->width[j]);
  }
  const double ridge = 1e-3 * most + 1e-6 * at->f + 1e-12;
  for (int j = 0; j < 3; j++) {
    const double w2 = fr->width[j] * fr->width[j];
    m[j] = w2 > 0 ? 1 / (at->diagonal[j] + ridge / w2) : 0;
  }
}

/* Largest move between two points in box widths. */
static double distance(const frame *fr, const double a[3], const double b[3]) {
  double most = 0;
  for (int j = 0; j < 3; j++) {
    if (fr->width[j] > 0) {
      most = fmax(most, fabs(a[j] - b[j]) / fr->width[j]);
    }
  }
  return most;
}

static void step(const frame *fr, const point *at, const double m[3], double alpha, double out[3]) {
  for (int j = 0; j < 3; j++) {
    out[j] = at->y[j] - alpha * m[j] * at->gradient[j];
  }
  project(fr, m, out);
}

/* The projected gradient with the box's own metric, in box widths. */
static double stationarity(const frame *fr, const point *at) {
  double m[3], moved[3];
  for (int j = 0; j < 3; j++) {
    m[j] = fr->width[j] * fr->width[j];
  }
  step(fr, at, m, 1, moved);
  return distance(fr, at->y, moved);
}

/* What the quadratic model still promises, half of g.m.g, next to F itself. With a condition number of about 4 the
 * truth is at most a few times that; at 5e-7 the source would move by about a hundredth of what the noise moves it. */
static double promise(const point *at, const double m[3]) {
  double gain = 0;
  for (int j = 0; j < 3; j++) {
    gain += 0.5 * m[j] * at->gradient[j] * at->gradient[j];
  }
  return gain / at->f;
}

static double clip(const frame *fr, const point *at, const double m[3], double alpha) {
  double most = 0;
  for (int j = 0; j < 3; j++) {
    if (fr->width[j] > 0) {
      most = fmax(most, m[j] * fabs(at->gradient[j]) / fr->width[j]);
    }
  }
  return alpha * most > largest_step ? largest_step / most : alpha;
}

/* What the next step is to be multiplied by, from the curvature met by this one. */
static double next_alpha(const frame *fr, const point *from, const point *to, const double m[3]) {
  double length = 0, curvature = 0;
  if (fr->by_width) {
    return 1;
  }
  for (int j = 0; j < 3; j++) {
    const double moved = to->y[j] - from->y[j];
    length += m[j] > 0 ? moved * moved / m[j] : 0;
    curvature += moved * (to->gradient[j] - from->gradient[j]);
  }
  return curvature > 0 ? clamp(length / curvature, least_alpha, most_alpha) : 1;
}

/* One accepted step from *at to *out, or the reason there is none. *alpha is remembered between steps. */
static hw_stop descend(hw__misfit *misfit, const hw__packed *packed, const frame *fr, const point *at, double tolerance,
                       double *alpha, point *out) {
  double m[3];
  metric(fr, at, m);
  if (at->f > 0 && promise(at, m) <= 0.1 * tolerance) {
    return HW_STOP_GAIN;
  }
  double a = clip(fr, at, m, *alpha);
  for (int tries = 0; tries <= MOST_BACKTRACKS; tries++, a *= 0.5) {
    double expected = 0;
    step(fr, at, m, a, out->y);
    for (int j = 0; j < 3; j++) {
      expected += at->gradient[j] * (at->y[j] - out->y[j]);
    }
    if (!(expected >= 0)) {
      continue;
    }
    /* A first try is nearly always accepted, so take its slope along and save the next iteration's. */
    if (tries == 0) {
      slope_at(misfit, packed, fr, out);
    } else {
      const hw_source x = source_of(fr, out->y);
      out->f = hw__misfit_value(misfit, packed, &x) * fr->scale;
    }
    if (isfinite(out->f) && out->f <= at->f - armijo * expected) {
      if (tries > 0) {
        slope_at(misfit, packed, fr, out);
      }
      *alpha = next_alpha(fr, at, out, m);
      return HW_STOP_NONE;
    }
  }
  return HW_STOP_BACKTRACKS;
}

static bool all_finite(const point *p) {
  return isfinite(p->f) && isfinite(p->gradient[0]) && isfinite(p->gradient[1]) && isfinite(p->gradient[2]) &&
         isfinite(p->diagonal[0]) && isfinite(p->diagonal[1]) && isfinite(p->diagonal[2]);
}

void hw__solve(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, const hw__limits *limits,
               hw__solution *solution) {
  frame fr = {
      .box = box,
      .scale = packed->mean_square > 0 ? 1 / packed->mean_square : 1,
      .v = limits->without & HW_WITHOUT_PHASE ? 0 : hw__transport_velocity(misfit->transport, solution->x.location_m),
      .by_width = (limits->without & HW_WITHOUT_CURVATURE) != 0};
  hw__box_widths(box, fr.width);
  const hw_source *x = &solution->x;
  point at = {.y = {x->mass_g, x->location_m - fr.v * x->time_s, x->time_s}};
  slope_at(misfit, packed, &fr, &at);
  double alpha = 1;
  size_t iteration = 0;
  hw_stop stop = HW_STOP_NONE;
  while (stop == HW_STOP_NONE) {
    if (!all_finite(&at)) {
      stop = HW_STOP_NONFINITE;
    } else if (stationarity(&fr, &at) <= limits->tolerance) {
      stop = HW_STOP_GRADIENT;
    } else if (iteration == limits->iterations) {
      stop = HW_STOP_ITERATIONS;
    } else {
      point next = {0};
      stop = descend(misfit, packed, &fr, &at, limits->tolerance, &alpha, &next);
      if (stop == HW_STOP_NONE && !all_finite(&next)) {
        stop = HW_STOP_NONFINITE;
      } else if (stop == HW_STOP_NONE) {
        const double moved = distance(&fr, at.y, next.y);
        at = next;
        iteration++;
        if (moved < smallest_move) {
          stop = HW_STOP_SMALL_STEP;
        }
      }
    }
  }
  if (iteration > 0) {
    /* l = p + v t may leave the box by a rounding error. */
    const hw_source end = source_of(&fr, at.y);
    solution->x = hw__box_clamp(box, &end);
  }
  solution->value = isfinite(at.f) ? at.f / fr.scale : DBL_MAX;
  solution->iterations = iteration;
  solution->stop = stop;
}
