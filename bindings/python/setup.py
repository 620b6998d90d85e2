"""The tag of the wheel, and the licence; everything else is in pyproject.toml.

The package runs on every platform that has the library. A wheel that carries the library, in src/quire/_lib, is for the
platform that this was built for, and still for every version of Python.
"""
from pathlib import Path

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

CARRIES_LIBRARY = any((Path(__file__).parent / "src/quire/_lib").glob("libquire.so*"))


class Package(Distribution):
    def has_ext_modules(self):
        return CARRIES_LIBRARY


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform)


# Here, because no form of it in pyproject.toml is good for both old and new versions of setuptools.
setup(license="MIT", distclass=Package, cmdclass={"bdist_wheel": Wheel})
