#!/bin/sh
# check_story.sh PROGRAM FOLDER: the story of the Songhua is told from all samples, a day at a time, and the last
# forecast for Jiamusi before the water came is not off by more than a week.
set -eu
told=$("$1" "$2")
count() { printf '%s\n' "$told" | grep -c "$1"; }
[ "$(grep -c '+08:00' "$2/bulletins.csv")" -eq 40 ] || { echo "expected 40 samples"; exit 1; }
[ "$(count 'samples, trust')" -eq 17 ] || { echo "expected 17 days: $told"; exit 1; }
printf '%s\n' "$told" | grep -q 'Jiamusi: the first sample above the level is of 09 Dec 04 h' ||
  { echo "expected Jiamusi on 9 December: $told"; exit 1; }
printf '%s\n' "$told" | sed -n '/^08 Dec/,/^09 Dec/p' | grep 'Jiamusi' | grep -Eq 'from (0[3-9]|1[0-5]) Dec' ||
  { echo "expected a forecast within a week: $told"; exit 1; }
