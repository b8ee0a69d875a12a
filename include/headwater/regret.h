/* How much was lost by not knowing the future: the paper's two regrets, measured.
 *
 * A learner plays x^n, then sees reading n and suffers Psi^n(x^n) = (C(x^n) - c_n)^2. After N readings
 *
 *   cumulative regret   sum_n Psi^n(x^n) - min_x sum_n Psi^n(x)
 *   local regret        sum_n |projected gradient of F^n_w at x^n|^2
 *
 * F^n_w is the mean loss of the last min(n, w) readings. The projected gradient depends on its step eta,
 * |.| <= width / eta, so all learners are measured at one common eta. Coordinates are counted in widths of
 * the search box (a gradient in grams and one in metres cannot be added otherwise), losses in (g/m3)^2.
 *
 * Use: create; for every reading collect what each learner would have played and hand both to
 * hw_regret_add; free. The optimum in hindsight after every reading comes with it: mass is linear and
 * profiled out in closed form, place and time are searched on a grid with running sums per cell, and the
 * best cells are polished by the same descent the learners use.
 */
#ifndef HEADWATER_REGRET_H
#define HEADWATER_REGRET_H

#include <stdint.h>

#include "headwater/reading.h"
#include "headwater/river.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means the default. */
typedef struct {
  size_t readings; /* most that will be added; required */
  size_t learners; /* how many are measured side by side; may be 0 */
  size_t window;   /* w; default 1000 */
  double step;     /* eta, per (g/m3)^2 and in box widths; default HW_REGRET_STEP */
  bool local_only; /* do without the optimum in hindsight, which is most of the work; cumulative regrets are NAN then */
} hw_regret_options;

/* 1000 per (g/m3)^2 is 0.001 per (ug/l)^2: a gradient of 1000 (ug/l)^2 per box width just crosses the box. */
#define HW_REGRET_STEP 1000.0

/* One learner's account after the readings so far. */
typedef struct {
  double suffered;   /* sum of Psi^n(x^n), (g/m3)^2 */
  double cumulative; /* less the optimum in hindsight, (g/m3)^2 */
  double local;      /* (g/m3)^4 per box width^2 */
} hw_regret_row;

typedef struct hw_regret hw_regret;

/* Status: HW_EHYDRAULICS; HW_EDOMAIN for options out of range; HW_ENOMEM */
hw_status hw_regret_create(const hw_river *river, const hw_regret_options *options, hw_regret **out);
/* Given:    the reading, and played[learners]: what each stood at before seeing it
 * Returned: rows[learners]
 * Status:   HW_EDOMAIN for a reading or a point that is not finite, a sensor that does not exist, or more readings than
 * announced */
hw_status hw_regret_add(hw_regret *regret, const hw_reading *reading, const hw_source *played, hw_regret_row *rows);
/* The optimum in hindsight for the readings so far: its source and the summed loss, (g/m3)^2.
 * Status: HW_EEMPTY before the first reading, HW_EUNSUPPORTED with local_only */
hw_status hw_regret_hindsight(const hw_regret *regret, hw_source *best, double *sum);
void hw_regret_free(hw_regret *regret);

/* How the single losses Psi^n bend, estimated by sampling: lower bounds on the true constants. Where a
 * plume passes a sensor at the time of a reading is where they are largest, so samples are laid there.
 * Units: (g/m3)^2 per box width, width^2, width^3. */
typedef struct {
  double lipschitz;         /* kappa */
  double smoothness;        /* beta: largest eigenvalue of a Hessian */
  double hessian_lipschitz; /* iota */
  double largest;           /* B: largest loss met */
} hw_loss_constants;

/* Status: HW_EHYDRAULICS, HW_EEMPTY without readings, HW_ENOMEM */
hw_status hw_regret_constants(const hw_river *river, const hw_reading *readings, size_t count, hw_loss_constants *out);

/* Theorem 3.2's bound on the local regret, (delta + 2 kappa / w)^2 N, with the window's true length
 * min(n, w) while it fills: sum_n (delta + 2 kappa / min(n, w))^2. delta in the units of kappa. */
double hw_regret_bound(const hw_loss_constants *constants, double delta, size_t window, size_t readings);
/* The window that minimises the bound for a fixed number of gradients: 2 kappa / delta within 1..N. */
size_t hw_regret_best_window(const hw_loss_constants *constants, double delta, size_t readings);

/* Theorem 3.2 (ii), eq. 7: the most gradient steps that Algorithm 1 takes over so many readings,
 *
 *   2 B N / (delta^2 (eta_least - beta eta_most^2 / 2) w),
 *
 * beta the smoothness, its steps between eta_least and eta_most in box widths^2 per (g/m3)^2; both 0 takes 1 / beta,
 * which makes the bound least. INFINITY where the bracket is not positive and nothing is promised. */
double hw_regret_gradient_bound(const hw_loss_constants *constants, double delta, size_t window, size_t readings,
                                double eta_least, double eta_most);
/* The same turned around: how many readings a budget of so many gradient steps lasts for. */
double hw_regret_readings_within(const hw_loss_constants *constants, double delta, size_t window, double steps,
                                 double eta_least, double eta_most);
