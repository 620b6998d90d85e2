"""How a context finds one object by a value."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, TypeVar, cast

from .._c import _ffi, _values
from .._c._load import library, quick
from ..errors import InvalidArgument
from ..objects import _identity
from ..models._comparisons import check_equals
from ..models.model import Model
from ..models.properties import Attr, ToOne

if TYPE_CHECKING:
    from .context import Context

M = TypeVar("M", bound=Model)


def find(context: Context, model: type[M], value: Mapping[str, Any]) -> Optional[M]:
    """The object of a class with this value of one property."""
    entity = context._store._schema.check(model)
    if len(value) != 1:
        raise InvalidArgument(
            f"find() looks for one value, as in find({model.__name__}, name=...), and was given {len(value)}. "
            "A query with where() looks for several.")
    (name, sought), = value.items()
    property = entity.property_named(name)
    if not isinstance(property, (Attr, ToOne)):
        raise InvalidArgument(
            f"{model.__name__}.{name} is not an attribute or a to-one relationship, by whose value one object is "
            "found. Use a query with where().")
    if isinstance(property, Attr):
        if property._type.stored is not None:
            check_equals(property, sought)
        sought = property._given(sought)
    packed = _values.Values((_values.any_value(sought),))
    key = property._key_bytes
    error, found = c_void_p(), c_void_p()
    status = library.quire_context_find(
        context._raw, entity.encoded_name, len(entity.encoded_name), key, len(key), packed.array, byref(found),
        byref(error))
    if status == _ffi.QUIRE_NOT_FOUND:
        quick.quire_error_release(error)
        status = 0
    if status:
        raise context._delivery.failed(status, error)
    object = None if found.value is None else _identity.adopt(context, found.value)
    return cast(Optional[M], object)


def find_or_add(
    context: Context, model: type[M], defaults: Optional[Mapping[str, Any]], value: Mapping[str, Any]
) -> tuple[M, bool]:
    """The same, or a new object, and whether it is new."""
    found = find(context, model, value)
    if found is not None:
        return found, False
    twice = [name for name in value if defaults is not None and name in defaults]
    if twice:
        raise InvalidArgument(f"{twice[0]!r} is given twice: as the value to look for, and among the defaults.")
    return context.add(model(**value, **(defaults or {}))), True
