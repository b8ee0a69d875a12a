#!/bin/sh
# examples.sh PROGRAM PAGE DATA [--accept]: do the examples of a man page or Markdown page run? A man page must also
# format without a complaint. --accept writes the answers of a Markdown page anew.
#
# A block under a comment `<!-- file: NAME -->` is a file of that folder, so that a page can be followed to the letter.
# Lines `$ command` of the EXAMPLES section, in Markdown of ```console blocks, are run in a folder with river.yaml
# and readings.csv. Lines that
# follow a command are what it must print; none means any output, exit code 0. A command that ends in a
# comment `# takes ...` or `# runs ...` is for reading only.
set -u
program=$(realpath "$1")
page=$(realpath "$2")
data=$(realpath "$3")
work=$(mktemp -d) || exit 99
# A page may start something and note its number in a file that ends in .pid.
trap 'cat "$work"/*.pid 2> /dev/null | xargs -r kill 2> /dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 99
mkdir bin
ln -s "$program" bin/headwater
[ -x /usr/bin/python3 ] && ln -s /usr/bin/python3 bin/python3 # the one that the Python package is for
PATH=$work/bin:$PATH
export PATH LC_ALL=C
cp "$data/truckee.yaml" river.yaml
headwater simulate river.yaml --source 1300,-22106,-12900 --noise-relative 0.05 > readings.csv || exit 99
failed=0
if [ "${page%.md}" = "$page" ] && command -v groff > /dev/null; then
  groff -mdoc -Tascii -ww "$page" 2> complaints > formatted
  if [ -s complaints ] || ! [ -s formatted ]; then
    cat complaints
    failed=1
  fi
fi
awk '
  /^<!-- file: .* -->$/ { name = $3; next }
  /^```/ { if (name != "" && !open) { open = 1; printf "" > name } else { open = 0; name = "" } next }
  open { print > name }
' "$page"
# One file per example: its command in N.sh, what it must print in N.want.
awk '
  /^\.Sh/ { inside = /^\.Sh EXAMPLES/ }
  /^```/ { inside = /^```console/; next }
  inside && /^\$ / { n++; print substr($0, 3) > ("example" n ".sh"); next }
  inside && n && !/^\./ { gsub(/\\e/, "\\"); print > ("example" n ".want") }
' "$page"
ran=0
for example in example*.sh; do
  [ -e "$example" ] || continue
  if grep -qE ' # (takes|runs) ' "$example"; then
    continue
  fi
  ran=$((ran + 1))
  if grep -qE -e "--(plot|report)" "$example" && ! command -v gnuplot > /dev/null; then
    echo "not run without gnuplot: $(cat "$example")"
    sed -i -E "s/ --(plot|report) [^ ]*//" "$example"
  fi
  sh "$example" > got 2> complaints
  code=$?
  if [ $code -ne 0 ]; then
    echo "exit $code: $(cat "$example")"
    cat complaints
    failed=1
  fi
  want=${example%.sh}.want
  # Of an answer the words and their order are compared: its last digits change with the engine, its duration with
  # every run.
  if [ -e "$want" ] && grep -q '^headwater identify' "$example"; then
    cp got "${example%.sh}.new"
    sed -i -E 's/-?[0-9]+([.][0-9]+)?/N/g; s/ +/ /g' got "$want"
  fi
  if [ -e "$want" ] && ! diff -u "$want" got; then
    echo "prints something else: $(cat "$example")"
    failed=1
  fi
done
if [ "${4-}" = --accept ]; then
  awk '
    /^```/ { inside = /^```console/; fresh = 0 }
    inside && /^\$ / { n++; print; name = "example" n ".new"; fresh = (getline line < name) > 0; if (fresh) do print line; while ((getline line < name) > 0); next }
    !fresh { print }
  ' "$page" > accepted && cat accepted > "$page"
fi
if [ $ran -eq 0 ] && ! [ -e example1.sh ]; then
  echo "no examples in $page"
  failed=1
fi
exit $failed
