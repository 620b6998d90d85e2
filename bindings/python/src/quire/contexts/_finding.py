"""How a context finds one object by a value."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, TypeVar, cast

from .._c import _ffi, _values
from .._c._load import library, quick
from ..errors import InvalidArgument
from ..objects import _identity
from ..models.model import Model
from ..models.properties import Attr, ToOne
from ._telling import Telling

if TYPE_CHECKING:
    from .context import Context

M = TypeVar("M", bound=Model)


class Finding(Telling):
    """The part of a context that finds one object by a value, or adds it."""

    def find(self, model: type[M], /, **value: Any) -> Optional[M]:
        """The object of a class, or of one that inherits from it, with a value of one attribute or to-one relationship:
        `context.find(Book, isbn="...")`. None where there is none; of several, the one with the lowest id.

        Unsaved changes count, and are processed first, as by a query. An index on the attribute (`__unique__`,
        `__indexes__`) makes it fast. Raises `InvalidArgument` for anything but one attribute of the class.
        """
        context = cast("Context", self)
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
        packed = _values.Values((_values.any_value(sought),))
        key = property._key_bytes
        self._prepare()
        error, found = c_void_p(), c_void_p()
        status = library.quire_context_find(
            self._raw, entity.encoded_name, len(entity.encoded_name), key, len(key), packed.array, byref(found),
            byref(error))
        if status == _ffi.QUIRE_NOT_FOUND:
            quick.quire_error_release(error)
            status = 0
        object = None if found.value is None else _identity.adopt(context, found.value)
        self._after(status, error)
        return cast(Optional[M], object)

    def find_or_add(
        self, model: type[M], /, defaults: Optional[Mapping[str, Any]] = None, **value: Any
    ) -> tuple[M, bool]:
        """The object that `find` finds; where there is none, one that is added with this value and the `defaults`.
        Gives the object, and whether it was added: `book, is_added = context.find_or_add(Book, isbn="...")`.

        Another context may add the same meanwhile; with `__unique__` the save settles that by the `merge_policy`.
        Raises what `find` and `add` raise.
        """
        found = self.find(model, **value)
        if found is not None:
            return found, False
        twice = [name for name in value if defaults is not None and name in defaults]
        if twice:
            raise InvalidArgument(f"{twice[0]!r} is given twice: as the value to look for, and among the defaults.")
        return cast("Context", self).add(model(**value, **(defaults or {}))), True
