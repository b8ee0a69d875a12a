#!/bin/sh
# pages.sh PROGRAM SOURCE-ROOT: do docs/spill.svg and docs/results.md still show what the program says? The session in
# README.md has a test of its own (readme.sh). Of the results, the sections that take seconds are made anew and compared:
# every learner in every variant is in Table 1, so that a change of any of them shows. `make pages` writes all of it again.
set -u
program=$(realpath "$1")
cd "$2" || exit 99
command -v gnuplot >/dev/null || { echo 'skip: gnuplot is not installed'; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

"$program" identify examples/truckee/river.yaml examples/truckee/readings.csv --plot "$work/spill.svg" >"$work/said" || exit 1
sum=$(sha256sum <"$work/spill.svg.gp" | cut -d' ' -f1)
if ! grep -q "<!-- script $sum -->" docs/spill.svg; then
  echo 'docs/spill.svg: drawn from other numbers than the program has now; run make pages'
  failed=1
fi

# The lines of a section, without blank ones at its end.
section() {
  awk -v name="$1" '/^<!-- section / { inside = $3 == name } inside' "$2" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

sections=figure5
data=../shared/data
[ -f "$data/truckee/readings.csv" ] && sections=figure5,table1,beyond
"$program" reproduce --only $sections --data $data --out "$work/out" --markdown "$work/new.md" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
for name in $(echo $sections | tr , ' '); do
  section "$name" "$work/new.md" >"$work/new"
  section "$name" docs/results.md >"$work/shipped"
  if [ ! -s "$work/shipped" ] || ! diff "$work/shipped" "$work/new" >"$work/difference"; then
    head -n 20 "$work/difference"
    echo "docs/results.md, section $name: not what the program says now; run make pages"
    failed=1
  fi
done

# The README's table: what it shows is in the page, and with the field data what the program says now.
source=docs/results.md
case $sections in *beyond*) source=$work/new.md ;; esac
tools/readme-rows "$source" >"$work/rows"
awk '/^<!-- end of rows -->/ { inside = 0 } inside; /^<!-- rows of / { inside = 1 }' README.md >"$work/shown"
if [ ! -s "$work/rows" ] || ! diff "$work/shown" "$work/rows"; then
  echo 'README.md, the table under Measured: not what the program says now; run make pages'
  failed=1
fi
exit $failed
