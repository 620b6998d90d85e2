"""One Python object for each object of a context, and what each of them asks of the library.

An object that came with a page keeps its place there: reading an attribute converts the value at the first time. The
handle of the library's own object is fetched when something needs it: an attribute that is on no page, a relationship,
a change. From then on the library's object is the truth, and the page is let go.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from . import _buffers, _ffi, _values
from ._load import library, quick
from .errors import Conflict, Error, NotFound, failure, text

if TYPE_CHECKING:
    from .context import Context
    from ._entity import Entity
    from .model import Model

    _Weak = weakref.ref[Model]
else:
    _Weak = weakref.ref

Page = tuple[Sequence[Any], ...]
"""Columns of values in their plain form, which the objects of some neighbouring rows share."""

# One object that is held keeps its page, so pages are small. Also, these indexes cost no memory.
_ROWS_OF_PAGE = 256

# Below this, pausing the collector costs more than it saves.
_MANY = 256


class Reference(_Weak):
    """A weak reference to an object, which carries what the object knows of itself."""

    __slots__ = ("id", "handle", "page", "index")

    id: int
    handle: Optional[int]
    page: Optional[Page]
    index: int


class Objects(dict[int, Reference]):
    """The objects of one inheritance tree in one context, by id."""

    __slots__ = ("dead", "__weakref__")

    def __init__(self) -> None:
        ours = weakref.ref(self)

        def dead(reference: Reference) -> None:
            objects = ours()
            if objects is not None and objects.get(reference.id) is reference:
                del objects[reference.id]
            handle = reference.handle
            if handle is not None:
                reference.handle = None
                quick.quire_object_release(handle)

        self.dead = dead
        """What each reference calls when its object is collected."""


def attach(instance: Model, context: Context, id: int, handle: Optional[int]) -> Reference:
    """Puts an instance into a context, which takes over the handle."""
    objects = context._objects_of(type(instance)._quire_entity)
    reference = Reference(instance, objects.dead)
    reference.id = id
    reference.handle = handle
    reference.page = None
    reference.index = 0
    object.__setattr__(instance, "_quire_reference", reference)
    object.__setattr__(instance, "_quire_context", context)
    objects[id] = reference
    if id < 0:
        context._temporary.append(reference)
    return reference


def release_all(maps: Iterable[Objects]) -> None:
    """Gives back all handles of a context that ends."""
    for objects in list(maps):
        for reference in list(objects.values()):
            handle = reference.handle
            if handle is not None:
                reference.handle = None
                quick.quire_object_release(handle)


def forget_handles(maps: Iterable[Objects]) -> None:
    """After a fork: the handles are the parent's."""
    for objects in list(maps):
        for reference in list(objects.values()):
            reference.handle = None


# MARK: finding and making


def find(context: Context, model: type[Model], id: int) -> Model:
    """The object of `model`, or of a class that inherits from it, with this id; whether its row exists is not asked."""
    reference = context._objects_of(model._quire_entity).get(id)
    if reference is not None:
        instance = reference()
        if instance is not None:
            return instance
    # A temporary id changes at the save, which only the library's object learns; a class with children hides which
    # of them the object is of.
    if id < 0 or model in context.store._schema.polymorphic:
        return adopt(context, look_up(context, model._quire_entity, id))
    instance = model.__new__(model)
    attach(instance, context, id, None)
    return instance


def adopt(context: Context, handle: int) -> Model:
    """The object of an owned handle, which is taken over."""
    try:
        name = text(quick.quire_object_entity(handle))
        model = context.store._schema.model_named(name)
        id = quick.quire_object_id(handle)
        reference = context._objects_of(model._quire_entity).get(id)
        instance = None if reference is None else reference()
        if instance is None:
            instance = model.__new__(model)
            attach(instance, context, id, handle)
            return instance
        assert reference is not None
        if reference.handle is None:
            _take(instance, reference, handle, writing=False)
            return instance
    except BaseException:
        quick.quire_object_release(handle)
        raise
    quick.quire_object_release(handle)
    return instance


def look_up(context: Context, entity: Entity, id: int) -> int:
    """The library's object with this id, which must exist; the caller owns it."""
    error, found = c_void_p(), c_void_p()
    status = library.quire_context_object(
        context._raw, entity.encoded_name, len(entity.encoded_name), id, byref(found), byref(error))
    if status:
        raise failure(status, error)
    assert found.value is not None
    return found.value


