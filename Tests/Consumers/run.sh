#!/bin/bash
# Builds and runs a consumer of the installed library in an empty folder.
#   run.sh pkg-config|cmake PREFIX LIBDIR
set -euo pipefail
kind=$1 prefix=$2 libdir=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp "$here/$kind"/* "$here/main.c" "$here/main.cpp" "$folder"
cd "$folder"

case $kind in
  pkg-config)
    export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
    make --silent
    export LD_LIBRARY_PATH="$prefix/$libdir"
    ;;
  cmake)
    cmake -S . -B . -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build . >/dev/null
    ;;
esac
./quotes quotes.sqlite
./quotes_cpp quotes.sqlite
