"""The tag of the wheel, the licence, and the library of source distributions; everything else is in pyproject.toml.

The package runs on every platform that has the library. A wheel that carries the library, in src/quire/_lib, is for the
platform that this was built for, and still for every version of Python. A source distribution has the core in `core`,
and its wheel carries the library that is built from it.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
CORE = HERE / "core"
LIBRARY = HERE / "src/quire/_lib"
CARRIES_LIBRARY = CORE.is_dir() or any(LIBRARY.glob("libquire.so*"))

OLDEST_SWIFT = (6, 3)
PROGRAMS = ("cmake", "ninja", "cc", "c++", "pkg-config")
# Debian's packages, by a header that each has.
HEADERS = {
    "sqlite3.h": "libsqlite3-dev", "unicode/ucol.h": "libicu-dev", "plist/plist.h": "libplist-dev",
    "libxml/parser.h": "libxml2-dev", "zlib.h": "zlib1g-dev", "sha2.h": "libmd-dev", "ffi.h": "libffi-dev",
}
ADVICE = (
    "The wheels of quire need none of this, where the system is Linux on x86-64 with glibc 2.17 or later: "
    "pip install --only-binary quire quire")


def lacks():
    """Sentences of what building the core needs and this system has not."""
    if not sys.platform.startswith("linux"):
        yield f"Quire runs on Linux; this is {sys.platform}."
        return
    swift = shutil.which("swift")
    if swift is None:
        yield "There is no swift on the PATH."
    else:
        said = subprocess.run([swift, "--version"], capture_output=True, text=True).stdout
        found = re.search(r"Swift version (\d+)\.(\d+)", said)
        if found is None or tuple(map(int, found.groups())) < OLDEST_SWIFT:
            yield f"{swift} is {found[0] if found else 'of an unknown version'}, which is too old."
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        yield f"These programs are missing: {', '.join(missing)}."
    if "cc" in missing or "pkg-config" in missing:
        return
    flags = subprocess.run(["pkg-config", "--cflags", "libxml-2.0"], capture_output=True, text=True).stdout.split()
    packages = [
        package for header, package in HEADERS.items()
        if subprocess.run(
            ["cc", "-E", "-o", os.devnull, *flags, "-x", "c", "-"], input=f"#include <{header}>", text=True,
            capture_output=True).returncode]
    if packages:
        yield f"Headers are missing, which Debian has in: {', '.join(packages)}."


def build_core():
    """Builds the library from the core, into the package."""
    problems = list(lacks())
    if problems:
        oldest = ".".join(map(str, OLDEST_SWIFT))
        sys.exit("\n".join([
            "", f"Quire's library is built from its sources with Swift {oldest} or later, CMake and a C compiler.",
            *problems, ADVICE, ""]))
    build = HERE / "build/core"
    options = ["-G", "Ninja", "-DBUILD_TESTING=OFF", f"-DPython3_EXECUTABLE={sys.executable}"]
    subprocess.run(["cmake", "-S", CORE, "-B", build, *options], check=True)
    subprocess.run(["cmake", "--build", build], check=True)
    LIBRARY.mkdir(exist_ok=True)
    (library,) = (build / "stripped").glob("libquire.so.*")
    shutil.copy(library, LIBRARY / ".".join(library.name.split(".")[:3]))


class Package(Distribution):
    def has_ext_modules(self):
        return CARRIES_LIBRARY


class Build(build_py):
    def run(self):
        if CORE.is_dir() and not getattr(self, "editable_mode", False) and not any(LIBRARY.glob("libquire.so*")):
            build_core()
            # What lies in the package was listed before.
            self.__dict__.pop("data_files", None)
        super().run()


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform)


# Here, because no form of it in pyproject.toml is good for both old and new versions of setuptools.
setup(license="MIT", distclass=Package, cmdclass={"bdist_wheel": Wheel, "build_py": Build})
