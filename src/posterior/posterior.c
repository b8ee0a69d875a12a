/* The method `posterior`: the river file decides which of its two models answers. Dispersion known or uncertain: the
 * advection-dispersion equation (mode K, modek.h). */
#include "method/methods.h"
#include "posterior/modek.h"

const hw_method hw_method_posterior = {
    .name = "posterior",
    .summary = "every (mass, place, time) and how probable, after every reading",
    .create = hw__modek_create,
    .observe = hw__modek_observe,
    .estimate = hw__modek_estimate,
    .destroy = hw__modek_destroy,
    .samples = hw__modek_samples,
    .predict = hw__modek_predict,
};
