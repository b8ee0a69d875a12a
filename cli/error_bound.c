#include "cli/error_bound.h"

#include <stdio.h>

void cli_error_bound_text(const hw_error_bound *b) {
  printf("Local error bound (Example 4.4), in box widths and mean squares of the readings:\n");
  printf("  smallest eigenvalue of the loss's Hessian at the estimate: mu = %.4g (others %.4g, %.4g)\n",
         b->eigenvalue[0], b->eigenvalue[1], b->eigenvalue[2]);
  if (b->eigenvalue[0] > 0) {
    printf("  points within %.3g widths with a positive definite Hessian: %.1f %%; all of them within %.3g widths\n",
           b->radius, 100 * b->share_positive, b->convex_radius);
  }
  printf("  the condition %s\n", b->holds ? "holds here" : "does not hold here");
  printf("Error bound of single readings (Assumption 4.5, window 1):\n");
  printf("  readings with a positive definite Hessian of their own: %zu of the %zu the estimate says anything about\n",
         b->definite, b->readings);
  printf("  |gradient| >= mu x loss, which the assumption is for: %.1f %% of (reading, point) pairs\n",
         100 * b->share_gradient_bound);
  printf("  the assumption %s\n",
         b->single_holds ? "holds here" : "does not hold here: one reading cannot tell mass, place and time apart");
}

void cli_error_bound_json(const hw_error_bound *b) {
  printf(
      "{\"eigenvalues\": [%.9g, %.9g, %.9g], \"radius\": %.9g, \"share_positive\": %.9g, \"holds\": %s, "
      "\"convex_radius\": %.9g, \"single_readings\": {\"readings\": %zu, \"definite\": %zu, \"share_gradient_bound\": "
      "%.9g, "
      "\"holds\": %s}}",
      b->eigenvalue[0], b->eigenvalue[1], b->eigenvalue[2], b->radius, b->share_positive, b->holds ? "true" : "false",
      b->convex_radius, b->readings, b->definite, b->share_gradient_bound, b->single_holds ? "true" : "false");
}
