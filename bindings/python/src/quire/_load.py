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
        # Who names a library wants that one: falling back to another would hide a typing error.
        return [named]
    return [os.path.join(os.path.dirname(__file__), "_lib", SONAME), SONAME]


def _open() -> tuple[ctypes.CDLL, str]:
    tried: list[str] = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate), candidate
        except OSError as error:
            tried.append(f"  {candidate}: {error}")
    raise ImportError(
        "Quire's shared library could not be loaded. Tried:\n" + "\n".join(tried) + "\nInstall the "
        f"library where the dynamic linker finds {SONAME}, or set the environment variable "
        "QUIRE_LIBRARY to the path of the file.")


def _check(found: ctypes.CDLL, where: str) -> None:
    try:
        version_of = found.quire_version
    except AttributeError:
        raise ImportError(f"{where} is not Quire's library: it has no function quire_version.") from None
    version_of.restype = ctypes.c_char_p
    version_of.argtypes = ()
    version = (version_of() or b"").decode()
    if version.split(".")[:2] != _ffi.VERSION.split(".")[:2]:
        raise ImportError(
            f"{where} is Quire {version}, but this package was made for {_ffi.VERSION}. Install "
            "package and library of the same version.")


library, path = _open()
"""Releases the interpreter lock during each call: for calls that may touch the disk."""

_check(library, path)

_bind: Any = _ffi.bind

quick = ctypes.PyDLL(path)
"""The same library, keeping the interpreter lock: for calls that neither wait nor take long."""

try:
    _bind(library)
    _bind(quick)
except AttributeError as missing:
    raise ImportError(
        f"{path} does not fit this package ({missing}). Install package and library of the same "
        "version.") from None
