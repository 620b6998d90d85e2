"""What a model declares, read from the library: `store.model`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import byref, c_int64, c_void_p
from typing import Any, Callable, Optional, TypeVar, Union

from .._c import _ffi
from .._c._load import library, quick
from .._c._public import public
from ..errors import failure, text
from ..predicates import _evaluation

__all__ = [
    "AttributeDescription", "EntityDescription", "FetchedPropertyDescription", "IndexDescription", "IndexElement",
    "ModelDescription", "RelationshipDescription", "RuleDescription",
]

T = TypeVar("T")

_TYPES = {
    _ffi.QUIRE_TYPE_UNDEFINED: "Undefined", _ffi.QUIRE_TYPE_INTEGER_16: "Integer16",
    _ffi.QUIRE_TYPE_INTEGER_32: "Integer32", _ffi.QUIRE_TYPE_INTEGER_64: "Integer64",
    _ffi.QUIRE_TYPE_DECIMAL: "Decimal", _ffi.QUIRE_TYPE_DOUBLE: "Double", _ffi.QUIRE_TYPE_FLOAT: "Float",
    _ffi.QUIRE_TYPE_STRING: "String", _ffi.QUIRE_TYPE_BOOLEAN: "Boolean", _ffi.QUIRE_TYPE_DATE: "Date",
    _ffi.QUIRE_TYPE_BINARY: "Binary", _ffi.QUIRE_TYPE_UUID: "UUID", _ffi.QUIRE_TYPE_URI: "URI",
    _ffi.QUIRE_TYPE_TRANSFORMABLE: "Transformable", _ffi.QUIRE_TYPE_COMPOSITE: "Composite",
}
_DELETE_RULES = {
    _ffi.QUIRE_DELETE_NO_ACTION: "no action", _ffi.QUIRE_DELETE_NULLIFY: "nullify",
    _ffi.QUIRE_DELETE_CASCADE: "cascade", _ffi.QUIRE_DELETE_DENY: "deny",
}


class _Description:
    """Plain values that are equal when they say the same."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class _PropertyDescription(_Description):
    name: str
    entity: str
    """The entity that declares it."""
    optional: bool
    user_info: Mapping[str, str]


@public
class AttributeDescription(_PropertyDescription):
    """An attribute. Texts that were not declared are empty, bounds that were not None and 0."""

    transient: bool
    hash_modifier: str
    renamed_from: str
    type: str
    """The name of its type, such as "Integer16". "Composite" has `elements`, and is in models of files alone."""
    default: Any
    searchable: bool
    indexed: bool
    """Whether a model of a file asks for an index of it, as models before iOS 11 do."""
    external: bool
    preserved: bool
    encrypted: bool
    """Whether a model of a file has CloudKit encrypt it."""
    minimum: Any
    maximum: Any
    min_length: int
    max_length: int
    pattern: str
    derivation: str
    transformer: str
    value_class: str
    composite: str
    """What the model calls its elements; empty for other types."""
    elements: Mapping[str, AttributeDescription]
    """What a composite attribute is made of, by name."""


@public
class RelationshipDescription(_PropertyDescription):
    """A relationship. A maximum of 0 or 2**32 - 1 is none; that of a to-one relationship is 1."""

    transient: bool
    hash_modifier: str
    renamed_from: str
    destination: str
    inverse: str
    to_many: bool
    ordered: bool
    names_join_table: bool
    """As declared, or where the file that it comes from does not follow the rule."""
    indexed: bool
    on_delete: str
    minimum: int
    maximum: int


@public
class FetchedPropertyDescription(_PropertyDescription):
    """A fetched property."""


@public
class IndexElement(_Description):
    """An element of an index: a property, "self", "entity", or an expression, of which `property` is empty."""

    property: str
    expression: str
    descending: bool


@public
class IndexDescription(_Description):
    """A fetch index; `where` is its condition, empty for all objects."""

    name: str
    rtree: bool
    elements: list[IndexElement]
    where: str


@public
class RuleDescription(_Description):
    """A rule that a save checks, of the attribute `key` or of the object where that is empty."""

    key: str
    predicate: str
    message: str


@public
class EntityDescription(_Description):
    """An entity. What it inherits is in `properties` alone."""

    name: str
    parent: str
    number: int
    """Its number in the file."""
    abstract: bool
    class_name: str
    hash_modifier: str
    renamed_from: str
    version_hash: bytes
    user_info: Mapping[str, str]
    properties: Mapping[str, Union[AttributeDescription, RelationshipDescription, FetchedPropertyDescription]]
    indexes: list[IndexDescription]
    unique: list[list[str]]
    rules: list[RuleDescription]


@public
class ModelDescription(_Description):
    """What a model declares. Plain values: they stay when the store is closed, and any thread may read them."""

    entities: Mapping[str, EntityDescription]
    configurations: Mapping[str, list[str]]
    version_identifiers: list[str]
    templates: list[str]


def describe(model: int) -> ModelDescription:
    """Reads a model, which it freezes."""
    count: int = quick.quire_model_entity_count(model)
    names = [text(quick.quire_model_entity_name(model, place)) for place in range(count)]
    return ModelDescription(
        entities={name: _entity(model, name) for name in names},
        configurations=dict(_configurations(model)),
        version_identifiers=[
            text(quick.quire_model_version_identifier(model, place))
            for place in range(quick.quire_model_version_identifier_count(model))],
        templates=[
            text(quick.quire_model_fetch_template_name(model, place))
            for place in range(quick.quire_model_fetch_template_count(model))])


