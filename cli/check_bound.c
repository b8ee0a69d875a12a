#include "cli/check_bound.h"

#include <math.h>
#include <stdio.h>

static const char *verdict_of(bool holds) {
  return holds ? "holds" : "does not hold";
}

static const char *both_ways(const hw_error_bound *e) {
  return e->printed.holds && e->implied.holds ? "holds"
         : e->printed.holds                   ? "holds as printed only"
         : e->implied.holds                   ? "holds as derived only"
                                              : "does not hold";
}

static void print_region(const char *reading, const hw_error_region *r) {
  printf("    %s: %s; minimum within %.2g box widths, %.4g %% of the points within %.2g are convex\n", reading,
         verdict_of(r->holds), r->distance, 100 * r->share_positive, r->radius);
}

static void print_stationary(const char *whose, const hw_stationary *s) {
  printf(
      "    %s: %zu of %zu second-order stationary; strict saddle: %zu steep, %zu at a saddle, %zu near a minimum, %zu "
      "none of these\n",
      whose, s->second_order, s->points, s->steep, s->saddle, s->close, s->none);
}

void cli_print_error_bound(const hw_error_bound *e) {
  printf("\nAt the answer of Algorithm 5 (APTGD): %.6g kg at km %.2f\n", e->at.mass_g / 1000, e->at.location_m / 1000);
  printf("  curvature of the mean loss %.3g, %.3g, %.3g; gradient %.2g; the minimum is %.2g box widths away\n",
         e->eigenvalue[0], e->eigenvalue[1], e->eigenvalue[2], e->gradient, e->distance);
  printf("  local error bound (Example 4.5): %s; convex within %.3g box widths\n", both_ways(e), e->convex_radius);
  print_region("as printed, mu |grad F|", &e->printed);
  print_region("as derived, |grad F| / mu", &e->implied);
  printf(
      "  single readings (Assumption 4.6): %s; %zu of %zu minima convex, %zu also nearby, %zu with the iterate close\n",
      verdict_of(e->single_holds), e->definite, e->readings, e->definite_nearby, e->close);
  printf("    median distance of the iterates %.2g box widths, kappa %.3g", e->median_distance, e->lipschitz);
  if (isfinite(e->admitted_mu)) {
    printf(", largest mu its inequality admits %.3g", e->admitted_mu);
  }
  printf("\n  kinds of points (Definition 4.1, Proposition 4.2): the proposition %s\n",
         e->iterates.none + e->anywhere.none ? "does not hold" : "holds where looked");
  print_stationary("iterates of Algorithm 5", &e->iterates);
  print_stationary("anywhere in the box", &e->anywhere);
  printf("  gradients of Algorithm 5 (Theorem 4.3, eq. 9): of the order of %.2g\n", e->escape);
  if (e->eigenvalue[0] > 0) {
    printf(
        "  cumulative regret (Theorem 4.7, eq. 10), in mean squares of the readings: of the order of %.2g as printed, "
        "%.2g "
        "by its\n    own assumption, %.2g with the term 2 kappa / w that is missing\n",
        e->regret.printed, e->regret.inverted, e->regret.complete);
  }
}

static void print_region_json(const char *key, const hw_error_region *r) {
  printf("\"%s\": {\"holds\": %s, \"distance\": %.9g, \"radius\": %.9g, \"share_positive\": %.9g}", key,
         r->holds ? "true" : "false", r->distance, r->radius, r->share_positive);
}

static void print_stationary_json(const char *key, const hw_stationary *s) {
  printf(
      ",\n   \"%s\": {\"points\": %zu, \"first_order\": %zu, \"second_order\": %zu, \"steep\": %zu, \"saddle\": %zu, "
      "\"close\": %zu, \"none\": %zu}",
      key, s->points, s->first_order, s->second_order, s->steep, s->saddle, s->close, s->none);
}

void cli_print_error_bound_json(const hw_error_bound *e) {
  printf("{\"holds\": %s, \"at\": {\"mass_g\": %.9g, \"location_m\": %.9g, \"time_s\": %.9g},\n",
         e->printed.holds && e->implied.holds ? "true" : "false", e->at.mass_g, e->at.location_m, e->at.time_s);
  printf("   \"gradient\": %.9g, \"eigenvalues\": [%.9g, %.9g, %.9g], \"distance\": %.9g, \"convex_radius\": %.9g,\n",
         e->gradient, e->eigenvalue[0], e->eigenvalue[1], e->eigenvalue[2], e->distance, e->convex_radius);
  printf("   ");
  print_region_json("printed", &e->printed);
  printf(",\n   ");
  print_region_json("implied", &e->implied);
  printf(",\n   \"single_readings\": {\"holds\": %s, \"readings\": %zu, \"definite\": %zu, \"definite_nearby\": %zu, ",
         e->single_holds ? "true" : "false", e->readings, e->definite, e->definite_nearby);
  printf("\"close\": %zu, \"median_distance\": %.9g, \"kappa\": %.9g, \"admitted_mu\": ", e->close, e->median_distance,
         e->lipschitz);
  if (isfinite(e->admitted_mu)) {
    printf("%.9g}", e->admitted_mu);
  } else {
    printf("null}");
  }
  print_stationary_json("iterates", &e->iterates);
  print_stationary_json("anywhere", &e->anywhere);
  printf(",\n   \"gradients_eq9\": %.9g, \"regret_eq10\": ", e->escape);
  if (e->eigenvalue[0] > 0) {
    printf("{\"printed\": %.9g, \"inverted\": %.9g, \"complete\": %.9g}}", e->regret.printed, e->regret.inverted,
           e->regret.complete);
  } else {
    printf("null}");
  }
}
