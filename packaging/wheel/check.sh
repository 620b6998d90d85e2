#!/bin/bash
# Tries what make.sh has made of a build: check.sh [--quick] BUILD.
#
# With --quick, the wheel in an empty environment of one Python, and the sources where Swift is missing. Without it, the
# wheel in each CPython from 3.9 to 3.14 that uv finds or can bring, with all tests of the package; and the same in
# releases of Debian with an older and a newer glibc, which debootstrap brings.
set -euo pipefail
quick=false
if [[ $1 == --quick ]]; then
  quick=true
  shift
fi
build=$(realpath "$1")
dist=$build/wheel/dist
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools=$("$root/script/environment" wheel)/bin
wheel=$(echo "$dist"/*.whl)
sources=$(echo "$dist"/*.tar.gz)
most_milliseconds=60
unset LD_LIBRARY_PATH PYTHONPATH QUIRE_LIBRARY

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir empty

# The metadata names the licences of all that the wheel carries, and has their texts.
metadata=$("$tools/python" -m zipfile -e "$wheel" unpacked && cat unpacked/*.dist-info/METADATA)
for line in "License-Expression: $("$root/packaging/wheel/licenses.sh" --expression)" \
  "License-File: LICENSE" "License-File: LICENSE.libraries"; do
  grep -qxF "$line" <<<"$metadata" || { echo "The wheel's metadata lacks '$line'." >&2; exit 1; }
done
texts=$(cat unpacked/*.dist-info/licenses/LICENSE.libraries)
for words in 'UNICODE, INC. LICENSE AGREEMENT' 'International Business Machines Corporation and others' \
  'Nara Institute of Science' 'GNU LESSER GENERAL PUBLIC LICENSE' 'GNU GENERAL PUBLIC LICENSE' \
  'GCC RUNTIME LIBRARY EXCEPTION' 'Runtime Library Exception to the Apache 2.0 License' 'D. Richard Hipp' \
  'Daniel Veillard' 'Jean-loup Gailly' 'Red Hat, Inc.' 'Guillem Jover' 'Lasse Collin'; do
  grep -qF "$words" <<<"$texts" || { echo "The wheel's licences lack '$words'." >&2; exit 1; }
done

# install_wheel PYTHON FOLDER: the wheel and nothing else, without the settings of this machine.
install_wheel() {
  "$tools/uv" --quiet --no-config venv --no-project --python "$1" "$2"
  "$tools/uv" --quiet --no-config pip install --offline --no-index --compile-bytecode --python "$2" "$wheel"
}

# run_program FOLDER: a list that follows a save, with the library of the wheel.
run_program() {
  local library
  library=$("$1/bin/python" -I -c 'import quire, os; print(os.path.dirname(quire.__file__))')/_lib/libquire.so.0
  rm -rf empty/*
  (cd empty && "$1/bin/python" -I -W error "$root/Tests/Consumers/main.py" quotes.sqlite "$library")
}

# The best of ten, because other programs run here, too.
import_time() {
  local best
  best=$(for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$1/bin/python" -I -X importtime -c 'import quire' 2>&1 | sed -n 's/.*| *\([0-9]*\) | quire$/\1/p'
  done | sort -n | head -n 1)
  echo "import quire: $((best / 1000)) ms"
  ((best <= most_milliseconds * 1000)) || { echo "That is more than $most_milliseconds ms." >&2; return 1; }
}

# What the library of the wheel makes of texts, with its part of ICU's data, is what that of the build makes of them.
compare_texts() {
  "$1/bin/python" -I "$root/packaging/wheel/texts.py" "$folder/wheel.sqlite" >wheel.txt
  QUIRE_LIBRARY=$build/lib/libquire.so "$1/bin/python" -I "$root/packaging/wheel/texts.py" "$folder/whole.sqlite" \
    >whole.txt
  diff whole.txt wheel.txt >differences.txt || { head -n 20 differences.txt >&2; return 1; }
  echo "texts: $(wc -l <wheel.txt) answers as with all of ICU's data"
}

# Without Swift the sources say what they need, and what to do instead.
try_sources() {
  mkdir sources few
  tar -xzf "$sources" -C sources --strip-components 1
  for program in cc c++ cmake ninja pkg-config; do
    ln -s "$(command -v "$program")" few/
  done
  local status=0
  (cd sources && PATH=$folder/few "$1" setup.py --quiet bdist_wheel) >said.txt 2>&1 || status=$?
  if ((status == 0)) || ! grep -q 'There is no swift on the PATH' said.txt || ! grep -q 'only-binary' said.txt; then
    tail -n 20 said.txt >&2
    echo "The sources did not say that Swift is missing." >&2
    return 1
  fi
  sed -n '/^Quire/,$p' said.txt
}

# report LOG: the tests that failed, and how many there were.
report() {
  grep -E '^(FAIL|ERROR): ' "$1" || true
  echo "$(sed -n 's/^Ran \([0-9]* tests\) in.*/\1/p' "$1"): $(tail -n 1 "$1")"
}

