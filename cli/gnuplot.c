#include "cli/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *extension_of(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot : "";
}

int cli_script_check(const char *picture) {
  const char *extension = extension_of(picture);
  if (strcmp(extension, ".svg") != 0 && strcmp(extension, ".png") != 0) {
    return cli_fail(EXIT_USAGE, "--plot '%s', expected a file name that ends in .svg or .png", picture);
  }
  for (const char *p = picture; *p; p++) {
    if ((unsigned char)*p < 0x20 || strchr("'`\"\\", *p)) {
      return cli_fail(EXIT_USAGE,
                      "--plot with a quote, backslash or control character in the name, expected a plain one");
    }
  }
  return strlen(picture) + 8 < CLI_PATH_SIZE ? -1
                                             : cli_fail(EXIT_USAGE, "--plot with a name of %zu bytes", strlen(picture));
}

int cli_script_open(cli_script *script, const char *picture, int width, int height) {
  *script = (cli_script){.picture = picture};
  snprintf(script->script, sizeof script->script, "%s.gp", picture);
  const char *slash = strrchr(picture, '/');
  snprintf(script->folder, sizeof script->folder, "%.*s", slash ? (int)(slash - picture) + 1 : 1,
           slash ? picture : ".");
  script->file = fopen(script->script, "w");
  if (!script->file) {
    return cli_fail(EXIT_MACHINE, "%s: %s", script->script, strerror(errno));
  }
  const char *name = slash ? slash + 1 : picture;
  const bool svg = strcmp(extension_of(picture), ".svg") == 0;
  fprintf(script->file,
          "# Change what you like and run again in this folder: gnuplot '%s.gp'\n"
          "set encoding utf8\n"
          "set terminal %s size %d,%d noenhanced font 'DejaVu Sans,%d' background rgb 'white'\n"
          "set output '%s'\n",
          name, svg ? "svg" : "pngcairo", width, height, svg ? 11 : 10, name);
  return -1;
}

/* Inside single quotes only the quote itself is special to gnuplot. */
void cli_script_quote(cli_script *script, const char *text) {
  fputc('\'', script->file);
  for (const char *p = text; *p; p++) {
    if (*p == '\'') {
      fputc('\'', script->file);
    }
    fputc((unsigned char)*p < 0x20 ? ' ' : *p, script->file);
  }
  fputc('\'', script->file);
}

enum { CANNOT_START = 127 };

/* In the child: become gnuplot, with its complaints into the pipe. */
static void become_gnuplot(const cli_script *script, int complaints) {
  const char *slash = strrchr(script->script, '/');
  char name[CLI_PATH_SIZE + 2];
  snprintf(name, sizeof name, "./%s", slash ? slash + 1 : script->script);
  char command[] = "gnuplot";
  char *arguments[] = {command, name, NULL};
  if (chdir(script->folder) == 0 && dup2(complaints, STDERR_FILENO) >= 0 && dup2(complaints, STDOUT_FILENO) >= 0) {
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

static int spawn(const cli_script *script) {
  int ends[2];
  if (pipe(ends) != 0) {
    return cli_fail(EXIT_MACHINE, "gnuplot: %s", strerror(errno));
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return cli_fail(EXIT_MACHINE, "gnuplot: %s", strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    become_gnuplot(script, ends[1]);
  }
  close(ends[1]);
  char complaint[300];
  read_complaint(ends[0], complaint, sizeof complaint);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START) {
    return cli_fail(EXIT_MACHINE,
                    "%s: gnuplot is not installed, expected it in the PATH (Debian: gnuplot-nox); its script is in %s",
                    script->picture, script->script);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return cli_fail(EXIT_MACHINE, "%s: gnuplot failed on %s: %s", script->picture, script->script, complaint);
  }
  return -1;
}

int cli_script_run(cli_script *script) {
  const bool failed = ferror(script->file);
  if (fclose(script->file) != 0 || failed) {
    return cli_fail(EXIT_MACHINE, "%s: writing failed", script->script);
  }
  return spawn(script);
}
