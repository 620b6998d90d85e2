"""Mixins: classes that are no models, and whose declarations the model classes that inherit from them take."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Optional

from ..errors import InvalidModel
from . import _annotations, _hooks

if TYPE_CHECKING:
    from .model import Model

SETTINGS = (
    "__abstract__", "__indexes__", "__unique__", "__templates__", "__rules__", "__hash_modifier__", "__renamed_from__",
    "__class_name__", "__user_info__")

_BY_LETTERS = {name.replace("_", ""): name for name in SETTINGS}
_HOOKS_BY_LETTERS = {name.replace("_", ""): name for name in _hooks.NAMES}


def sources(cls: type[Model], parent: type[Model]) -> tuple[type, ...]:
    """The classes whose declarations an entity takes, the most derived first: the model class, and its mixins but for
    those that its parent has taken."""
    taken = parent.__mro__
    return tuple(each for each in cls.__mro__ if each not in taken)


def place(cls: type, source: type, name: str) -> str:
    """What errors call a declaration."""
    where = f"{cls.__name__}.{name}"
    return where if source is cls else f"{where} (of the mixin {source.__name__})"


def names_around(frame: Optional[FrameType]) -> Mapping[str, object]:
    """The local names where a class is written. Metaclasses and other `__init_subclass__` may be in between."""
    while frame is not None and frame.f_code.co_name in ("__init_subclass__", "__new__"):
        frame = frame.f_back
    return {} if frame is None else frame.f_locals


def readers(
    cls: type, sources: tuple[type, ...], local_names: Mapping[str, object]
) -> Mapping[type, _annotations.Reader]:
    """What reads the annotations of each class, in the module of that class and with the arguments of generic ones."""
    found: dict[type, _annotations.Reader] = {}

    def follow(each: type, arguments: _annotations.Arguments) -> None:
        if each in found or each not in sources:
            return
        is_near = each is cls or "<locals>" in each.__qualname__
        local = local_names if each.__module__ == cls.__module__ else {}
        reader = found[each] = _annotations.Reader(each, local, arguments, is_near)
        for base in vars(each).get("__orig_bases__", each.__bases__):
            origin = typing.get_origin(base) or base
            if isinstance(origin, type):
                variables = getattr(origin, "__parameters__", ())
                follow(origin, {name: (reader, part) for name, part in zip(variables, typing.get_args(base))})

    follow(cls, {})
    return found


def check(cls: type[Model], sources: tuple[type, ...], base: type[Model]) -> None:
    """Raises TypeError for a mixin that cannot be taken, and for what looks like a declaration and is none."""
    behind = cls.__mro__[cls.__mro__.index(base) :]
    for source in sources:
        if source is not cls and "__dataclass_fields__" in vars(source):
            raise TypeError(
                f"{cls.__name__} takes the mixin {source.__name__}, which is a dataclass: its constructor and its "
                "comparison would replace those of the model. Leave @dataclass out, and declare attributes as "
                "quire.Attr[...].")
        for name, value in vars(source).items():
            meant = _meant(name, value)
            if meant is not None:
                raise TypeError(f"{place(cls, source, name)} is not known to Quire; did you mean {meant}?")
            if source in behind and name in _hooks.NAMES:
                _check_called(cls, sources, source, name)


def _meant(name: str, value: object) -> Optional[str]:
    """The setting or hook that a name is a misspelling of."""
    letters = name.replace("_", "").lower()
    if callable(value):
        # In the spelling of Core Data: `_validate` may be a method of the class.
        hook = _HOOKS_BY_LETTERS.get(letters) if name.isalpha() and name[0].islower() else None
        return None if hook == name else hook
    if not (name.startswith("__") and name.endswith("__")) or name in SETTINGS or hasattr(type, name):
        return None
    if not any(each.startswith(letters[:2]) for each in _BY_LETTERS):
        return None
    import difflib

    return next((_BY_LETTERS[each] for each in difflib.get_close_matches(letters, _BY_LETTERS, 1, 0.8)), None)


def _check_called(cls: type[Model], sources: tuple[type, ...], source: type, hook: str) -> None:
    """Raises where the base of models hides a hook, which calls none behind it."""
    if next(each for each in cls.__mro__ if hook in vars(each)) in sources[: sources.index(source)]:
        return
    bases = sorted(cls.__bases__, key=lambda each: source not in each.__mro__)
    raise TypeError(
        f"{cls.__name__} would never call {source.__name__}.{hook}, because the base of models comes before it. Write "
        f"class {cls.__name__}({', '.join(each.__name__ for each in bases)}): mixins first.")


def complete_validation(cls: type[Model], sources: tuple[type, ...]) -> None:
    """Has `validate` of a class and of its mixins validate the whole object when it is called from outside."""
    found = next((each for each in sources if "validate" in vars(each)), None)
    if found is cls:
        own = vars(cls)["validate"]
    elif found is not None:
        # Calls super(), because a subclass may have another mixin in between.
        def own(self: Model) -> None:
            super(cls, self).validate()  # type: ignore[misc]
    else:
        return
    type.__setattr__(cls, "validate", _hooks.complete(own))


def settings(
    cls: type[Model], sources: tuple[type, ...], name: str
) -> Iterator[tuple[str, Any]]:
    """What the class and its mixins have of a setting, the class first, each with what errors call it."""
    for source in sources:
        if name in vars(source):
            value = vars(source)[name]
            if isinstance(value, Iterator):
                # Another model, or another opening, reads it again.
                value = list(value)
                setattr(source, name, value)
            where = f"{source.__name__}.{name}"
            yield where if source is cls else f"In {cls.__name__}, {where}", value


def no_entity(model: type[Model]) -> InvalidModel:
    """What to say of a class that a mixin has kept from becoming an entity."""
    culprit = next(each for each in model.__mro__ if "__init_subclass__" in vars(each))
    return InvalidModel(
        f"{model.__name__} is no entity: {culprit.__name__}.__init_subclass__ has not called the one behind it. Begin "
        "it with super().__init_subclass__(**options).", entity=model.__name__)
