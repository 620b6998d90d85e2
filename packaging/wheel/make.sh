#!/bin/bash
# Makes the wheel and the source distribution of a build, in BUILD/wheel/dist: make.sh BUILD.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$build/wheel
most_bytes=20000000

# quietly COMMAND...: what it says is shown when it fails.
quietly() { "$@" >"$folder/make.log" 2>&1 || { cat "$folder/make.log" >&2; return 1; }; }

# The tools have an environment of their own: Debian's are too old to know the tags of today.
mkdir -p "$folder"
tools=$(script/environment wheel)
export PATH=$tools/bin:$PATH
# The time in the archives, so that the same sources make the same files.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

packaging/wheel/link.sh "$build" "$folder/library" "$tools/bin/python"

# copy_package FOLDER: the Python package, its licence being a link no longer.
copy_package() {
  rm -rf "$1"
  mkdir -p "$1"
  cp -L bindings/python/{pyproject.toml,setup.py,README.md,LICENSE} "$1/"
  git -C bindings/python ls-files -z src | (cd bindings/python && xargs -0 cp --parents -t "$1")
}

rm -rf "$folder/dist" "$folder/unrepaired"
copy_package "$folder/package"
mkdir "$folder/package/src/quire/_lib"
cp "$folder/library/libquire.so.0" "$folder/package/src/quire/_lib/"
packaging/wheel/licenses.sh >"$folder/package/LICENSE.libraries"
# The sources are under Quire's licence alone, and the wheel is under those of all that is in it.
expression=$(packaging/wheel/licenses.sh --expression)
sed -i "s/^dynamic = \[\"version\", \"license\"\]\$/dynamic = [\"version\"]\nlicense = \"$expression\"/" \
  "$folder/package/pyproject.toml"
sed -i 's/^setup(license="MIT", /setup(/' "$folder/package/setup.py"
quietly python -m build --wheel --no-isolation --outdir "$folder/unrepaired" "$folder/package"
LD_LIBRARY_PATH=$folder/library quietly auditwheel repair --wheel-dir "$folder/dist" "$folder"/unrepaired/*.whl

# The sources have the core beside the package, which then builds it (setup.py).
copy_package "$folder/sources"
mkdir "$folder/sources/core"
git ls-files -z CMakeLists.txt Package.swift LICENSE Sources include share script/collectable Tests/Unit |
  xargs -0 cp --parents -t "$folder/sources/core"
echo 'graft core' >"$folder/sources/MANIFEST.in"
quietly python -m build --sdist --no-isolation --outdir "$folder/dist" "$folder/sources"

wheel=$(echo "$folder"/dist/*.whl)
auditwheel show "$wheel"
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
if ((bytes > most_bytes)); then
  echo "The wheel has more than $most_bytes bytes." >&2
  exit 1
fi
