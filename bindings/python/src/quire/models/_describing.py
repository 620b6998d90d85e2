"""Reads what a model of the library declares."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_int64, c_void_p
from typing import Any, Callable, Optional, TypeVar

from .._c import _ffi, _handle
from .._c._load import library, quick
from ..errors import failure, text
from ..predicates import _evaluation
from ..predicates.keys import TEXT_ORDERS, Order, TextOrder
from .model_description import (
    AttributeDescription,
    EntityDescription,
    FetchedPropertyDescription,
    IndexDescription,
    IndexElement,
    ModelDescription,
    RelationshipDescription,
    RequestDescription,
    RuleDescription,
)

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
_RESULTS = {
    _ffi.QUIRE_RESULT_OBJECTS: "objects", _ffi.QUIRE_RESULT_IDS: "ids", _ffi.QUIRE_RESULT_DICTIONARIES: "dictionaries",
    _ffi.QUIRE_RESULT_COUNT: "count",
}
_TEXT_ORDERS: dict[int, TextOrder] = {number: name for name, number in TEXT_ORDERS.items()}
_NO_LIMIT = 2**64 - 1


def describe(model: int) -> ModelDescription:
    """Reads a model, which it freezes."""
    count: int = quick.quire_model_entity_count(model)
    names = [text(quick.quire_model_entity_name(model, place)) for place in range(count)]
    kept = _handle.Slot(quick.quire_model_release)
    kept.value = quick.quire_model_retain(model)
    described = ModelDescription(
        entities={name: _entity(model, name) for name in names},
        configurations=dict(_configurations(model)),
        version_identifiers=[
            text(quick.quire_model_version_identifier(model, place))
            for place in range(quick.quire_model_version_identifier_count(model))],
        templates={
            text(quick.quire_model_fetch_template_name(model, place)):
            _request(quick.quire_model_fetch_template_request(model, place))
            for place in range(quick.quire_model_fetch_template_count(model))})
    described._model = kept
    return described


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
        request = _request(info.request)
        return FetchedPropertyDescription(**common, destination=request.entity, request=request)
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


def _request(request: Any) -> RequestDescription:
    info = _filled(_ffi.quire_fetch_request_info, library.quire_fetch_request_describe, request)
    orders = [
        _filled(_ffi.quire_sort_info, library.quire_fetch_request_sort_key, request, place)
        for place in range(info.sort_count)]
    return RequestDescription(
        entity=text(info.entity), condition=text(quick.quire_predicate_text(info.predicate)) if info.predicate else "",
        order_by=[
            Order(text(each.key_path), not each.is_descending, _TEXT_ORDERS[each.text_order], text(each.locale) or None)
            for each in orders],
        limit=None if info.limit == _NO_LIMIT else info.limit, offset=info.offset, batch_size=info.batch_size,
        prefetch=[
            text(quick.quire_fetch_request_prefetched(request, place)) for place in range(info.prefetch_count)],
        result=_RESULTS[info.result_type], includes_subentities=info.includes_subentities,
        includes_pending_changes=info.includes_pending_changes,
        includes_property_values=info.includes_property_values,
        returns_objects_as_faults=info.returns_objects_as_faults, refreshes_objects=info.refreshes_refetched_objects,
        makes_rows=info.makes_rows)


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
