"""Reads the bodies of model classes."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Optional, Union

from .._c import _buffers
from ..errors import Error, InvalidArgument
from ..predicates._owners import Unresolved
from . import _annotations, _conversions, _mixins, _types
from ._fetched import Fetched, FetchedOptions
from ._rules import AttrRules
from ._types import AttributeType
from .properties import NO_DEFAULT, PLAIN_RELATION, Attr, AttrOptions, Property, RelationOptions, ToMany, ToOne

if TYPE_CHECKING:
    from .model import Model


Declared = Union[Property, Fetched[Any]]
Destination = Callable[[Any], "type[Model]"]
"""Gives the class that a relationship leads to."""

_EXTREME = re.compile(r"(?:min|max):\((.*)\)", re.IGNORECASE)


class Entity:
    """What a model class declares."""

    def __init__(
        self, model: type[Model], parent: Optional[Entity], declared: Mapping[str, Declared], sources: tuple[type, ...]
    ) -> None:
        self.model = model
        self.sources = sources
        """The class and its mixins, whose declarations these are, the most derived first."""
        self.name = model.__name__
        self.encoded_name = self.name.encode()
        self.parent = parent
        self.root: Entity = parent.root if parent else self
        own: dict[str, Property] = {}
        self.fetched: list[Fetched[Any]] = []
        """Its own fetched properties, which are no properties to all the rest."""
        for name, each in declared.items():
            if isinstance(each, Fetched):
                self.fetched.append(each)
            else:
                own[name] = each
                each._model, each._quire_keys = model, {model: each}
        self.own = own
        self.properties: dict[str, Property] = {**(parent.properties if parent else {}), **own}
        self.required = frozenset(name for name, each in self.properties.items() if each._is_required)
        """What a constructor has to be given."""
        # What may lie in a file is read when it is asked for.
        stored = [
            each for each in self.properties.values()
            if isinstance(each, Attr) and not each._is_transient and not each._traits.external]
        for place, attribute in enumerate(stored):
            # The same number in every class that inherits it: ancestors come first.
            attribute._place = place
        self.attributes = {each._name: each for each in self.properties.values() if isinstance(each, Attr)}
        self.stored = stored
        self.page_keys = _buffers.key_array([attribute._key_bytes for attribute in stored])

    @property
    def is_abstract(self) -> bool:
        """Whether the class says that it has no objects of its own, which mixins cannot say for it."""
        return bool(self.model.__dict__.get("__abstract__", False))

    @property
    def declared(self) -> dict[str, Declared]:
        """All that the class has, fetched properties too."""
        inherited = {} if self.parent is None else self.parent.declared
        return {**inherited, **self.own, **{each._name: each for each in self.fetched}}

    def settings(self, name: str) -> Iterator[tuple[str, Any]]:
        """What the class and its mixins have of a setting such as `__indexes__`, the class first, each with what errors
        call it."""
        return _mixins.settings(self.model, self.sources, name)

    def property_named(self, name: str) -> Property:
        """By its name in the class."""
        found = self.properties.get(name)
        if found is None:
            known = ", ".join(sorted(self.properties)) or "none"
            raise InvalidArgument(
                f"{self.name} has no property {name!r}. It has: {known}.{self.name_in_class(name)}", entity=self.name,
                key=str(name))
        return found

    def stored_as(self, key: str) -> Optional[Property]:
        """By its name in the store."""
        return next((each for each in self.properties.values() if each._key == key), None)

    def at(self, path: Sequence[str], destination: Destination) -> Optional[Property]:
        """What is at the end of a key path, by the names in the store."""
        *relationships, last = path
        entity = self
        for name in relationships:
            found = entity.stored_as(name)
            if found is None or isinstance(found, Attr):
                return None
            entity = destination(found)._quire_entity
        return entity.stored_as(last)

    def attribute_of(self, text: str, destination: Destination) -> Optional[Attr[Any]]:
        """The attribute whose values an expression gives, which is written as the library writes it: a key path, or the
        least or greatest of one. None where it calculates something else."""
        found = _EXTREME.fullmatch(text)
        names = [each.lstrip("#") for each in (text if found is None else found[1]).split(".")]
        if len(names) > 1 and names[0].upper() == "SELF":
            del names[0]
        end = self.at([each for each in names if each not in ("@min", "@max")] or [""], destination)
        return end if isinstance(end, Attr) else None

    def restored(self, text: str, destination: Destination, value: Any) -> Any:
        """A value that the library gives for such an expression, as objects have it."""
        return _conversions.restored(self.attribute_of(text, destination), value)

    def name_in_class(self, name: object) -> str:
        """What to add to an error, where that is the name that a property of the class has in the store."""
        for each in self.properties.values():
            if each._key == name != each._name:
                return f" The property {name!r} of the store is called {each._name!r} in Python."
        return ""

    def name_in_store(self, name: str) -> str:
        """The reverse, where that is the name of the property in the class."""
        found = self.properties.get(name)
        if found is None or found._key == name:
            return ""
        return f" Predicates and key paths name properties as the store does: {found._key!r} for {name!r}."


def template_name(entity: Entity, name: str) -> str:
    """What the library calls the template that a class keeps under that name."""
    templates: Optional[Mapping[str, str]] = entity.model.__dict__.get("_quire_templates")
    if templates is None:
        templates = {each: f"{entity.name}.{each}" for _, some in entity.settings("__templates__") for each in some}
    if name not in templates:
        known = ", ".join(templates) or "none"
        raise InvalidArgument(f"{entity.name} has no template {name!r}. It has: {known}.")
    return templates[name]


# Words that predicates read as values; the library refuses them too.
_VALUES = frozenset(
    ("nil", "null", "yes", "no", "true", "false", "self", "anykey", "truepredicate", "falsepredicate"))

_ORIGINS: tuple[type, ...] = (Attr, ToOne, ToMany, Fetched)
_NAMES_AN_ORIGIN = re.compile(r"\b(Attr|ToOne|ToMany|Fetched)\b")
OPTIONS = (AttrOptions, RelationOptions, FetchedOptions)
"""What stands behind the annotation of a property until the class is complete."""


def properties_of(
    cls: type[Model], parent: Optional[Entity], sources: tuple[type, ...], reserved: frozenset[str],
    local_names: Mapping[str, object]
) -> dict[str, Declared]:
    """What the class itself and its mixins declare; names in it are looked up among `local_names` first."""
    inherited = {} if parent is None else parent.declared
    readers = _mixins.readers(cls, sources, local_names)
    found: dict[str, Declared] = {}
    order: list[list[str]] = []
    for source in sources:
        annotations = _property_annotations(cls, source, readers[source])
        _check_values(cls, source, annotations)
        order.insert(0, list(annotations))
        for name, annotation in annotations.items():
            if name in found:
                # A class that is more derived declares it.
                continue
            where = _mixins.place(cls, source, name)
            if name in reserved:
                raise TypeError(f'{where}: every object has {name!r}; choose another name and give attr(name="{name}")')
            if name in inherited:
                if source is cls:
                    raise TypeError(
                        f"{where} is declared by a class that {cls.__name__} inherits from; declare it once")
                if any(vars(each).get(name) is inherited[name] for each in _before(cls, source)):
                    continue
                raise TypeError(
                    f"{cls.__name__} takes {name} from the mixin {source.__name__}, but inherits {inherited[name]}: "
                    "an attribute of an entity is not declared anew. Rename one of them, or leave the mixin out.")
            options = vars(source).get(name, NO_DEFAULT)
            stored = getattr(options, "name", None) or name
            if stored.lower() in _VALUES:
                raise TypeError(
                    f"{where}: in a predicate {stored!r} stands for a value; choose another name, or give it another "
                    "one in the store with name=...")
            for each in _before(cls, source):
                if name in vars(each):
                    raise TypeError(
                        f"{each.__name__}.{name} would hide {source.__name__}.{name}, which {cls.__name__} takes; "
                        f"rename it, or declare another property: {name}: quire.Attr[...] = quire.attr(...)")
            try:
                found[name] = _property(cls.__name__, name, where, annotation, options)
            except Error as error:
                if source is not cls:
                    error._reword(f"{error.message} The mixin {source.__name__} declares {name}.")
                raise
    for name, kept in inherited.items():
        if next(vars(base)[name] for base in cls.__mro__ if name in vars(base)) is not kept:
            raise TypeError(f"{cls.__name__}.{name} would hide {kept}, which {cls.__name__} inherits; rename it")
    return {name: found[name] for names in order for name in names if name in found}


def _before(cls: type, source: type) -> tuple[type, ...]:
    """The classes whose attributes come before those of a mixin."""
    return cls.__mro__[: cls.__mro__.index(source)]


def _property_annotations(
    cls: type, source: type, reader: _annotations.Reader
) -> dict[str, _annotations.Annotation]:
    """The annotations of a class or of a mixin that are those of properties."""
    found: dict[str, _annotations.Annotation] = {}
    plain: list[str] = []
    written_by_name = _annotations.own(source)
    for name, written in written_by_name.items():
        where = _mixins.place(cls, source, name)
        try:
            annotation = reader.read(written)
        except (NameError, TypeError) as error:
            # A mixin may be of a program that knows nothing of Quire.
            if source is cls or isinstance(vars(source).get(name), OPTIONS) or _NAMES_AN_ORIGIN.search(str(written)):
                raise TypeError(f"{where}: {error}") from None
            continue
        if annotation.origin in (ClassVar, typing.Final):
            kind = next((kind for kind in map(_kind, annotation.members) if kind), None)
            if kind is not None:
                raise TypeError(f"{where}: a property is neither ClassVar nor Final; write {name}: quire.{kind}[...]")
        elif annotation.origin in _ORIGINS:
            if name.startswith("_"):
                raise TypeError(f"{where}: the name of a property begins with a letter")
            found[name] = annotation
        elif not name.startswith("_"):
            plain.append(name)
    for name in plain if source is cls or found else ():
        raise TypeError(
            f"{_mixins.place(cls, source, name)} is annotated {written_by_name[name]!r}; declare an attribute as "
            "quire.Attr[...], a relationship as quire.ToOne[...] or quire.ToMany[...], anything else as ClassVar[...]")
    return found


def _kind(member: object) -> Optional[str]:
    """The name of `Attr` and the like, where that is what is annotated."""
    if isinstance(member, Unresolved):
        found = _NAMES_AN_ORIGIN.match(member.text.partition("[")[0].rpartition(".")[2])
        return None if found is None else found[1]
    origin = typing.get_origin(member) or member
    return next((each.__name__ for each in _ORIGINS if each is origin), None)


def _check_values(cls: type, source: type, annotations: Mapping[str, object]) -> None:
    """Raises for what was meant as a property and has no annotation."""
    for name, value in vars(source).items():
        if name in annotations or name.startswith("_"):
            continue
        kind = _kind(value)
        if isinstance(value, OPTIONS):
            kind = "Attr[str] = ..."
        elif isinstance(value, AttributeType):
            kind = f"Attr[{value.python.__name__}] = quire.attr(type=...)"
        elif kind is not None and kind != name:
            kind += "[...]"
        else:
            continue
        raise TypeError(f"{_mixins.place(cls, source, name)} needs an annotation, such as {name}: quire.{kind}")


def late(entity: Entity, cls: type) -> Iterator[str]:
    """What to say of each declaration that a class or a mixin has got since the class was made."""
    for name, value in vars(cls).items():
        if isinstance(value, OPTIONS) and name not in entity.declared:
            after = "the class" if cls is entity.model else entity.name
            yield (
                f"{cls.__name__}.{name} was declared after {after} was made, so it is no property. Declare it in the "
                "class body.")


def _property(owner: str, name: str, where: str, annotation: _annotations.Annotation, options: Any) -> Declared:
    members = annotation.members
    if annotation.origin is Attr and set(members) == {datetime, float}:
        # A date, which is a number where datetime does not know it.
        members = [datetime]
    as_ = getattr(options, "as_", None)
    if len(members) != 1 and annotation.origin is Attr and as_ is not None and not isinstance(as_, type):
        # Such as what JSON can be.
        members = [object]
    if len(members) != 1:
        raise TypeError(f"{where}: write one type, with '| None' when it may be None")
    member = members[0]
    if annotation.origin is Attr:
        if options is NO_DEFAULT:
            options = AttrOptions(NO_DEFAULT, None, False, False, None, AttrRules())
        if not isinstance(options, AttrOptions):
            raise TypeError(f"{where}: a default is given as attr(default={options!r})")
        # None is no value, also where an annotation says that anything is one.
        is_optional = annotation.is_optional or (as_ is not None and member in (Any, object))
        return Attr(
            owner, name, _attribute_type(where, member, options), is_optional, options.default,
            options.transient, options.searchable, options.name or name, options.rules, options.derivation,
            options.traits)
    if annotation.origin is Fetched:
        if not isinstance(options, FetchedOptions):
            raise TypeError(f"{where} is a fetched property; it takes fetched(...)")
        if annotation.is_optional:
            raise TypeError(f"{where}: a fetched property is empty instead of None; leave '| None' out")
        return Fetched(owner, name, member, options)
    if options is NO_DEFAULT:
        options = PLAIN_RELATION
    if not isinstance(options, RelationOptions):
        raise TypeError(f"{where} is a relationship and has no default; it takes relation(...)")
    if not isinstance(member, Unresolved) and not hasattr(member, "_quire_entity"):
        named = member.__name__ if isinstance(member, type) else repr(member)
        raise TypeError(f"{where}: {named} is no model class")
    if annotation.origin is ToMany:
        if annotation.is_optional:
            raise TypeError(f"{where}: a to-many relationship is empty instead of None; leave '| None' out")
        is_optional = options.minimum == 0 if options.required is None else not options.required
        return ToMany(owner, name, member, is_optional, options)
    if options.ordered or options.minimum > 1 or options.maximum:
        raise TypeError(f"{where}: ordered, a minimum above 1 and maximum are for ToMany")
    if options.required is not None:
        raise TypeError(f"{where}: a ToOne without '| None' is required already")
    return ToOne(owner, name, member, annotation.is_optional, options)


def _attribute_type(where: str, python: object, options: AttrOptions) -> AttributeType:
    narrowed, as_ = options.type, options.as_
    if isinstance(python, Unresolved) and as_ is None:
        raise TypeError(f"{where}: {python.text!r} in its annotation is not defined")
    made = _conversions.converted(where, python, as_, narrowed, options.ordered)
    if made is not None:
        return made
    known = ", ".join("Any" if kind is object else kind.__name__ for kind in _types.DEFAULTS)
    if python is Any:
        python = object
    usual = _types.DEFAULTS.get(python) if isinstance(python, type) else None
    if usual is None:
        named = python.__name__ if isinstance(python, type) else repr(python)
        raise TypeError(f"{where}: an attribute cannot be {named}; it is one of {known}")
    if narrowed is None:
        return usual
    if not isinstance(narrowed, AttributeType):
        raise TypeError(f"{where}: type={narrowed!r} is no attribute type, such as quire.Integer16")
    if narrowed.python is not usual.python:
        raise TypeError(
            f"{where}: {narrowed!r} is for Attr[{narrowed.python.__name__}], not Attr[{usual.python.__name__}]")
    return narrowed
