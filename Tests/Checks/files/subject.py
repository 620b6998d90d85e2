"""All that these checks use of the library, so that a name that changes is mended in one place."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import keyword
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional

from description import DATE, DECIMAL, TRANSFORMABLE, Attribute, Model, Relationship
from rows import MissingFile, Object, Reference

EPOCH = datetime(2001, 1, 1, tzinfo=timezone.utc)
# How an entity and a property of `store.model` call what a description has.
ENTITY_NAMES = {
    "parent": "parent", "abstract": "abstract", "class_name": "class_name", "hash_modifier": "hash_modifier",
    "renamed_from": "renamed_from", "user_info": "user_info", "constraints": "unique"}
PROPERTY_NAMES = {
    name: name for name in ("optional", "transient", "indexed", "hash_modifier", "renamed_from", "user_info")}
ATTRIBUTE_NAMES = {name: name for name in ("external", "preserved", "transformer", "encrypted")}
RELATIONSHIP_NAMES = {name: name for name in ("destination", "inverse", "minimum", "maximum", "ordered")}


def quire() -> Any:
    return importlib.import_module("quire")


def missing() -> Optional[str]:
    """What the library lacks of what is checked here; None when it has all of it."""
    try:
        library = quire()
    except (ImportError, OSError) as error:
        return f"there is no library: {error}"
    models = inspect.signature(library.open).parameters.get("models")
    if models is not None and models.default is inspect.Parameter.empty:
        return "the library opens no store without a model"
    for name in ("load_model",):
        if not hasattr(library, name):
            return f"the library has no {name}"
    return None


@contextlib.contextmanager
def opened(path: str, read_only: bool = True) -> Iterator[Any]:
    """A store, with the model that it holds itself."""
    options: dict[str, Any] = {"read_only": True} if read_only else {}
    with quire().open(path, **options) as store:
        yield store


def create(path: str, model: Any) -> None:
    """Makes an empty store of a model of the library."""
    with quire().open(path, model):
        pass


def load_model(path: str) -> Any:
    return quire().load_model(path)


def decode(data: bytes) -> Any:
    """The values in a keyed archive."""
    return quire().archive.decode(data)


def save_model(model: Any, path: str) -> None:
    model.save(path)


def hashes(model: Any) -> dict[str, bytes]:
    return {name: bytes(each.version_hash) for name, each in dict(model.entities).items()}


def described(model: Any) -> dict[str, dict[str, Any]]:
    """A model of the library as far as a description says the same: by entity, and by entity and property."""
    found: dict[str, dict[str, Any]] = {}
    for name, entity in dict(model.entities).items():
        found[name] = {key: plain(getattr(entity, theirs, None)) for key, theirs in ENTITY_NAMES.items()}
        for each, value in dict(entity.properties).items():
            names = {**PROPERTY_NAMES, **(RELATIONSHIP_NAMES if hasattr(value, "destination") else ATTRIBUTE_NAMES)}
            found[f"{name}.{each}"] = {
                key: plain(getattr(value, theirs)) for key, theirs in names.items() if hasattr(value, theirs)}
    return found


def plain(value: Any) -> Any:
    """Names instead of entities and properties, lists instead of tuples, None for a text that was not declared, -1 for
    a maximum that files have as such and the library as a number without a sign."""
    if value == "":
        return None
    if value == 2**32 - 1:
        return -1
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name
    # No maximum, as models that are made in code have it.
    return -1 if value == (1 << 32) - 1 else value


def attribute_name(found: Any, name: str) -> str:
    """The name of a property in Python: underscores come behind it, and one more where the name is not free."""
    bare = name.lstrip("_")
    free = bare + "_" * (len(name) - len(bare))
    return f"{free}_" if keyword.iskeyword(free) or hasattr(quire().Model, free) else free


def is_refusal(error: BaseException) -> bool:
    """Whether the library has refused a file in its own words."""
    return isinstance(error, quire().Error)


def is_invalid(error: BaseException) -> bool:
    """Whether edits break a rule of the model."""
    return isinstance(error, quire().ValidationError)


def is_unsupported(error: BaseException) -> bool:
    return isinstance(error, quire().Unsupported)


def count(store: Any, entity: str, subentities: bool) -> int:
    query = store.context.query(store.classes[entity])
    return int((query if subentities else query.excluding_subentities()).count())


def objects(store: Any, model: Model, entity: str) -> Iterator[Object]:
    """All that the library says of the objects of one entity, as the plain reading says it."""
    for found in store.context.query(store.classes[entity]).excluding_subentities().all():
        yield read_object(found, model)


def read_object(found: Any, model: Model) -> Object:
    entity, key = reference(found)
    made = Object(entity, key, 0)
    for name, each in model.properties(entity).items():
        if each.transient:
            continue
        if isinstance(each, Attribute):
            made.values[name] = read_value(found, each)
        elif isinstance(each, Relationship) and each.many:
            held_ones = [reference(one) for one in members(found, name)]
            made.many[name] = held_ones if each.ordered else sorted(held_ones)
        elif isinstance(each, Relationship):
            held = getattr(found, attribute_name(found, name))
            made.one[name] = None if held is None else reference(held)
    return made


def reference(found: Any) -> Reference:
    return (type(found).__name__, int(found.id))


def read_value(found: Any, attribute: Attribute) -> Any:
    try:
        return value_of(getattr(found, attribute_name(found, attribute.name)), attribute.type)
    except quire().NotFound as error:
        return missing_file(str(error))


def missing_file(message: str) -> MissingFile:
    """The file that a message names as missing."""
    words = [word.strip(".,:;'\"") for word in message.replace("/", " ").split()]
    names = [word for word in words if len(word) == 36 and word.count("-") == 4]
    return MissingFile(names[0] if names else "")


def value_of(value: Any, kind: int) -> Any:
    """A value as the plain reading has it; dates are seconds since 2001."""
    if kind == DATE and isinstance(value, datetime):
        return (value - EPOCH).total_seconds()
    if kind == TRANSFORMABLE and value is not None and not isinstance(value, bytes):
        return Ellipsis
    return value


def is_same(one: Any, other: Any, kind: int) -> bool:
    """Whether two values are the same, as far as Python's types can say: dates have microseconds."""
    if one is Ellipsis or other is Ellipsis:
        return True
    if kind == DATE and one is not None and other is not None:
        return bool(abs(one - other) < 2e-6)
    if kind == DECIMAL and one is not None and other is not None:
        return Decimal(one) == Decimal(other)
    if isinstance(one, uuid.UUID) or isinstance(other, uuid.UUID):
        return str(one) == str(other)
    if one is None or other is None:
        return one is None and other is None
    return bool(one == other)


