"""Attributes and relationships: what annotations of a model class become."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Optional, TypeVar, Union, overload

from .._c import _ffi, _values
from .._c._public import Omitted, public
from ..errors import Error, InvalidArgument, InvalidState, InvalidText, NotFound, NotInContext, WrongType
from ..predicates._owners import Unresolved
from ..predicates.keys import Key
from ..predicates.operand import Collection, Comparable, Navigable
from ..predicates.predicate import Predicate
from ..objects import _identity
from ..objects.related import Related
from . import _numpy
from ._comparisons import check_comparison
from ._conversions import Conversion
from ._rules import AttrRules
from ._types import AttributeType

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Attr", "ToMany", "ToOne", "attr", "derived", "relation"]

T = TypeVar("T")
M = TypeVar("M", bound="Model")

_set_plain = object.__setattr__
NO_DEFAULT: Any = Omitted()

DELETE_RULES = {
    "no action": _ffi.QUIRE_DELETE_NO_ACTION,
    "nullify": _ffi.QUIRE_DELETE_NULLIFY,
    "cascade": _ffi.QUIRE_DELETE_CASCADE,
    "deny": _ffi.QUIRE_DELETE_DENY,
}


class AttrTraits:
    """What else `attr` was given: of storage, and for the files of models."""

    __slots__ = (
        "external", "preserved", "transformer", "value_class", "hash_modifier", "renamed_from", "user_info")

    def __init__(
        self, external: bool = False, preserved: bool = False, transformer: Optional[str] = None,
        value_class: Optional[str] = None, hash_modifier: Optional[str] = None, renamed_from: Optional[str] = None,
        user_info: Optional[Mapping[str, str]] = None
    ) -> None:
        self.external = external
        self.preserved = preserved
        self.transformer = transformer
        self.value_class = value_class
        self.hash_modifier = hash_modifier
        self.renamed_from = renamed_from
        self.user_info = user_info


NO_TRAITS = AttrTraits()


class AttrOptions:
    """What `attr` was given, until the class is complete."""

    def __init__(
        self, default: Any, type: Optional[AttributeType], transient: bool, searchable: bool, name: Optional[str],
        rules: AttrRules, derivation: Optional[str] = None, traits: AttrTraits = NO_TRAITS, as_: Any = None,
        ordered: Optional[bool] = None
    ) -> None:
        self.as_ = as_
        self.ordered = ordered
        self.rules = rules
        self.derivation = derivation
        self.traits = traits
        self.default = default
        self.type = type
        self.transient = transient
        self.searchable = searchable
        self.name = name


class RelationOptions:
    """What `relation` was given, until the class is complete."""

    def __init__(
        self, inverse: Optional[str], delete_rule: int, ordered: bool, minimum: int, maximum: int, name: Optional[str],
        required: Optional[bool] = None, hash_modifier: Optional[str] = None, renamed_from: Optional[str] = None,
        user_info: Optional[Mapping[str, str]] = None, names_join_table: bool = False, transient: bool = False
    ) -> None:
        self.required = required
        self.transient = transient
        self.names_join_table = names_join_table
        self.hash_modifier = hash_modifier
        self.renamed_from = renamed_from
        self.user_info = user_info
        self.inverse = inverse
        self.delete_rule = delete_rule
        self.ordered = ordered
        self.minimum = minimum
        self.maximum = maximum
        self.name = name


PLAIN_RELATION = RelationOptions(None, _ffi.QUIRE_DELETE_NULLIFY, False, 0, 0, None)
"""Of a relationship that is declared by its annotation alone."""


# An attribute without a default is one that constructors need, also for type checkers.
@overload
def attr(
    *, default: T, type: Optional[AttributeType] = None, as_: Conversion[T] = None, ordered: Optional[bool] = None,
    transient: bool = False, searchable: bool = False, name: Optional[str] = None, minimum: Any = None,
    maximum: Any = None, min_length: int = 0, max_length: int = 0, pattern: Optional[str] = None,
    rules: Iterable[tuple[Union[str, Predicate], str]] = (), external: bool = False, preserved: bool = False,
    transformer: Optional[str] = None, value_class: Optional[str] = None, hash_modifier: Optional[str] = None,
    renamed_from: Optional[str] = None, user_info: Optional[Mapping[str, str]] = None,
) -> Attr[T]: ...
@overload
def attr(
    *, type: Optional[AttributeType] = None, as_: Any = None, ordered: Optional[bool] = None, transient: bool = False,
    searchable: bool = False, name: Optional[str] = None, minimum: Any = None, maximum: Any = None, min_length: int = 0,
    max_length: int = 0, pattern: Optional[str] = None, rules: Iterable[tuple[Union[str, Predicate], str]] = (),
    external: bool = False, preserved: bool = False, transformer: Optional[str] = None,
    value_class: Optional[str] = None, hash_modifier: Optional[str] = None, renamed_from: Optional[str] = None,
    user_info: Optional[Mapping[str, str]] = None,
) -> Any: ...
def attr(
    *,
    default: Any = NO_DEFAULT,
    type: Optional[AttributeType] = None,
    as_: Any = None,
    ordered: Optional[bool] = None,
    transient: bool = False,
    searchable: bool = False,
    name: Optional[str] = None,
    minimum: Any = None,
    maximum: Any = None,
    min_length: int = 0,
    max_length: int = 0,
    pattern: Optional[str] = None,
    rules: Iterable[tuple[Union[str, Predicate], str]] = (),
    external: bool = False,
    preserved: bool = False,
    transformer: Optional[str] = None,
    value_class: Optional[str] = None,
    hash_modifier: Optional[str] = None,
    renamed_from: Optional[str] = None,
    user_info: Optional[Mapping[str, str]] = None,
) -> Any:
    """Says more about an attribute than its annotation can.

    `default` is what a new object starts with. `type` narrows how it is stored: `quire.Integer16` for `Attr[int]`,
    `quire.URI` for `Attr[str]` and so on.

    `as_` converts values between the program and the store. An enumeration (`as_=Color`) is stored as its values, and
    `Attr[Color]` alone says the same, as do `Attr[date]` (stored as midnight in UTC) and `Attr[time]` (as microseconds
    since midnight). `as_=quire.JSON` stores what `json` writes, as text; a change inside a value is noticed when the
    value is assigned again. A pair of functions stores a type of your own as text, or as what `type` says:
    `as_=(Money.to_cents, Money.from_cents), type=quire.Integer64`. Keys compare with such values:
    `Shirt.color == Color.RED`. Sections, and `min:` and `max:` of a key, have such values. Arguments of predicates that
    are text, what else expressions calculate, registered functions, and columns of Arrow have the stored form.

    The stored form has an order of its own: the text "10" comes before "9". `ordered` says whether that is the order of
    the values. Without it, numbers and dates count as ordered, text and bytes do not, and members of an enumeration are
    asked where they have a `<`. Comparisons, sorts, sections, min and max raise `InvalidArgument` without an order.

    A `transient` attribute lives in memory only. For `searchable` text the store keeps an index that finds parts of
    three characters and more (`contains`, `like` and the like); a store gets it when it is next opened for writing.
    `name` is its name in the store, and so in predicates, when that differs from the one in the class.

    What follows is checked when an object is saved, or validated. Numbers and dates are not below `minimum` nor above
    `maximum`. Texts have `min_length` to `max_length` characters (code points), bytes as many bytes; 0 is no bound. A
    whole text matches the regular expression `pattern`. `rules` are more conditions, each a tuple of a predicate where
    SELF is the value and of what to say when it is broken: `[("SELF BEGINSWITH 'Q'", "The code begins with Q.")]`. None
    passes all of these.

    The rest is for stores and models of Core Data. Bytes that are `external` lie in files beside the store where they
    are more than 102,400. Each is read when it is asked for, and a missing file is a `NotFound` then. The history of
    the store keeps the last value of a `preserved` attribute. These two and `hash_modifier` are part of the version
    hash. `transformer` and `value_class` name the application's classes for a Transformable, and `renamed_from` what
    the attribute was called in an earlier model. `user_info` is kept with it.
    """
    return AttrOptions(
        default, type, transient, searchable, name,
        AttrRules(minimum, maximum, min_length, max_length, pattern, rules),
        traits=AttrTraits(external, preserved, transformer, value_class, hash_modifier, renamed_from, user_info),
        as_=as_, ordered=ordered)


def derived(
    expression: str, *, type: Optional[AttributeType] = None, searchable: bool = False, name: Optional[str] = None,
    preserved: bool = False, hash_modifier: Optional[str] = None, renamed_from: Optional[str] = None,
    user_info: Optional[Mapping[str, str]] = None, init: Literal[False] = False
) -> Any:
    """Says that the store calculates an attribute: `book_count: quire.Attr[int] = quire.derived("books.@count")`.

    The expression names keys as the store does. It is one of `"title"` and `"author.name"` (what is behind a path of
    `ToOne`s), `"uppercase:(title)"`, `"lowercase:(title)"`, `"canonical:(title)"` (without case and diacritics),
    `"books.@count"`, `"books.price.@sum"` (also `@min`, `@max`, `@avg`), and `"now()"`, when the object was last saved.
    A `ToMany` may come behind `ToOne`s, and the operator is last. What cannot be derived is an `InvalidModel` when the
    store is opened.

    Objects show the value after each save and batch request; until then, what was saved last, and a new one 0 for
    `@count` and `@sum` and otherwise None. Assigning it fails (`InvalidArgument`). Queries use it as any other. `type`,
    `searchable`, `name` and what is for models of Core Data are as for `attr`. `init` tells type checkers that
    constructors do not take it; it is always False.
    """
    if init is not False:
        raise TypeError("constructors do not take a derived attribute; leave init out")
    if not isinstance(expression, str):
        raise TypeError(f"an attribute is derived from an expression, a text, not {expression!r:.60}")
    return AttrOptions(
        NO_DEFAULT, type, False, searchable, name, AttrRules(), expression,
        AttrTraits(preserved=preserved, hash_modifier=hash_modifier, renamed_from=renamed_from, user_info=user_info))


def relation(
    *,
    inverse: Optional[str] = None,
    on_delete: str = "nullify",
    ordered: bool = False,
    minimum: int = 0,
    maximum: int = 0,
    name: Optional[str] = None,
    required: Optional[bool] = None,
    hash_modifier: Optional[str] = None,
    renamed_from: Optional[str] = None,
    user_info: Optional[Mapping[str, str]] = None,
    names_join_table: bool = False,
    transient: bool = False,
) -> Any:
    """Says more about a relationship than its annotation can.

    `inverse` names the relationship of the other class that points back; the library keeps both up to date.
    `on_delete` says what deleting this object does to the objects it holds: "nullify" makes them let go of it,
    "cascade" deletes them too, "deny" makes a save fail while there are any, "no action" leaves them as they are.
    A to-many relationship can be `ordered`, and holds at least `minimum` and at most `maximum` objects (0: any number).
    A to-many relationship that is `required` is not empty when it is saved. One with a minimum is required, unless
    `required=False` says that it may be empty instead. A to-one relationship can have a `minimum` of 1 as models of
    Core Data do, which only the version hash notices. So it is with a `maximum` of 2**32 - 1, for any number. `name` is
    its name in the store when that differs. A `transient` one lives in memory only. `hash_modifier`, `renamed_from` and
    `user_info` are as for `attr`.

    Where both sides are to-many, the one that `names_join_table` gives its name to the table between them. Without it
    an existing file decides, and in a new one a rule. Core Data chooses between two relationships of one class by an
    order of its own.
    """
    rule = DELETE_RULES.get(on_delete)
    if rule is None:
        raise ValueError(f"on_delete is one of {', '.join(map(repr, DELETE_RULES))}, not {on_delete!r}")
    if not (0 <= minimum < 2**32 and 0 <= maximum < 2**32):
        raise ValueError(f"minimum and maximum are not negative and below 2**32, not {minimum} and {maximum}")
    return RelationOptions(
        inverse, rule, ordered, minimum, maximum, name, required, hash_modifier, renamed_from, user_info,
        names_join_table, transient)


@public
class Attr(Key, Generic[T]):
    """An attribute, in an annotation: `author: quire.Attr[str | None]`.

    `T` is `str`, `int`, `float`, `bool`, `datetime`, `Decimal`, `UUID` or `bytes`, or `Any` for a transient attribute;
    `| None` makes it optional: it may be None when it is saved. Constructors need an optional attribute, too, unless it
    has a default: `quire.attr(default=None)`. An object gives the value; the class gives a key for queries.

    The file has a Decimal as a double: digits beyond some 15 are lost at a save. Text of the type `quire.URI` is not
    checked. A date beyond the years 1 to 9999 is a float, the seconds since 2001-01-01 UTC, and may be infinite.
    """

    _place = -1
    """Place among the columns of a page; -1 for a transient attribute, which has none."""

    def __init__(
        self, owner: str, name: str, kind: AttributeType, is_optional: bool, default: Any, is_transient: bool,
        is_searchable: bool, key: str, rules: AttrRules, derivation: Optional[str] = None,
        traits: AttrTraits = NO_TRAITS
    ) -> None:
        self._rules = rules
        self._traits = traits
        self._derivation = derivation
        self._owner = owner
        self._name = name
        self._key = key
        self._key_bytes = key.encode()
        self._type = kind
        self._is_optional = is_optional
        self._is_transient = is_transient
        self._is_searchable = is_searchable
        self._is_required = default is NO_DEFAULT and derivation is None
        self._default: Any = None if default is NO_DEFAULT else self._checked(default)

    # At run time there is no __set__, so that a value in the instance's __dict__ is found without a call.
    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Attr[T]: ...
    @overload
    def __get__(self, instance: object, owner: Optional[type[Any]] = None) -> T: ...
    def __get__(self, instance: Any, owner: Optional[type[Any]] = None) -> Union[Attr[T], T]:
        if instance is None:
            return self
        reference = instance._quire_reference
        if reference is None:
            return self._default  # type: ignore[no-any-return]
        page = reference.page
        if page is not None and 0 <= self._place < len(page):
            value = page[self._place][reference.index]
        else:
            try:
                value = _identity.read(instance, self._key_bytes)
            except Error as error:
                raise blamed(error, self, instance)
        if value is not None:
            decode = self._type.decode
            if decode is not None:
                try:
                    value = decode(value)
                except InvalidArgument as error:
                    raise blamed(error, self, instance)
        _set_plain(instance, self._name, value)
        return value  # type: ignore[no-any-return]

    if TYPE_CHECKING:

        def __set__(self, instance: object, value: T) -> None: ...

    def _checked(self, value: Any) -> Any:
        """The value as reading it back would give it."""
        if self._derivation is not None:
            raise InvalidArgument(
                f"{self} is derived from {self._derivation!r}: the store calculates it, and nobody assigns it.",
                entity=self._owner, key=self._name)
        if value is None:
            if self._is_optional:
                return None
            raise misfit(
                self, f"{self} expects {self._type.python.__name__}, not None; an attribute that may be None is "
                f"declared Attr[Optional[{self._type.python.__name__}]].")
        if not isinstance(value, self._type.accepted):
            value = self._converted(value)
        try:
            return (self._type.canonical if self._is_transient else self._type.kept)(value)
        except (InvalidArgument, InvalidText, WrongType) as error:
            raise blamed(error, self) from None

    def _converted(self, value: Any) -> Any:
        if not isinstance(value, Key) and _numpy.is_missing(value):
            raise misfit(
                self, f"{self} expects {self._type.python.__name__}, not {value!r:.20}, which stands for a missing "
                f"value in NumPy and pandas. Give None for it: {_numpy.with_none(value)}.")
        if type(value).__module__ == "numpy":
            found = self._of_numpy(value)
            if found is not None:
                return found
        # Whole numbers of other libraries say that they are some by __index__.
        if int in self._type.accepted and hasattr(value, "__index__"):
            try:
                return operator.index(value)
            except TypeError:
                pass  # Such as an array, which has it for the case that it is of one number.
        if self._type.python is datetime and _values.is_distant(value):
            return float(value)
        expected = self._type.python.__name__
        given = type(value).__name__
        if self._type.python is datetime and given in ("int", "float"):
            raise misfit(
                self, f"{self} expects datetime, not {given} ({value!r:.60}): a number is for dates outside of the "
                "years 1 to 9999. Give datetime(2001, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=...).")
        if self._type.number == _ffi.QUIRE_TYPE_TRANSFORMABLE:
            raise misfit(
                self, f"{self} expects bytes, not {given} ({value!r:.60}): the value of a Transformable as the "
                "application encodes it. quire.archive.decode reads what NSKeyedArchiver wrote; Quire encodes nothing.")
        if given == expected:
            # numpy has a bool of its own.
            given = f"{type(value).__module__}.{given}"
            raise misfit(self, f"{self} expects {expected}, not {given} ({value!r:.60}); convert it: {expected}(...).")
        raise misfit(self, f"{self} expects {expected}, not {given} ({value!r:.60}).")

    def _of_numpy(self, value: Any) -> Any:
        """A boolean or a date of NumPy as Python's. Its dates are of UTC."""
        if self._type.python is bool and type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        if self._type.python in (date, datetime) and type(value).__name__ == "datetime64":
            try:
                return _numpy.moment(value, self._type.python is date)
            except InvalidArgument as error:
                raise blamed(error, self) from None
        return None

    def _pack(self, value: Any) -> _values.Packed:
        if value is None:
            return _values.NIL
        try:
            return self._type.pack(value)
        except (InvalidArgument, InvalidText) as error:
            raise blamed(error, self) from None

    def _check(self, operator: str, *others: object) -> None:
        check_comparison(self, operator, others)

    def _given(self, value: object) -> object:
        stored = self._type.stored
        if stored is not None and value is not None and not isinstance(value, Comparable) and isinstance(
                value, self._type.accepted):
            try:
                return stored(value)
            except (InvalidArgument, WrongType) as error:
                raise blamed(error, self) from None
        if self._type.python is not datetime or not _values.is_distant(value):
            return value
        from ..predicates.expression import Expression

        # By itself a number is no date.
        return Expression("CAST(%@, 'NSDate')", value)

    def _assign(self, instance: Model, value: Any) -> None:
        try:
            value = self._checked(value)
            if instance._quire_context is not None:
                _identity.write(instance, self._key_bytes, self._pack(value))
        except Error as error:
            raise blamed(error, self, instance)
        _set_plain(instance, self._name, value)


