#!/bin/sh
# installed.sh BUILD SOURCE: what `make install` leaves can be used: the program runs, its pages and headers are
# there, and a C program links the library through pkg-config.
set -eu
build=$1
source=$2
if ! command -v pkg-config > /dev/null; then
  echo 'skip: no pkg-config here'
  exit 77
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet > "$root/log" 2>&1 || { cat "$root/log"; exit 1; }
pc=$(find "$root" -name headwater.pc)
library=$(dirname "$(find "$root" -name 'libheadwater.so')")
program=$(find "$root" -type f -path '*/bin/headwater')
for wanted in "$pc" "$library" "$program"; do
  [ -e "$wanted" ] || { echo "not installed: pkg-config file, library or program"; find "$root"; exit 1; }
done
for wanted in 'headwater.1*' 'headwater-identify.1*' headwater.h method.h 'headwater.fish' _headwater; do
  [ -n "$(find "$root" -name "$wanted")" ] || { echo "not installed: $wanted"; exit 1; }
done
# Every file has a Debian package; Python's folder is another one there.
cat "$source"/packaging/debian/*.install | while read -r pattern _; do
  echo "$pattern"
done > "$root/patterns"
stray=$(cd "$root" && find . -type f ! -name log ! -name patterns | sed -E 's|^\./||; s|^.*/?usr/local/|usr/|; s|lib/python3\.[0-9]+/|lib/python3/|' |
  while read -r file; do
    found=
    while read -r pattern; do
      case $file in
        $pattern | $pattern/*) found=yes ;;
      esac
    done < "$root/patterns"
    [ -n "$found" ] || echo "$file"
  done)
[ -z "$stray" ] || { echo "in no package (packaging/debian/*.install):" $stray; exit 1; }
export PKG_CONFIG_PATH="$(dirname "$pc")" PKG_CONFIG_SYSROOT_DIR="$root" LD_LIBRARY_PATH="$library"
${CC:-cc} -std=c11 -Wall -Wextra -Werror "$source/examples/identify.c" -o "$root/identify" $(pkg-config --cflags --libs headwater)
river=$source/tests/cli/data/truckee.yaml
"$program" simulate "$river" --source 1300,-22106,-12900 > "$root/readings.csv"
said=$("$root/identify" "$river" "$root/readings.csv")
echo "$said"
[ "$said" = '92 readings: 1300 g at -22106 m, released at -12900 s' ]
if "$root/identify" "$river" /nonexistent 2> "$root/complaint"; then exit 1; fi
grep -q 'identify: /nonexistent: No such file' "$root/complaint"
