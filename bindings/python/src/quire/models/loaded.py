"""Models that are read from files, and not declared by classes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ctypes import byref, c_void_p
from typing import Optional, Union

from .._c import _handle
from .._c._load import library, quick
from .._c._public import public
from ..errors import WrongType, failure
from ._describing import describe
from .model_description import EntityDescription, ModelDescription, save_model

__all__ = ["LoadedModel", "load_model"]


@public
class LoadedModel(_handle.Handle):
    """A model that was read by `load_model`. It never changes, and any thread may use it.

    Two are equal when they declare the same, wherever they were read from: when their `description`s are equal.
    """

    _survives_fork = True

    def __init__(self, pointer: _handle.Slot) -> None:
        super().__init__(pointer, quick.quire_model_release)
        self._described: Optional[ModelDescription] = None

    @property
    def description(self) -> ModelDescription:
        """All that it declares, as plain values: what `Store.model` is for the model of a store."""
        if self._described is None:
            self._described = describe(self._raw)
        return self._described

    @property
    def entities(self) -> Mapping[str, EntityDescription]:
        """The descriptions of its entities by their names."""
        return self.description.entities

    def save(self, path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
        """Writes it as a source that Xcode edits: a folder at `path`, which ends in `.xcdatamodel`.

        A folder that is there gets new contents. Raises `InvalidArgument`, `CannotOpen`, `Unsupported`.
        """
        save_model(self._raw, path)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, LoadedModel) or not (self._is_known and other._is_known):
            return NotImplemented
        return self.description == other.description

    def __hash__(self) -> int:
        return hash(frozenset(self.entities)) if self._is_known else id(self)

    @property
    def _is_known(self) -> bool:
        return self._described is not None or not self.closed

    def __repr__(self) -> str:
        return "<LoadedModel (closed)>" if self.closed else f"<LoadedModel {', '.join(self.entities)}>"


def load_model(
    path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]], version: Optional[str] = None
) -> LoadedModel:
    """The model in a `.xcdatamodel`, `.xcdatamodeld`, `.mom` or `.momd`, or the one that a store of Core Data keeps.

    What is in a file decides, not its name. Of a folder with versions it is the current one, or the one called
    `version`. Names are taken as they are, also those that classes cannot declare.

    A source of Xcode does not say which of two relationships between objects of one entity names the table of both, see
    `relation(names_join_table=)`. A store that is made of it may get the other name than the application's. The model
    of a store says it. Raises

    - `CannotOpen` when nothing is there, or it may not be read;
    - `NotFound` for a version that is not there;
    - `InvalidModel` for what is damaged or has no model in it, such as a store that keeps none, and for more than
      16 MiB or 5,000 entities;
    - `Unsupported` for an attribute of an unknown type;
    - `InvalidArgument` for a folder with several versions, none of which is current: say which as `version`;
    - `Busy` and `DatabaseError` for a store that is in use or damaged.
    """
    encoded = os.fsencode(path)
    if version is not None and not isinstance(version, str):
        raise WrongType(f"a version is a text, not {type(version).__name__}")
    named = None if version is None else version.encode()
    error, loaded = c_void_p(), _handle.Slot(library.quire_model_release)
    status = library.quire_model_load(
        encoded, len(encoded), named, 0 if named is None else len(named), byref(loaded), byref(error))
    if status:
        raise failure(status, error)
    return LoadedModel(loaded)
