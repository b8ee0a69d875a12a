/* Particles, column by column: what each supposes, what follows from it along the river, and its running sums. */
#ifndef HW_POSTERIOR_CLOUD_H
#define HW_POSTERIOR_CLOUD_H

#include "headwater/method.h"
#include "headwater/rng.h"
#include "headwater/transport.h"
#include "posterior/kernel.h"

/* Columns. Place and time are the source's; hydraulics are ln of the factor on the river's own values. */
enum {
  HW__LOCATION,
  HW__RELEASE,
  HW__LN_VELOCITY,
  HW__LN_DISPERSION,
  HW__THETA, /* running integrals at the place, slowness and spread: see hw__view */
  HW__VARIANCE,
  HW__DECAY,
  HW__SLOWNESS,
  HW__SPREAD,
  HW__LAMBDA, /* sums over all sensors, and the evidence they come to */
  HW__H,
  HW__OFFSET,
  HW__EVIDENCE,
  HW__MASS,   /* to expect */
  HW__BASE,   /* evidence when weights were last equal */
  HW__WEIGHT, /* sums to 1 */
  HW__COLUMNS
};

typedef struct {
  size_t count; /* a multiple of HW__BLOCK */
  double *column[HW__COLUMNS];
  hw__sums *sums; /* per sensor; NULL pointers where a sensor needs none of its own */
  size_t *heard;  /* sensors whose sums are in use; those of the others are all zero and nobody looks at them */
  size_t heard_count;
  void *memory;
  size_t bytes;
} hw__cloud;

enum { HW__BLOCK = 256 };

/* needs_sums: one flag per sensor. */
bool hw__cloud_create(size_t count, const bool *needs_sums, size_t sensor_count, hw__cloud *out);
void hw__cloud_free(hw__cloud *cloud);

hw__view hw__cloud_view(const hw__cloud *cloud, size_t from);
hw__totals hw__cloud_totals(const hw__cloud *cloud, size_t from);
hw__sums hw__cloud_sums(const hw__cloud *cloud, size_t sensor, size_t from);

/* Fills the columns that follow from place, time and hydraulics of particle i. */
void hw__cloud_derive(hw__cloud *cloud, const hw_transport *transport, size_t i);

/* This sensor's sums are in use from now on; called once per sensor. */
void hw__cloud_hear(hw__cloud *cloud, size_t sensor);
/* All sums zero and out of use. */
void hw__cloud_forget(hw__cloud *cloud);

/* All columns and sums of one particle, from one cloud to another (or the same). */
void hw__cloud_copy(const hw__cloud *from, size_t i, hw__cloud *to, size_t j);

/* The prior: even in the box, lognormal in the hydraulics with `wider` times their spread, by a shifted lattice that
 * fills the box more evenly than independent draws. */
void hw__cloud_draw(hw__cloud *cloud, const hw_river *river, const hw_transport *transport, double wider, hw_rng *rng);

/* Systematic resampling; survivors stay where they are. Weights become equal. */
void hw__cloud_resample(hw__cloud *cloud, hw_rng *rng);

#endif
