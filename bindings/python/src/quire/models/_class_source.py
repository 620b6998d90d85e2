"""Model classes as text, of a model that was read from a file."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, Optional, Union

from .._c import _handle
from .._c._load import quick
from ..errors import Error, Unsupported, WrongType
from ..predicates.keys import Order
from . import _describing, _found_classes, _literals, _schema
from .loaded import LoadedModel
from .model_description import (
    AttributeDescription,
    EntityDescription,
    FetchedPropertyDescription,
    IndexDescription,
    IndexElement,
    ModelDescription,
    RelationshipDescription,
    RequestDescription,
)

__all__ = ["class_source"]

_PropertyDescription = Union[AttributeDescription, RelationshipDescription, FetchedPropertyDescription]

_TYPES = {
    "Integer16": ("int", "Integer16"), "Integer32": ("int", "Integer32"), "Integer64": ("int", ""),
    "Decimal": ("Decimal", ""), "Double": ("float", ""), "Float": ("float", "Float"), "String": ("str", ""),
    "URI": ("str", "URI"), "Boolean": ("bool", ""), "Date": ("datetime", ""), "Binary": ("bytes", ""),
    "Transformable": ("bytes", "Transformable"), "UUID": ("UUID", ""), "Undefined": ("Any", ""),
}
"""The annotation of a type, and what `attr(type=...)` says beyond it."""


def class_source(model: Union[LoadedModel, ModelDescription]) -> str:
    """The text of a Python module that declares the classes of a model: `quire.class_source(store.model)`.

        with quire.load_model("Library.momd") as model:
            pathlib.Path("library.py").write_text(quire.class_source(model))

    The module has a class for each entity, with types for type checkers, and their list `CLASSES`: a store of the model
    opens with `quire.open(path, library.CLASSES)`. Properties have the names of `Store.classes`, such as `id_` for
    `id`. A property that is called as a class that it leads to has an underscore, too. Optional attributes have the
    default None, so that constructors need what a save needs.

    The classes declare what the model declares, version hashes included: the text is tried before it is returned.
    Raises `Unsupported`, and names it, for what classes cannot declare: a composite attribute, a name that begins with
    an underscore or that Core Data reserves, two indexes of one name. Left out is what no store needs, and comments in
    the text list it: configurations, version identifiers, marks for CloudKit's encryption, and classes of values of
    what is no Transformable. An attribute that is `indexed` gets an index of its name, as stores have it. Templates
    keep their names in `Context.template`.
    """
    if isinstance(model, LoadedModel):
        model = model.description
    if not isinstance(model, ModelDescription):
        raise WrongType(
            f"class_source takes a model from quire.load_model, or store.model, not {type(model).__name__}.")
    text = _Module(model).text()
    _try(text, model)
    return text


class _Module:
    def __init__(self, model: ModelDescription) -> None:
        self._model = model
        self._entities = sorted(model.entities.values(), key=lambda each: each.number)
        for entity in self._entities:
            if not _is_name(entity.name) or keyword.iskeyword(entity.name):
                _refuse(f"the entity {entity.name!r}, whose name no class can have", entity.name)
            for each in _own(entity):
                # What stands in the text otherwise than in quotes is checked here: it is run.
                if not _is_name(each.name):
                    _refuse(f"{each.name!r} of {entity.name}, a name that none can have", entity.name, each.name)
                if not isinstance(each, AttributeDescription) and each.destination not in model.entities:
                    _refuse(f"{each.name!r} of {entity.name}, which leads nowhere", entity.name, each.name)
        for name, request in model.templates.items():
            if request.entity not in model.entities:
                _refuse(f"the template {name!r}, whose entity {request.entity!r} there is not")
        self._names: dict[str, dict[str, str]] = {}
        """Of each entity, what its properties are called in Python, by their names."""
        for entity in self._entities:
            # Annotations are looked up in the class first.
            others = {each.destination for each in _own(entity) if not isinstance(each, AttributeDescription)}
            inherited = self._names.get(entity.parent, {})
            self._names[entity.name] = {**inherited, **_found_classes.python_names(entity, inherited.values(), others)}
        self._templates = _found_classes.template_names(model)
        taken = {*model.entities, *(name for names in self._names.values() for name in names.values())}
        self._literals = _literals.Literals(taken)
        self._list = "CLASSES"
        while self._list in taken:
            self._list += "_"

    def text(self) -> str:
        classes = ["\n".join(self._class(entity)) for entity in self._entities]
        base = self._use("quire")
        names = ", ".join(entity.name for entity in self._entities)
        listed = f"{self._list}: list[type[{base}.Model]] = [{names}]"
        if len(listed) > _literals.WIDTH:
            listed = "\n".join(_literals.call(f"{self._list}: list[type[{base}.Model]] = ", "[]", names.split(", ")))
        head = ['"""Model classes, as quire.class_source has written them."""', *self._left_out()]
        imports = ["from __future__ import annotations", *self._literals.imports()]
        return "\n\n".join(["\n".join(head), "\n".join(imports)]) + "\n\n\n" + "\n\n\n".join([*classes, listed]) + "\n"

    def _use(self, name: str) -> str:
        return self._literals.use(name)

    def _left_out(self) -> list[str]:
        found = [
            f"the configuration {name!r} of {', '.join(map(repr, sorted(entities)))}"
            for name, entities in self._model.configurations.items()]
        found += [f"the version identifier {each!r}" for each in self._model.version_identifiers if each]
        for entity in self._entities:
            for each in _own(entity):
                if isinstance(each, AttributeDescription):
                    if each.encrypted:
                        found.append(f"the mark that CloudKit encrypts {entity.name}.{each.name}")
                    if each.type != "Transformable" and (each.value_class or each.transformer):
                        found.append(f"the class of values of {entity.name}.{each.name}, which is no Transformable")
        return ["", "# Not declared here:", *(f"# - {each}" for each in found)] if found else []

    # MARK: classes

    def _class(self, entity: EntityDescription) -> list[str]:
        if entity.parent and entity.parent not in self._model.entities:
            _refuse(f"that {entity.name} inherits from {entity.parent!r}, which is no entity of the model", entity.name)
        lines = [f"class {entity.name}({entity.parent or self._use('quire') + '.Model'}):"]
        names = self._names[entity.name]
        for each in _own(entity):
            if isinstance(each, AttributeDescription):
                lines += self._attribute(entity, names[each.name], each)
            elif isinstance(each, FetchedPropertyDescription):
                lines += self._fetched(entity, names[each.name], each)
            else:
                lines += self._relationship(names[each.name], each)
        if entity.abstract:
            lines.append("    __abstract__ = True")
        for name, text in (
                ("hash_modifier", entity.hash_modifier), ("renamed_from", entity.renamed_from),
                ("class_name", entity.class_name)):
            if text:
                lines.append(f"    __{name}__ = {text!r}")
        if entity.user_info:
            lines += _block("__user_info__", "{}", [f"{name!r}: {text!r}" for name, text in entity.user_info.items()])
        lines += _block("__indexes__", "{}", self._indexes(entity))
        lines += _block("__unique__", "[]", [_tuple(names[key] for key in keys) for keys in entity.unique])
        lines += _block("__templates__", "{}", [
            f"{name!r}: {self._template(entity, full)}" for name, full in self._templates.get(entity.name, {}).items()])
        lines += _block("__rules__", "[]", [
            f"({rule.predicate!r}, {rule.message!r})" for rule in entity.rules if not rule.key])
        return lines if len(lines) > 1 else [*lines, "    pass"]

    def _attribute(self, entity: EntityDescription, name: str, each: AttributeDescription) -> list[str]:
        if each.type not in _TYPES:
            _refuse(f"the {each.type.lower()} attribute {each.name!r} of {entity.name}", entity.name, each.name)
        python, narrowed = _TYPES[each.type]
        arguments: list[tuple[str, str]] = []
        if python == "datetime" and isinstance(each.default, float):
            annotation = f"{self._use('Union')}[{self._use(python)}, {self._use('float')}]"
        else:
            annotation = self._use(python)
        if each.optional:
            annotation = f"{self._use('Optional')}[{annotation}]"
        annotation = f"{self._use('quire')}.Attr[{annotation}]"
        if not each.derivation and (each.optional or each.default is not None):
            arguments.append(("default", self._literals.value(each.default)))
        if narrowed:
            arguments.append(("type", f"{self._use('quire')}.{narrowed}"))
        arguments += [(mark, "True") for mark in ("transient", "searchable") if getattr(each, mark)]
        arguments += _texts(name=each.name if each.name != name else "")
        arguments += [
            (bound, self._literals.value(getattr(each, bound))) for bound in ("minimum", "maximum")
            if getattr(each, bound) is not None]
        arguments += [
            (bound, str(getattr(each, bound))) for bound in ("min_length", "max_length") if getattr(each, bound)]
        arguments += _texts(pattern=each.pattern)
        rules = [f"({rule.predicate!r}, {rule.message!r})" for rule in entity.rules if rule.key == each.name]
        if rules:
            arguments.append(("rules", f"[{', '.join(rules)}]"))
        arguments += [(mark, "True") for mark in ("external", "preserved") if getattr(each, mark)]
        if each.type == "Transformable":
            arguments += _texts(transformer=each.transformer, value_class=each.value_class)
        arguments += _shared(each)
        if each.derivation:
            return self._declaration(name, annotation, "derived", [repr(each.derivation)], arguments)
        return self._declaration(name, annotation, "attr" if arguments else "", [], arguments)

    def _relationship(self, name: str, each: RelationshipDescription) -> list[str]:
        destination = each.destination
        if each.to_many:
            annotation = f"ToMany[{destination}]"
        else:
            annotation = f"ToOne[{self._use('Optional')}[{destination}]]" if each.optional else f"ToOne[{destination}]"
        arguments = _texts(inverse=self._names[destination][each.inverse] if each.inverse else "")
        arguments += _texts(on_delete=each.on_delete if each.on_delete != "nullify" else "")
        arguments += [("ordered", "True")] if each.ordered else []
        arguments += [("minimum", str(each.minimum))] if each.minimum else []
        arguments += [("maximum", str(each.maximum))] if each.to_many and each.maximum else []
        arguments += _texts(name=each.name if each.name != name else "")
        if each.to_many and each.optional != (each.minimum == 0):
            arguments.append(("required", str(not each.optional)))
        arguments += [(mark, "True") for mark in ("names_join_table", "transient") if getattr(each, mark)]
        arguments += _shared(each)
        return self._declaration(name, f"{self._use('quire')}.{annotation}", "relation", [], arguments)

    def _fetched(self, entity: EntityDescription, name: str, each: FetchedPropertyDescription) -> list[str]:
        positional = self._request(each.request, f"the fetched property {each.name!r} of {entity.name}", entity.name)
        arguments = [("limit", str(each.request.limit))] if each.request.limit is not None else []
        arguments += _texts(name=each.name if each.name != name else "")
        arguments += [("user_info", repr(dict(each.user_info)))] if each.user_info else []
        annotation = f"{self._use('quire')}.Fetched[{each.destination}]"
        return self._declaration(name, annotation, "fetched", positional, arguments)

    def _declaration(
        self, name: str, annotation: str, function: str, positional: list[str], arguments: list[tuple[str, str]]
    ) -> list[str]:
        if not function:
            return [f"    {name}: {annotation}"]
        given = [*positional, *(f"{key}={value}" for key, value in arguments)]
        return _literals.call(f"    {name}: {annotation} = {self._use('quire')}.{function}", "()", given)

    # MARK: requests and indexes

    def _template(self, entity: EntityDescription, name: str) -> str:
        request = self._model.templates[name]
        positional = self._request(request, f"the template {name!r} of {entity.name}", entity.name, may_skip=True)
        if request.limit is None and not request.offset and request.condition:
            return positional[0] if len(positional) == 1 else f"({', '.join(positional)})"
        arguments = [f"limit={request.limit}"] if request.limit is not None else []
        arguments += [f"offset={request.offset}"] if request.offset else []
        return f"{self._use('quire')}.Template({', '.join([*positional, *arguments])})"

    def _request(
        self, request: RequestDescription, what: str, entity: str, may_skip: bool = False
    ) -> list[str]:
        plain = RequestDescription(
            entity=request.entity, condition=request.condition, order_by=request.order_by, limit=request.limit,
            offset=request.offset if may_skip else 0, batch_size=0, prefetch=[], result="objects",
            includes_subentities=True, includes_pending_changes=True, includes_property_values=True,
            returns_objects_as_faults=False, refreshes_objects=False, makes_rows=False)
        for name, value in vars(plain).items():
            if getattr(request, name) != value:
                _refuse(f"{what}, whose {name} is {getattr(request, name)!r}", entity)
        return [repr(request.condition) if request.condition else "None", *map(self._order, request.order_by)]

    def _order(self, order: Order) -> str:
        if order.text == "binary" and not order.path.startswith("-"):
            return repr(("" if order.ascending else "-") + order.path)
        arguments = [repr(order.path), *(["ascending=False"] if not order.ascending else []), f"text={order.text!r}"]
        arguments += [f"locale={order.locale!r}"] if order.locale is not None else []
        return f"{self._use('quire')}.Order({', '.join(arguments)})"

    def _indexes(self, entity: EntityDescription) -> list[str]:
        indexes = _indexes_in_store(self._model, entity)
        twice = {index.name for index in indexes if sum(other.name == index.name for other in indexes) > 1}
        for name in sorted(twice):
            _refuse(f"the index {name!r} of {entity.name}, which is there twice", entity.name)
        return [f"{index.name!r}: {self._index(entity, index)}" for index in indexes]

    def _index(self, entity: EntityDescription, index: IndexDescription) -> str:
        # All in one form: type checkers want those of a class to be as those of its parent.
        elements = [self._element(entity, each) for each in index.elements]
        arguments = [f"where={index.where!r}"] if index.where else []
        arguments += ["rtree=True"] if index.rtree else []
        return f"{self._use('quire')}.Index({', '.join([*elements, *arguments])})"

    def _element(self, entity: EntityDescription, each: IndexElement) -> str:
        if not each.property:
            return f"{self._use('quire')}.Expression({each.expression!r})"
        name = self._names[entity.name].get(each.property, each.property)
        return repr(("-" if each.descending else "") + name)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _own(entity: EntityDescription) -> list[_PropertyDescription]:
    return [each for each in entity.properties.values() if each.entity == entity.name]


def _texts(**texts: str) -> list[tuple[str, str]]:
    return [(name, repr(text)) for name, text in texts.items() if text]


def _shared(each: Union[AttributeDescription, RelationshipDescription]) -> list[tuple[str, str]]:
    found = _texts(hash_modifier=each.hash_modifier, renamed_from=each.renamed_from)
    return [*found, ("user_info", repr(dict(each.user_info)))] if each.user_info else found


def _tuple(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names]
    return listed[0] if len(listed) == 1 else f"({', '.join(listed)})"


def _block(name: str, brackets: str, items: list[str]) -> list[str]:
    return _literals.call(f"    {name} = ", brackets, items) if items else []


def _refuse(what: str, entity: str = "", key: str = "") -> NoReturn:
    raise Unsupported(f"Classes cannot declare {what}.", entity=entity, key=key)


# MARK: what is declared


def _indexes_in_store(model: ModelDescription, entity: EntityDescription) -> list[IndexDescription]:
    """Those of an entity, and those that stores have for `indexed` attributes of models of before iOS 11."""
    found = list(entity.indexes)
    for each in entity.properties.values():
        if not isinstance(each, AttributeDescription) or not each.indexed or each.transient:
            continue
        there = model.entities[each.entity].indexes
        # With other indexes it is a mark; but for compound ones, which such models had.
        if all(index.name.startswith("compoundIndex") for index in there):
            element = IndexElement(property=each.name, expression="", descending=False)
            if all(index.name != each.name for index in found):
                found.append(IndexDescription(name=each.name, rtree=False, elements=[element], where=""))
    return found


def _try(text: str, model: ModelDescription) -> None:
    """Refuses a text that would declare another model."""
    scope: dict[str, Any] = {"__name__": "quire.class_source"}
    # All that is from the model stands in it as a literal, or is an identifier.
    try:
        exec(compile(text, "<quire.class_source>", "exec"), scope)
        classes = [scope[name] for name in model.entities]
        made = _handle.Slot(quick.quire_model_release)
        made.value = _schema.Schema(classes).create()
        declared = _describing.describe(made.value)
    except (Error, TypeError, ValueError, SyntaxError) as error:
        message = str(error).rstrip(".")
        raise Unsupported(
            f"Classes cannot declare the model: {message}.", entity=getattr(error, "entity", ""),
            key=getattr(error, "key", "")) from error
    for name, entity in model.entities.items():
        _compare(f"the entity {name}", _wanted(model, entity), vars(declared.entities[name]), name)
        for key, each in entity.properties.items():
            there: Optional[_PropertyDescription] = declared.entities[name].properties.get(key)
            if type(there) is not type(each):
                _refuse(f"the property {key!r} of {name}", name, key)
            left_out = {"indexed", "encrypted"}
            if isinstance(each, FetchedPropertyDescription):
                left_out.add("optional")
            elif isinstance(each, AttributeDescription) and each.type != "Transformable":
                left_out |= {"transformer", "value_class"}
            given = {field: value for field, value in vars(each).items() if field not in left_out}
            _compare(f"the property {key!r} of {name}", given, vars(there), name, key)


    for name, own in _found_classes.template_names(model).items():
        for short, full in own.items():
            request, made_of_it = model.templates[full], declared.templates[f"{name}.{short}"]
            _compare(f"the template {full!r} of {name}", vars(request), vars(made_of_it), name)


def _wanted(model: ModelDescription, entity: EntityDescription) -> dict[str, Any]:
    # Properties are compared one by one, and hashes last, because other differences say more.
    found = {**vars(entity), "indexes": _indexes_in_store(model, entity)}
    version_hash = found.pop("version_hash")
    del found["properties"]
    return {**found, "version_hash": version_hash}


def _compare(what: str, wanted: Mapping[str, Any], found: Mapping[str, Any], entity: str, key: str = "") -> None:
    for name, value in wanted.items():
        if found[name] != value:
            _refuse(f"{what}, whose {name} is {value!r:.200}: it would be {found[name]!r:.200}", entity, key)