# run_tests FOLDER: all tests of the package, which say how many they are.
run_tests() {
  local status=0
  (cd empty && "$1/bin/python" -B -W error -m unittest discover -s "$root/bindings/python/tests" \
    -t "$root/bindings/python/tests") >"$1.log" 2>&1 || status=$?
  report "$1.log"
  return $status
}

install_wheel /usr/bin/python3 "$folder/environment"
run_program "$folder/environment"
import_time "$folder/environment"
compare_texts "$folder/environment"
try_sources "$tools/python"
if $quick; then
  exit
fi

differences=0
# try NAME COMMAND...: counts what fails.
try() {
  echo "== $1"
  "${@:2}" || { differences=$((differences + 1)); echo "$1 failed."; }
}

# All that the wheel asks of the C library, by the lists that Zig has of each version of glibc.
try 'glibc 2.17' "$root/script/environment" --run glibc "$root/packaging/wheel/needs.py" 2.17 \
  "$build"/wheel/library/lib*.so.*

whole() { install_wheel "$1" "$2" && run_program "$2" && run_tests "$2"; }

# Pythons that pyenv has are not on the PATH.
if command -v pyenv >/dev/null; then
  PATH=$PATH$(printf ':%s' "$(pyenv root)"/versions/*/bin)
fi
export UV_PYTHON_INSTALL_DIR=$folder/pythons
for version in 3.9 3.10 3.11 3.12 3.13 3.13t 3.14 3.14t; do
  "$tools/uv" python find --quiet --no-project --no-python-downloads "$version" >/dev/null 2>&1 ||
    "$tools/uv" python install --quiet --no-bin "$version" >/dev/null 2>&1 || true
  if python=$("$tools/uv" python find --no-project --no-python-downloads "$version" 2>/dev/null); then
    try "$("$python" -c 'import sys; print("CPython", sys.version)')" whole "$python" "$folder/$version"
  else
    echo "skipped: CPython $version is not here, and uv cannot bring it"
  fi
done

# in_debian RELEASE PYTHON [PACKAGE]: as above, with that Python and C library of the system. The package has what
# debootstrap does not find, because it looks for no package by what that provides.
in_debian() {
  local system=$folder/$1 tests=/shared/bindings/python/tests
  make_bare "$1" "$system" "$2,$2-venv${3:+,$3}"
  cp "$wheel" "$system/work/"
  inside "$system" "$2 -m venv environment && environment/bin/pip install --quiet --no-index ./*.whl &&
    getconf GNU_LIBC_VERSION && environment/bin/python -VV"
  local status=0
  SHARED=$root inside "$system" \
    "environment/bin/python -B -W error -m unittest discover -s $tests -t $tests" >"$system.log" 2>&1 || status=$?
  report "$system.log"
  return $status
}

if [[ $(id -u) == 0 ]]; then
  # shellcheck source=packaging/bare.sh
  source "$root/packaging/bare.sh"
  try 'Debian 11' in_debian bullseye python3.9 python3-distutils
  try 'Debian in development' in_debian sid python3.14
else
  echo "skipped: other releases of Debian need root, for chroot"
fi
echo "wheel: $differences differences"
((differences == 0))
