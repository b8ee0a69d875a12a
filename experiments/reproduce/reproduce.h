/* The paper's tables and figures, regenerated and judged. */
#ifndef HW_REPRODUCE_REPRODUCE_H
#define HW_REPRODUCE_REPRODUCE_H

#include "experiments/reproduce/chart.h"
#include "experiments/reproduce/page.h"
#include "experiments/reproduce/setting.h"
#include "experiments/reproduce/trials.h"
#include "experiments/reproduce/verdict.h"

typedef struct {
  const char *data_dir; /* field data; where absent, the synthetic parts alone */
  const char *out_dir;  /* exists; index.html and the pictures go there */
  const char *markdown; /* the same as Markdown, without pictures; NULL: not wanted */
  uint64_t seed;
  size_t readings; /* artificial ones; the paper has HW_PAPER_READINGS */
  size_t seeds;    /* draws of everything random, behind every verdict; 1 to HW_MOST_SEEDS */
  size_t threads;
  const char *only; /* names of sections with commas between; NULL: all of them */
  hw_tell tell;     /* progress */
  void *context;
} hw_reproduce_options;

/* Everything. Findings go to `findings` as text (NULL: nowhere); *real_data says whether the field data were there.
 * Status: HW_EIO, HW_EINPUT, HW_ENOMEM with *error filled */
hw_status hw_reproduce(const hw_reproduce_options *options, FILE *findings, bool *real_data, hw_error *error);

/* Is this the name of a section, up to its end or a comma? */
bool hw_is_section(const char *name);
extern const char hw_section_names[]; /* for people */

/* ---- For the sections, one file each ---- */

enum { HW_TGD, HW_ATGD, HW_APTGD, HW_MTGD, HW_MPTGD, HW_LEARNERS };
enum { HW_VARIANTS = 3, HW_MOST_SEEDS = 200, HW_MOST_TIMINGS = 400, HW_MOST_THINNED = 500 };
extern const char *const hw_learners[HW_LEARNERS];       /* tgd atgd aptgd mtgd mptgd */
extern const char *const hw_learner_labels[HW_LEARNERS]; /* TGD ... */
extern const hw_variant hw_variants[HW_VARIANTS];        /* printed, corrected, resolved: the order of every table */
extern const char *const hw_variant_labels[HW_VARIANTS];

typedef struct {
  char label[96];
  double seconds;
} hw_timing;

typedef struct {
  const hw_reproduce_options *options;
  hw_river river;
  hw_reading *artificial, *real;
  hw_reading thinned[HW_MOST_THINNED]; /* of the artificial ones, evenly: for sections with thousands of runs */
  size_t thinned_count;
  size_t artificial_count, real_count; /* real_count 0: the data are not there */
  hw_page *page;
  hw_error *error;
  hw_timing timings[HW_MOST_TIMINGS];
  size_t timing_count;
  double share_from, share_to; /* the part of the whole that the section at work is */
} hw_reproduction;

hw_trial_setting hw_setting_of(const hw_reproduction *r, bool real, const char *what);
/* The same with the thinned artificial readings. */
hw_trial_setting hw_thinned_setting_of(const hw_reproduction *r, const char *what);
/* The paper's options for a learner: its window of one for the pseudo-code, printed or corrected, else the whole
 * record. The first seed starts where the paper does; the others, because its algorithms say "arbitrarily", anywhere in
 * the box. */
hw_options hw_learner_options(const hw_reproduction *r, hw_variant variant, size_t seed);
/* The window that a variant's local regret is about. */
size_t hw_window_of(hw_variant variant, size_t readings);
void hw_note_seconds(hw_reproduction *r, const char *label, double seconds);
/* Draws the chart to NAME.svg in the output folder and puts it on the page. */

hw_status hw_show_chart(hw_reproduction *r, const hw_chart *chart, const char *name, const char *alt);

hw_status hw_reproduce_figure3(hw_reproduction *r);
hw_status hw_reproduce_growth(hw_reproduction *r);
hw_status hw_reproduce_figure4(hw_reproduction *r);
hw_status hw_reproduce_figure5(hw_reproduction *r);
hw_status hw_reproduce_figure6(hw_reproduction *r);
hw_status hw_reproduce_table1(hw_reproduction *r);
hw_status hw_reproduce_tables23(hw_reproduction *r);
hw_status hw_reproduce_beyond(hw_reproduction *r);
hw_status hw_reproduce_ablation(hw_reproduction *r);

#endif