@public
class ToOne(Navigable, Key, Generic[T]):
    """A relationship to one object, in an annotation: `author: quire.ToOne["Author"]`.

    `ToOne["Author | None"]` may be empty; without None, a save needs an object there. Reading it gives the object or
    None and may look into the store.
    """

    _is_to_many: ClassVar[bool] = False

    def __init__(
        self, owner: str, name: str, destination: Any, is_optional: bool, options: RelationOptions
    ) -> None:
        self._owner = owner
        self._name = name
        self._key = options.name or name
        self._key_bytes = self._key.encode()
        self._destination = destination
        self._is_optional = is_optional
        self._options = options
        self._is_required = options is PLAIN_RELATION

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            told = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                told += f". What is behind it is written {self}.to({_destination_name(self)}.{name})"
            raise AttributeError(told)

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> ToOne[T]: ...
    @overload
    def __get__(self, instance: object, owner: Optional[type[Any]] = None) -> T: ...
    def __get__(self, instance: Any, owner: Optional[type[Any]] = None) -> Union[ToOne[T], T]:
        if instance is None:
            return self
        context = instance._quire_context
        if context is None:
            return None  # type: ignore[return-value]
        try:
            id = _identity.read(instance, self._key_bytes)
        except Error as error:
            raise blamed(error, self, instance)
        if id is None:
            return None  # type: ignore[return-value]
        return _identity.find(context, context.store._schema.destination(self), id)  # type: ignore[return-value]

    if TYPE_CHECKING:

        def __set__(self, instance: object, value: T) -> None: ...

    def _checked(self, value: Any) -> Any:
        if value is not None and not _is_object(value):
            raise misfit(self, f"{self} expects an object of {_destination_name(self)}, not {_values.called(value)}.")
        if value is None and not self._is_optional:
            raise misfit(
                self, f"{self} expects an object of {_destination_name(self)}, not None; a relationship that may be "
                f'empty is declared ToOne["{_destination_name(self)} | None"].')
        return value

    def _pack(self, value: Optional[Model]) -> _values.Packed:
        return _values.NIL if value is None else value._quire_pack()

    def _assign(self, instance: Model, value: Any) -> None:
        _assign_related(self, instance, value)


