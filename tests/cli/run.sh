#!/bin/sh
# Runs one case: a script beside its exact expected output.
#
#   run.sh PROGRAM CASE.sh            compares with CASE.out
#   run.sh PROGRAM CASE.sh --accept   writes CASE.out anew; read the difference before you commit it
#
# A case runs in a folder of its own, with a copy of tests/cli/data in it and these words:
#   headwater ...   the program; what it says on stderr is shown behind `! `
#   try ...         the same, then the exit code
# A case that cannot run here prints `skip: why` as its first line (meson shows it as skipped).
set -u
program=$(realpath "$1")
script=$(realpath "$2")
expected=${script%.sh}.out
case_folder=$(dirname "$script")
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cat > "$work/.words" <<'WORDS'
headwater() {
  "$program" "$@" 2> .stderr
  code=$?
  sed 's/^/! /' .stderr
  return $code
}
try() {
  headwater "$@"
  echo "exit $?"
}
# Figures that differ from run to run.
steady() {
  sed -E 's/"(seconds|reading_us_median|reading_us_p99)": [0-9.e+-]+/"\1": T/g; s/[0-9.e+-]+ s in all, [0-9.e+-]+ us/T s in all, T us/'
}
# Every number to six digits, which do not hang on the compiler.
digits() {
  steady | awk '{
    out = ""
    while (match($0, /-?[0-9]+[.][0-9]+(e[+-]?[0-9]+)?|-?[0-9]+e[+-]?[0-9]+/)) {
      out = out substr($0, 1, RSTART - 1) sprintf("%.6g", substr($0, RSTART, RLENGTH))
      $0 = substr($0, RSTART + RLENGTH)
    }
    print out $0
  }'
}
WORDS
cp -r "$case_folder/data" "$work/data"
export program case_folder NO_COLOR=1 LC_ALL=C
(cd "$work" && sh -u -c '. ./.words; . "$1"' sh "$script") > "$work/.actual" 2>&1
if head -n 1 "$work/.actual" | grep -q '^skip: '; then
  cat "$work/.actual"
  exit 77
fi
if [ "${3-}" = --accept ]; then
  cp "$work/.actual" "$expected"
  exit 0
fi
diff -u "$expected" "$work/.actual"
