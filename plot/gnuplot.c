#include "plot/gnuplot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *extension_of(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot : "";
}

static hw_status fail(hw_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static hw_status fail(hw_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return HW_EIO;
}

hw_status hw_gnuplot_open(hw_gnuplot *plot, const char *picture, int width, int height, hw_error *error) {
  *plot = (hw_gnuplot){.picture = picture};
  snprintf(plot->script, sizeof plot->script, "%s.gp", picture);
  const char *slash = strrchr(picture, '/');
  snprintf(plot->folder, sizeof plot->folder, "%.*s", slash ? (int)(slash - picture) + 1 : 1, slash ? picture : ".");
  plot->file = fopen(plot->script, "w");
  if (!plot->file) {
    return fail(error, "%s: %s, expected a place to draw in", picture, strerror(errno));
  }
  const char *name = slash ? slash + 1 : picture;
  const char *extension = extension_of(picture);
  const bool svg = strcmp(extension, ".svg") == 0, pdf = strcmp(extension, ".pdf") == 0;
  char size[80];
  if (pdf) { /* A4; the letters a little larger than in a picture on the screen */
    snprintf(size, sizeof size, "21cm,29.7cm fontscale 0.44 linewidth 0.6 pointscale 0.6");
  } else {
    snprintf(size, sizeof size, "%d,%d", width, height);
  }
  fprintf(plot->file,
          "# Change what you like and run again in this folder: gnuplot '%s.gp'\n"
          "set encoding utf8\n"
          "set terminal %s size %s noenhanced font 'DejaVu Sans,%d' background rgb 'white'\n"
          "set output '%s'\n",
          name,
          svg   ? "svg"
          : pdf ? "pdfcairo"
                : "pngcairo",
          size, svg || pdf ? 11 : 10, name);
  return HW_OK;
}

/* Inside single quotes only the quote itself is special to gnuplot. */
void hw_gnuplot_quote(hw_gnuplot *plot, const char *text) {
  fputc('\'', plot->file);
  for (const char *p = text; *p; p++) {
    if (*p == '\'') {
      fputc('\'', plot->file);
    }
    fputc((unsigned char)*p < 0x20 ? ' ' : *p, plot->file);
  }
  fputc('\'', plot->file);
}

enum { CANNOT_START = 127 };

/* In the child: become gnuplot, with its complaints into the pipe. */
static void become_gnuplot(const hw_gnuplot *plot, int complaints) {
  const char *slash = strrchr(plot->script, '/');
  char name[HW_GNUPLOT_PATH_SIZE + 2];
  snprintf(name, sizeof name, "./%s", slash ? slash + 1 : plot->script);
  char command[] = "gnuplot";
  char *arguments[] = {command, name, NULL};
  if (chdir(plot->folder) == 0 && dup2(complaints, STDERR_FILENO) >= 0 && dup2(complaints, STDOUT_FILENO) >= 0) {
    execvp(command, arguments);
  }
  _exit(CANNOT_START);
}

/* The first line of what gnuplot had to say; the rest is read and dropped so that it can end. */
static void read_complaint(int pipe_end, char *out, size_t size) {
  char buffer[512];
  size_t length = 0;
  ssize_t got;
  while ((got = read(pipe_end, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
    for (ssize_t i = 0; i < got && length + 1 < size; i++) {
      if (length > 0 || (buffer[i] != '\n' && buffer[i] != ' ')) {
        out[length++] = buffer[i];
      }
    }
  }
  out[length] = '\0';
  out[strcspn(out, "\n")] = '\0';
}

static hw_status spawn(const hw_gnuplot *plot, hw_error *error) {
  int ends[2];
  if (pipe(ends) != 0) {
    return fail(error, "gnuplot: %s", strerror(errno));
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return fail(error, "gnuplot: %s", strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    become_gnuplot(plot, ends[1]);
  }
  close(ends[1]);
  char complaint[300];
  read_complaint(ends[0], complaint, sizeof complaint);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START) {
    return fail(error,
                "%s: gnuplot is not installed, expected it in the PATH (Debian: gnuplot-nox); its script is in %s",
                plot->picture, plot->script);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(error, "%s: gnuplot failed on %s: %s", plot->picture, plot->script, complaint);
  }
  return HW_OK;
}

hw_status hw_gnuplot_run(hw_gnuplot *plot, hw_error *error) {
  const bool failed = ferror(plot->file);
  if (fclose(plot->file) != 0 || failed) {
    return fail(error, "%s: writing failed", plot->script);
  }
  return spawn(plot, error);
}
