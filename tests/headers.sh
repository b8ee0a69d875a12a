#!/bin/sh
# headers.sh FOLDER COMPILER...: every public header stands alone under this compiler, C or C++, without a warning.
folder=$1; shift
bad=0
for header in "$folder"/headwater/*.h; do
  echo "#include \"headwater/${header##*/}\"" | "$@" -I"$folder" -Wall -Wextra -Wpedantic -Werror -fsyntax-only - || bad=1
done
exit $bad
