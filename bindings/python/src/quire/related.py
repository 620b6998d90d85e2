"""The objects of a to-many relationship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, Union, overload

from . import _identity, _rows
from ._load import library, quick
from .errors import InvalidState, failure

if TYPE_CHECKING:
    from .context import Context
    from .model import Model
    from .properties import ToMany

__all__ = ["Related"]

M = TypeVar("M", bound="Model")


class Related(Sequence[M], Generic[M]):
    """What a to-many relationship holds, as it is at each moment: a sequence that knows `add` and `remove`.

    In their order when the relationship is ordered, otherwise by id. Each use asks the library anew; take `list(...)`
    of it to keep one state. Used on the thread of the context.
    """

    __slots__ = ("_owner", "_relationship")

    def __init__(self, owner: Model, relationship: ToMany[M]) -> None:
        self._owner = owner
        self._relationship = relationship

    def add(self, item: M) -> None:
        """Adds an object, at the end when ordered; inverse relationships follow. Holding it already changes nothing."""
        self._change(library.quire_object_add, item)

    def remove(self, item: M) -> None:
        """Removes an object; inverse relationships follow. Not holding it changes nothing."""
        self._change(library.quire_object_remove, item)

    def __len__(self) -> int:
        taken = self._take()
        try:
            return int(quick.quire_list_count(taken))
        finally:
            quick.quire_list_release(taken)

    @overload
    def __getitem__(self, index: int) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> list[M]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[M, list[M]]:
        return self._all()[index]

    def __iter__(self) -> Iterator[M]:
        return iter(self._all())

    def __contains__(self, item: object) -> bool:
        return any(each is item for each in self._all())

    def __repr__(self) -> str:
        return f"<Related {self._relationship} of {self._owner!r}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("cannot pickle or copy a 'Related' object: it belongs to its context; take list(...) of it")

    @property
    def _context(self) -> Context:
        context = self._owner._quire_context
        assert context is not None
        return context

    def _change(self, call: Any, item: M) -> None:
        member = self._relationship._member(item)
        if member._quire_reference is None:
            raise InvalidState(f"{member!r} is in no context yet; context.add(...) puts it into one.")
        key = self._relationship._key_bytes
        error = c_void_p()
        status = call(
            _identity.handle(self._owner, writing=True), key, len(key), _identity.handle(member), byref(error))
        if status:
            raise failure(status, error)

    def _take(self) -> c_void_p:
        key = self._relationship._key_bytes
        error, taken = c_void_p(), c_void_p()
        status = library.quire_object_get_objects(
            _identity.handle(self._owner), key, len(key), byref(taken), byref(error))
        if status:
            raise failure(status, error)
        return taken

    def _all(self) -> list[M]:
        context = self._context
        model = context.store._schema.destination(self._relationship)
        taken = self._take()
        try:
            ids = _rows.read_ids(quick.quire_list_ids, taken, 0, quick.quire_list_count(taken))
            found = _rows.objects_of(context, model, ids, _rows.Source(taken), 0)
            return found  # type: ignore[return-value]
        finally:
            quick.quire_list_release(taken)
