/* The page of results: see page.h. Write errors are sticky in the streams and looked at once, on closing. */
#include "page.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 8192 };

struct hw_page {
  FILE *html;
  FILE *markdown; /* NULL: not wanted */
  bool head_row;  /* the next row is a table's head */
  bool timings;
};

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1,h2{line-height:1.2}h2{margin-top:2.5rem;border-top:1px solid #ddd;padding-top:1rem}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem;display:block;overflow-x:auto}"
    "th,td{border-bottom:1px solid #ddd;padding:.25rem .7rem;text-align:right;white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left}th{border-bottom:2px solid #222}img{max-width:100%;height:auto}";

static FILE *open_to_write(const char *path, hw_error *error) {
  FILE *file = fopen(path, "w");
  if (!file) {
    snprintf(error->text, sizeof error->text, "%s: cannot be written, expected a writable folder", path);
  }
  return file;
}

hw_status hw_page_open(const char *title, const char *html_path, const char *markdown_path, hw_page **out,
                       hw_error *error) {
  *out = NULL;
  hw_page *page = calloc(1, sizeof *page);
  if (!page) {
    return HW_ENOMEM;
  }
  page->html = open_to_write(html_path, error);
  page->markdown = page->html && markdown_path ? open_to_write(markdown_path, error) : NULL;
  if (!page->html || (markdown_path && !page->markdown)) {
    if (page->html) {
      fclose(page->html);
    }
    free(page);
    return HW_EIO;
  }
  fprintf(page->html,
          "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>%s</title>\n"
          "<style>%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n",
          title, style, title);
  if (page->markdown) {
    fprintf(page->markdown, "# %s\n", title);
  }
  *out = page;
  return HW_OK;
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

/* Markdown is asked for only outside the timings. */
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
    fprintf(page->markdown, "\n%s\n", text);
  }
}

void hw_page_table_begin(hw_page *page) {
  page->head_row = true;
  fputs("<table>\n", page->html);
  if (markdown_of(page)) {
    fputc('\n', page->markdown);
  }
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
    fprintf(page->html, "<%s>", tag);
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

void hw_page_timings(hw_page *page) {
  fputs("<!-- timings begin -->\n", page->html);
  page->timings = true;
}

hw_status hw_page_close(hw_page *page, hw_error *error) {
  if (!page) {
    return HW_OK;
  }
  if (page->timings) {
    fputs("<!-- timings end -->\n", page->html);
  }
  fputs("</main>\n</body>\n</html>\n", page->html);
  bool bad = ferror(page->html) != 0;
  bad = fclose(page->html) != 0 || bad;
  if (page->markdown) {
    bad = ferror(page->markdown) != 0 || bad;
    bad = fclose(page->markdown) != 0 || bad;
  }
  free(page);
  if (bad) {
    snprintf(error->text, sizeof error->text, "the page of results could not be written, expected room on the disk");
    return HW_EIO;
  }
  return HW_OK;
}
