/* What one sensor's readings say about its pulse: a probability over (phi, lead, skew).
 *
 * For a shape g with peak 1, readings c_i and inverse variances w_i the height A has the likelihood
 * exp(A sum w c g - A^2 sum w g^2 / 2). Under p(A) ~ A^(-1-alpha) it is integrated out by Laplace's
 * method in ln A. The power cures the rising limb: with a flat or log-uniform height, a huge pulse far
 * away explains any first rise.
 *
 * The lattice is found afresh from the history each time, in three passes that zoom in on where the
 * probability is, the first ones with a damped likelihood so that no narrow pulse slips through a wide
 * mesh. It therefore depends on the readings alone, not on the order in which they came. Priors: flat in
 * phi and in ln lead, normal in skew.
 */
#ifndef HW_FIELD_LATTICE_H
#define HW_FIELD_LATTICE_H

#include <stdbool.h>

#include "field/population.h"
#include "field/shape.h"
#include "field/trace.h"

/* Leads and places a column of the first, wide mesh and of the finer ones. */
enum { HW__WIDE_LEADS = 14, HW__WIDE_PLACES = 24, HW__FINE_LEADS = 12, HW__FINE_PLACES = 16 };
enum { HW__LATTICE_CELLS = HW__FINE_LEADS * HW__FINE_PLACES * HW__SHAPES };

typedef struct {
  float log_lead;   /* of seconds */
  float y;          /* (phi - anchor) / lead */
  float y_step;     /* width of the cell in y */
  float amplitude;  /* most probable height, share of the outline's height */
  float cumulative; /* probability of the cells up to and including this one */
  unsigned char shape;
} hw__cell;

/* A lattice in a few numbers. */
typedef struct {
  bool found;             /* some pulse of the family comes near the readings */
  double phi_s, phi_sd_s; /* mean and standard deviation of the passage */
  double log_lead_sd;
  double misfit; /* root mean square, of the most probable pulse, as a share of its height */
} hw__gist;

typedef struct {
  size_t count;
  hw__cell cell[HW__LATTICE_CELLS]; /* those that matter */
  double log_lead_step;
  double anchor_s;
  double height_g_m3;
  hw__gist gist;
} hw__lattice;

/* The range of ln lead (of seconds) to look in. */
typedef struct {
  double lo, hi;
} hw__lead_range;

/* Status of sorts: out->count is 0 when no pulse of the family comes near the readings. */
void hw__lattice_build(const hw__shapes *shapes, const hw__outline *outline, hw__lead_range leads,
                       const hw__population *population, hw__lattice *out);

/* ln of the integral over ln A of A^-alpha exp(A cross - A^2 square / 2), by Laplace's method;
 * *amplitude the mode. -INFINITY when the height has no mode, that is when nothing is seen of it. */
double hw__amplitude_evidence(double cross, double square, double alpha, double *amplitude);

/* A pulse picked from the lattice: `pick` in [0, 1) chooses the cell, `across` and `along` in [0, 1) the
 * place inside it. */
typedef struct {
  double phi_s;
  double log_lead;
  double height_g_m3;
  unsigned char shape;
} hw__pulse;

hw__pulse hw__lattice_pick(const hw__lattice *lattice, double pick, double across, double along);

#endif
