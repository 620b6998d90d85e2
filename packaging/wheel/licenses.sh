#!/bin/bash
# Prints the licences of the libraries that a wheel carries, as Debian and Swift have them. With --expression, the names
# that SPDX has for them and for Quire's own, as the wheel's metadata tells them: of what is linked, and not of what
# else is in the sources.
set -euo pipefail
# Those of ICU are of its own list of licences; Debian's file has one of them.
declare -A names=(
  [libicu-dev]="Unicode-DFS-2016 AND ICU AND BSD-2-Clause AND BSD-3-Clause AND NAIST-2003"
  [libsqlite3-dev]="blessing"
  [libplist3]="LGPL-2.1-or-later AND MIT"
  [libxml2-dev]="MIT AND ISC"
  [liblzma-dev]="LicenseRef-Public-Domain"
  [zlib1g-dev]="Zlib"
  [libffi-dev]="MIT AND LicenseRef-Public-Domain"
  [libmd-dev]="BSD-3-Clause"
  ["libstdc++-$(gcc -dumpversion)-dev"]="GPL-3.0-or-later WITH GCC-exception-3.1"
  [swift]="Apache-2.0 WITH Swift-exception"
)
if [[ ${1:-} == --expression ]]; then
  others=$(printf '%s\n' "${names[@]}" | sed 's/ AND /\n/g' | LC_ALL=C sort -u | grep -v '^MIT$' | sed 's/^/ AND /')
  echo "MIT${others//$'\n'/}"
  exit
fi
cat <<'END'
This wheel carries the libraries below, linked into libquire.so.0, and libplist as a library beside it, which may be
exchanged for another one. Their sources are Debian's source packages of the versions that are named, and those of
Swift. Each licence is as Debian and Swift print it. Those that Debian prints once for all packages are at the end.
END
for package in $(printf '%s\n' "${!names[@]}" | grep -v '^swift$' | LC_ALL=C sort); do
  version=$(dpkg-query -W -f '${source:Package} ${source:Version}' "$package")
  # The copyright of several packages of one source is a link to that of the first of them.
  printf '\n\n==== %s\n\n' "$version"
  cat "/usr/share/doc/$package/copyright"
  # All of ICU's own, with those of its dictionaries.
  if [[ $package == libicu-dev ]]; then
    printf '\n'
    cat "$(dpkg -L libicu-dev | grep '/LICENSE$')"
  fi
done
swift=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
printf '\n\n==== %s\n\n' "$(swiftc --version 2>&1 | sed -n 's/.*\(Swift version [0-9.]*\).*/\1/p' | head -n 1)"
cat "$swift/share/swift/LICENSE.txt"
# What libplist and libstdc++ name, and Debian has in one place.
for license in LGPL-2.1 GPL-3; do
  printf '\n\n==== %s\n\n' "$license"
  cat "/usr/share/common-licenses/$license"
done
