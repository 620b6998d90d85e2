"""What the opening of a store and its migration have in common: the model that is given, and the options."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, Optional, Union

from .._c import _ffi, _handle
from .._c._load import quick
from ..errors import InvalidArgument, WrongType
from ..models._schema import Schema
from ..models.model import Model

if TYPE_CHECKING:
    from ..models.loaded import LoadedModel

# What 32 bits of milliseconds can hold.
_LONGEST_TIMEOUT = 4_294_967


class GivenModel:
    """Model classes, a loaded model, or nothing, as the library takes them."""

    def __init__(self, models: Union[Iterable[type[Model]], LoadedModel, None]) -> None:
        self.declared: Optional[Schema] = None
        self.slot = _handle.Slot(quick.quire_model_release)
        self.slot.value = None
        self._loaded: Optional[_handle.Handle] = None
        if isinstance(models, _handle.Handle):
            from ..models.loaded import LoadedModel

            if not isinstance(models, LoadedModel):
                raise WrongType(
                    f"a store takes model classes, or a model from quire.load_model, not {type(models).__name__}")
            self._loaded = models
        elif models is not None:
            self.declared = Schema(models)
            self.slot.value = self.declared.create()

    @property
    def pointer(self) -> Union[c_void_p, int, None]:
        """The model, which this keeps; None where there is none."""
        return self.slot.value if self._loaded is None else self._loaded._raw


def options(timeout: float, **given: Any) -> _ffi.quire_store_options:
    """The options of a store. Raises `InvalidArgument` for a wrong timeout, which is in seconds."""
    if not 0 < timeout <= _LONGEST_TIMEOUT:
        raise InvalidArgument(
            f"timeout is a number of seconds above 0 and at most {_LONGEST_TIMEOUT:,}; it is {timeout!r}.")
    return _ffi.quire_store_options(
        struct_size=ctypes.sizeof(_ffi.quire_store_options), busy_timeout=max(round(timeout * 1000), 1), **given)
