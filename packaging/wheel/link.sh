#!/bin/bash
# Links the library once more from the objects of a build, for systems older than this one: link.sh BUILD FOLDER PYTHON.
# FOLDER gets libquire.so.0, with all libraries in it but libplist, and libplist as it can be put beside it. PYTHON has
# pyelftools. docs/internals/packages.md has the reasons.
set -euo pipefail
build=$(realpath "$1") folder=$2 python=$(realpath -s "$3")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
# The oldest glibc whose functions suffice, but for those in system.c.
glibc=2.17

rm -rf "$folder"
mkdir -p "$folder/static"
cd "$folder"
found() { realpath "$(gcc -print-file-name="$1")"; }

# The linker looks here first, and finds nothing but static libraries. That of libffi for shared libraries has a name of
# its own.
for name in icuuc icui18n sqlite3 xml2 lzma z md stdc++; do
  ln -s "$(found "lib$name.a")" static/
done
ln -s "$(found libffi_pic.a)" static/libffi.a

# Of ICU's data stays what the library can reach: collations, boundaries of text, letters and calendars of locales,
# time zones, properties and names of characters. Names of currencies, languages, regions, units and time zones go.
# Their root stays, which is what ICU opens to read a locale's letters or the time zone "GMT+3". Spelled-out numbers,
# transliterations, code pages, confusable characters and the rules of network protocols go, too.
ar p "$(found libicudata.a)" >icudata.o
entry=$(nm icudata.o | sed -n 's/.* R \(icudt[0-9]*_dat\)$/\1/p')
# The names of what is in a package begin with the name of its file.
package=${entry%_dat}l.dat
mkdir whole
objcopy -O binary -j .rodata icudata.o "whole/$package"
icupkg -l "whole/$package" | grep -E '^(curr|lang|region|unit|zone|rbnf|translit)/|\.(cnv|cfu|spp)$' |
  grep -v -E '^(curr|lang|region|unit|zone)/(root|pool|res_index|supplementalData)\.res$' >removed.txt
icupkg -r removed.txt "whole/$package" "$package"
gcc -c -x assembler -o icu.o - <<END
  .section .note.GNU-stack, "", @progbits
  .section .rodata
  .balign 16
  .globl $entry
  .type $entry, @object
$entry: .incbin "$package"
  .size $entry, . - $entry
END

gcc -std=c11 -D_GNU_SOURCE -O2 -fPIC -Wall -Wextra -Werror -c "$here/system.c" -o system.o

# As SwiftPM links for CMakeLists.txt, but from static libraries, and without packed relocations, which need glibc 2.36.
# Before 2.34 some of glibc's functions were in libpthread and libdl.
swiftc -emit-library -static-stdlib -use-ld=lld -module-name quire -o libquire.so.0 \
  "@$build/swift/release/quire.product/Objects.LinkFileList" system.o icu.o -L static -llzma \
  -Xlinker --no-as-needed -l:libpthread.so.0 -l:libdl.so.2 \
  -Xlinker --icf=all -Xlinker --gc-sections -Xlinker --strip-all -Xlinker -z -Xlinker defs \
  -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker -z -Xlinker nodelete -Xlinker --no-undefined-version \
  -Xlinker "--version-script=$root/Sources/QuireCore/exports.map" -Xlinker -soname=libquire.so.0 \
  -Xlinker "--remap-inputs=*/libswiftCore.a=$build/libswiftCore.a"

# libplist stays a library of its own: Debian has no static one, and by its licence it can then be exchanged.
cp "$(found libplist-2.0.so.3)" libplist-2.0.so.3
for library in libquire.so.0 libplist-2.0.so.3; do
  "$python" "$here/lower.py" "$library" "$glibc"
done