/* Theorem 4.3, eq. 9, its O() read as 1: gradients of Algorithm 5, where F falls by `gap` at most, with this chance of
 * failure. The smoothness stands where the paper writes kappa, as in what it cites. */
double hw_regret_escape_bound(const hw_loss_constants *constants, double delta, double gap, double failure,
                              size_t readings);

/* Theorem 4.7, eq. 10, its O() read as 1: the cumulative regret of Algorithm 5. */
typedef struct {
  double printed;  /* mu delta / kappa x N */
  double inverted; /* kappa delta / mu x N, which is what Assumption 4.6 gives */
  double
      complete; /* kappa (delta + 2 kappa / w) / mu x N: x^n is stationary for the reading before, not for this one */
} hw_cumulative_bound;
hw_cumulative_bound hw_regret_cumulative_bound(double lipschitz, double mu, double delta, size_t window,
                                               size_t readings);

/* ---- The local error bound at Algorithm 5's answer (Definition 4.4, Example 4.5, Assumption 4.6) ---- */

/* Zero means the default. */
typedef struct {
  double threshold;    /* theta, on the gradient; default 0.01 */
  size_t samples;      /* points tried; default 1000 */
  uint64_t seed;       /* default 1 */
  const hw_source *at; /* check the mean loss here; default NULL, Algorithm 5's own answer, as the paper asks */
} hw_error_bound_options;

/* One reading of "close to a minimum". The paper prints d <= mu |grad F|; its Definition 4.4 gives d <= |grad F| / mu.
 */
typedef struct {
  double distance;       /* the bound on how far the minimum is, at the gradient met */
  double radius;         /* the neighbourhood looked at: the same with theta for the gradient */
  double share_positive; /* of the points sampled there, those with a positive definite Hessian */
  bool holds;            /* mu > 0 and all points positive definite */
} hw_error_region;

/* What kind of points these are, by Definition 4.1 (epsilon = theta) and Proposition 4.2 (tau = sqrt(iota theta), zeta
 * = theta / mu). */
typedef struct {
  size_t points;
  size_t first_order;  /* |grad F| <= epsilon */
  size_t second_order; /* of those, with no eigenvalue below -sqrt(iota epsilon) */
  size_t steep;        /* (i) |grad F| >= theta */
  size_t saddle;       /* else (ii) an eigenvalue of -tau or less */
  size_t close;        /* else (iii) within zeta of a strict minimum */
  size_t none;         /* neither: here F is not strict saddle, whatever the proposition says */
} hw_stationary;

/* Coordinates in box widths, losses divided by the mean square reading: all numbers are unit-free. */
typedef struct {
  /* Example 4.5, on the mean loss of all readings. */
  hw_source at;                     /* the point checked */
  double gradient;                  /* |grad F| there */
  double eigenvalue[3];             /* of the Hessian there, smallest first; mu is the first */
  double distance;                  /* measured: how far the minimum is that a descent from there ends in */
  hw_error_region printed, implied; /* mu |grad F| as printed; |grad F| / mu as Definition 4.4 has it */
  double convex_radius;             /* the largest radius, among 2^0 .. 2^-20, within which all points sampled are */
  /* Assumption 4.6, on the loss of every reading alone (w = 1). x^n is what Algorithm 5 stood at before reading n, x'
   * the minimum of that reading's loss which Algorithm 5 finds from there (Step 1). */
  double lipschitz;       /* kappa */
  size_t readings;        /* all of them */
  size_t definite;        /* with a positive definite Hessian at x' (Step 2), and so with a mu = kappa x eigenvalue */
  size_t definite_nearby; /* of those, with one at every point sampled within mu theta of x' too (Step 3) */
  size_t close;           /* of those, with x^n within mu theta / kappa of x' (Step 3) */
  double median_distance; /* of x^n from x' */
  double admitted_mu;     /* the largest mu with |grad Psi| >= mu/kappa (Psi - Psi') at every x^n; INFINITY: at any */
  bool single_holds;      /* all definite, nearby too, and close */
  /* Section 4 beside it. */
  hw_loss_constants constants; /* of single readings: kappa, smoothness, iota, B */
  hw_stationary
      iterates; /* what Algorithm 5 stood at after each reading (200 of them at most, evenly), on F of those so far */
  hw_stationary anywhere;     /* options.samples points drawn from the box, on F of all readings */
  double escape;              /* eq. 9 at delta = theta, gap B, failure 0.1 */
  hw_cumulative_bound regret; /* eq. 10 at delta = theta, w = 1 */
} hw_error_bound;

/* Runs Algorithm 5 over the readings (method "aptgd", resolved) and checks what it says.
 * Status: HW_EHYDRAULICS, HW_EEMPTY, HW_EDOMAIN for a point that is not finite, HW_ENOMEM */
hw_status hw_error_bound_check(const hw_river *river, const hw_reading *readings, size_t count,
                               const hw_error_bound_options *options, hw_error_bound *out);

#ifdef __cplusplus
}
#endif

#endif
