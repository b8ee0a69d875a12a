#include "regret/bend.h"

#include <math.h>
#include <string.h>

void hw__bend_hessian(hw__misfit *misfit, const hw__packed *packed, const double width[3], double loss_scale,
                      const hw_source *x, double out[3][3]) {
  hw__misfit_hessian(misfit, packed, x, out);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[i][j] *= width[i] * width[j] * loss_scale;
    }
  }
}

/* Zero the entry (p, q) by a rotation of those two axes. */
static void rotate(double a[3][3], int p, int q) {
  if (a[p][q] == 0) {
    return;
  }
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
  const double c = 1 / hypot(t, 1), s = t * c;
  for (int k = 0; k < 3; k++) {
    const double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (int k = 0; k < 3; k++) {
    const double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
  }
}

void hw__bend_eigenvalues(const double matrix[3][3], double out[3]) {
  enum { SWEEPS = 30 }; /* three to six do for doubles */
  double a[3][3];
  memcpy(a, matrix, sizeof a);
  for (int i = 0; i < SWEEPS; i++) {
    rotate(a, 0, 1);
    rotate(a, 0, 2);
    rotate(a, 1, 2);
  }
  const double lo = fmin(a[0][0], fmin(a[1][1], a[2][2])), hi = fmax(a[0][0], fmax(a[1][1], a[2][2]));
  out[0] = lo;
  out[1] = a[0][0] + a[1][1] + a[2][2] - lo - hi;
  out[2] = hi;
}
