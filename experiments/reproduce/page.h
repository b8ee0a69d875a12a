/* One document written twice: a self-contained HTML page with pictures, and Markdown without them. */
#ifndef HW_EXPERIMENTS_PAGE_H
#define HW_EXPERIMENTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "headwater/status.h"

typedef struct hw_page hw_page;

/* Nothing is written to any file before hw_page_write. Status: HW_ENOMEM */
hw_status hw_page_open(const char *title, hw_page **out);
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

/* What follows belongs to this section. The Markdown begins it with the comment "section NAME", so that a section can
 * be exchanged by itself, and ends the one before with its findings. */
void hw_page_section(hw_page *page, const char *name);

/* One claim of the paper and what became of it. The HTML lists all of them in one table where hw_page_findings_here was
 * called. */
typedef enum { HW_HOLDS, HW_PARTLY, HW_UNDECIDED, HW_FAILS } hw_verdict;
void hw_page_findings_here(hw_page *page);
void hw_page_finding(hw_page *page, const char *item, const char *claim, hw_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The findings as lines of plain text. */
void hw_page_print_findings(const hw_page *page, FILE *to);

/* What follows, up to the end, differs from run to run (timings): HTML only, fenced by the comments
 * "timings begin" and "timings end" so that the rest can be compared bit by bit. */
void hw_page_timings(hw_page *page);

/* Writes the HTML and, unless its path is NULL, the Markdown.
 * Status: HW_EIO with *error, HW_ENOMEM */
hw_status hw_page_write(hw_page *page, const char *html_path, const char *markdown_path, hw_error *error);
void hw_page_free(hw_page *page); /* NULL is fine */

#endif
