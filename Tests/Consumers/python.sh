#!/bin/bash
# Installs the Python package without a network, from a copy of its folder, and runs a program in an empty folder: with
# the installed library, and with a wheel that carries the library.
#   python.sh PYTHON PREFIX LIBDIR SONAME
# PYTHON has the packages venv, setuptools and, when setuptools is older than 70.1, wheel.
set -euo pipefail
python=$1 library=$2/$3/$4 soname=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset LD_LIBRARY_PATH PYTHONPATH QUIRE_LIBRARY

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
mkdir empty
# -L, because the licence is a link to that of the whole project.
cp -rL "$here/../../bindings/python" package
rm -rf package/build package/src/*.egg-info package/src/quire/_lib

# pip as it is without settings of this machine. An environment for building, which sees setuptools, and an empty one.
pip() { "./$1/bin/python" -m pip --isolated --disable-pip-version-check "${@:2}" --quiet --no-index; }
"$python" -m venv --system-site-packages building
"$python" -m venv fresh
run() { (cd empty && "../$1/bin/python" -I -W error "$here/main.py" quotes.sqlite "$2"); }

wheel() {
  rm -rf wheels
  pip building wheel --no-build-isolation --no-deps --wheel-dir wheels ./package
  name=$(basename wheels/*)
  if [[ $name != $1 ]]; then
    echo "The wheel is called $name and not $1." >&2
    exit 1
  fi
}

echo "Installed from its folder; the library is found by the loader, and by QUIRE_LIBRARY:"
pip building install --no-build-isolation ./package
LD_LIBRARY_PATH=$(dirname "$library") run building "$library"
QUIRE_LIBRARY=$library run building "$library"

echo "A wheel without the library, for every platform:"
wheel 'quire-*-py3-none-any.whl'
pip fresh install wheels/*.whl
LD_LIBRARY_PATH=$(dirname "$library") run fresh "$library"

echo "A wheel that carries the library, for this platform:"
mkdir package/src/quire/_lib
cp "$library" package/src/quire/_lib/
wheel 'quire-*-py3-none-linux_*.whl'
pip fresh install --force-reinstall wheels/*.whl
run fresh "$(echo "$folder"/fresh/lib/python3*/site-packages/quire/_lib/"$soname")"
