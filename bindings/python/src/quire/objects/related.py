"""The objects of a to-many relationship."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_void_p
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, Union, overload

from .._c import _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import Error, InvalidArgument, InvalidState, failure
from . import _identity, _rows

if TYPE_CHECKING:
    from ..protocols import Context, Model, ToMany

__all__ = ["Related"]

M = TypeVar("M", bound="Model")


@public
class Related(Sequence[M], Generic[M]):
    """What a to-many relationship holds, as it is at each moment: read like a list, changed like a set.

    In their order when the relationship is ordered, otherwise by id; an ordered one is changed like a list, too, and
    holds each object once. Inverse relationships follow every change. What takes several objects changes nothing when
    one of them cannot be held. Each use asks the library anew; take `list(...)` of it to keep one state. Used on the
    thread of the context.
    """

    __slots__ = ("_owner", "_relationship")

    def __init__(self, owner: Model, relationship: ToMany[M]) -> None:
        self._owner = owner
        self._relationship = relationship

    def add(self, item: M) -> None:
        """Adds an object, at the end when ordered; inverse relationships follow. Holding it already changes nothing."""
        self._change(library.quire_object_add, item)

    def remove(self, item: M) -> None:
        """Removes an object; inverse relationships follow. Raises ValueError when it is not held; see `discard`."""
        member = self._relationship._member(item)
        if member._quire_context is not None and not self._holds(member):
            raise ValueError(
                f"{self._relationship} of {self._owner!r} does not hold {item!r}; discard(...) also takes a stranger")
        self.discard(item)

    # MARK: as a set

    def discard(self, item: M) -> None:
        """Removes an object; inverse relationships follow. Not holding it changes nothing."""
        self._change(library.quire_object_remove, item)

    def update(self, *others: Iterable[M]) -> None:
        """Adds all objects of these iterables, at the end when ordered."""
        self._replace(chain(self._all(), *others))

    def difference_update(self, *others: Iterable[M]) -> None:
        """Removes all objects of these iterables."""
        gone = {id(each) for each in self._checked(chain(*others))}
        self._replace(each for each in self._all() if id(each) not in gone)

    def intersection_update(self, *others: Iterable[M]) -> None:
        """Removes what is not in all of these iterables."""
        kept = [{id(each) for each in self._checked(other)} for other in others]
        self._replace(each for each in self._all() if all(id(each) in some for some in kept))

    def symmetric_difference_update(self, other: Iterable[M]) -> None:
        """Removes the objects of `other` that it holds, and adds those that it does not."""
        given, held = list({id(each): each for each in self._checked(other)}.values()), self._all()
        both = {id(each) for each in given} & {id(each) for each in held}
        self._replace(each for each in chain(held, given) if id(each) not in both)

    def clear(self) -> None:
        """Removes all objects. They are not deleted."""
        self._replace(())

    def __ior__(self, other: Iterable[M]) -> Related[M]:
        self.update(other)
        return self

    def __isub__(self, other: Iterable[M]) -> Related[M]:
        self.difference_update(other)
        return self

    def __iand__(self, other: Iterable[M]) -> Related[M]:
        self.intersection_update(other)
        return self

    def __ixor__(self, other: Iterable[M]) -> Related[M]:
        self.symmetric_difference_update(other)
        return self

    # For mypy, `a.books |= some` is an assignment of `a.books | some`, too.

    def __or__(self, other: Iterable[M]) -> set[M]:
        return set(self).union(other)

    def __and__(self, other: Iterable[M]) -> set[M]:
        return set(self).intersection(other)

    def __sub__(self, other: Iterable[M]) -> set[M]:
        return set(self).difference(other)

    def __xor__(self, other: Iterable[M]) -> set[M]:
        return set(self).symmetric_difference(other)

    def __rsub__(self, other: Iterable[M]) -> set[M]:
        return set(other).difference(self)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    # MARK: as a list

    def append(self, item: M) -> None:
        """What `add` does, under the name that it has in lists: an object that is held already keeps its place."""
        self.add(item)

    def extend(self, items: Iterable[M]) -> None:
        """Adds all of these objects, at the end when ordered."""
        self.update(items)

    def insert(self, index: int, item: M) -> None:
        """Puts an object before the place `index`, from another place if it is held already.

        Raises `InvalidState` when the relationship is not ordered.
        """
        self._check_ordered()
        held = [each if each is not item else None for each in self._all()]
        held.insert(index, item)
        self._replace(each for each in held if each is not None)

    def pop(self, index: int = -1) -> M:
        """Removes the object at a place, and gives it. Raises IndexError."""
        item = self._all()[index]
        self.discard(item)
        return item

    def reverse(self) -> None:
        """Turns the order round. Raises `InvalidState` when the relationship is not ordered."""
        self._check_ordered()
        self._replace(reversed(self._all()))

    def sort(self, *, key: Callable[[M], Any], reverse: bool = False) -> None:
        """Orders the objects by a key of each. Raises `InvalidState` when the relationship is not ordered."""
        self._check_ordered()
        self._replace(sorted(self._all(), key=key, reverse=reverse))

    @overload
    def __setitem__(self, index: int, item: M) -> None: ...
    @overload
    def __setitem__(self, index: slice, item: Iterable[M]) -> None: ...
    def __setitem__(self, index: Union[int, slice], item: Any) -> None:
        self._check_ordered()
        held = self._all()
        held[index] = item
        if len({id(each) for each in held}) < len(held):
            raise InvalidArgument(
                f"{self._relationship} would hold an object twice; it holds each once. Take it out first.",
                entity=type(self._owner).__name__, key=self._relationship._name, id=self._owner.id)
        self._replace(held)

    def __delitem__(self, index: Union[int, slice]) -> None:
        held = self._all()
        del held[index]
        self._replace(held)

    # MARK: reading

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

    def __eq__(self, other: object) -> bool:
        """Whether a list, or another relationship, holds the same objects in the same order, or a set the same."""
        if isinstance(other, Related):
            other = other._all()
        if isinstance(other, (set, frozenset)):
            return set(self._all()) == other
        return _values.same_objects(self._all(), other)

    __hash__ = None  # type: ignore[assignment]

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
        try:
            member = self._relationship._member(item)
            if member._quire_reference is None:
                raise InvalidState(f"{member!r} is in no context yet; context.add(...) puts it into one.")
            key = self._relationship._key_bytes
            error = c_void_p()
            status = call(
                _identity.handle(self._owner, writing=True), key, len(key), _identity.handle(member), byref(error))
            if status:
                raise failure(status, error)
        except Error as failed:
            raise self._relationship._blamed(failed, self._owner)

    def _holds(self, member: Model) -> bool:
        context = self._context
        model = context.store._schema.destination(self._relationship)
        if member._quire_context is not context or not isinstance(member, model):
            return False
        inverse = self._relationship._options.inverse
        back = None if inverse is None else model._quire_entity.properties[inverse]
        if back is not None and not getattr(back, "_is_to_many", True):
            # The other side says it alone, however many there are.
            return not member.is_deleted and _identity.read(member, back._key_bytes) == self._owner.id
        taken = self._take()
        try:
            return member.id in _rows.read_ids(quick.quire_list_ids, taken, 0, quick.quire_list_count(taken))
        finally:
            quick.quire_list_release(taken)

    def _checked(self, items: Iterable[M]) -> list[Model]:
        return self._relationship._checked(items)

    def _replace(self, items: Iterable[Any]) -> None:
        """Holds these from now on, each once."""
        self._relationship._assign(self._owner, list({id(each): each for each in items}.values()))

    def _check_ordered(self) -> None:
        if not self._relationship._options.ordered:
            raise InvalidState(
                f"{self._relationship} has no order; declare it with ordered=True to give it one.",
                entity=type(self._owner).__name__, key=self._relationship._name, id=self._owner.id)

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
