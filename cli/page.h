/* The report of an answer: one page that can be sent and kept, with everything in it. */
#ifndef HW_CLI_PAGE_H
#define HW_CLI_PAGE_H

#include "cli/plot.h"
#include "cli/session.h"

typedef struct {
  const char *path;    /* .html or .pdf */
  cli_picture picture; /* its own path is not looked at */
  const cli_session *session;
  int argc; /* as typed, the verb first: how to make it again */
  char **argv;
} cli_report;

/* Can a report have this name? -1 or an exit code. */
int cli_report_check(const char *path);
/* -1, or an exit code after a fault was reported. */
int cli_report_write(const cli_report *report);

#endif
