"""What a model declares, as plain values: `store.model`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import Any, Optional, Union

from .._c import _handle
from .._c._load import library
from .._c._public import public
from ..errors import InvalidState, failure
from ..predicates.keys import Order

__all__ = [
    "AttributeDescription", "EntityDescription", "FetchedPropertyDescription", "IndexDescription", "IndexElement",
    "ModelDescription", "RelationshipDescription", "RequestDescription", "RuleDescription",
]

class _Description:
    """Plain values that are equal when they say the same."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ is not None:
            # `help` shows no annotations by itself.
            fields: dict[str, str] = {}
            for each in reversed(cls.__mro__):
                fields.update(vars(each).get("__annotations__", {}))
            lines = "".join(f"\n        {name}: {hint}" for name, hint in fields.items() if name[0] != "_")
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n    It has:\n{lines}\n    "

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class _PropertyDescription(_Description):
    name: str
    entity: str
    optional: bool
    user_info: Mapping[str, str]


@public
class AttributeDescription(_PropertyDescription):
    """An attribute. Texts that were not declared are empty, bounds that were not None and 0.

    `entity` is the entity that declares it, and `type` the name of its type, such as "Integer16". A model of a file may
    have more: `indexed` asks for an index of the attribute, as models before iOS 11 do, and `encrypted` has CloudKit
    encrypt it. The type "Composite" has `elements` by name, and `composite` is what the model calls them.
    """

    transient: bool
    hash_modifier: str
    renamed_from: str
    type: str
    default: Any
    searchable: bool
    indexed: bool
    external: bool
    preserved: bool
    encrypted: bool
    minimum: Any
    maximum: Any
    min_length: int
    max_length: int
    pattern: str
    derivation: str
    transformer: str
    value_class: str
    composite: str
    elements: Mapping[str, AttributeDescription]


@public
class RelationshipDescription(_PropertyDescription):
    """A relationship. A maximum of 0 or 2**32 - 1 is none; that of a to-one relationship is 1.

    `entity` is the entity that declares it, and `destination` the one that it leads to. `names_join_table` is as
    declared, or true where the file that it comes from does not follow the rule.
    """

    transient: bool
    hash_modifier: str
    renamed_from: str
    destination: str
    inverse: str
    to_many: bool
    ordered: bool
    names_join_table: bool
    indexed: bool
    on_delete: str
    minimum: int
    maximum: int


@public
class FetchedPropertyDescription(_PropertyDescription):
    """A fetched property: the objects of `destination` that `request` finds.

    Its condition is `request.condition`.
    """

    destination: str
    request: RequestDescription


@public
class RequestDescription(_Description):
    """A request that a model keeps: a template, or what a fetched property finds.

    `entity` is what it asks for, and `condition` a predicate, empty for all objects. `order_by` are keys as
    `Query.order_by` takes them, and a `limit` of None is none. `result` is "objects", "ids", "dictionaries" or "count".
    `makes_rows` says whether it has groups or columns, or leaves out equal rows; what these are is not told.
    """

    entity: str
    condition: str
    order_by: list[Order]
    limit: Optional[int]
    offset: int
    batch_size: int
    prefetch: list[str]
    result: str
    includes_subentities: bool
    includes_pending_changes: bool
    includes_property_values: bool
    returns_objects_as_faults: bool
    refreshes_objects: bool
    makes_rows: bool


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
    """An entity, and its `number` in the file.

    `properties` are its own and inherited ones: `property.entity` says which entity declares one. `indexes`, `unique`,
    `rules` and `user_info` are its own alone. Those of the entity `parent`, and of its parents, hold for its objects,
    too: `model.entities[entity.parent].unique`.
    """

    name: str
    parent: str
    number: int
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

    # No part of what is compared, printed and pickled.
    __slots__ = ("_model",)
    _model: Optional[_handle.Slot]

    entities: Mapping[str, EntityDescription]
    configurations: Mapping[str, list[str]]
    version_identifiers: list[str]
    templates: Mapping[str, RequestDescription]

    def save(self, path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
        """Writes the model as a source that Xcode edits: a folder at `path`, which ends in `.xcdatamodel`.

        A folder that is there gets new contents. Any thread, also when the store is closed. Raises `InvalidArgument`,
        `CannotOpen`, `Unsupported`, and `InvalidState` for a description that was copied or pickled.
        """
        model: Optional[_handle.Slot] = getattr(self, "_model", None)
        if model is None:
            raise InvalidState("This description is a copy, without the model that it describes. Save the first one.")
        save_model(model, path)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__


def save_model(model: Any, path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
    """Writes a model of the library as a source that Xcode edits."""
    encoded = os.fsencode(path)
    # Shells write a slash behind the name of a folder.
    encoded = encoded.rstrip(b"/") or encoded
    error = c_void_p()
    status = library.quire_model_save(model, encoded, len(encoded), byref(error))
    if status:
        raise failure(status, error)
