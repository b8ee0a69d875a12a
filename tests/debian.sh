#!/bin/sh
# debian.sh FOLDER: install the packages of FOLDER (made by make deb), use them, upgrade them to the next version, remove
# them. As root, on a machine that may be changed; without it nothing is tried.
set -eu
folder=$(realpath "$1")
[ "$(id -u)" -eq 0 ] || { echo 'skip: only root can install packages'; exit 77; }
if dpkg-query -W -f '${Status}' headwater 2>/dev/null | grep -q ' installed'; then
  echo 'skip: headwater is installed here and in use'
  exit 77
fi
work=$(mktemp -d)
packages="headwater libheadwater0 libheadwater-dev python3-headwater headwater-doc"
leave() {
  dpkg --purge $packages > /dev/null 2>&1 || true
  rm -rf "$work" /etc/headwater/debian-test.yaml /var/lib/headwater/debian-test*
  rmdir /etc/headwater /var/lib/headwater 2> /dev/null || true
}
trap leave EXIT

files=
for package in $packages; do
  files="$files $(ls "$folder/$package"_*.deb)"
done
dpkg -i $files > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
truckee=/usr/share/doc/headwater/examples/truckee
cp -r "$truckee" truckee
gunzip -qr truckee || true
/usr/bin/headwater identify truckee/river.yaml truckee/readings.csv | grep -q 'Spill identified'
/usr/bin/python3 -c "
import headwater
print(repr(headwater.identify(headwater.River('truckee/river.yaml'), 'truckee/readings.csv')))" | grep -q 'Estimate of 244 readings'
cp /usr/share/doc/headwater/examples/identify.c* .
gunzip -q identify.c*.gz 2>/dev/null || true
cc identify.c -o identify $(pkg-config --cflags --libs headwater)
./identify truckee/river.yaml truckee/readings.csv | grep -q '244 readings'
man -w headwater-identify > /dev/null
test -f /lib/systemd/system/headwater.service
echo 'ok installed and used from C, Python and the command line'
if command -v R > /dev/null; then
  cp -r /usr/share/doc/headwater/examples/r headwater-r
  mkdir library
  R CMD INSTALL --no-docs --library=library headwater-r > log 2>&1 || { cat log; exit 1; }
  R_LIBS=library Rscript -e 'library(headwater); r <- suppressWarnings(hw_river("truckee/river.yaml"))
    stopifnot(hw_identify(r, "truckee/readings.csv")$readings == 244)'
  echo 'ok installed and used from R'
fi

# The next version: the same files under another number.
mkdir -p /etc/headwater /var/lib/headwater
grep -v '^centerline:' truckee/river.yaml > river.yaml
cp river.yaml /etc/headwater/debian-test.yaml
database=/var/lib/headwater/debian-test
port=$((20000 + $$ % 20000))

# serve COMMAND...: runs the command beside the installed service, on the rivers of /etc and the database of /var/lib
serve() {
  /usr/bin/headwater serve /etc/headwater/debian-test.yaml --db $database --listen 127.0.0.1:$port > "$work/log" 2>&1 &
  service=$!
  for _ in $(seq 100); do
    curl -fsS "http://127.0.0.1:$port/readyz" > /dev/null 2>&1 && break
    sleep 0.1
  done
  if "$@"; then failed=0; else failed=1; fi
  kill $service || failed=1
  wait $service || true
  [ $failed -eq 0 ] || { cat "$work/log"; exit 1; }
}
accept_readings() {
  curl -fsS -H 'Content-Type: text/csv' --data-binary @truckee/readings.csv "http://127.0.0.1:$port/v1/readings" | grep -q '"accepted": *244'
}
know_readings() {
  curl -fsS -H 'Content-Type: text/csv' --data-binary @truckee/readings.csv "http://127.0.0.1:$port/v1/readings" | grep -q '"duplicates": *244'
}
serve accept_readings
for package in $packages; do
  dpkg-deb -R "$folder/${package}"_*.deb next
  sed -i -E 's/^Version: .*/&+next/; s/(lib(headwater0) \(= [^)]*)\)/\1+next)/' next/DEBIAN/control
  dpkg-deb --root-owner-group -b next "next-$package.deb" > /dev/null
  rm -r next
done
dpkg -i next-*.deb > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
dpkg-query -W -f '${Version}' headwater | grep -q '+next$'
cmp river.yaml /etc/headwater/debian-test.yaml
serve know_readings
echo 'ok upgraded; rivers and data are as they were'

dpkg --remove $packages > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
! command -v /usr/bin/headwater > /dev/null
! /usr/bin/python3 -c 'import headwater' 2> /dev/null
cmp river.yaml /etc/headwater/debian-test.yaml
test -s $database
echo 'ok removed; rivers and data are left to their owner'
