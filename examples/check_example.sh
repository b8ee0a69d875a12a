#!/bin/sh
# check_example.sh PROGRAM EXPECTED [ARGUMENTS...]: run the example and compare what it prints.
program=$1
expected=$2
shift 2
"$program" "$@" | diff -u "$expected" -
