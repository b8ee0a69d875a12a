/* The page of results: see page.h. */
#include "experiments/reproduce/page.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 8192, MOST_FINDINGS = 160, LINE_SIZE = 1024 };

/* A text that grows; stdio's memory stream. */
typedef struct {
  FILE *stream;
  char *text;
  size_t size;
} growing;

typedef struct {
  char item[64], claim[256], evidence[LINE_SIZE];
  hw_verdict verdict;
} finding;

struct hw_page {
  char title[256];
  growing before_html, before_markdown; /* up to the table of findings */
  growing after_html, after_markdown;
  FILE *html, *markdown; /* the pair written to now */
  bool head_row;         /* the next row is a table's head */
  bool timings;
  finding findings[MOST_FINDINGS];
  size_t finding_count;
  size_t findings_listed; /* in the Markdown, section by section */
};

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1,h2{line-height:1.2}h2{margin-top:2.5rem;border-top:1px solid #ddd;padding-top:1rem}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem;display:block;overflow-x:auto}"
    "th,td{border-bottom:1px solid #ddd;padding:.25rem .7rem;text-align:left;vertical-align:top}"
    "td.n{text-align:right;white-space:nowrap}th{border-bottom:2px solid #222}img{max-width:100%;height:auto}";

static bool open_growing(growing *g) {
  g->stream = open_memstream(&g->text, &g->size);
  return g->stream != NULL;
}

static void close_growing(growing *g) {
  if (g->stream) {
    fclose(g->stream);
  }
  free(g->text);
}

hw_status hw_page_open(const char *title, hw_page **out) {
  *out = NULL;
  hw_page *page = calloc(1, sizeof *page);
  if (!page) {
    return HW_ENOMEM;
  }
  if (!open_growing(&page->before_html) || !open_growing(&page->before_markdown) || !open_growing(&page->after_html) ||
      !open_growing(&page->after_markdown)) {
    hw_page_free(page);
    return HW_ENOMEM;
  }
  snprintf(page->title, sizeof page->title, "%s", title);
  page->html = page->before_html.stream;
  page->markdown = page->before_markdown.stream;
  *out = page;
  return HW_OK;
}

void hw_page_free(hw_page *page) {
  if (page) {
    close_growing(&page->before_html);
    close_growing(&page->before_markdown);
    close_growing(&page->after_html);
    close_growing(&page->after_markdown);
    free(page);
  }
}

void hw_page_findings_here(hw_page *page) {
  page->html = page->after_html.stream;
  page->markdown = page->after_markdown.stream;
}

static void put_escaped(FILE *file, const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    switch (text[i]) {
      case '<':
        fputs("&lt;", file);
        break;
      case '>':
        fputs("&gt;", file);
        break;
      case '&':
        fputs("&amp;", file);
        break;
      case '"':
        fputs("&quot;", file);
        break;
      default:
        fputc(text[i], file);
    }
  }
}

/* NULL among the timings, which the Markdown leaves out. */
static FILE *markdown_of(const hw_page *page) {
  return page->timings ? NULL : page->markdown;
}

void hw_page_heading(hw_page *page, const char *text) {
  fputs("<h2>", page->html);
  put_escaped(page->html, text, strlen(text));
  fputs("</h2>\n", page->html);
  if (markdown_of(page)) {
    fprintf(page->markdown, "\n## %s\n", text);
  }
}

/* A paragraph of Markdown, in lines of at most 120 columns. */
static void put_wrapped(FILE *out, const char *text) {
  enum { WIDTH = 120 };
  size_t column = 0;
  while (*text) {
    const size_t word = strcspn(text, " ");
    const bool fits = column + 1 + word <= WIDTH;
    if (column > 0) {
      fputc(fits ? ' ' : '\n', out);
    }
    fwrite(text, 1, word, out);
    column = column > 0 && fits ? column + 1 + word : word;
    text += word + strspn(text + word, " ");
  }
  fputc('\n', out);
}

void hw_page_text(hw_page *page, const char *format, ...) {
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fputs("<p>", page->html);
  put_escaped(page->html, text, strlen(text));
  fputs("</p>\n", page->html);
  if (markdown_of(page)) {
    fputc('\n', page->markdown);
    put_wrapped(page->markdown, text);
  }
}

void hw_page_table_begin(hw_page *page) {
  page->head_row = true;
  fputs("<table>\n", page->html);
  if (markdown_of(page)) {
    fputc('\n', page->markdown);
  }
}

/* Cells of nothing but figures stand to the right. */
static bool is_number(const char *cell, size_t size) {
  return size > 0 && strspn(cell, "0123456789.e+-() ") >= size;
}

void hw_page_row(hw_page *page, const char *format, ...) {
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *tag = page->head_row ? "th" : "td";
  FILE *markdown = markdown_of(page);
  size_t cells = 0;
  fputs("<tr>", page->html);
  for (const char *cell = text; cell; cells++) {
    const char *tab = strchr(cell, '\t');
    const size_t size = tab ? (size_t)(tab - cell) : strlen(cell);
    fprintf(page->html, "<%s%s>", tag, !page->head_row && is_number(cell, size) ? " class=n" : "");
    put_escaped(page->html, cell, size);
    fprintf(page->html, "</%s>", tag);
    if (markdown) {
      fprintf(markdown, "| %.*s ", (int)size, cell);
    }
    cell = tab ? tab + 1 : NULL;
  }
  fputs("</tr>\n", page->html);
  if (markdown) {
    fputs("|\n", markdown);
    for (size_t i = 0; page->head_row && i < cells; i++) {
      fputs(i + 1 < cells ? "|---" : "|---|\n", markdown);
    }
  }
  page->head_row = false;
}

