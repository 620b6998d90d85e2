"""Reads `Attr[str | None]`, `ToOne["Author"]` and their like, evaluated or as text, on every version of Python."""

from __future__ import annotations

import builtins
import sys
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ForwardRef, Optional, TypeVar, Union

from ..predicates._owners import Unresolved

if TYPE_CHECKING:
    import ast

_UNION_ORIGINS: tuple[object, ...] = (Union,)
if sys.version_info >= (3, 10):
    import types

    _UNION_ORIGINS = (Union, types.UnionType)


class Annotation:
    """An annotation taken apart: `origin[members...]`, where None among the members means that it is optional."""

    def __init__(self, origin: object, members: list[object]) -> None:
        self.origin = origin
        self.is_optional = None in members
        self.members = [member for member in members if member is not None]


Arguments = Mapping[TypeVar, "tuple[Reader, object]"]
"""What type variables stand for, each with what reads it."""


def own(cls: type) -> Mapping[str, object]:
    """The annotations of a class itself, evaluated as far as they can be."""
    if sys.version_info >= (3, 14):
        import annotationlib

        found: Mapping[str, object] = annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
        return found
    annotations: Mapping[str, object] = cls.__dict__.get("__annotations__", {})
    return annotations


class Reader:
    """Takes annotations apart, looking names up where the class was written.

    The `arguments` of a generic class say what its type variables stand for, each with the reader that reads it.
    Local names come first for a class that is near them, and otherwise last.
    """

    def __init__(
        self, cls: type, local_names: Mapping[str, object], arguments: Optional[Arguments] = None, is_near: bool = True
    ) -> None:
        module = sys.modules.get(cls.__module__)
        self._name = cls.__name__
        self._arguments: Arguments = arguments or {}
        variables = {each.__name__: each for each in getattr(cls, "__type_params__", ())}
        global_names = [vars(module) if module else {}, vars(builtins)]
        self._scopes: list[Mapping[str, object]] = [
            variables, *([local_names, *global_names] if is_near else [*global_names, local_names])]

    def read(self, annotation: object) -> Annotation:
        """Raises NameError for an unknown name in the place of `Attr`."""
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            import ast

            node = self._parse(annotation)
            if isinstance(node, ast.Subscript):
                return Annotation(self._value(node.value), self._members_of_node(node.slice))
            return Annotation(self._value(node), [])
        origin = typing.get_origin(annotation)
        if origin is None:
            return Annotation(annotation, [])
        members = [member for part in typing.get_args(annotation) for member in self._members(part)]
        return Annotation(origin, members)

    def _members(self, part: object) -> list[object]:
        if part is None or part is type(None):
            return [None]
        if isinstance(part, ForwardRef):
            part = part.__forward_arg__
        if isinstance(part, str):
            return self._members_of_node(self._parse(part))
        if isinstance(part, TypeVar):
            return self._members_of_variable(part)
        if typing.get_origin(part) in _UNION_ORIGINS:
            return [member for inner in typing.get_args(part) for member in self._members(inner)]
        return [part]

    def _members_of_variable(self, variable: TypeVar) -> list[object]:
        if variable not in self._arguments:
            raise TypeError(
                f"the type variable {variable.__name__} stands for no type; write class ...({self._name}[...], ...)")
        reader, part = self._arguments[variable]
        return reader._members(part)

    def _members_of_node(self, node: ast.expr) -> list[object]:
        import ast

        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._members_of_node(node.left) + self._members_of_node(node.right)
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
            return self._members(node.value)
        if isinstance(node, ast.Tuple):
            return [member for element in node.elts for member in self._members_of_node(element)]
        if isinstance(node, ast.Subscript):
            origin = self._value(node.value)
            if origin is Optional:
                return [*self._members_of_node(node.slice), None]
            if origin is Union:
                return self._members_of_node(node.slice)
        return self._members(self._value(node, may_come_later=True))

    def _value(self, node: ast.expr, may_come_later: bool = False) -> object:
        import ast

        text = ast.unparse(node)
        value: Any = self._lookup(text.partition(".")[0])
        if value is not None:
            for name in text.split(".")[1:]:
                value = getattr(value, name, None)
        if value is None:
            if may_come_later:
                return Unresolved(text)
            raise NameError(f"{text!r} in an annotation is not defined")
        return value

    def _lookup(self, name: str) -> object:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        return None

    @staticmethod
    def _parse(text: str) -> ast.expr:
        import ast

        try:
            return ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise TypeError(f"the annotation {text!r} is not an expression") from None
