#!/bin/sh
# run.sh SECONDS: search with every target for so long each; the corpus grows in build-fuzz/corpus. A find is kept
# as build-fuzz/crash-*: fix it, then add the input to tests/fuzz/corpus.
set -u
cd "$(dirname "$0")/../.."
[ -f build-fuzz/build.ninja ] ||
  CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link \
    -Doptimization=1 -Ddashboard=disabled >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 3; }
targets="river readings csv ndjson line json mqtt"
ninja -C build-fuzz $(printf 'tests/fuzz/fuzz_%s ' $targets) >build-fuzz.log 2>&1 || { cat build-fuzz.log; exit 3; }
failed=0
for target in $targets; do
  mkdir -p "build-fuzz/corpus/$target"
  if (cd build-fuzz && tests/fuzz/fuzz_$target -max_total_time="$1" -max_len=4096 -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 \
      "corpus/$target" "../tests/fuzz/corpus/$target") >"build-fuzz/$target.log" 2>&1; then
    echo "ok      $target: $(awk '/stat::number_of_executed_units/ { print $2 }' "build-fuzz/$target.log") inputs in $1 s"
  else
    failed=1
    echo "FAILED  $target"
    tail -40 "build-fuzz/$target.log"
  fi
done
exit "$failed"