void hw_page_table_end(hw_page *page) {
  fputs("</table>\n", page->html);
}

static void put_base64(FILE *out, FILE *in) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char bytes[3];
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, in)) > 0;) {
    const unsigned word = (unsigned)bytes[0] << 16 | (got > 1 ? (unsigned)bytes[1] << 8 : 0) | (got > 2 ? bytes[2] : 0);
    for (size_t k = 0; k < 4; k++) {
      fputc(k <= got ? digits[word >> (18 - 6 * k) & 63] : '=', out);
    }
  }
}

hw_status hw_page_picture(hw_page *page, const char *svg_path, const char *alt, hw_error *error) {
  FILE *svg = fopen(svg_path, "rb");
  if (!svg) {
    snprintf(error->text, sizeof error->text, "%s: cannot be read, expected the picture just drawn", svg_path);
    return HW_EIO;
  }
  fputs("<p><img alt=\"", page->html);
  put_escaped(page->html, alt, strlen(alt));
  fputs("\" src=\"data:image/svg+xml;base64,", page->html);
  put_base64(page->html, svg);
  fputs("\"></p>\n", page->html);
  fclose(svg);
  return HW_OK;
}

void hw_page_finding(hw_page *page, const char *item, const char *claim, hw_verdict verdict, const char *format, ...) {
  if (page->finding_count == MOST_FINDINGS) {
    return;
  }
  finding *f = &page->findings[page->finding_count++];
  snprintf(f->item, sizeof f->item, "%s", item);
  snprintf(f->claim, sizeof f->claim, "%s", claim);
  f->verdict = verdict;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f->evidence, sizeof f->evidence, format, arguments);
  va_end(arguments);
}

static const char *verdict_text(hw_verdict verdict) {
  static const char *const texts[] = {"holds", "in part", "undecided", "does not hold"};
  return texts[verdict];
}

void hw_page_print_findings(const hw_page *page, FILE *to) {
  for (size_t i = 0; i < page->finding_count; i++) {
    const finding *f = &page->findings[i];
    fprintf(to, "%-9s %-13s  %s: %s\n", f->item, verdict_text(f->verdict), f->claim, f->evidence);
  }
}

/* The findings of the section that ends, in the Markdown alone. */
static void list_findings(hw_page *page) {
  if (page->findings_listed < page->finding_count) {
    fputs("\n| item | claim | verdict | measured |\n|---|---|---|---|\n", page->markdown);
  }
  for (; page->findings_listed < page->finding_count; page->findings_listed++) {
    const finding *f = &page->findings[page->findings_listed];
    fprintf(page->markdown, "| %s | %s | %s | %s |\n", f->item, f->claim, verdict_text(f->verdict), f->evidence);
  }
}

void hw_page_section(hw_page *page, const char *name) {
  list_findings(page);
  fprintf(page->markdown, "\n<!-- section %s -->\n", name);
}

void hw_page_timings(hw_page *page) {
  list_findings(page);
  fputs("<!-- timings begin -->\n", page->html);
  page->timings = true;
}

/* The table of findings belongs behind what was written before hw_page_findings_here. */
static void add_findings(hw_page *page) {
  FILE *html = page->html;
  const bool timings = page->timings;
  page->html = page->before_html.stream;
  page->timings = true; /* not in the Markdown, which has them section by section */
  hw_page_heading(page, "What holds");
  hw_page_table_begin(page);
  hw_page_row(page, "item\tclaim\tverdict\tmeasured");
  for (size_t i = 0; i < page->finding_count; i++) {
    const finding *f = &page->findings[i];
    hw_page_row(page, "%s\t%s\t%s\t%s", f->item, f->claim, verdict_text(f->verdict), f->evidence);
  }
  hw_page_table_end(page);
  page->html = html;
  page->timings = timings;
}

static hw_status write_file(const char *path, const char *head, const growing *before, const growing *after,
                            const char *tail, hw_error *error) {
  FILE *file = fopen(path, "w");
  bool bad = file == NULL;
  if (file) {
    fputs(head, file);
    fwrite(before->text, 1, before->size, file);
    fwrite(after->text, 1, after->size, file);
    fputs(tail, file);
    bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
  }
  if (bad) {
    snprintf(error->text, sizeof error->text, "%s: cannot be written, expected a writable folder with room", path);
  }
  return bad ? HW_EIO : HW_OK;
}

hw_status hw_page_write(hw_page *page, const char *html_path, const char *markdown_path, hw_error *error) {
  char head[4096];
  add_findings(page);
  if (page->timings) {
    fputs("<!-- timings end -->\n", page->html);
  }
  if (fflush(page->before_html.stream) || fflush(page->before_markdown.stream) || fflush(page->after_html.stream) ||
      fflush(page->after_markdown.stream)) {
    return HW_ENOMEM;
  }
  snprintf(head, sizeof head,
           "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>%s</title>\n"
           "<style>%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n",
           page->title, style, page->title);
  hw_status status =
      write_file(html_path, head, &page->before_html, &page->after_html, "</main>\n</body>\n</html>\n", error);
  if (status == HW_OK && markdown_path) {
    snprintf(head, sizeof head, "# %s\n", page->title);
    status = write_file(markdown_path, head, &page->before_markdown, &page->after_markdown, "", error);
  }
  return status;
}
