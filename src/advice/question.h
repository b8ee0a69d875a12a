/* The question asked, as weights: how much of each answer's probability each draw carries. */
#ifndef HW_ADVICE_QUESTION_H
#define HW_ADVICE_QUESTION_H

#include "advice/stretches.h"
#include "headwater/advice.h"

enum { HW__ANSWERS_MOST = 24 };

typedef struct {
  size_t answers, draws;
  double *joint;         /* [answer][draw]; all of them sum to 1 */
  unsigned char *answer; /* [draw], where each has one alone; NULL: a draw may carry several */
  double share[HW__ANSWERS_MOST];
  hw__stretches fine; /* of the place, for its region; none for other questions */
} hw__question;

/* One question's answers; intake says which where that is the question.
 * Status: HW_ENOMEM; HW_EEMPTY where nothing is open */
hw_status hw__question_create(const hw__foresight *f, const hw_river *river, const hw_estimate *estimate,
                              hw_question asked, size_t intake, hw__question *out);
void hw__question_free(hw__question *question);

/* In bits. */
double hw__entropy_bits(const double *share, size_t count);

#endif
