"""Validation rules of model classes, and what an error tells of those that were broken."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from .._c import _ffi, _values
from .._c._load import library
from ..errors import Error, InvalidArgument, InvalidModel, NotFound, ValidationError, failure
from ..predicates import _owners
from ..predicates.predicate import Predicate
from ..objects import _identity

if TYPE_CHECKING:
    from ..protocols import Context
    from ._comparisons import Orders
    from ._entity import Entity
    from .model import Model
    from .properties import Attr

E = TypeVar("E", bound=BaseException)

Condition = tuple[Union[str, Predicate], str]
"""What must hold, and what to say when it does not."""


class AttrRules:
    """What `attr` was given of rules."""

    __slots__ = ("minimum", "maximum", "min_length", "max_length", "pattern", "conditions")

    def __init__(
        self, minimum: Any = None, maximum: Any = None, min_length: int = 0, max_length: int = 0,
        pattern: Optional[str] = None, conditions: Iterable[Condition] = ()
    ) -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.min_length = min_length
        self.max_length = max_length
        self.pattern = pattern
        # An iterator is read once, and several models may have the attribute.
        self.conditions = tuple(conditions) if isinstance(conditions, Iterator) else conditions
        for name in ("min_length", "max_length"):
            if not 0 <= _values.whole(getattr(self, name), name) < 2**63:
                raise ValueError(f"{name} is not negative and below 2**63, not {getattr(self, name)}")
        if pattern is not None and (not isinstance(pattern, str) or "\0" in pattern):
            raise TypeError(f"pattern is a text without U+0000, not {pattern!r:.60}")

    def fill(self, options: _ffi.quire_attribute_options, attribute: Attr[Any]) -> list[Any]:
        """Writes them into options; gives what must live as long."""
        kept: list[Any] = []
        for name in ("minimum", "maximum"):
            bound = getattr(self, name)
            if bound is not None and attribute._type.unordered:
                raise InvalidModel(
                    f"{attribute} has a {name}, which asks for an order. {attribute._type.unordered}",
                    entity=attribute._owner, key=attribute._name)
            if bound is not None:
                values = _values.Values((attribute._pack(attribute._checked(bound)),))
                setattr(options, name, ctypes.cast(values.array, ctypes.POINTER(_ffi.quire_value)))
                kept.append(values)
        options.minimum_length = self.min_length
        options.maximum_length = self.max_length
        if self.pattern is not None:
            options.pattern = _values.encoded(self.pattern)
        return kept


def add(model: int, entity: Entity, orders: Orders) -> None:
    """Adds the rules of a class, and those of its attributes that are conditions."""
    known: set[tuple[str, str]] = set()
    for where, written in entity.settings("__rules__"):
        rules = _conditions(where, written)
        for condition, message in rules:
            _owners.check_declared(entity.model, _owners.of(condition), where)
            orders.check_declared(entity, where, condition)
            # A class may repeat the rules of its mixin.
            if (str(condition), message) not in known:
                _add(model, entity, None, condition, message)
        known.update((str(condition), message) for condition, message in rules)
    for attribute in entity.attributes.values():
        if attribute._name in entity.own:
            where = f"the rules of {attribute}"
            for condition, message in _conditions(where, attribute._rules.conditions):
                orders.check_declared(entity, where, condition, value=attribute)
                _add(model, entity, attribute._key_bytes, condition, message)


def _conditions(where: str, written: Any) -> Sequence[Condition]:
    found = list(written) if isinstance(written, Iterable) and not isinstance(written, (str, bytes)) else [written]
    for each in found:
        if not (
            isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], (str, Predicate))
            and isinstance(each[1], str)
        ):
            raise InvalidModel(f"{where}: a rule is a tuple of a condition and of what to say when it is broken.")
    return found


def _add(model: int, entity: Entity, key: Optional[bytes], condition: Union[str, Predicate], message: str) -> None:
    predicate = condition if isinstance(condition, Predicate) else Predicate(condition)
    text = _values.encoded(message)
    error = c_void_p()
    status = library.quire_model_add_validation_rule(
        model, entity.encoded_name, len(entity.encoded_name), key, 0 if key is None else len(key), predicate._raw, text,
        len(text), byref(error))
    if status:
        raise failure(status, error)


def complete(context: Context, error: E) -> E:
    """Gives an error, and the single ones of it, objects, names and values as Python has them."""
    if isinstance(error, Error):
        for each in error.details or (error,):
            key = each.key
            if each.entity:
                _complete(context, each)
            if each is not error:
                # Its message quotes the first.
                error._rename(key, each.key)
    return error


def _complete(context: Context, error: Error) -> None:
    model = context.store._schema.find(error.entity)
    if model is None:
        return
    entity = model._quire_entity
    if isinstance(error, ValidationError) and error.id:
        error.object = _object(context, entity, error.id)
    found = next((each for each in entity.properties.values() if each._key == error.key), None)
    if found is None:
        error._reword(error.message + entity.name_in_store(error.key))
        return
    error._rename(error.key, found._name)
    error.key = found._name
    if not isinstance(error, ValidationError):
        return
    attribute = entity.attributes.get(found._name)
    if attribute is None:
        if error.object is not None and error.value is not None and not getattr(found, "_is_to_many", False):
            error.value = getattr(error.object, found._name)
    elif error.value is not None and attribute._type.decode is not None:
        # A value that cannot be decoded stays in its stored form: the error is about the rule.
        with contextlib.suppress(InvalidArgument):
            error.value = attribute._type.decode(error.value)


def _object(context: Context, entity: Entity, id: int) -> Optional[Model]:
    reference = context._objects_of(entity).get(id)
    instance = None if reference is None else reference()
    if instance is not None:
        return instance
    try:
        return _identity.adopt(context, _identity.look_up(context, entity, id))
    except NotFound:
        # One that is to be deleted is found among those alone.
        return next((each for each in context.deleted if each.id == id and isinstance(each, entity.model)), None)
    except Error:
        return None


def validate_value(instance: Model, name: str, value: Any) -> None:
    """Checks a value for a property without assigning it."""
    from .properties import blamed

    found = type(instance)._quire_entity.property_named(name)
    context = instance._quire_context
    assert context is not None
    try:
        checked: Any = found._checked(value)
        values = _values.Values((found._pack(checked),))
        error = c_void_p()
        status = library.quire_object_validate_value(
            _identity.handle(instance), found._key_bytes, len(found._key_bytes), values.array, byref(error))
        if status:
            raise complete(context, failure(status, error))
    except ValidationError:
        # Rules have words of their own.
        raise
    except Error as failed:
        raise blamed(failed, found, instance)
