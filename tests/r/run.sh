#!/bin/sh
# run.sh PROGRAM SOURCE BUILD: the R package, built against this library into a folder of its own, says what the program
# says. Skipped where R is not installed.
set -eu
command -v R > /dev/null || { echo 'skip: R is not installed (Debian: r-base-core)'; exit 77; }
command -v pkg-config > /dev/null || { echo 'skip: no pkg-config here'; exit 77; }
program=$(realpath "$1")
source=$(realpath "$2")
build=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/r" "$work/headwater"
export PKG_CONFIG_PATH="$build/meson-uninstalled" LD_LIBRARY_PATH="$build/src" R_LIBS="$work/library" LC_ALL=C.UTF-8
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=
mkdir "$work/library"
R CMD INSTALL --no-docs --no-test-load --library="$work/library" "$work/headwater" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if grep -i 'warning' "$work/log"; then exit 1; fi
cd "$work"
"$program" identify "$source/examples/truckee/river.yaml" "$source/examples/truckee/readings.csv" --format json > program.json
Rscript "$source/tests/r/test_headwater.R" "$source/examples/truckee"
