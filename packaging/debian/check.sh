#!/bin/bash
# Tries what users of Debian 12 install: check.sh [--quick] BUILD.
#
# lintian reads the packages, and must find neither errors nor warnings. Without --quick the packages and the wheel are
# installed in a bare Debian 12 without Swift, where the examples run. This needs root, for chroot.
set -euo pipefail
quick=false
if [[ $1 == --quick ]]; then
  quick=true
  shift
fi
build=$(realpath "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
lintian --allow-root --fail-on error,warning "$build"/debian/dist/*.deb
echo "lintian: nothing in $(find "$build/debian/dist" -name '*.deb' | wc -l) packages"
# Each function is there as of the version that its symbol names, and no program outlives the next that may break it.
if grep -v -E '^ (quire_[a-z_0-9]+@)?QUIRE_([0-9.]+)(@QUIRE_\2)? \2$' "$build/debian/symbols" |
    grep -v -x -E 'libquire\.so\.[0-9]+ libquire0 #MINVER#, libquire0 \(<< [0-9.]+~\)'; then
  echo "These lines of Debian's symbols have no version of the library's own." >&2
  exit 1
fi
for package in "$build"/debian/dist/*.deb; do
  copyright=$(dpkg-deb --fsys-tarfile "$package" | tar -xO --wildcards './usr/share/doc/*/copyright')
  for words in 'License: Expat' 'common-licenses/Apache-2.0' 'As an exception, if you use this Software'; do
    grep -qF "$words" <<<"$copyright" || { echo "The copyright of $package lacks '$words'." >&2; exit 1; }
  done
done
if $quick; then
  exit
fi

# shellcheck source=packaging/bare.sh
source "$root/packaging/bare.sh"
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
debian=$folder/debian
make_bare bookworm "$debian"
cp "$build"/debian/dist/*.deb "$build"/wheel/dist/*.whl "$debian/work/"
cp -r "$root/examples" "$debian/work/"

# quietly COMMAND: inside; what it says is shown when it fails.
quietly() {
  inside "$debian" "$1" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log" >&2; return 1; }
}

inside "$debian" '! command -v swift gcc python3; . /etc/os-release; echo $PRETTY_NAME, $(getconf GNU_LIBC_VERSION)'
quietly 'apt-get install -y --no-install-recommends ./*.deb'
echo "Installed: $(inside "$debian" "dpkg-query -W -f '\${Package} \${Version} ' '*quire*'")"
# What the examples need besides: a compiler, and the quotations.
quietly 'apt-get install -y --no-install-recommends gcc libc6-dev pkg-config fortunes fortunes-min python3-venv'
inside "$debian" 'cd examples && cc -std=c11 -Wall -Wextra -o ../quotes quotes.c quotes_support.c fortune_file.c \
  $(pkg-config --cflags --libs quire) && cd .. && ./quotes --store c.sqlite >c.txt && head -n 1 c.txt'
inside "$debian" 'python3 examples/quotes.py --store python.sqlite >python.txt && cmp c.txt python.txt'
echo "The examples in C and in Python print the same."
inside "$debian" 'quire query python.sqlite Quote --section author --limit 1 --format csv >rows.csv &&
  test -s rows.csv && quire check python.sqlite 2>&1 | grep -q "apt install python3-rich"'
quietly 'apt-get install -y --no-install-recommends python3-rich'
inside "$debian" 'quire info python.sqlite >info.txt && quire check python.sqlite && grep -q Quote info.txt'
echo "The command reads the store of the examples."

quietly 'apt-get purge -y --autoremove libquire0'
inside "$debian" 'python3 -m venv environment && environment/bin/pip install --quiet --no-index ./*.whl &&
  environment/bin/python examples/quotes.py --store wheel.sqlite >wheel.txt && cmp c.txt wheel.txt'
echo "With the wheel the example prints the same."