@public
class ToMany(Collection, Key, Generic[M]):
    """A relationship to any number of objects, in an annotation: `books: quire.ToMany["Book"]`.

    Reading it gives a `Related`, which shows the objects as they are at each moment; assigning an iterable replaces
    them.
    """

    _is_to_many: ClassVar[bool] = True

    def __init__(
        self, owner: str, name: str, destination: Any, is_optional: bool, options: RelationOptions
    ) -> None:
        self._owner = owner
        self._name = name
        self._key = options.name or name
        self._key_bytes = self._key.encode()
        self._destination = destination
        self._is_optional = is_optional
        self._options = options
        self._is_required = options is PLAIN_RELATION

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> ToMany[M]: ...
    @overload
    def __get__(self, instance: object, owner: Optional[type[Any]] = None) -> Related[M]: ...
    def __get__(self, instance: Any, owner: Optional[type[Any]] = None) -> Union[ToMany[M], Related[M]]:
        if instance is None:
            return self
        if instance._quire_context is None:
            raise NotInContext(
                f"{self} can be read once its object is in a context; context.add(...) puts it there.",
                entity=self._owner, key=self._name)
        return Related(instance, self)

    if TYPE_CHECKING:

        def __set__(self, instance: object, value: Iterable[M]) -> None: ...

    def _checked(self, value: Any) -> list[Model]:
        if _is_object(value):
            raise misfit(self, f"{self} holds any number of objects; give a list with this one in it, or add it.")
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise misfit(
                self,
                f"{self} expects an iterable of objects of {_destination_name(self)}, not {_values.called(value)}.")
        return [self._member(item) for item in value]

    def _member(self, value: Any) -> Model:
        if not _is_object(value):
            raise misfit(self, f"{self} holds objects of {_destination_name(self)}, not {_values.called(value)}.")
        return value  # type: ignore[no-any-return]

    def _pack(self, value: list[Model]) -> _values.Packed:
        return _values.listed([item._quire_pack() for item in value])

    def _assign(self, instance: Model, value: Any) -> None:
        _assign_related(self, instance, value)

    def _blamed(self, error: Error, instance: Model) -> Error:
        return blamed(error, self, instance)


