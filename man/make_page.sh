#!/bin/sh
# make_page.sh PROGRAM VERB PAGE.in: the page, with the verb's options, as the program itself lists them, in
# place of the line @OPTIONS@. So the pages never lag behind the program.
set -eu
options=$(mktemp)
trap 'rm -f "$options"' EXIT
"$1" "$2" --help | awk '
  match($0, /^  --[a-z-]+/) {
    rest = $0
    sub(/^  --/, "", rest)
    split_at = match(rest, /  +/)
    left = substr(rest, 1, split_at - 1)
    help = substr(rest, split_at + RLENGTH)
    name = left
    argument = ""
    if (match(left, / /)) {
      name = substr(left, 1, RSTART - 1)
      argument = substr(left, RSTART + 1)
    }
    gsub(/\\/, "\\e", help)
    if (help ~ /^[.\x27]/) help = "\\&" help
    print ".It Fl -" name (argument == "" ? "" : " Ar " argument)
    print help
  }' > "$options"
awk -v options="$options" '
  $0 == "@OPTIONS@" {
    print ".Bl -tag -width Ds"
    while ((getline line < options) > 0) print line
    print ".El"
    next
  }
  { print }' "$3"
