"""Values that are calculated, in the language of predicates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, WrongType, failure, text
from . import _evaluation, _owners
from .operand import Collection, attribute_of
from .predicate import mapping, parse, subject_of, substituted

if TYPE_CHECKING:
    from ..protocols import Context
    from .keys import Key

__all__ = ["Expression", "function"]


@public
class Expression(_handle.Handle, Collection):
    """A value in the language of NSPredicate: `Expression("price * %f", 1.19)`; keys and operators make them too.

    The arguments are those of `Predicate`. With `==`, `<` and the like it makes predicates; `same_as` compares trees.

    Raises `PredicateError` when it cannot be read; its message shows the place. Immutable; any thread.
    """

    _survives_fork = True
    _quire_path: Optional[str] = None
    _quire_end: Optional[Key] = None
    _attribute: Any = None

    def __init__(self, format: str, *arguments: Any) -> None:
        # What is in the arguments has been copied when the tree is there.
        super().__init__(
            parse("expression", library.quire_expression_parse, format, tuple(map(_values.lasting, arguments))),
            quick.quire_expression_release)
        self._quire_keys = _owners.in_format(format, arguments)

    def evaluate(self, subject: object = None, /, variables: Optional[Mapping[str, Any]] = None, **more: Any) -> Any:
        """What it gives for a value; subject, variables, errors and thread are those of `Predicate.matches`.

        Collections come as lists, dictionaries as dicts, dates as UTC. An object that was an argument comes as its id.
        Of an object of a context, a key path and `min:` and `max:` of one give values as objects have them.
        """
        asked = subject_of(subject, variables, more, self)
        error, given = c_void_p(), c_void_p()
        status = library.quire_expression_evaluate(self._raw, *asked.arguments, byref(given), byref(error))
        if status:
            raise failure(status, error)
        try:
            found = _evaluation.python_value(quick.quire_evaluation_value(given).contents, asked.context)
        finally:
            quick.quire_evaluation_release(given)
        context: Optional[Context] = getattr(subject, "_quire_context", None)
        if context is None:
            return found
        return type(subject)._quire_entity.restored(  # type: ignore[attr-defined]
            str(self), context.store._schema.destination, found)

    def substituting(self, variables: Optional[Mapping[str, Any]] = None, /, **more: Any) -> Expression:
        """The expression with a value, a key or an expression for each of its variables.

        Raises `PredicateError` when one is missing.
        """
        made = Expression.__new__(Expression)
        _handle.Handle.__init__(
            made, substituted(library.quire_expression_substitute, self._raw, variables, more),
            quick.quire_expression_release)
        made._quire_keys = _owners.joined((self, *mapping(variables).values(), *more.values()))
        return made

    @property
    def _quire_attribute(self) -> Any:
        return self._attribute

    def _leading(self, path: Optional[str], end: Optional[Key], attribute: Any = None) -> Expression:
        self._quire_path, self._quire_end, self._attribute = path, end, attribute
        return self

    def same_as(self, other: Expression) -> bool:
        """Whether the two are the same tree: `a + b` is not `b + a`."""
        if not isinstance(other, Expression):
            raise WrongType(f"an expression is compared with another, not with {type(other).__name__}")
        return bool(quick.quire_expression_equal(self._raw, other._raw))

    def __str__(self) -> str:
        """Its canonical text, arguments included; reading that gives the same tree."""
        return text(quick.quire_expression_text(self._raw))

    def __repr__(self) -> str:
        return "<Expression (closed)>" if self.closed else f"<Expression {self}>"

    def _quire_pack(self) -> _values.Packed:
        return _values.pointer_to(self._raw, _ffi.QUIRE_VALUE_EXPRESSION, self)


def function(name: str, *arguments: Any) -> Expression:
    """A function of the language or a registered one: `function("uppercase", Quote.contents)`, `function("max", 1, 2)`.

    The names of selectors have their colons: `function("replace:with:", Quote.contents, "a", "b")`.
    """
    if not isinstance(name, str):
        raise WrongType(f"the name of a function is a text, not {type(name).__name__}")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_:]*", name):
        raise InvalidArgument(f"{name!r} is not the name of a function.")
    attribute = None
    if name.lower().rstrip(":") in ("min", "max"):
        attribute = next(filter(lambda found: found is not None, map(attribute_of, arguments)), None)
    if attribute is not None:
        arguments = tuple(map(attribute._given, arguments))
    made = Expression(f"{name}({', '.join(['%@'] * len(arguments))})", *arguments)
    return made._leading(None, None, attribute)
