/* How a release travels: the advection-dispersion equation along a river.
 *
 * For one uniform reach this is the paper's eq. (1),
 *
 *   c = s / (A sqrt(4 pi D T)) exp(-(X - vT)^2 / (4 D T) - kT),   X = x - l,  T = t - t0,
 *
 * and exactly 0 when T <= 0 or when the place lies upstream of the source (X <= 0).
 *
 * Over several reaches travel time, temporal variance and decay add up along the way:
 *
 *   theta = sum dx/v,   V = sum 2 D dx / v^3,   K = sum k dx / v,
 *   c = s / Q  sqrt(a / (2 pi T))  exp(-a (T - theta)^2 / (2 T) - kappa T),   a = theta / V,  kappa = K / theta,
 *
 * with Q = A v at the place itself, also below confluences: what comes together is mixed. In a uniform river a = v^2 /
 * (2 D), kappa = k, and this is eq. (1) again, to rounding. What passes any place, integral of Q c dt, is s when
 * nothing decays.
 *
 * Everything that depends on the two places but not on time is a leg; a leg is worked out once per
 * source location and sensor and then serves every reading there.
 */
#ifndef HEADWATER_TRANSPORT_H
#define HEADWATER_TRANSPORT_H

#include "headwater/river.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A river made ready for evaluation, at given velocities and dispersions. Opaque; independent of the
 * river it was made from once made. */
typedef struct hw_transport hw_transport;

/* Multipliers on the river's own velocity and dispersion (their known values or medians). */
typedef struct {
  double velocity;   /* > 0; 1: as the river says */
  double dispersion; /* > 0; 1: as the river says */
} hw_hydraulic_scale;

/* Given:    river, and scale (NULL: 1, 1)
 * Returned: *out, to be released with hw_transport_free; NULL on failure
 * Status:   HW_EHYDRAULICS when velocity or dispersion is unknown, or neither area nor discharge is known;
 *           HW_EDOMAIN for a scale that is not positive */
hw_status hw_transport_create(const hw_river *river, const hw_hydraulic_scale *scale, hw_transport **out);
void hw_transport_free(hw_transport *transport);

/* From one place to another: what eq. (1) needs to know, with derivatives along the source location. */
typedef struct {
  double travel_s;        /* theta; <= 0: the place is not downstream of the source, nothing arrives */
  double sharpness_per_s; /* a: v^2 / (2 D) in a uniform river */
  double decay_per_s;     /* kappa */
  double discharge_m3_s;  /* Q at the place */
  double travel_dl;       /* d theta / d l, s/m; -1/v at the source */
  double sharpness_dl, sharpness_dl2;
  double decay_dl, decay_dl2;
} hw_leg;

/* Given:    from_m the source's location, to_m the place looked at
 * Returned: the leg; its derivatives hold inside a reach (they jump where reaches meet) */
hw_leg hw_transport_leg(const hw_transport *transport, double from_m, double to_m);

/* The same between two places of a network, by the one way the water takes; branch 0 on a river without branches.
 * Dilution at confluences is in the discharge, which is that at the place.
 * Returned: a leg whose travel_s is not positive where the water of one place does not pass the other */
hw_leg hw_transport_leg_between(const hw_transport *transport, size_t from_branch, double from_m, size_t to_branch,
                                double to_m);

/* Concentration per gram released, g/m3/g, at this age (seconds since the release); 0 when age <= 0. */
double hw_leg_response(const hw_leg *leg, double age_s);

/* The same for a release that goes on evenly for duration_s (0: an instant); age_s counts from its begin. The integral
 * of the response over the release, in two error functions. */
double hw_leg_lasting(const hw_leg *leg, double age_s, double duration_s);

/* Value, gradient and Hessian of c in (s, l, t). Order: mass, location, time. */
typedef struct {
  double value;
  double gradient[3];
  double hessian[3][3];
} hw_derivatives;

/* As hw_leg_response times the mass, with gradient (and Hessian when want_hessian). */
void hw_leg_derivatives(const hw_leg *leg, double mass_g, double age_s, bool want_hessian, hw_derivatives *out);

/* Convenience for a single question: concentration at one place and time; in a network, x_m of the branch that joins
 * nothing.
 * Status: HW_EDOMAIN for a non-finite argument */
hw_status hw_transport_concentration(const hw_transport *transport, const hw_source *source, double x_m, double t_s,
                                     double *c_g_m3);

/* A release and everything that happens to it: on its branch, for its time, in a river whose flow may change (the
 * river's gauges and flow). Without flow readings and at duration 0 this is hw_leg_response times the mass, to the bit.
 */
typedef struct hw_spill hw_spill;

/* Given:    river; source, whose time is the begin; duration_s, 0 for an instant. The rate is even in between
 * Returned: *out, to be released with hw_spill_free, independent of the river; NULL on failure
 * Status:   as hw_transport_create; HW_EDOMAIN for a branch that is not there or numbers that are not finite */
hw_status hw_spill_create(const hw_river *river, const hw_source *source, double duration_s, hw_spill **out);
void hw_spill_free(hw_spill *spill);
/* Concentration at one place and time, g/m3; exactly 0 where its water does not pass and before it could. */
double hw_spill_concentration(const hw_spill *spill, size_t branch, double x_m, double time_s);
/* From when to when the concentration there exceeds this share of its peak, about; false where it never comes. */
bool hw_spill_window(const hw_spill *spill, size_t branch, double x_m, double share, double *first_s, double *last_s);

#ifdef __cplusplus
}
#endif

#endif
