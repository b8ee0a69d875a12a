#!/bin/sh
# hardened.sh FILE...: programs and libraries are built so that a fault of memory ends them: position independent, tables
# read-only before the start, no code on the stack, guarded stack frames, checked string functions, and, on processors
# that have it, checked jumps.
set -u
if ! command -v readelf > /dev/null; then
  echo 'skip: no readelf here'
  exit 77
fi
failed=0
# claim FILE WHAT PATTERN OPTION...: readelf's answer holds the pattern
claim() {
  file=$1 what=$2 pattern=$3
  shift 3
  readelf -W "$@" "$file" | grep -Eq -e "$pattern" || { echo "$file: no $what"; failed=1; }
}
for each; do
  claim "$each" 'position independence' 'Type: +DYN' -h
  claim "$each" 'read-only relocations' 'GNU_RELRO' -l
  claim "$each" 'binding at the start' 'BIND_NOW|FLAGS.*NOW' -d
  claim "$each" 'stack without code' 'GNU_STACK .* RW ' -l
  claim "$each" 'guarded stack frames' '__stack_chk_fail' --dyn-syms
  claim "$each" 'checked string functions' '__[a-z]+_chk' --dyn-syms
  case $(uname -m) in
    # The file as a whole bears the mark only where the C library's own start files do.
    x86_64) objdump -d "$each" | grep -q endbr64 || { echo "$each: no checked jumps"; failed=1; } ;;
  esac
done
exit $failed
