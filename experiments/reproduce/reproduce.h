/* The paper's tables and figures, regenerated and judged. */
#ifndef HW_REPRODUCE_REPRODUCE_H
#define HW_REPRODUCE_REPRODUCE_H

#include "experiments/reproduce/chart.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/setting.h"
#include "experiments/reproduce/trials.h"

typedef struct {
  const char *data_dir; /* field data; where absent, the synthetic parts alone */
  const char *out_dir;  /* exists; index.html and the pictures go there */
  const char *markdown; /* the same as Markdown, without pictures; NULL: not wanted */
  uint64_t seed;
  size_t readings; /* artificial ones; the paper has HW_PAPER_READINGS */
  size_t threads;
  hw_tell tell; /* progress */
  void *context;
} hw_reproduce_options;

/* Everything. Findings go to `findings` as text (NULL: nowhere); *real_data says whether the field data were there.
 * Status: HW_EIO, HW_EINPUT, HW_ENOMEM with *error filled */
hw_status hw_reproduce(const hw_reproduce_options *options, FILE *findings, bool *real_data, hw_error *error);

/* ---- For the sections, one file each ---- */

enum { HW_LEARNERS = 5, HW_MOST_TIMINGS = 400 };
extern const char *const hw_learners[HW_LEARNERS];       /* tgd atgd aptgd mtgd mptgd */
extern const char *const hw_learner_labels[HW_LEARNERS]; /* TGD ... */

typedef struct {
  char label[96];
  double seconds;
} hw_timing;

typedef struct {
  const hw_reproduce_options *options;
  hw_river river;
  hw_reading *artificial, *real;
  size_t artificial_count, real_count; /* real_count 0: the data are not there */
  hw_page *page;
  hw_error *error;
  hw_timing timings[HW_MOST_TIMINGS];
  size_t timing_count;
} hw_reproduction;

hw_trial_setting hw_setting_of(const hw_reproduction *r, bool real, const char *what);
/* The paper's options for a learner: its start, its window (1) for the printed variant. */
hw_options hw_learner_options(const hw_reproduction *r, hw_variant variant);
void hw_note_seconds(hw_reproduction *r, const char *label, double seconds);
/* Draws the chart to NAME.svg in the output folder and puts it on the page. */

hw_status hw_show_chart(hw_reproduction *r, const hw_chart *chart, const char *name, const char *alt);

hw_status hw_reproduce_figure3(hw_reproduction *r);
hw_status hw_reproduce_figure4(hw_reproduction *r);
hw_status hw_reproduce_figure5(hw_reproduction *r);
hw_status hw_reproduce_figure6(hw_reproduction *r);
hw_status hw_reproduce_table1(hw_reproduction *r);
hw_status hw_reproduce_tables23(hw_reproduction *r);

#endif
