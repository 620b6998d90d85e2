#!/bin/bash
# Makes Debian's packages of a build, in BUILD/debian/dist: make.sh BUILD.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$build/debian
version=$(sed -n 's/^#define QUIRE_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' include/quire/base.h | paste -sd .)
# A mailbox is no part of the project. Publishers of packages name theirs; no mail can be sent to this one.
contact=${QUIRE_CONTACT:-packages@quire.invalid}

# quietly COMMAND...: what it says is shown when it fails.
quietly() { "$@" >"$folder/make.log" 2>&1 || { cat "$folder/make.log" >&2; return 1; }; }

rm -rf "$folder"
mkdir -p "$folder/documents" "$folder/dist"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# The Python package as a wheel without the library, unpacked.
mkdir "$folder/package"
cp -L bindings/python/{pyproject.toml,setup.py,README.md,LICENSE} "$folder/package/"
git -C bindings/python ls-files -z src | (cd bindings/python && xargs -0 cp --parents -t "$folder/package")
(cd "$folder/package" && quietly /usr/bin/python3 setup.py bdist_wheel --dist-dir "$folder")
python3 -m zipfile -e "$folder"/quire-*.whl "$folder/python"
# Debian has the licence in share/doc, and it knows what it has installed. The manual lies in the package, too.
rm -r "$folder"/python/quire-*.data 2>/dev/null || true
rm "$folder/python/quire/cli/quire.1"
rm -r "$folder"/python/quire-*.dist-info/{RECORD,WHEEL,top_level.txt,licenses,LICENSE*} 2>/dev/null || true
echo dpkg >"$(echo "$folder"/python/quire-*.dist-info)/INSTALLER"

# The command, its manual, and what has shells complete it.
mkdir -p "$folder/command/bin" "$folder/command/share/man/man1"
cat >"$folder/command/bin/quire" <<'END'
#!/usr/bin/python3
import sys

from quire.cli.main import main

sys.exit(main())
END
gzip -9n <bindings/python/src/quire/cli/quire.1 >"$folder/command/share/man/man1/quire.1.gz"
# completion SHELL FILE: as the command writes it.
completion() {
  mkdir -p "$(dirname "$folder/command/share/$2")"
  QUIRE_LIBRARY=$build/lib/libquire.so PYTHONPATH=bindings/python/src PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m quire completion "$1" >"$folder/command/share/$2"
}
completion bash bash-completion/completions/quire
completion zsh zsh/vendor-completions/_quire

# What a program that uses a function has to depend on: the version in which the function came.
mkdir -p "$folder/symbols.d/debian" "$folder/symbols.d/tree/usr/lib"
printf 'Source: quire\n\nPackage: libquire0\nArchitecture: any\n' >"$folder/symbols.d/debian/control"
cp "$build/stripped/libquire.so.$version" "$folder/symbols.d/tree/usr/lib/libquire.so.0"
(cd "$folder/symbols.d" && quietly dpkg-gensymbols -v"$version" -plibquire0 -Ptree -O"$folder/symbols")
# That is the version of the function's symbol. Before 1.0 the next minor version may change the interface.
IFS=. read -r major minor _ <<<"$version"
next=$((major + 1))
((major)) || next=0.$((minor + 1))
sed -i -E "1s/\$/, libquire0 (<< $next~)/; s/(@QUIRE_([0-9]+\.[0-9]+)) .*/\1 \2/" "$folder/symbols"
echo "libquire $major libquire0 (>= $version), libquire0 (<< $next~)" >"$folder/shlibs"
depends=$(cd "$folder/symbols.d" && dpkg-shlibdeps --ignore-missing-info --warnings=0 -O tree/usr/lib/libquire.so.0 |
  sed -n 's/^shlibs:Depends=//p')
# Packed relocations need a newer glibc than the symbols say.
! readelf -d "$build/stripped/libquire.so.$version" | grep -q RELR || depends+=", libc6 (>= 2.36)"

swift=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
cat >"$folder/documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: quire

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE)
License: Expat
Comment: The library has Swift's standard library in it, which is under the
 Apache License 2.0 (/usr/share/common-licenses/Apache-2.0) with this exception:
 .
$(sed '1,/^## Runtime Library Exception/d; /^$/d; s/^ */ /' "$swift/share/swift/LICENSE.txt")

License: Expat
$(sed '1,/^Copyright/d' LICENSE | sed '1{/^$/d}; s/^$/./; s/^/ /')
END
gzip -9n >"$folder/documents/changelog.gz" <CHANGELOG.md
gzip -9n >"$folder/documents/changelog.Debian.gz" <<END
quire ($version-0quire1) unstable; urgency=medium

  * Version $version, as the changelog of the project has it.

 -- Quire contributors <$contact>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END

echo 'activate-noawait ldconfig' >"$folder/triggers"
cat >"$folder/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null 2>&1; then
  py3compile -p python3-quire
fi
END
cat >"$folder/prerm" <<'END'
#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then
  py3clean -p python3-quire
fi
END
chmod 755 "$folder/postinst" "$folder/prerm" "$folder/command/bin/quire"

# The prefix is Debian's, which CMake has to know before it writes the files by which others find the library.
quietly cmake -S . -B "$folder/cmake" -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
  "-DQUIRE_BUILT=$build" "-DQUIRE_DEBIAN=$folder" "-DQUIRE_CONTACT=$contact" "-DQUIRE_DEPENDS=$depends" \
  "-DQUIRE_NEXT=$next~"
(umask 022 && cd "$folder/cmake" && quietly cpack -G DEB -B "$folder/dist")
rm -rf "$folder/dist/_CPack_Packages"
ls -l "$folder"/dist/*.deb
