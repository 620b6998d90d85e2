"""One Python object for each object of a context, and what each of them asks of the library.

An object that came with a page keeps its place there: reading an attribute converts the value at the first time. The
handle of the library's own object is fetched when something needs it: an attribute that is on no page, a relationship,
a change. From then on the library's object is the truth, and the page is let go.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _buffers, _ffi, _values
from .._c._load import library, quick
from ..errors import Conflict, Error, InvalidState, NotFound, failure, text

if TYPE_CHECKING:
    from ..protocols import Context, Entity, Model

    _Weak = weakref.ref[Model]
else:
    _Weak = weakref.ref

Page = tuple[Sequence[Any], ...]
"""Columns of values in their plain form, which the objects of some neighbouring rows share."""


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


def forget_pages(context: Context, model: type[Model], ids: Iterable[int]) -> None:
    """Makes the objects with these ids show what the store has now, where the library does not know better."""
    objects = context._objects_of(model._quire_entity)
    for id in ids if objects else ():
        reference = objects.get(id)
        instance = None if reference is None else reference()
        if reference is not None and reference.handle is None and instance is not None:
            forget_values(instance)


def forget_shown(context: Context, model: type[Model], ids: Iterable[int]) -> None:
    """Makes the objects with these ids show what the library has now, which has read them anew."""
    objects = context._objects_of(model._quire_entity)
    for id in ids if objects else ():
        reference = objects.get(id)
        instance = None if reference is None else reference()
        if instance is not None:
            forget_values(instance)


def take_all(objects: Objects) -> None:
    """Makes all objects of an inheritance tree known to the library, but for those whose rows are gone."""
    for reference in list(objects.values()):
        instance = reference()
        if instance is not None and reference.handle is None:
            try:
                handle(instance)
            except NotFound:
                pass


def forget_all(objects: Objects) -> None:
    """Makes all objects of an inheritance tree show what the library has."""
    for reference in list(objects.values()):
        instance = reference()
        if instance is not None:
            forget_values(instance)


def forget_objects(objects: Objects) -> None:
    """After a reset: objects that callers hold are in no context any more, whatever their attribute says."""
    forget_all(objects)
    release_all((objects,))
    objects.clear()


def forget_values(instance: Model) -> None:
    """Makes the next read of each attribute ask the library."""
    reference = instance._quire_reference
    if reference is not None:
        reference.page = None
    values = instance.__dict__
    for name in type(instance)._quire_entity.attributes:
        values.pop(name, None)


# MARK: one object


def handle(instance: Model, writing: bool = False) -> int:
    """The library's object, borrowed from the instance."""
    reference = instance._quire_reference
    context = instance._quire_context
    assert reference is not None and context is not None
    context._raw
    if writing and context._blocks:
        context._check_task()
    if reference.handle is not None:
        return reference.handle
    if context._objects_of(type(instance)._quire_entity).get(reference.id) is not reference:
        raise InvalidState(
            f"{type(instance).__name__} {reference.id} was forgotten when its context was reset. Look it up again.",
            entity=type(instance).__name__, id=reference.id)
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
                if getattr(instance, name) != value and attribute._derivation is None:
                    stale.append(name)
    reference.page = None
    if writing and stale:
        raise Conflict(
            f"{entity.name} {reference.id} was changed in the store since {', '.join(stale)} was read. It shows the "
            "new values now; nothing was changed.", entity=entity.name, id=reference.id)


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


def learn_ids(context: Context, of_all: bool = False) -> None:
    """Files the objects whose ids have become others under these, in children too. Permanent ids are looked at too
    where it may be one `of_all`."""
    if of_all:
        context._temporary = [each for objects in context._maps.values() for each in objects.values()]
    still: list[Reference] = []
    for reference in context._temporary:
        handle = reference.handle
        object = reference()
        if handle is None or object is None:
            continue
        id = quick.quire_object_id(handle)
        if id < 0:
            still.append(reference)
        if id == reference.id:
            continue
        objects = context._objects_of(type(object)._quire_entity)
        if objects.get(reference.id) is reference:
            del objects[reference.id]
        reference.id = id
        objects[id] = reference
    context._temporary = still
    for child in list(context._children):
        learn_ids(child, of_all)
