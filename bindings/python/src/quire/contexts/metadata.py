"""What a store says of itself, and what programs keep there."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Union

from .._c import _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import failure
from ..predicates import _evaluation

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Metadata", "read_metadata"]


@public
class Metadata(MutableMapping[str, Any]):
    """The metadata of a store, as a dictionary: `store.metadata["author"] = "Ada"`.

    Each look at it reads the file, and shows what was set and is not saved yet. The next save of a context on the store
    itself writes what was set, and may have nothing else to write; that of a child does not. What is set belongs to
    the store: a rollback, and a transaction that raises, leave it to be saved. While a transaction is open, to look at
    metadata raises `Busy`. Setting None removes a key, as `del` does, and is no error where there is none. Values are
    str, bytes, int, float, bool, datetime, and lists and dicts of these. An integer from 2 ** 63 on, which another
    program has written, is a Decimal. Keys that begin with NSStore, NSPersistence or _NS are those of Core Data, and
    cannot be set. Real files keep secrets here. Any thread.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def copy(self) -> dict[str, Any]:
        """All of it as of one moment, from one look at the file."""
        error, given = c_void_p(), c_void_p()
        status = library.quire_store_metadata(self._store._raw, byref(given), byref(error))
        if status:
            raise failure(status, error)
        return _taken(given)

    def __getitem__(self, key: str) -> Any:
        return self.copy()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())

    def __setitem__(self, key: str, value: Any) -> None:
        """Raises `InvalidArgument`, `ReadOnly`, `Busy`, `StoreClosed`. None removes the key."""
        name = _values.encoded(key)
        subject = _evaluation.Subject(value, {})
        error = c_void_p()
        status = library.quire_store_set_metadata(
            self._store._raw, name, len(name), subject.arguments[0], byref(error))
        if status:
            raise failure(status, error)

    def __delitem__(self, key: str) -> None:
        if key not in self.copy():
            raise KeyError(key)
        self[key] = None

    def __repr__(self) -> str:
        return f"<Metadata of {self._store!r}>"


def read_metadata(path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> dict[str, Any]:
    """The metadata of the store at `path`, of whatever model, which stays as it is.

    Raises `CannotOpen`, `NotAStore`, `Busy`, `Unsupported`, `DatabaseError`. Any thread.
    """
    encoded = os.fsencode(path)
    error, given = c_void_p(), c_void_p()
    status = library.quire_metadata_read(encoded, len(encoded), byref(given), byref(error))
    if status:
        raise failure(status, error)
    return _taken(given)


def _taken(given: c_void_p) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _evaluation.python_value(quick.quire_evaluation_value(given).contents, None)
        return found
    finally:
        quick.quire_evaluation_release(given)
