"""From model classes to a model of the library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from ctypes import byref, c_void_p
from types import MappingProxyType
from typing import Any, Optional, Union

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from ..errors import InvalidArgument, InvalidModel, failure
from ..predicates import _owners
from ..predicates._owners import Unresolved
from . import _fetched, _hooks, _indexes, _mixins, _rules, _templates
from ._comparisons import Orders
from ._entity import Entity, late
from .model import Model
from .model_description import ModelDescription
from .properties import Attr, Relationship, ToMany, ToOne


class Schema:
    """The classes that a store was opened with."""

    def __init__(self, models: Iterable[type[Model]]) -> None:
        self._by_name: dict[str, type[Model]] = {}
        if isinstance(models, type):
            raise TypeError(f"the model classes are a list; give [{models.__name__}]")
        if isinstance(models, (str, bytes, os.PathLike)):
            raise TypeError(
                f"the model classes are a list, not {models!r:.60}. A model in a file is loaded first: "
                f"quire.open(path, quire.load_model({models!r:.60}))")
        if isinstance(models, ModelDescription) or not isinstance(models, Iterable):
            raise TypeError(
                "a store takes a list of model classes, or a model from quire.load_model, not "
                f"{type(models).__name__}")
        for model in models:
            if not (isinstance(model, type) and issubclass(model, Model)) or model is Model:
                named = f"{model!r:.100} is no model class"
                if isinstance(model, _handle.Handle):
                    named += "; give the model from quire.load_model by itself, not in a list"
                raise TypeError(named)
            self._include(model)
        if not self._by_name:
            raise InvalidModel("A store needs at least one model class.")
        self.polymorphic: set[type[Model]] = set()
        """Classes from which others of the store inherit."""
        for model in self._by_name.values():
            parent = model._quire_entity.parent
            while parent is not None:
                self.polymorphic.add(parent.model)
                parent = parent.parent
        self.hooks: dict[Entity, frozenset[str]] = {}
        """The methods that the library calls, of classes that have any."""
        self.awakening: set[type[Model]] = set()
        """Classes with objects that are told when they are read, which must be asked for their values one by one."""
        for model in self._by_name.values():
            names = _hooks.overridden(model, Model)
            if names:
                self.hooks[model._quire_entity] = names
            if "awake_from_fetch" in names:
                entity: Optional[Entity] = model._quire_entity
                while entity is not None:
                    self.awakening.add(entity.model)
                    entity = entity.parent
        self._destinations: dict[int, type[Model]] = {}
        self.orders = Orders((model._quire_entity for model in self._by_name.values()), self.destination)

    def _include(self, model: type[Model]) -> None:
        if "_quire_entity" not in vars(model):
            raise _mixins.no_entity(model)
        entity = model._quire_entity
        if entity.parent is not None:
            self._include(entity.parent.model)
        for message in (each for source in entity.sources for each in late(entity, source)):
            raise InvalidModel(message, entity=entity.name)
        for name, each in entity.own.items():
            # To refuse the assignment itself would take a metaclass, with which no other could be combined.
            if vars(model).get(name) is not each:
                raise InvalidModel(
                    f"{each} is no longer what the class declared: it was set or deleted on the class itself. Assign "
                    "values to objects, and give a default as attr(default=...).",
                    entity=entity.name, key=name)
        known = self._by_name.setdefault(entity.name, model)
        if known is not model:
            raise InvalidModel(
                f"Two classes are called {entity.name!r}. {_out_of_two(known, model)}", entity=entity.name)

    @property
    def by_name(self) -> Mapping[str, type[Model]]:
        """The classes by the names of their entities."""
        return MappingProxyType(self._by_name)

    def model_named(self, name: str) -> type[Model]:
        """The class of an entity."""
        return self._by_name[name]

    def find(self, name: str) -> Optional[type[Model]]:
        """The class of an entity, if there is one."""
        return self._by_name.get(name)

    def check(self, model: type[Model]) -> Entity:
        """The entity of a class that the store knows."""
        if not (isinstance(model, type) and issubclass(model, Model)) or model is Model:
            raise TypeError(f"{model!r} is no model class")
        entity: Optional[Entity] = getattr(model, "_quire_entity", None)
        known = None if entity is None else self._by_name.get(entity.name)
        if entity is None or (known is not model and entity.model is not model):
            raise _mixins.no_entity(model)
        if known is model:
            return entity
        if _is_found(model):
            raise InvalidModel(
                f"The class {entity.name!r} belongs to another open store. Take that of this one: "
                f"store.classes[{entity.name!r}].", entity=entity.name)
        if known is not None and _is_found(known):
            raise InvalidModel(
                f"The store was opened without classes, and has one of its own for {entity.name!r}. Take that: "
                f"store.classes[{entity.name!r}]. Or give the list of classes to quire.open.", entity=entity.name)
        if known is not None:
            raise InvalidModel(
                f"The store was opened with another class called {entity.name!r}. {_out_of_two(known, model)}",
                entity=entity.name)
        names = ", ".join(self._by_name)
        raise InvalidModel(
            f"The store was opened without the model class {entity.name!r}; it has {names}. Add it to the list "
            "given to quire.open.", entity=entity.name)

    def destination(self, relationship: Union[Relationship, _fetched.Fetched[Any]]) -> type[Model]:
        """The class at the other end."""
        found = self._destinations.get(id(relationship))
        if found is None:
            written = self._newest(relationship._destination)
            unresolved = isinstance(written, Unresolved)
            name = written.name if unresolved else written._quire_entity.name
            known = self._by_name.get(name)
            if known is None:
                raise InvalidModel(
                    f"{relationship} leads to {name!r}, which is not among the model classes of the store. Add it to "
                    "the list given to quire.open.", entity=relationship._owner, key=relationship._name)
            if not (unresolved or known is written):
                raise InvalidModel(
                    f"{relationship} leads to another class called {name!r} than the store has. "
                    f"{_out_of_two(written, known)}", entity=relationship._owner, key=relationship._name)
            found = self._destinations[id(relationship)] = known
        return found

    def _newest(self, written: Any) -> Any:
        """The class of the store, if that is what is written or was defined again since."""
        if isinstance(written, Unresolved):
            return written
        known = self._by_name.get(written._quire_entity.name, written)
        return known if _owners.is_one(known, written) else written

    def create(self) -> int:
        """Makes the model; the caller owns it."""
        for name, model in self._by_name.items():
            if _is_found(model):
                raise InvalidModel(
                    f"The class {name!r} was made for a store that is open without classes. Another store is opened "
                    "with the model of its file: give quire.load_model(path) to quire.open.", entity=name)
        pointer: int = quick.quire_model_create()
        try:
            for model in self._by_name.values():
                self._add_entity(pointer, model._quire_entity)
            for model in self._by_name.values():
                _indexes.add(pointer, model._quire_entity)
                _templates.add(pointer, model._quire_entity, self.orders)
                self._add_fetched(pointer, model._quire_entity)
                _rules.add(pointer, model._quire_entity, self.orders)
                _add_user_info(pointer, model._quire_entity)
        except BaseException:
            quick.quire_model_release(pointer)
            raise
        return pointer

    def _add_entity(self, pointer: int, entity: Entity) -> None:
        options = _ffi.quire_entity_options(
            struct_size=ctypes.sizeof(_ffi.quire_entity_options), is_abstract=entity.is_abstract,
            parent=entity.parent.encoded_name if entity.parent else None,
            version_hash_modifier=_class_text(entity, "__hash_modifier__"),
            renaming_identifier=_class_text(entity, "__renamed_from__"),
            class_name=_class_text(entity, "__class_name__"))
        name = entity.encoded_name
        _call(library.quire_model_add_entity, pointer, name, len(name), byref(options))
        for each in entity.own.values():
            if isinstance(each, Attr):
                self._add_attribute(pointer, name, each)
            else:
                self._add_relationship(pointer, name, each)

    def _add_attribute(self, pointer: int, entity: bytes, attribute: Attr[Any]) -> None:
        options = _ffi.quire_attribute_options(
            struct_size=ctypes.sizeof(_ffi.quire_attribute_options), is_optional=attribute._is_optional,
            is_transient=attribute._is_transient, is_searchable=attribute._is_searchable,
            derivation=_optional(attribute._derivation, f"what {attribute} is derived from"),
            allows_external_storage=attribute._traits.external, preserves_after_deletion=attribute._traits.preserved,
            transformer=_optional(attribute._traits.transformer, f"the transformer of {attribute}"),
            value_class_name=_optional(attribute._traits.value_class, f"the class of values of {attribute}"),
            version_hash_modifier=_optional(attribute._traits.hash_modifier, f"the hash_modifier of {attribute}"),
            renaming_identifier=_optional(attribute._traits.renamed_from, f"the renamed_from of {attribute}"))
        if attribute._default is not None:
            default = _values.Values((attribute._pack(attribute._default),))
            options.default_value = ctypes.cast(default.array, ctypes.POINTER(_ffi.quire_value))
        if attribute._derivation is not None:
            owner = self._by_name[entity.decode()]._quire_entity
            self.orders.check_declared(owner, f"the derivation of {attribute}", attribute._derivation)
        kept = attribute._rules.fill(options, attribute)
        key = attribute._key_bytes
        _call(
            library.quire_model_add_attribute, pointer, entity, len(entity), key, len(key), attribute._type.number,
            byref(options))
        del kept

    def _add_relationship(self, pointer: int, entity: bytes, relationship: Relationship) -> None:
        destination = self.destination(relationship)._quire_entity
        given = relationship._options
        inverse = None
        if given.inverse is not None:
            back = destination.properties.get(given.inverse)
            if not isinstance(back, (ToOne, ToMany)):
                raise InvalidModel(
                    f"{relationship} names the inverse {given.inverse!r}, but {destination.name} has no such "
                    "relationship.", entity=relationship._owner, key=relationship._name)
            inverse = back._key_bytes
        options = _ffi.quire_relationship_options(
            struct_size=ctypes.sizeof(_ffi.quire_relationship_options), is_to_many=relationship._is_to_many,
            is_ordered=given.ordered, is_optional=relationship._is_optional, delete_rule=given.delete_rule,
            minimum_count=given.minimum, maximum_count=given.maximum, inverse=inverse,
            version_hash_modifier=_optional(given.hash_modifier, f"the hash_modifier of {relationship}"),
            renaming_identifier=_optional(given.renamed_from, f"the renamed_from of {relationship}"),
            names_join_table=given.names_join_table, is_transient=given.transient)
        key, to = relationship._key_bytes, destination.encoded_name
        _call(
            library.quire_model_add_relationship, pointer, entity, len(entity), key, len(key), to, len(to),
            byref(options))

    def _add_fetched(self, pointer: int, entity: Entity) -> None:
        for each in entity.fetched:
            options = each._options
            model = self.destination(each)
            orders = [_fetched.order(each, key) for key in options.orders]
            _owners.check_declared(model, _owners.joined((options.condition, *orders)), str(each))
            self.orders.check_declared(
                model._quire_entity, str(each), options.condition, sorts=[order.path for order in orders],
                source=entity)
            made = _templates.made(model._quire_entity.encoded_name, options.condition, orders, options.limit)
            try:
                _call(
                    library.quire_model_add_fetched_property, pointer, entity.encoded_name, len(entity.encoded_name),
                    each._key_bytes, len(each._key_bytes), made)
            finally:
                quick.quire_fetch_request_release(made)


def _is_found(model: type[Model]) -> bool:
    """Whether it is of a file that was opened without classes."""
    return "_quire_found" in vars(model)


def _out_of_two(first: type[Model], second: type[Model]) -> str:
    """What to do where two classes have one name."""
    names = [f"{each.__module__}.{each.__qualname__}" for each in (first, second)]
    if names[0] == names[1]:
        return (
            f"{names[0]} was defined twice, as by running a cell of a notebook again. Open the store with the newest "
            "class, and use that alone.")
    return f"They are {names[0]} and {names[1]}. Rename one of them."


def _optional(text: Optional[str], where: str) -> Optional[bytes]:
    return None if text is None else _values.terminated(text, where)


def _class_text(entity: Entity, attribute: str) -> Optional[bytes]:
    """A text that the class itself or its mixin has, not one that it inherits from a model."""
    return next((_optional(text, where) for where, text in entity.settings(attribute)), None)


def _add_user_info(pointer: int, entity: Entity) -> None:
    # The class comes last, because the last text of a word counts.
    written: list[tuple[Optional[bytes], Any, str]] = [
        (None, info, where) for where, info in reversed([*entity.settings("__user_info__")])]
    for each in entity.own.values():
        given = each._traits.user_info if isinstance(each, Attr) else each._options.user_info
        written.append((each._key_bytes, given, f"the user_info of {each}"))
    written += [(each._key_bytes, each._options.user_info, f"the user_info of {each}") for each in entity.fetched]
    name = entity.encoded_name
    for key, info, where in written:
        if info is None:
            continue
        if not isinstance(info, Mapping) or not all(isinstance(each, str) for each in (*info, *info.values())):
            raise InvalidModel(f"{where} is a mapping of texts to texts, not {info!r:.60}.", entity=entity.name)
        for word, text in info.items():
            word, text = _values.encoded(word), _values.encoded(text)
            _call(
                library.quire_model_set_user_info, pointer, name, len(name), key, 0 if key is None else len(key), word,
                len(word), text, len(text))


def _call(function: Any, *arguments: Union[object, None]) -> None:
    error = c_void_p()
    status = function(*arguments, byref(error))
    if status:
        raise failure(status, error)
