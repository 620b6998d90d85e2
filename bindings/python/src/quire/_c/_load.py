"""Finds and loads the shared library, once, when the package is imported."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _ffi

SONAME = "libquire.so.0"


def _candidates() -> list[str]:
    named = os.environ.get("QUIRE_LIBRARY")
    if named:
        # A program that names a library wants that one: falling back to another would hide a typing error.
        return [named]
    return [os.path.join(os.path.dirname(os.path.dirname(__file__)), "_lib", SONAME), SONAME]


class _Library(ctypes.CDLL):
    """The library. A function gets its types when it is first asked for, because a program calls few of them."""

    def __getattr__(self, name: str) -> Any:
        # Complete before another thread can find it.
        function = self[name]
        if name in _ffi.FUNCTIONS:
            function.restype, function.argtypes = _ffi.FUNCTIONS[name]
        setattr(self, name, function)
        return function


class _QuickLibrary(_Library, ctypes.PyDLL):
    pass


def _open() -> tuple[_Library, str]:
    tried: list[str] = []
    for candidate in _candidates():
        try:
            return _Library(candidate), candidate
        except OSError as error:
            tried.append(f"  {candidate}: {error}")
    raise ImportError(
        "Quire's shared library could not be loaded. Tried:\n" + "\n".join(tried) + "\nInstall the "
        f"library where the dynamic linker finds {SONAME}, or set the environment variable "
        "QUIRE_LIBRARY to the path of the file.")


def _check(found: _Library, where: str) -> None:
    try:
        version_of = found.quire_version
    except AttributeError:
        raise ImportError(f"{where} is not Quire's library: it has no function quire_version.") from None
    version = (version_of() or b"").decode()
    if version.split(".")[:2] != _ffi.VERSION.split(".")[:2]:
        raise ImportError(
            f"{where} is Quire {version}, but this package was made for {_ffi.VERSION}. Install "
            "package and library of the same version.")
    for name in _ffi.FUNCTIONS:
        try:
            ctypes.c_void_p.in_dll(found, name)
        except ValueError as missing:
            raise ImportError(
                f"{where} does not fit this package ({missing}). Install package and library of the same "
                "version.") from None


library, path = _open()
"""Releases the interpreter lock during each call: for calls that may touch the disk."""

_check(library, path)

quick = _QuickLibrary(path)
"""The same library, keeping the interpreter lock: for calls that neither wait nor take long."""