def _from_page(context: Context, model: type[Model], ids: Sequence[int], page: Page) -> list[Model]:
    """The objects with these ids, which get the rows of this page."""
    entity = model._quire_entity
    objects = context._objects_of(entity)
    if model in context.store._schema.polymorphic:
        return [_with_row(find(context, model, id), page, index) for index, id in enumerate(ids)]
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


def forget_values(instance: Model) -> None:
    """Makes the next read of each attribute ask the library."""
    reference = instance._quire_reference
    if reference is not None:
        reference.page = None
    values = instance.__dict__
    for name in type(instance)._quire_entity.attributes:
        values.pop(name, None)


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


def objects_of(
    context: Context, model: type[Model], ids: Sequence[int], page_of: Any, source: Any, first: int
) -> list[Model]:
    """The objects with these ids, which are the rows of `source` from `first` on."""
    entity = model._quire_entity
    if not entity.stored:
        return [find(context, model, id) for id in ids]
    found: list[Model] = []
    with collector_paused(len(ids)):
        for start in range(0, len(ids), _ROWS_OF_PAGE):
            some = ids[start : start + _ROWS_OF_PAGE]
            try:
                page = _page(page_of, source, first + start, len(some), entity)
            except NotFound:
                # Another connection removed a row after the ids were read. The object concerned says so when read.
                found += [find(context, model, id) for id in some]
            else:
                found += _from_page(context, model, some, page)
    return found


def _page(page_of: Any, source: Any, first: int, count: int, entity: Entity) -> Page:
    error, page = c_void_p(), c_void_p()
    status = page_of(
        source, first, count, entity.page_keys, len(entity.stored), _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page),
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


# MARK: one object


def handle(instance: Model, writing: bool = False) -> int:
    """The library's object, borrowed from the instance."""
    reference = instance._quire_reference
    assert reference is not None
    if reference.handle is not None:
        return reference.handle
    context = instance._quire_context
    assert context is not None
    found = look_up(context, type(instance)._quire_entity, reference.id)
    if reference.handle is not None:
        quick.quire_object_release(found)
    else:
        _take(instance, reference, found, writing)
    assert reference.handle is not None
    return reference.handle


def _take(instance: Model, reference: Reference, found: int, writing: bool) -> None:
    """Goes over from the page to the library's object, which may have been read later than the page."""
    reference.handle = found
    shown = instance.__dict__
    entity = type(instance)._quire_entity
    stale: list[str] = []
    if shown:
        reference.page = None
        for name, attribute in entity.attributes.items():
            if name in shown and attribute._place >= 0:
                value = shown.pop(name)
                if getattr(instance, name) != value:
                    stale.append(name)
    reference.page = None
    if writing and stale:
        raise Conflict(
            f"{entity.name} {reference.id} was changed in the store since {', '.join(stale)} was read. It shows the "
            "new values now; nothing was changed.")


def read(instance: Model, key: bytes) -> Any:
    """The value of an attribute in its plain form, or the id that a to-one relationship holds."""
    found = handle(instance)
    error = c_void_p()
    value = _ffi.quire_value()
    status = library.quire_object_get(found, key, len(key), byref(value), byref(error))
    if status:
        raise failure(status, error)
    return _buffers.raw_value(value)


def write(instance: Model, key: bytes, packed: _values.Packed) -> None:
    """Changes an attribute or a relationship."""
    found = handle(instance, writing=True)
    error = c_void_p()
    values = _values.Values((packed,))
    status = library.quire_object_set(found, key, len(key), values.array, byref(error))
    if status:
        raise failure(status, error)


def uri(instance: Model) -> str:
    """Borrowed text, copied."""
    return text(quick.quire_object_uri(handle(instance)))


def is_inserted(instance: Model) -> bool:
    """Only what has a handle can be inserted."""
    reference = instance._quire_reference
    if reference is None or reference.handle is None:
        return False
    return bool(quick.quire_object_is_inserted(reference.handle))


def is_updated(instance: Model) -> bool:
    """An inverse relationship may have changed it, so a handle is needed."""
    try:
        return bool(quick.quire_object_is_updated(handle(instance)))
    except Error:
        return False


def is_deleted(instance: Model) -> bool:
    """Raises NotFound when there is no row."""
    return bool(quick.quire_object_is_deleted(handle(instance)))


_set_reference: Any
_set_context: Any


def learn_slots(model: type[Model]) -> None:
    """The slots of `Model`, written past its `__setattr__`."""
    global _set_reference, _set_context
    _set_reference = vars(model)["_quire_reference"].__set__
    _set_context = vars(model)["_quire_context"].__set__
