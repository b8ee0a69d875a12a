#include "cli/page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parts of a report as text. */
typedef struct {
  char *words;   /* the answer for a person */
  char *json;    /* the answer for a program */
  char *river;   /* the river file: what was assumed */
  char *command; /* how to make it again */
  char *taken;   /* what was taken for what in the readings; empty where they are written our way */
} parts;

int cli_report_check(const char *path) {
  const char *dot = strrchr(path, '.');
  if (!dot || (strcmp(dot, ".html") != 0 && strcmp(dot, ".pdf") != 0)) {
    return cli_fail(EXIT_USAGE, "--report '%s', expected a file name that ends in .html or .pdf", path);
  }
  return cli_plot_check_name("--report", path);
}

/* A whole file as text; NULL when it cannot be read. */
static char *contents(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t size = 0;
  FILE *copy = file ? open_memstream(&text, &size) : NULL;
  if (copy) {
    for (int c = getc(file); c != EOF; c = getc(file)) {
      putc(c, copy);
    }
    fclose(copy);
  }
  if (file) {
    fclose(file);
  }
  return text;
}

/* A word quoted for a shell. */
static void put_word(FILE *out, const char *word) {
  if (word[0] &&
      strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") == strlen(word)) {
    fputs(word, out);
    return;
  }
  putc('\'', out);
  for (const char *p = word; *p; p++) {
    fputs(*p == '\'' ? "'\\''" : (char[]){*p, '\0'}, out);
  }
  putc('\'', out);
}

static char *command_line(const cli_report *report) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) {
    return NULL;
  }
  fputs("headwater", out);
  for (int i = 0; i < report->argc; i++) {
    putc(' ', out);
    put_word(out, report->argv[i]);
  }
  fclose(out);
  return text;
}

static char *taken_lines(const cli_notes *taken) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  for (size_t i = 0; out && i < taken->count; i++) {
    fprintf(out, "%s\n", taken->sentences[i]);
  }
  if (out) {
    fclose(out);
  }
  return text;
}

static bool gather(const cli_report *report, parts *p) {
  const hw_result *result = report->picture.result;
  return hw_result_text(result, &p->words) == HW_OK && hw_result_json(result, false, &p->json) == HW_OK &&
         (p->river = contents(report->session->river_path)) && (p->command = command_line(report)) &&
         (p->taken = taken_lines(&report->session->taken));
}

static void drop(parts *p) {
  free(p->words);
  free(p->json);
  free(p->river);
  free(p->command);
  free(p->taken);
}

static void put_escaped(FILE *out, const char *text) {
  for (const char *p = text; *p; p++) {
    fputs(*p == '&' ? "&amp;" : *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : (char[]){*p, '\0'}, out);
  }
}

static void put_block(FILE *out, const char *heading, const char *text) {
  fprintf(out, "<h2>%s</h2>\n<pre>", heading);
  put_escaped(out, text);
  fputs("</pre>\n", out);
}

static void put_provenance(FILE *out, const cli_report *report) {
  const hw_result *result = report->picture.result;
  fprintf(out, "headwater %s, method %s, seed %llu, %llu readings", HW_VERSION, result->method,
          (unsigned long long)result->seed, (unsigned long long)result->counts.readings);
}

/* Draws the picture in a file beside the page, and then includes it in the page. */
static int draw(const cli_report *report, char **svg) {
  char path[HW_GNUPLOT_PATH_SIZE], script[HW_GNUPLOT_PATH_SIZE];
  if (snprintf(path, sizeof path, "%s.svg", report->path) >= (int)sizeof path ||
      snprintf(script, sizeof script, "%s.svg.gp", report->path) >= (int)sizeof script) {
    return cli_fail(EXIT_USAGE, "--report with a name of %zu bytes", strlen(report->path));
  }
  cli_picture picture = report->picture;
  picture.picture = path;
  const int code = cli_plot(&picture);
  *svg = code < 0 ? contents(path) : NULL;
  unlink(path);
  unlink(script);
  return code >= 0 || *svg ? code : cli_fail(EXIT_MACHINE, "%s: the picture could not be read", path);
}

