/* The setting of the paper's experiments (section 5): river, box, start, readings. */
#ifndef HW_REPRODUCE_SETTING_H
#define HW_REPRODUCE_SETTING_H

#include "headwater/headwater.h"

extern const hw_source hw_paper_truth; /* 1300 g, -22106 m, -215 min */
extern const hw_source hw_paper_start; /* 1500 g, -10000 m, -205 min */

enum { HW_PAPER_READINGS = 1000, HW_MOST_ARTIFICIAL = 1364 };

/* To be released with hw_river_free. Status: HW_ENOMEM */
hw_status hw_paper_river(hw_river *out);

/* The artificial data: eq. (1) at the four sensors every half minute over their windows, thinned evenly to
 * `count` (at most HW_MOST_ARTIFICIAL; the paper has HW_PAPER_READINGS), all sensors together in time order. To be
 * freed. Status: HW_ENOMEM, HW_EHYDRAULICS */
hw_status hw_paper_artificial(const hw_river *river, size_t count, hw_reading **out);

/* The 82 real readings, from truckee/readings.csv in the data folder, in time order. To be freed.
 * Status: HW_EIO when the file is not there; HW_EINPUT, HW_ENOMEM; *error filled */
hw_status hw_paper_real(const hw_river *river, const char *data_dir, hw_reading **out, size_t *count, hw_error *error);

#endif
