#!/bin/sh
# check_example.sh PROGRAM EXPECTED: run the example and compare what it prints.
"$1" | diff -u "$2" -
