"""What predicates are asked about, and what expressions give: Python values of any shape, without a store."""

from __future__ import annotations

import ctypes
import decimal
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional

from .._c import _ffi, _values
from .._c._load import quick
from ..errors import Error, InvalidArgument, WrongType

if TYPE_CHECKING:
    from ..protocols import Context

# As deep as the library goes.
_DEEPEST = 64
_SINGLE = frozenset({str, int, float, bool, type(None), bytes, decimal.Decimal, uuid.UUID})


class Subject:
    """A value and the variables beside it, packed for one call."""

    def __init__(self, value: object, variables: Mapping[str, Any]) -> None:
        self.context: Optional[Context] = None
        """That of the objects among the values."""
        self._above: set[int] = set()
        self._value = _values.Values((self._packed(value),))
        self._variables = _values.Values(self._entries(variables, "the name of a variable"))
        self.arguments = (
            self._value.array, ctypes.cast(self._variables.array, ctypes.POINTER(_ffi.quire_entry)), len(variables))
        """As calls take them."""

    def _packed(self, value: Any) -> _values.Packed:
        if type(value) in _SINGLE:
            return _values.any_value(value)
        if isinstance(value, Mapping):
            return self._nested(value)
        pack = getattr(type(value), "_quire_pack", None)
        if pack is not None:
            context = getattr(value, "_quire_context", None)
            if context is not None:
                self.context = context
            packed: _values.Packed = pack(value)
            return packed
        if isinstance(value, (str, bytes, bytearray, memoryview)):
            return _values.any_value(value)
        if (_is_dataclass(value) and not isinstance(value, type)) or isinstance(value, Iterable):
            return self._nested(value)
        return _values.any_value(value)

    def _nested(self, value: Any) -> _values.Packed:
        if id(value) in self._above:
            raise InvalidArgument(f"a {type(value).__name__} contains itself, and so has no end")
        if len(self._above) == _DEEPEST:
            raise InvalidArgument(f"the values are nested more than {_DEEPEST} deep")
        self._above.add(id(value))
        try:
            if isinstance(value, Mapping):
                return _values.dictionary(self._entries(value, "a key"))
            if _is_dataclass(value):
                import dataclasses

                fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
                return _values.dictionary(self._entries(fields, "a key"))
            return _values.listed([self._packed(item) for item in value])
        finally:
            self._above.discard(id(value))

    def _entries(self, values: Mapping[Any, Any], what: str) -> list[_values.Packed]:
        entries: list[_values.Packed] = []
        for key, value in values.items():
            if not isinstance(key, str):
                raise WrongType(f"{what} is a text, not {type(key).__name__}")
            entries.append(_values.text(key))
            try:
                entries.append(self._packed(value))
            except Error as error:
                raise type(error)(f"The value of {key!r:.60}: {error.message}") from None
        return entries


def _is_dataclass(value: object) -> bool:
    """As `dataclasses.is_dataclass`, which takes long to load, and which a program with dataclasses has loaded."""
    return hasattr(type(value), "__dataclass_fields__")


def entries(variables: Mapping[str, Any]) -> tuple[Any, int, object]:
    """What is substituted for variables: the array, the count, and what to keep during the call."""
    packed: list[_values.Packed] = []
    for name, value in variables.items():
        if not isinstance(name, str):
            raise WrongType(f"the name of a variable is a text, not {type(name).__name__}")
        packed.append(_values.text(name))
        try:
            packed.append(_values.any_value(value))
        except Error as error:
            raise type(error)(f"The variable ${name}: {error.message}") from None
    values = _values.Values(packed)
    return ctypes.cast(values.array, ctypes.POINTER(_ffi.quire_entry)), len(variables), values


def python_value(value: _ffi.quire_value, context: Optional[Context]) -> Any:
    """A value of an evaluation, copied out of it."""
    kind = value.kind
    if kind == _ffi.QUIRE_VALUE_NIL:
        return None
    if kind in (_ffi.QUIRE_VALUE_INTEGER, _ffi.QUIRE_VALUE_OBJECT_ID):
        return value.as_.integer
    if kind == _ffi.QUIRE_VALUE_BOOLEAN:
        return value.as_.boolean
    if kind in (_ffi.QUIRE_VALUE_DOUBLE, _ffi.QUIRE_VALUE_FLOAT):
        return value.as_.real
    if kind == _ffi.QUIRE_VALUE_DATE:
        return _values.instant(value.as_.real)
    if kind == _ffi.QUIRE_VALUE_LIST:
        return [python_value(value.as_.list[place], context) for place in range(value.size)]
    if kind == _ffi.QUIRE_VALUE_DICTIONARY:
        found = (value.as_.entries[place] for place in range(value.size))
        return {python_value(each.key, context): python_value(each.value, context) for each in found}
    if kind == _ffi.QUIRE_VALUE_OBJECT:
        assert context is not None
        return context._adopt(quick.quire_object_retain(value.as_.object))
    # Every member of the union starts at its beginning, and text may contain U+0000.
    address = ctypes.c_void_p.from_buffer(value.as_).value
    blob = ctypes.string_at(address, value.size) if address else b""
    if kind == _ffi.QUIRE_VALUE_DATA:
        return blob
    if kind == _ffi.QUIRE_VALUE_UUID:
        return uuid.UUID(bytes=blob)
    if kind == _ffi.QUIRE_VALUE_DECIMAL:
        return decimal.Decimal(blob.decode())
    return blob.decode()
