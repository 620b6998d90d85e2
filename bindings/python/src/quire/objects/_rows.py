"""Rows of the library's lists as objects.

The values of rows are read page by page; an object that is new gets its place on a page, see `_identity`.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _buffers, _ffi
from .._c._load import library, quick
from ..errors import InvalidState, NotFound, failure
from ._identity import Page, Reference, adopt, find, forget_values

if TYPE_CHECKING:
    from ..protocols import Context, Entity, Model

# One object that is held keeps its page, so pages are small. Also, these indexes cost no memory.
_ROWS_OF_PAGE = 256

# The library reads many rows faster than few: in the order in which they are stored.
_ROWS_AT_ONCE = 2048

# Below this, pausing the collector costs more than it saves.
_MANY = 256

_Rows = Iterator[tuple[int, "Model"]]


class Source:
    """A list of the library, from which rows are read."""

    __slots__ = ("pointer",)

    page_of: Any = library.quire_list_page

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer

    def object_at(self, row: int) -> int:
        """The library's object of a row; the caller owns it."""
        error, found = c_void_p(), c_void_p()
        status = library.quire_list_object(self.pointer, row, byref(found), byref(error))
        if status:
            raise failure(status, error)
        assert found.value is not None
        return found.value


@contextmanager
def collector_paused(count: int) -> Iterator[None]:
    """Many new objects, none of them garbage: the cyclic collector would look at them again and again."""
    if count < _MANY or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def existing(context: Context, model: type[Model], ids: Iterable[int]) -> Iterator[Model]:
    """The objects with these ids. One that has vanished is left out when its entity is not known any more."""
    for id in ids:
        try:
            yield find(context, model, id)
        except NotFound:
            pass


def objects_of(
    context: Context, model: type[Model], ids: Sequence[int], source: Source, first: int, is_complete: bool = False
) -> list[Model]:
    """The objects with these ids, which are the rows of `source` from `first` on.

    One that has vanished is left out when its entity is not known any more; with `is_complete`, NotFound is
    raised instead.
    """
    entity = model._quire_entity
    found: list[Model] = []
    is_paged = bool(entity.stored) and model not in context.store._schema.awakening
    with collector_paused(len(ids)):
        for start, some, page in _pages(entity, ids, source, first, _ROWS_AT_ONCE if is_paged else 0):
            rows = _rows(context, model, some, source, first + start, is_complete)
            if page is None:
                found += [instance for _, instance in rows]
            else:
                found += _from_page(context, model, some, page, rows)
    return found


def _pages(
    entity: Entity, ids: Sequence[int], source: Source, first: int, step: int
) -> Iterator[tuple[int, Sequence[int], Optional[Page]]]:
    """Small pages, read in larger ones: their first row, ids and values. There are none without a `step`, and none
    where an object was deleted after the ids were read, which says so when it is read."""
    for start in range(0, len(ids), step or _ROWS_OF_PAGE):
        some = ids[start : start + (step or _ROWS_OF_PAGE)]
        try:
            page = _page(source, first + start, len(some), entity) if step else None
        except (NotFound, InvalidState):
            if step > _ROWS_OF_PAGE:
                for inner, fewer, page in _pages(entity, some, source, first + start, _ROWS_OF_PAGE):
                    yield start + inner, fewer, page
                continue
            page = None
        if page is None or len(some) <= _ROWS_OF_PAGE:
            yield start, some, page
            continue
        for inner in range(0, len(some), _ROWS_OF_PAGE):
            end = inner + _ROWS_OF_PAGE
            yield start + inner, some[inner:end], tuple([column[inner:end] for column in page])


def _rows(
    context: Context, model: type[Model], ids: Sequence[int], source: Source, first: int, is_complete: bool
) -> _Rows:
    """Objects one by one, for what cannot be told from the ids alone: classes, and what was deleted."""
    objects = context._objects_of(model._quire_entity)
    is_alone = model not in context.store._schema.polymorphic
    for index, id in enumerate(ids):
        reference = objects.get(id)
        instance = None if reference is None else reference()
        if instance is None and is_alone and id > 0:
            instance = find(context, model, id)
        if instance is None:
            try:
                instance = adopt(context, source.object_at(first + index))
            except NotFound:
                if is_complete:
                    raise
                continue
        yield index, instance