# Edits.


def add(store: Any, entity: str, values: dict[str, Any]) -> Any:
    kind = store.classes[entity]
    made = kind(**{attribute_name(kind, name): value for name, value in values.items()})
    return store.context.add(made)


def get(store: Any, held: Reference) -> Any:
    return store.context.get(store.classes[held[0]], held[1])


def set_value(found: Any, name: str, value: Any) -> None:
    setattr(found, attribute_name(found, name), value)


def members(found: Any, name: str) -> list[Any]:
    return list(getattr(found, attribute_name(found, name)))


def get_value(found: Any, name: str) -> Any:
    return getattr(found, attribute_name(found, name))


def put_in(found: Any, name: str, member: Any) -> None:
    present = getattr(found, attribute_name(found, name))
    (present.append if hasattr(present, "append") else present.add)(member)


def reorder(found: Any, name: str, ordered: list[Any]) -> None:
    setattr(found, attribute_name(found, name), ordered)


def delete(store: Any, found: Any) -> None:
    store.context.delete(found)


def save(store: Any) -> None:
    store.context.save()


def roll_back(store: Any) -> None:
    store.context.rollback()


def refresh(store: Any) -> None:
    """Has the objects of a store show what other programs have saved."""
    store.context.refresh_all()


def watch(store: Any, entity: str) -> tuple[Any, list[Any]]:
    """A live list of an entity's objects, and the changes that it reports."""
    told: list[Any] = []
    live = store.context.query(store.classes[entity]).live()
    live.on_change(told.append)
    return live, told


def to_python(value: Any, kind: int) -> Any:
    """A value that an edit sets, in the type that the library takes."""
    if kind == DATE:
        return datetime.fromtimestamp(EPOCH.timestamp() + value, timezone.utc)
    return Decimal(str(value)) if kind == DECIMAL else value