Relationship = Union[ToOne[Any], ToMany[Any]]
Property = Union[Attr[Any], ToOne[Any], ToMany[Any]]


def _destination_name(relationship: Relationship) -> str:
    destination = relationship._destination
    return destination.name if isinstance(destination, Unresolved) else destination.__name__


def _is_object(value: object) -> bool:
    return hasattr(type(value), "_quire_entity")


def _assign_related(relationship: Relationship, instance: Model, value: Any) -> None:
    try:
        value = relationship._checked(value)
        if instance._quire_context is not None:
            _identity.write(instance, relationship._key_bytes, relationship._pack(value))
            return
    except Error as error:
        raise blamed(error, relationship, instance)
    _set_plain(instance, relationship._name, value)


def misfit(property: Property, message: str) -> WrongType:
    """For a value of a type that a property does not take."""
    return WrongType(message, entity=property._owner, key=property._name)


def blamed(error: Error, property: Property, instance: Optional[Model] = None) -> Error:
    """An error of what was done to a property, which names it and its object then."""
    error._rename(property._key, property._name)
    named = str(property) in error.message or f".{property._name}'" in error.message
    # Others are about the context or the store as a whole.
    if not named and isinstance(error, (InvalidArgument, InvalidState, InvalidText, NotFound, WrongType)):
        error._reword(f"{property}: {error.message}")
    error.entity = property._owner if instance is None else type(instance).__name__
    error.key = property._name
    if instance is not None:
        error.id = instance.id
    return error
