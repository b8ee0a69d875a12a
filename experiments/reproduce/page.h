/* One document written twice: a self-contained HTML page with pictures, and Markdown without them. */
#ifndef HW_EXPERIMENTS_PAGE_H
#define HW_EXPERIMENTS_PAGE_H

#include <stddef.h>

#include "headwater/status.h"

typedef struct hw_page hw_page;

/* Status: HW_EIO with *error; HW_ENOMEM. markdown_path may be NULL. */
hw_status hw_page_open(const char *title, const char *html_path, const char *markdown_path, hw_page **out,
                       hw_error *error);
void hw_page_heading(hw_page *page, const char *text);
/* A paragraph; printf-like, plain text, escaped here. */
void hw_page_text(hw_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table row by row: cells are separated by tabs, the first row is the head. */
void hw_page_table_begin(hw_page *page);
void hw_page_row(hw_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hw_page_table_end(hw_page *page);

/* An SVG file, carried inside the HTML; `alt` says in words what it shows.
 * Status: HW_EIO, HW_ENOMEM */
hw_status hw_page_picture(hw_page *page, const char *svg_path, const char *alt, hw_error *error);

/* What follows, up to the end, differs from run to run (timings): HTML only, fenced by the comments
 * "timings begin" and "timings end" so that the rest can be compared bit by bit. */
void hw_page_timings(hw_page *page);

/* Status: HW_EIO when anything could not be written. Releases the page in any case; NULL is fine. */
hw_status hw_page_close(hw_page *page, hw_error *error);

#endif
