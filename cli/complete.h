/* What the shells' completion scripts ask for: `headwater --complete` lists verbs, `headwater VERB
 * --complete` lists options. A line is a word, a tab, its help; values of an option follow after a second tab. */
#ifndef HW_CLI_COMPLETE_H
#define HW_CLI_COMPLETE_H

#include "cli/options.h"

int cli_complete_options(const cli_usage *usage);

#endif
