#!/bin/bash
# Prints the licences of the libraries that a wheel carries, as Debian and Swift have them.
set -euo pipefail
cat <<'END'
This wheel carries the libraries below, linked into libquire.so.0, and libplist as a library beside it, which may be
exchanged for another one. Their sources are Debian's source packages of the versions that are named, and those of
Swift. Each licence is as Debian and Swift print it.
END
for package in libicu-dev libsqlite3-dev libplist3 libxml2-dev liblzma-dev zlib1g-dev libffi-dev libmd-dev \
  "libstdc++-$(gcc -dumpversion)-dev"; do
  version=$(dpkg-query -W -f '${source:Package} ${source:Version}' "$package")
  # The copyright of several packages of one source is a link to that of the first of them.
  printf '\n\n==== %s\n\n' "$version"
  cat "/usr/share/doc/$package/copyright"
done
swift=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
printf '\n\n==== %s\n\n' "$(swiftc --version 2>&1 | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p' | head -n 1)"
cat "$swift/share/swift/LICENSE.txt"
