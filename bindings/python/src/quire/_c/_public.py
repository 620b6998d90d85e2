"""What the package shows of itself: where its public classes are, and arguments that were left out."""

from __future__ import annotations

import sys
from typing import Any, ForwardRef, TypeVar

Class = TypeVar("Class", bound="type[Any]")


class Omitted:
    """The default of an argument for which None is a value; `help` shows it as `...`."""

    def __repr__(self) -> str:
        return "..."


def public(cls: Class) -> Class:
    """Has a class say that it is in `quire`, where programs find it, and not in a module that may move.

    Its annotations keep the module in which they were written: `typing.get_type_hints` looks their names up there.
    """
    if sys.version_info < (3, 9, 8):
        # Annotations cannot keep a module there, so that the class stays where it is.
        return cls
    annotations = vars(cls).get("__annotations__", {})
    for name, hint in annotations.items():
        written = hint.__forward_arg__ if isinstance(hint, ForwardRef) else hint
        if isinstance(written, str):
            annotations[name] = ForwardRef(written, module=cls.__module__, is_class=True)
    cls.__module__ = __name__.partition(".")[0]
    return cls
