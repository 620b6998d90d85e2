"""How contexts come to be: the program makes one, or the library lends one to a callback."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Optional

from .._c import _handle
from .._c._load import library
from ..errors import failure

if TYPE_CHECKING:
    from .context import Context
    from .store import Store


def create(store: Store, parent: Optional[Context]) -> _handle.Slot:
    """A new one, on the store or on another context."""
    error, made = c_void_p(), _handle.Slot(library.quire_context_release)
    if parent is None:
        status = library.quire_context_create(store._raw, byref(made), byref(error))
    else:
        status = library.quire_context_create_child(parent._raw, byref(made), byref(error))
    if status:
        raise failure(status, error)
    return made


def adopt(cls: type[Context], store: Store, pointer: int) -> Context:
    """One that the library lends."""
    made = _handle.Slot(library.quire_context_release)
    made.value = library.quire_context_retain(pointer)
    context = cls.__new__(cls)
    context._begin(store, None, made)
    return context