static int write_html(const cli_report *report, const parts *p) {
  char *svg = NULL;
  const int code = draw(report, &svg);
  if (code >= 0 || !svg) {
    return code;
  }
  FILE *out = fopen(report->path, "w");
  if (!out) {
    free(svg);
    return cli_fail(EXIT_MACHINE, "%s: cannot be written", report->path);
  }
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", out);
  put_escaped(out, report->picture.result->river->name);
  fputs(
      "</title>\n<style>\n"
      "body{font:16px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\n"
      "pre{background:#f4f4f4;padding:1rem;white-space:pre-wrap;overflow-wrap:anywhere}\n"
      "svg{max-width:100%;height:auto}\n"
      "@page{size:A4;margin:14mm}\n"
      "@media print{body{font-size:11px;max-width:none;margin:0;padding:0}"
      "pre{font-size:9.5px;line-height:1.35;padding:2mm;break-inside:auto}"
      "h1,h2{break-after:avoid;margin:3mm 0 2mm}"
      "svg{max-height:240mm;break-inside:avoid}"
      ".picture{break-before:page}"
      "details{display:none}}\n"
      "</style>\n</head>\n<body>\n<h1>",
      out);
  put_escaped(out, report->picture.result->river->name);
  fputs("</h1>\n<p>", out);
  put_provenance(out, report);
  fputs("</p>\n", out);
  put_block(out, "Answer", p->words);
  fputs("<h2 class=\"picture\">Readings, fit and estimate</h2>\n", out);
  const char *picture = strstr(svg, "<svg");
  fputs(picture ? picture : "", out);
  put_block(out, "Assumptions: the river file", p->river);
  if (p->taken[0]) {
    put_block(out, "What was taken for what in the readings", p->taken);
  }
  put_block(out, "To make it again", p->command);
  fputs("<details open>\n", out); /* for programs, not for paper */
  put_block(out, "All numbers", p->json);
  fputs("</details>\n</body>\n</html>\n", out);
  free(svg);
  const bool failed = ferror(out);
  return fclose(out) != 0 || failed ? cli_fail(EXIT_MACHINE, "%s: could not be written", report->path) : -1;
}

enum { LINES_A_PAGE = 66, COLUMNS_A_LINE = 98 };

/* Text on pages of its own, in front of the picture. */
typedef struct {
  hw_gnuplot *script;
  int line; /* on the page; 0: a new page */
} typesetter;

static void end_page(typesetter *t) {
  if (t->line) {
    fputs("plot [0:1][0:1] NaN notitle\nunset label\n", t->script->file);
    t->line = 0;
  }
}

static void set_line(typesetter *t, const char *text, size_t size) {
  char line[4 * COLUMNS_A_LINE + 1];
  snprintf(line, sizeof line, "%.*s", (int)(size < sizeof line ? size : sizeof line - 1), text);
  fputs("set label ", t->script->file);
  hw_gnuplot_quote(t->script, line);
  fprintf(t->script->file, " at screen 0.05,%.4f left font 'Monospace,15' noenhanced\n",
          0.97 - 0.94 * t->line / LINES_A_PAGE);
  if (++t->line == LINES_A_PAGE) {
    end_page(t);
  }
}

/* As much of a line as fits the width of the paper, up to a blank where there is one; counts letters, not bytes. */
static size_t fitting(const char *text, size_t size) {
  size_t columns = 0, blank = 0;
  for (size_t i = 0; i < size; i++) {
    columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    if (columns > COLUMNS_A_LINE) {
      return blank ? blank : i;
    }
    blank = text[i] == ' ' && i > COLUMNS_A_LINE / 2 ? i + 1 : blank;
  }
  return size;
}

static void set_text(typesetter *t, const char *heading, const char *text) {
  set_line(t, heading, strlen(heading));
  set_line(t, "", 0);
  while (*text) {
    const size_t size = fitting(text, strcspn(text, "\n"));
    set_line(t, text, size);
    text += size + (text[size] == '\n');
  }
  set_line(t, "", 0);
}

typedef struct {
  const cli_report *report;
  const parts *parts;
} front;

static void write_front(hw_gnuplot *script, void *context) {
  const front *f = context;
  const hw_result *result = f->report->picture.result;
  typesetter t = {script, 0};
  char title[300];
  snprintf(title, sizeof title, "headwater %s, method %s, seed %llu", HW_VERSION, result->method,
           (unsigned long long)result->seed);
  fputs("unset border\nunset tics\nunset key\n", script->file);
  set_text(&t, title, f->parts->words);
  end_page(&t);
  set_text(&t, "Assumptions: the river file", f->parts->river);
  if (f->parts->taken[0]) {
    set_text(&t, "What was taken for what in the readings", f->parts->taken);
  }
  set_text(&t, "To make it again", f->parts->command);
  end_page(&t);
  fputs("set border\nset tics\nset key\n", script->file);
}

static int write_pdf(const cli_report *report, const parts *p) {
  char script[HW_GNUPLOT_PATH_SIZE];
  front f = {report, p};
  cli_picture picture = report->picture;
  picture.picture = report->path;
  picture.front = write_front;
  picture.front_context = &f;
  const int code = cli_plot(&picture);
  snprintf(script, sizeof script, "%s.gp", report->path);
  unlink(script);
  return code;
}

int cli_report_write(const cli_report *report) {
  parts p = {0};
  int code;
  if (!gather(report, &p)) {
    code = cli_fail(EXIT_MACHINE, "%s: the report could not be put together", report->path);
  } else {
    const char *dot = strrchr(report->path, '.');
    code = strcmp(dot, ".pdf") == 0 ? write_pdf(report, &p) : write_html(report, &p);
  }
  drop(&p);
  return code;
}
