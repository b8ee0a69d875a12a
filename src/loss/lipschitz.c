#include "loss/lipschitz.h"

#include <math.h>
#include <string.h>

#include "loss/box.h"

static hw_source grid_point(const hw_box *box, const double width[3], size_t k, const size_t at[3]) {
  double x[3];
  hw__source_to(&box->lo, x);
  for (int j = 0; j < 3; j++) {
    x[j] += width[j] * (double)at[j] / (double)(k - 1);
  }
  return hw__source_from(x);
}

/* Coordinates of the grid point with this number. */
static void unpack(size_t index, size_t k, size_t at[3]) {
  at[0] = index % k;
  at[1] = index / k % k;
  at[2] = index / k / k;
}

/* Step to the neighbour along j; false at the end of the line. */
static bool next_along(int j, size_t k, size_t at[3]) {
  at[j]++;
  return at[j] < k;
}

void hw__lipschitz_slopes(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, size_t k, double slope[3]) {
  double width[3];
  hw__box_widths(box, width);
  memset(slope, 0, 3 * sizeof slope[0]);
  for (size_t i = 0; k > 1 && i < k * k * k; i++) {
    size_t at[3];
    unpack(i, k, at);
    const hw_source x = grid_point(box, width, k, at);
    const double f = hw__misfit_value(misfit, packed, &x);
    for (int j = 0; j < 3; j++) {
      size_t beside[3] = {at[0], at[1], at[2]};
      if (width[j] > 0 && next_along(j, k, beside)) {
        const hw_source y = grid_point(box, width, k, beside);
        const double step = width[j] / (double)(k - 1);
        slope[j] = fmax(slope[j], fabs(hw__misfit_value(misfit, packed, &y) - f) / step);
      }
    }
  }
}

typedef struct {
  double m[3][3];
} matrix;

static matrix scaled_hessian(hw__misfit *misfit, const hw__packed *packed, const hw_source *x, const double unit[3],
                             double loss_scale) {
  matrix h;
  hw__misfit_hessian(misfit, packed, x, h.m);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      h.m[i][j] *= unit[i] * unit[j] * loss_scale;
    }
  }
  return h;
}

static double norm_of_difference(const matrix *a, const matrix *b) {
  double square = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double d = a->m[i][j] - b->m[i][j];
      square += d * d;
    }
  }
  return sqrt(square);
}

void hw__lipschitz_curvature(hw__misfit *misfit, const hw__packed *packed, const hw_box *box, size_t k,
                             const double unit[3], double loss_scale, double *smoothness, double *hessian) {
  const matrix zero = {{{0}}};
  double width[3];
  hw__box_widths(box, width);
  *smoothness = *hessian = 0;
  for (size_t i = 0; k > 1 && i < k * k * k; i++) {
    size_t at[3];
    unpack(i, k, at);
    const hw_source x = grid_point(box, width, k, at);
    const matrix here = scaled_hessian(misfit, packed, &x, unit, loss_scale);
    *smoothness = fmax(*smoothness, norm_of_difference(&here, &zero));
    for (int j = 0; j < 3; j++) {
      size_t beside[3] = {at[0], at[1], at[2]};
      if (width[j] > 0 && next_along(j, k, beside)) {
        const hw_source y = grid_point(box, width, k, beside);
        const matrix there = scaled_hessian(misfit, packed, &y, unit, loss_scale);
        const double step = width[j] / unit[j] / (double)(k - 1);
        *hessian = fmax(*hessian, norm_of_difference(&here, &there) / step);
      }
    }
  }
}
