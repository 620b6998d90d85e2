#!/bin/bash
# With the installed suppressions, valgrind's full check is silent about a program that gives everything back, and still
# tells of a handle that a program keeps.
#   valgrind.sh PREFIX LIBDIR DATADIR TESTS
set -euo pipefail
prefix=$1 libdir=$2 datadir=$3 source=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for kept in 0 1; do
    cc -g -D_GNU_SOURCE -DKEEPS_A_HANDLE="$kept" -I"$prefix/include" -o "$folder/program" "$source/Consumers/tidy.c" \
        -L"$prefix/$libdir" -lquire -Wl,-rpath,"$prefix/$libdir"
    status=0
    valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=97 \
        --suppressions="$prefix/$datadir/quire/quire.supp" "$folder/program" >"$folder/log" 2>&1 || status=$?
    if [[ $status != $((kept * 97)) ]]; then
        cat "$folder/log"
        echo "valgrind ended with $status for a program that keeps $kept handles"
        exit 1
    fi
done
