/* For verbs that look at a record as a whole: all its readings at once, a list of methods. */
#ifndef HW_CLI_COLLECT_H
#define HW_CLI_COLLECT_H

#include "cli/session.h"

enum { CLI_MOST_METHODS = 64 };

/* The methods named in "a,b,c", or all of them for NULL. -1, or the exit code after the fault was reported. */
int cli_method_list(const char *list, const hw_method *methods[CLI_MOST_METHODS], size_t *count);

/* All readings of the session, at most `most`; to be freed. -1, or the exit code after the fault was reported. */
int cli_collect(cli_session *session, size_t most, hw_reading **out, size_t *count);

/* A JSON string, quoted and escaped, to stdout. */
void cli_print_json_text(const char *text);

#endif
