#!/bin/sh
# readme.sh PROGRAM SOURCE-ROOT: does the session in README.md still look like that? All but the line that says how long
# it took.
set -u
program=$(realpath "$1")
cd "$2" || exit 99
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
sed -n '/^\$ headwater identify/,/^```/p' README.md | sed '1d;$d' >"$work/shown"
"$program" identify examples/truckee/river.yaml examples/truckee/readings.csv | grep -v '^Method ' |
  sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work/actual" || exit 1
[ -s "$work/shown" ] && diff "$work/shown" "$work/actual"
