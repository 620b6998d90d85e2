"""The base of model classes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Optional, Union

from .._c import _values
from .._c._public import public
from ..errors import Error, InvalidState, NotFound, WrongType
from ..objects import _identity, _rows
from . import _changes, _description, _hooks, _mixins, _rules
from ._entity import OPTIONS, Entity, late, properties_of
from ._fetched import fetched
from ._hooks import SnapshotEvents
from .properties import Property, attr, derived

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    from ..protocols import Context
else:

    def dataclass_transform(**_):
        """Tells type checkers how constructors look; nothing at run time."""
        return lambda cls: cls


__all__ = ["Model", "SnapshotEvents"]

_set_plain = object.__setattr__


# What is no field specifier, such as `relation`, counts as a default for type checkers.
@public
@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(attr, derived, fetched))
class Model:
    """Base of model classes. Each class is an entity of the store, and each instance an object.

        class Quote(quire.Model):
            author: quire.Attr[Optional[str]] = quire.attr(default=None)
            contents: quire.Attr[str]
            __indexes__ = [("author", "-contents")]

    A class that inherits from another is an entity that inherits from the other's. A class body may have

    - `__indexes__`, a list of indexes: each a name, or a tuple of names, "-name" for descending. A mapping names its
      indexes, and has an `Index` where names are not enough. A new store gets them; an existing one stays as it is.
    - `__unique__`, a list of sets of names whose values no two objects share.
    - `__abstract__ = True`, for an entity without objects of its own.
    - `__templates__`, queries by name for `Context.template`: `{"cheaper": "price < $limit"}`, a condition with
      variables, or a tuple of one and of keys to order by (`("price < $limit", "author", "-price")`).
    - `__rules__`, a list of conditions that every object must fulfil to be saved, each a tuple of a predicate and of
      what to say when it is broken: `[("starts <= ends", "It starts before it ends.")]`. `attr` has rules about single
      values.

    A class that is no model is a mixin: a model class that inherits from it has its attributes, relationships, settings
    and hooks as if they were in its own body. Each model has attributes of its own, as in `G.note`. Mixins come before
    the model in the bases, and the most derived declaration of a name counts. Lists and mappings of settings add up.
    `__abstract__` counts only for the class that has it. A mixin is no dataclass, and its `__slots__` are empty.

    For models of Core Data there are `__hash_modifier__`, `__renamed_from__`, `__class_name__` (texts) and
    `__user_info__` (texts by their names).

    An instance is made with keyword arguments and is in no context at first; `Context.add` puts it into one. The
    constructor needs what is declared without a default, as in a dataclass: `contents` here. A relationship that has a
    `relation` may be left out. Assignments are checked at once: a value of another type raises
    TypeError, one that does not fit `InvalidArgument`. Objects are used on the thread of their context, compare by
    identity, and a context has one instance for each object as long as that is alive.
    """

    __slots__ = ("_quire_reference", "_quire_context", "__dict__", "__weakref__")

    if TYPE_CHECKING:
        __abstract__: ClassVar[bool]
        __indexes__: ClassVar[Union[Mapping[str, Any], Iterable[Any]]]
        __unique__: ClassVar[Iterable[Any]]
        __templates__: ClassVar[Mapping[str, Any]]
        __rules__: ClassVar[Iterable[Any]]
        __hash_modifier__: ClassVar[str]
        __renamed_from__: ClassVar[str]
        __class_name__: ClassVar[str]
        __user_info__: ClassVar[Mapping[str, str]]
    _quire_entity: ClassVar[Entity]

    if TYPE_CHECKING:
        _quire_reference: Optional[_identity.Reference]
        _quire_context: Optional[Context]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        parents = [base for base in cls.__bases__ if issubclass(base, Model)]
        if len(parents) != 1:
            raise TypeError(f"{cls.__name__} inherits from several model classes; an entity has one parent")
        if parents[0] is not Model and "_quire_entity" not in vars(parents[0]):
            raise _mixins.no_entity(parents[0])
        parent: Optional[Entity] = None if parents[0] is Model else parents[0]._quire_entity
        sources = _mixins.sources(cls, parents[0])
        _mixins.check(cls, sources, Model)
        properties = cls.__dict__.get("_quire_found")
        if properties is None:
            names = _mixins.names_around(sys._getframe(1))
            properties = properties_of(cls, parent, sources, RESERVED, names)
        for name, each in properties.items():
            each.__doc__ = _description.property_docstring(each)
            setattr(cls, name, each)
        _mixins.complete_validation(cls, sources)
        cls._quire_entity = Entity(cls, parent, properties, sources)
        if cls.__doc__ is None:
            cls.__doc__ = _description.Docstring()  # type: ignore[assignment]

    if not TYPE_CHECKING:
        # Hidden from type checkers, which have the signatures of the descriptors instead.

        __signature__ = _description.ConstructorSignature()

        def __init__(self, /, *positional, **values):
            if type(self) is Model:
                raise TypeError("Model is the base of model classes and has no objects of its own")
            if positional:
                raise _description.positional(type(self), positional)
            _set_plain(self, "_quire_reference", None)
            _set_plain(self, "_quire_context", None)
            entity = type(self).__dict__.get("_quire_entity")
            if entity is None:
                raise _mixins.no_entity(type(self))
            properties = entity.properties
            own = self.__dict__
            for name, value in values.items():
                found = properties.get(name)
                if found is None:
                    known = ", ".join(properties) or "none"
                    raise WrongType(
                        f"{type(self).__name__} has no attribute {name!r}. It has: {known}."
                        f"{entity.name_in_class(name)}",
                        entity=type(self).__name__, key=name)
                own[name] = found._checked(value)
            if not values.keys() >= entity.required:
                raise _description.missing(type(self), values)

        def __setattr__(self, name, value):
            found = type(self)._quire_entity.properties.get(name)
            if found is not None:
                try:
                    found._assign(self, value)
                except AttributeError:
                    if hasattr(self, "_quire_context"):
                        raise
                    raise _description.unmade(type(self)) from None
            elif name.startswith("_") or hasattr(type(self), name):
                if name in RESERVED and type(self)._quire_entity.name_in_class(name):
                    raise AttributeError(
                        f"{type(self).__name__}.{name} is what every object has, and cannot be assigned."
                        f"{type(self)._quire_entity.name_in_class(name)}")
                if isinstance(getattr(type(self), name, None), OPTIONS):
                    entity = type(self)._quire_entity
                    raise AttributeError(next(each for cls in type(self).__mro__ for each in late(entity, cls)))
                _set_plain(self, name, value)
            else:
                entity = type(self)._quire_entity
                known = ", ".join(entity.properties) or "none"
                raise AttributeError(
                    f"{type(self).__name__} has no attribute {name!r}. It has: {known}.{entity.name_in_class(name)}")

        def __delattr__(self, name):
            if name in type(self)._quire_entity.properties:
                raise AttributeError(f"{type(self).__name__}.{name} cannot be removed from an object; set it to None.")
            object.__delattr__(self, name)

    @property
    def id(self) -> int:
        """Its id, which is permanent from the moment it is added to a context; 0 in no context.

        When the store is read only, or another context or process is just writing to it, a new object gets a temporary
        id, which is negative and becomes permanent with the save. Unique within the classes of one inheritance tree.
        Any thread.
        """
        reference = self._quire_reference
        return 0 if reference is None else reference.id

    @property
    def uri(self) -> str:
        """Its URI, the same in every process once it is saved, or "" in no context. `Context.get_by_uri` takes it."""
        if self._quire_reference is None:
            return ""
        return _identity.uri(self)

    @property
    def context(self) -> Optional[Context]:
        """The context that it is in, or None. Any thread."""
        return self._quire_context

    @property
    def is_inserted(self) -> bool:
        """Whether it was added to a context and not yet saved."""
        reference = self._quire_reference
        return reference is not None and _identity.is_inserted(self)

    @property
    def is_updated(self) -> bool:
        """Whether it is in the store and has changes that are not yet saved."""
        reference = self._quire_reference
        return reference is not None and _identity.is_updated(self)

    @property
    def is_deleted(self) -> bool:
        """Whether it was deleted, here or in the store. May look into the store."""
        if self._quire_reference is None:
            return False
        try:
            return _identity.is_deleted(self)
        except NotFound:
            return True

    @property
    def is_fault(self) -> bool:
        """Whether its values have not been read yet, or are to be read anew."""
        return _changes.is_fault(self)

    @property
    def changed_values(self) -> dict[str, Any]:
        """What was changed since it was last read or saved: the present values by name, relationships included.

        Of a new object, everything that has a value; transient attributes never. To-many relationships are lists.
        """
        return _changes.changed_values(self)

    def committed_values(self, *names: str) -> dict[str, Any]:
        """What was last read or saved: the values of these properties, or of all, by name; None for a new object."""
        return _changes.committed_values(self, names)

    def refresh(self, *, merge: bool = True) -> None:
        """Has it show what is in the store now. The whole context advances for that, as by `Context.merge`.

        What was changed in it stays on top of that, and the next save writes it without a conflict. With `merge=False`
        the changes are taken back, on both sides of relationships. Live lists follow with the next processing of
        changes at the latest. Raises `NotFound` when its row is gone.
        """
        _changes.refresh(self, merge)

    # MARK: validation and hooks

    def validate(self) -> None:
        """Checks the object as a save would, and also what did not change. Raises `ValidationError` for all that is
        wrong.

        A class overrides it to add a rule of its own, which a save asks for too: it raises `ValidationError`, with the
        `key` of the property at fault. It need not call this one, but `super().validate()` when a base class has one as
        well. It must not change objects. Other exceptions end the save as they are.
        """
        _hooks.validate(self)

    def validate_value(self, name: str, value: Any) -> None:
        """Checks whether a value could be assigned to an attribute or a to-one relationship and then be saved.

        Nothing is assigned. Raises `ValidationError` for rules, TypeError and `InvalidArgument` for what does not fit.
        """
        if self._quire_context is None:
            raise InvalidState(
                f"{self!r} is in no context yet, which validates it; context.add(...) puts it into one.",
                entity=type(self).__name__)
        _rules.validate_value(self, name, value)

    def awake_from_insert(self) -> None:
        """For classes to override: called once, when the object has come into a context, with its values.

        What it raises comes out of `Context.add` or `insert_many`; then the object was not added.
        """

    def awake_from_fetch(self) -> None:
        """For classes to override: called when the object is first used after its row was read.

        Attributes that it assigns, transient ones above all, are not changes and are not saved. It cannot change
        relationships. A class that has it gives up reading many objects at once.
        """

    def prepare_for_deletion(self) -> None:
        """For classes to override: called before the object is deleted, while it still has its relationships.

        What it raises comes out of the call that deletes, or that processes changes when a rule wants the deletion;
        then the object is not deleted. Called again when the object is deleted again.
        """

    def will_save(self) -> None:
        """For classes to override: called when a save is about to validate and write the object, or to delete it.

        What it changes is saved too. It is called again as long as it changes objects, so assign a value only when it
        is another. What it raises comes out of the save, with everything pending.
        """

    def did_save(self) -> None:
        """For classes to override: called when the object was saved. Of a deleted object only what was read is left.

        What it changes is pending for the next save, which it cannot make. What it raises comes out of the save, which
        is made all the same.
        """

    def will_turn_into_fault(self) -> None:
        """For classes to override: called before its values are forgotten, so that they are read anew when needed.

        A refresh with `merge=False`, `Context.refresh_all` and `reset` do that, and a rollback after a conflict. What
        this method and the two below raise comes out of the call at its end and prevents nothing. Attributes that they
        assign to the object are not changes; they cannot change its relationships.
        """

    def did_turn_into_fault(self) -> None:
        """For classes to override: called after its values were forgotten. Reading one reads the row."""

    def awake_from_snapshot(self, events: SnapshotEvents) -> None:
        """For classes to override: called when the context has given it other values than before, by undoing, rolling
        back, refreshing, merging, or its merge policy.

        What is made of them, such as transient attributes, can be made anew here.
        """

    def __repr__(self) -> str:
        reference = self._quire_reference
        entity = type(self)._quire_entity
        known: list[str] = []
        values = self.__dict__
        page = None if reference is None else reference.page
        for name, attribute in entity.attributes.items():
            if name in values:
                value = values[name]
            elif page is not None and reference is not None and 0 <= attribute._place < len(page):
                value = page[attribute._place][reference.index]
                if value is not None and attribute._type.decode is not None:
                    continue
            else:
                continue
            known.append(_written(name, value))
            if len(known) == 3:
                break
        if not known and reference is not None:
            known = self._quire_held()
        identity = "(new)" if reference is None else str(reference.id)
        return f"<{' '.join([entity.name, identity, *known])}>"

    def _quire_held(self) -> list[str]:
        """What `__repr__` shows where Python has no values: what the library has without looking into the store."""
        try:
            if not _changes.is_held(self):
                return ["(fault)"]
            names = list(type(self)._quire_entity.attributes)[:3]
            return [_written(name, getattr(self, name)) for name in names]
        except Error:
            # It was deleted, or another thread is inside its context.
            return ["(fault)"]

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"cannot pickle or copy a {type(self).__name__!r} object: it belongs to its context; pass its uri instead")

    def _quire_pack(self) -> _values.Packed:
        """As a value: only an object of a context is one."""
        try:
            reference = self._quire_reference
        except AttributeError:
            raise _description.unmade(type(self)) from None
        if reference is None:
            raise InvalidState(f"{self!r} is in no context yet; context.add(...) puts it into one.")
        return _values.pointer_to(_identity.handle(self))

    def _quire_set_values(self) -> Iterator[tuple[Property, Any]]:
        """What was assigned before it came into a context."""
        for name, each in type(self)._quire_entity.properties.items():
            if name in self.__dict__:
                yield each, self.__dict__[name]


def _written(name: str, value: object) -> str:
    text = repr(value)
    return f"{name}={text if len(text) <= 40 else text[:37] + '...'}"


RESERVED = frozenset(name for name in dir(Model) if not name.startswith("_"))
"""What every object has, so that no property is called so."""

_rows.learn_slots(Model)
