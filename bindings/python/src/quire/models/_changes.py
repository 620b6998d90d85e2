"""What was changed in an object and what was saved of it; reading it anew."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

from .._c import _buffers, _ffi
from .._c._load import library, quick
from ..errors import InvalidArgument, InvalidState, NotFound, failure, text
from ..objects import _identity, _rows
from .properties import Attr, Property, ToMany

if TYPE_CHECKING:
    from .model import Model


def changed_values(instance: Model) -> dict[str, Any]:
    """The present values of the stored properties that were changed, by name."""
    if instance._quire_reference is None:
        return {each._name: value for each, value in instance._quire_set_values()}
    handle = _identity.handle(instance)
    properties = type(instance)._quire_entity.properties
    keys = (_ffi.quire_string * len(properties))()
    count, error = c_size_t(), c_void_p()
    status = library.quire_object_changed_keys(handle, keys, len(properties), byref(count), byref(error))
    if status:
        raise failure(status, error)
    changed = {text(key) for key in keys[: count.value]}
    found: dict[str, Any] = {}
    for name, each in properties.items():
        if each._key in changed:
            value = getattr(instance, name)
            found[name] = list(value) if isinstance(each, ToMany) else value
    return found


def committed_values(instance: Model, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of the named properties, or of all, as they were last read or saved."""
    entity = type(instance)._quire_entity
    if instance._quire_reference is None:
        raise InvalidState(f"{instance!r} is in no context, so nothing was saved of it.")
    properties = [entity.property_named(name) for name in names] if names else entity.properties.values()
    return {each._name: _committed(instance, each) for each in properties}


def _committed(instance: Model, each: Property) -> Any:
    handle = _identity.handle(instance)
    context = instance._quire_context
    assert context is not None
    key = each._key_bytes
    error = c_void_p()
    if isinstance(each, ToMany):
        taken = c_void_p()
        status = library.quire_object_get_committed_objects(handle, key, len(key), byref(taken), byref(error))
        if status:
            raise failure(status, error)
        return _rows.objects_in(context, taken)
    value = _ffi.quire_value()
    status = library.quire_object_get_committed(handle, key, len(key), byref(value), byref(error))
    if status:
        raise failure(status, error)
    raw = _buffers.raw_value(value)
    if raw is None:
        return None
    if isinstance(each, Attr):
        decode = each._type.decode
        if decode is None:
            return raw
        try:
            return decode(raw)
        except InvalidArgument as failed:
            raise InvalidArgument(f"{each}: {failed.message}") from None
    try:
        return _identity.find(context, context.store._schema.destination(each), raw)
    except NotFound:
        return None


def is_fault(instance: Model) -> bool:
    """Whether nothing of it was read."""
    reference = instance._quire_reference
    if reference is None or reference.page is not None:
        return False
    if reference.handle is None:
        return not instance.__dict__
    return bool(quick.quire_object_is_fault(reference.handle))


def is_held(instance: Model) -> bool:
    """Whether the library gives its values without looking into the store and without calling a method of the class."""
    reference, context = instance._quire_reference, instance._quire_context
    if reference is None or reference.handle is None or context is None or context.closed:
        return False
    if quick.quire_object_is_inserted(reference.handle):
        return True
    return not quick.quire_object_is_fault(reference.handle) and type(instance) not in context.store._schema.awakening


def refresh(instance: Model, merge: bool) -> None:
    """Has it show what is in the store now."""
    context = instance._quire_context
    if context is None:
        raise InvalidState(f"{instance!r} is in no context, so there is nothing to read anew.")
    if not merge:
        context._check_task()
    # The whole context advances.
    context._delivery.settle()
    pointer = context._raw
    _identity.forget_values(instance)
    handle = _identity.handle(instance)
    error = c_void_p()
    status = library.quire_context_refresh(pointer, handle, merge, byref(error))
    _identity.forget_values(instance)
    context._delivery.after(status, error)
