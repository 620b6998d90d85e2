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

if [[ $kind == pkg-config ]]; then
  # A program that was linked with a later library is refused when it starts, in words that name the version.
  mkdir later
  echo 'const char *quire_version(void) { return ""; }' | cc -x c -shared -fPIC -Wl,-soname=libquire.so.0 \
    -Wl,--version-script=<(echo 'QUIRE_99.0 { global: quire_version; };') -o later/libquire.so -
  echo '#include <quire.h>
    int main(void) { return *quire_version() == 0; }' >later.c
  read -ra flags <<<"$(pkg-config --cflags quire)"
  cc "${flags[@]}" -o later/program later.c -Llater -lquire
  if later/program 2>said || ! grep -q "version .QUIRE_99.0' not found (required by later/program)" said; then
    echo "A program of a later library was not refused: $(cat said)" >&2
    exit 1
  fi
fi