def _entity(model: int, name: str) -> EntityDescription:
    encoded = name.encode()
    asked = (model, encoded, len(encoded))
    info = _filled(_ffi.quire_entity_info, library.quire_model_entity, *asked)
    version_hash = (ctypes.c_uint8 * 32)()
    _call(library.quire_model_version_hash, *asked, version_hash)
    properties = [
        _property(asked, _filled(_ffi.quire_property_info, library.quire_model_property, *asked, place))
        for place in range(info.property_count)]
    return EntityDescription(
        name=text(info.name), parent=text(info.parent), number=info.number, abstract=info.is_abstract,
        class_name=text(info.class_name), hash_modifier=text(info.version_hash_modifier),
        renamed_from=text(info.renaming_identifier), version_hash=bytes(version_hash),
        user_info=_user_info(asked, None, info.user_info_count), properties={each.name: each for each in properties},
        indexes=[_index(asked, place) for place in range(info.fetch_index_count)],
        unique=[
            _texts(library.quire_model_uniqueness_constraint, *asked, place)
            for place in range(info.uniqueness_constraint_count)],
        rules=[_rule(asked, place) for place in range(info.validation_rule_count)])


def _property(asked: tuple[Any, ...], info: _ffi.quire_property_info, above: str = "") -> Any:
    """`above` are the composite attributes that it is an element of, with a dot behind each."""
    name = text(info.name)
    common: dict[str, Any] = {
        "name": name, "entity": text(info.entity), "optional": info.is_optional,
        "user_info": {} if above else _user_info(asked, name.encode(), info.user_info_count)}
    if info.kind == _ffi.QUIRE_PROPERTY_FETCHED:
        return FetchedPropertyDescription(**common)
    common.update(
        transient=info.is_transient, hash_modifier=text(info.version_hash_modifier),
        renamed_from=text(info.renaming_identifier))
    if info.kind == _ffi.QUIRE_PROPERTY_RELATIONSHIP:
        return RelationshipDescription(
            **common, destination=text(info.destination), inverse=text(info.inverse), to_many=info.is_to_many,
            ordered=info.is_ordered, names_join_table=info.names_join_table, indexed=info.is_indexed,
            on_delete=_DELETE_RULES[info.delete_rule],
            minimum=info.minimum_count, maximum=info.maximum_count)
    path = (above + name).encode()
    elements = [
        _property(asked, _filled(
            _ffi.quire_property_info, library.quire_model_composite_element, *asked, path, len(path), place),
            f"{above}{name}.")
        for place in range(info.element_count)]
    return AttributeDescription(
        **common, type=_TYPES[info.type], default=_evaluation.python_value(info.default_value, None),
        searchable=info.is_searchable, external=info.allows_external_storage, preserved=info.preserves_after_deletion,
        minimum=_evaluation.python_value(info.minimum, None), maximum=_evaluation.python_value(info.maximum, None),
        min_length=info.minimum_length, max_length=info.maximum_length, pattern=text(info.pattern),
        derivation=text(info.derivation), transformer=text(info.transformer), value_class=text(info.value_class_name),
        indexed=info.is_indexed, encrypted=info.allows_cloud_encryption, composite=text(info.composite_name),
        elements={each.name: each for each in elements})


def _index(asked: tuple[Any, ...], place: int) -> IndexDescription:
    info = _filled(_ffi.quire_fetch_index_info, library.quire_model_fetch_index, *asked, place)
    elements = []
    for number in range(info.element_count):
        element = _filled(
            _ffi.quire_index_element_info, library.quire_model_fetch_index_element, *asked, place, number)
        expression = text(quick.quire_expression_text(element.expression)) if element.expression else ""
        elements.append(
            IndexElement(property=text(element.property), expression=expression, descending=element.is_descending))
    return IndexDescription(
        name=text(info.name), rtree=info.kind == _ffi.QUIRE_INDEX_RTREE, elements=elements,
        where=text(quick.quire_predicate_text(info.condition)) if info.condition else "")


def _rule(asked: tuple[Any, ...], place: int) -> RuleDescription:
    info = _filled(_ffi.quire_validation_rule_info, library.quire_model_validation_rule, *asked, place)
    return RuleDescription(
        key=text(info.key), predicate=text(quick.quire_predicate_text(info.predicate)), message=text(info.message))


def _user_info(asked: tuple[Any, ...], property: Optional[bytes], count: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in range(count):
        key, value = _ffi.quire_string(), _ffi.quire_string()
        _call(
            library.quire_model_user_info, *asked, property, 0 if property is None else len(property), place,
            byref(key), byref(value))
        found[text(key)] = text(value)
    return found


def _configurations(model: int) -> Iterator[tuple[str, list[str]]]:
    for place in range(quick.quire_model_configuration_count(model)):
        name = _ffi.quire_string()
        entities = _texts(library.quire_model_configuration, model, place, byref(name))
        yield text(name), entities


def _texts(function: Callable[..., int], *arguments: Any) -> list[str]:
    """An array of texts that a call lends."""
    first, count = ctypes.POINTER(_ffi.quire_string)(), c_int64()
    _call(function, *arguments, byref(first), byref(count))
    return [text(first[place]) for place in range(count.value)]


def _filled(kind: type[T], function: Callable[..., int], *arguments: Any) -> T:
    """A struct that a call fills."""
    info = kind()
    info.struct_size = ctypes.sizeof(kind)  # type: ignore[attr-defined,arg-type]
    _call(function, *arguments, byref(info))  # type: ignore[arg-type]
    return info


def _call(function: Callable[..., int], *arguments: Any) -> None:
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status:
        raise failure(status, error)
