#!/bin/sh
# run.sh SECONDS: search with every target for so long each, two at a time; the corpus grows in build-fuzz/corpus. A
# find is kept as build-fuzz/crash-*: fix it, then add the input to tests/fuzz/corpus. run.sh build: only make ready.
set -u
cd "$(dirname "$0")/../.."
targets="river flow readings table columns zone csv ndjson line json mqtt centerline import wire"

# search TARGET SECONDS: one line on what came of it
search() {
  mkdir -p "corpus/$1"
  if tests/fuzz/fuzz_$1 -max_total_time="$2" -max_len=4096 -timeout="${FUZZ_TIMEOUT:-5}" -rss_limit_mb=2048 -print_final_stats=1 \
      "corpus/$1" "../tests/fuzz/corpus/$1" >"$1.log" 2>&1; then
    echo "ok      $1: $(awk '/stat::number_of_executed_units/ { print $2 }' "$1.log") inputs in $2 s"
  else
    echo "FAILED  $1"
    tail -40 "$1.log"
    return 1
  fi
}

if [ "${1:-}" = one ]; then
  cd build-fuzz && search "$3" "$2"
  exit
fi
[ -f build-fuzz/build.ninja ] ||
  CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link \
    -Doptimization=1 -Ddashboard=disabled >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 3; }
ninja -C build-fuzz $(printf 'tests/fuzz/fuzz_%s ' $targets) >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 3; }
[ "${1:-}" != build ] || exit 0
echo $targets | xargs -n 1 -P 2 tests/fuzz/run.sh one "$1"
