/* How much a reading tells: the mutual information of the answer and what is read.
 *
 * A reading errs by sd^2 = floor^2 + (relative c)^2; on the scale z = asinh(relative c / floor) / relative that is one
 * everywhere. There the draws of each answer make a histogram of half-unit cells, which the error smooths with a normal
 * kernel: p(z | answer), and
 *
 *   I = sum_k p_k sum_z p(z | k) log2(p(z | k) / p(z)).
 *
 * Few draws look telling by chance alone. So the same is done with the draws dealt to the answers at random, and that
 * much is taken off. All readings below the detection limit are one outcome.
 */
#ifndef HW_ADVICE_INFORMATION_H
#define HW_ADVICE_INFORMATION_H

#include "advice/question.h"

enum { HW__CELLS = 512 };

typedef struct {
  double floor_g_m3, relative, limit_g_m3;
} hw__reading_error;

double hw__stabilised(const hw__reading_error *error, double c_g_m3);

/* Given:    what the draws picked[0 .. n) would read, stabilised, z[0 .. n); dealt is a permutation of 0 .. n - 1
 * Returned: bits, perhaps a little below 0; where n draws are not all, the answers' probabilities are those among them
 */
double hw__information(const hw__question *question, const hw__reading_error *error, const size_t *picked,
                       const double *z, const size_t *dealt, size_t n);

/* How likely each draw makes this reading: weights that sum to 1. False: no draw is near. */
bool hw__weigh(const double *z, size_t n, double read, double limit, double *weight);

#endif
