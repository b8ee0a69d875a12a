#!/bin/sh
# headers.sh FOLDER COMPILER...: every public header stands alone under this compiler, C or C++, without a warning.
folder=$1; shift
bad=0
for header in "$folder"/headwater/*.h; do
  printf '#include "headwater/%s"\ntypedef int something; /* a file may not be empty */\n' "${header##*/}" | "$@" -I"$folder" -Wall -Wextra -Wpedantic -Werror -fsyntax-only - || bad=1
done
exit $bad
