"""What is pending in a context: adding and deleting objects, and those that were changed."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import TYPE_CHECKING

from .._c import _buffers, _values
from .._c._load import library, quick
from ..errors import Error, InvalidArgument, InvalidState, NotFound, failure
from ..objects import _identity, _rows
from ..models import _rules
from ..models._description import unmade
from ..models._entity import Entity
from ..models.model import Model
from ..models.properties import Attr, ToMany, ToOne, blamed

if TYPE_CHECKING:
    from .context import Context


def add(context: Context, object: Model) -> None:
    """Puts a new object into the context, all or nothing."""
    if not isinstance(object, Model):
        raise TypeError(f"an object of a model class can be added, not {_values.called(object)}")
    entity = context._store._schema.check(type(object))
    try:
        former = object._quire_context
    except AttributeError:
        raise unmade(type(object)) from None
    if former is not None:
        if former is context and not object.is_deleted:
            return
        raise InvalidState(
            f"{object!r} was in a context before. Make a new object instead.", entity=entity.name, id=object.id)
    if context._blocks:
        context._check_task()
    keys: list[bytes] = []
    packed: list[_values.Packed] = []
    lists: list[tuple[bytes, _values.Packed]] = []
    for each, value in object._quire_set_values():
        try:
            ready = each._pack(value)
        except Error as failed:
            raise blamed(failed, each) from None
        if isinstance(each, ToMany):
            lists.append((each._key_bytes, ready))
        else:
            keys.append(each._key_bytes)
            packed.append(ready)
    error, made = c_void_p(), c_void_p()
    context._hooks.adding = True
    try:
        try:
            status = library.quire_context_insert(
                context._raw, entity.encoded_name, len(entity.encoded_name), byref(made), byref(error))
        finally:
            context._hooks.adding = False
        if status:
            raise failure(status, error)
        handle = made.value
        assert handle is not None
        if keys:
            values = _values.Values(packed)
            status = library.quire_object_set_values(
                handle, _buffers.key_array(keys), values.array, len(keys), byref(error))
            if status:
                raise _failed(context, status, error)
        for key, members in lists:
            values = _values.Values((members,))
            status = library.quire_object_set(handle, key, len(key), values.array, byref(error))
            if status:
                raise _failed(context, status, error)
    except BaseException:
        if made.value is not None:
            _take_back(context, made.value, entity)
            quick.quire_object_release(made)
        raise
    _identity.attach(object, context, quick.quire_object_id(handle), handle)
    for each in entity.properties.values():
        # Relationships are asked for each time: the other side can change them.
        if not isinstance(each, Attr):
            object.__dict__.pop(each._name, None)
    try:
        object.awake_from_insert()
    except BaseException:
        _take_back(context, handle, entity)
        raise


def _failed(context: Context, status: int, error: c_void_p) -> Error:
    failed = _rules.complete(context, failure(status, error))
    # Of an object that is taken back.
    failed.id = 0
    return failed


def _take_back(context: Context, handle: int, entity: Entity) -> None:
    # What it was made to hold was there before: it lets go of that first, so that no delete rule takes it along.
    for each in entity.properties.values():
        if isinstance(each, (ToOne, ToMany)):
            nothing = _values.Values((each._pack([]) if isinstance(each, ToMany) else each._pack(None),))
            library.quire_object_set(handle, each._key_bytes, len(each._key_bytes), nothing.array, None)
    library.quire_context_delete(context._raw, handle, None)


def delete(context: Context, object: Model) -> None:
    """Deletes an object of the context."""
    if not isinstance(object, Model):
        raise TypeError(f"an object of a model class can be deleted, not {_values.called(object)}")
    if object._quire_context is None:
        raise InvalidState(
            f"{object!r} is in no context, so there is nothing to delete.", entity=type(object).__name__)
    if object._quire_context is not context:
        raise InvalidArgument(
            f"{object!r} belongs to another context. Look it up in this one: Context.get.",
            entity=type(object).__name__, id=object.id)
    try:
        handle = _identity.handle(object, writing=True)
    except NotFound:
        if object.is_deleted:
            return
        raise
    error = c_void_p()
    status = library.quire_context_delete(context._raw, handle, byref(error))
    if status:
        raise failure(status, error)


def objects(context: Context, which: int) -> list[Model]:
    """The objects that were inserted, updated or deleted, oldest first."""
    error, taken = c_void_p(), c_void_p()
    status = library.quire_context_pending(context._raw, which, byref(taken), byref(error))
    if status:
        raise failure(status, error)
    return _rows.objects_in(context, taken)