def _page(source: Source, first: int, count: int, entity: Entity) -> Page:
    error, page = c_void_p(), c_void_p()
    status = source.page_of(
        source.pointer, first, count, entity.page_keys, len(entity.stored), _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page),
        byref(error))
    if status:
        raise failure(status, error)
    try:
        return tuple([_buffers.compact_values(column) for column in _buffers.columns(page.value or 0)])
    finally:
        quick.quire_page_release(page)


def read_ids(ids_of: Any, source: Any, first: int, count: int) -> list[int]:
    """Ids of `quire_list_ids` or `quire_results_ids`."""
    if count <= 0:
        return []
    error = c_void_p()
    buffer = (c_int64 * count)()
    status = ids_of(source, first, count, buffer, byref(error))
    if status:
        raise failure(status, error)
    return memoryview(buffer).cast("B").cast("q").tolist()


def _from_page(context: Context, model: type[Model], ids: Sequence[int], page: Page, rows: _Rows) -> list[Model]:
    """The objects with these ids, which get the rows of this page."""
    entity = model._quire_entity
    objects = context._objects_of(entity)
    if model in context.store._schema.polymorphic:
        return [_with_row(instance, page, index) for index, instance in rows]
    found: list[Model] = []
    append = found.append
    make = model.__new__
    set_reference = _set_reference
    set_context = _set_context
    known = objects.get
    dead = objects.dead
    for index, id in enumerate(ids):
        reference = known(id)
        if reference is not None:
            instance = reference()
            if instance is not None:
                append(_with_row(instance, page, index))
                continue
        if id < 0:
            append(_with_row(find(context, model, id), page, index))
            continue
        instance = make(model)
        # What `attach` does, without a call for each.
        reference = Reference(instance, dead)
        reference.id = id
        reference.handle = None
        reference.page = page
        reference.index = index
        set_reference(instance, reference)
        set_context(instance, context)
        objects[id] = reference
        append(instance)
    return found


def known(context: Context, model: type[Model], ids: Sequence[int]) -> Optional[list[Model]]:
    """The objects with these ids if all of them are alive and have values to show, else None."""
    objects = context._objects_of(model._quire_entity)
    found: list[Model] = []
    for id in ids:
        reference = objects.get(id)
        instance = None if reference is None else reference()
        if reference is None or instance is None or (reference.page is None and reference.handle is None):
            return None
        found.append(instance)
    return found


def _with_row(instance: Model, page: Page, index: int) -> Model:
    reference = instance._quire_reference
    assert reference is not None
    old = reference.page
    if old is None:
        # What the object has cached came from the library's object, and so did this row.
        reference.page, reference.index = page, index
        return instance
    place = reference.index
    for was, now in zip(old, page):
        if was[place] != now[index]:
            forget_values(instance)
            reference.page, reference.index = page, index
            break
    return instance


_set_reference: Any
_set_context: Any


def learn_slots(model: type[Model]) -> None:
    """The slots of `Model`, written past its `__setattr__`."""
    global _set_reference, _set_context
    _set_reference = vars(model)["_quire_reference"].__set__
    _set_context = vars(model)["_quire_context"].__set__


def objects_in(context: Context, taken: c_void_p) -> list[Model]:
    """The objects of a list of the library, which is given back."""
    error = c_void_p()
    try:
        found = []
        for index in range(quick.quire_list_count(taken)):
            handle = c_void_p()
            status = library.quire_list_object(taken, index, byref(handle), byref(error))
            if status:
                raise failure(status, error)
            assert handle.value is not None
            found.append(adopt(context, handle.value))
        return found
    finally:
        quick.quire_list_release(taken)


def ids_of(call: Any, source: Any, first: int, count: int) -> array[int]:
    """Ids of `quire_list_ids` or `quire_results_ids` in an array."""
    ids = array("q", bytes(8 * max(count, 0)))
    if count > 0:
        error = c_void_p()
        status = call(source, first, count, (c_int64 * count).from_buffer(ids), byref(error))
        if status:
            raise failure(status, error)
    return ids
