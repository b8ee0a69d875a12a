/* How long a step: Algorithm 2 as printed and mended, and what Remark 3.3 allows in its place (hw_line_search). All of
 * them only ever shorten the step they are given, which is what Theorem 3.2 asks of them. */
#ifndef HW_ONLINE_LINE_SEARCH_H
#define HW_ONLINE_LINE_SEARCH_H

#include "online/paper_units.h"

/* Given:    where the path stands, the gradient there, the paper's beta, eta to begin with
 * Returned: eta to step with
 * Result:   false where no step was found that the rule accepts */
bool hw__line_search(const hw__paper *p, const double x[3], const double g[3], double beta, double eta[3]);

#endif
