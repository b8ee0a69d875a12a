/* Sentences a duty officer reads beside the answer. A bounded list: the first ones stay, later ones
 * beyond the capacity are dropped, nothing is allocated. */
#ifndef HW_SUMMARY_WARNINGS_H
#define HW_SUMMARY_WARNINGS_H

#include "headwater/method.h"

enum { HW__WARNING_COUNT = 24, HW__WARNING_SIZE = 240 };

typedef struct {
  size_t count;
  char text[HW__WARNING_COUNT][HW__WARNING_SIZE];
  const char *pointers[HW__WARNING_COUNT]; /* what hw_estimate.warnings points to */
} hw__warnings;

void hw__warnings_clear(hw__warnings *warnings);
void hw__warn(hw__warnings *warnings, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sentences shared by both models. Each adds itself only where it applies. */

/* The posterior is cut off by a side of the search box: within a third of its standard deviation of that side lies more
 * of it than 6 % (a normal one would have to end 1.5 standard deviations from its middle) and more than 2.5 times what
 * an even spread over the box would put there. */
void hw__warn_box(hw__warnings *warnings, const hw_box *box, const hw_sample *samples, size_t n);
void hw__warn_incomplete(hw__warnings *warnings, bool provisional);
/* The sensor saw nothing above its detection limit; or its background, where its readings show one, level_g_m3, above
 * the limit, or where there is no limit. */
void hw__warn_never_rose(hw__warnings *warnings, const hw_sensor *sensor, double level_g_m3);
void hw__warn_spike(hw__warnings *warnings, const hw_sensor *sensor, size_t count, double last_s, double last_g_m3);

#endif
