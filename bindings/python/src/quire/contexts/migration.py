"""Taking stores over to other versions of their models."""

from __future__ import annotations

import ctypes
import enum
import os
from collections.abc import Iterable
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

from .._c import _ffi, _handle
from .._c._load import library
from .._c._public import public
from ..errors import InvalidModel, failure, text
from ..fetching import _watch
from ..fetching.cancellation import Cancellation
from ..models.model import Model
from . import _opening, _sql_log

if TYPE_CHECKING:
    from ..models.loaded import LoadedModel

__all__ = ["MigrationStep", "MigrationStepKind", "migrate"]


@public
class MigrationStepKind(enum.IntEnum):
    """What a step of a migration is about."""

    ADD_ENTITY = _ffi.QUIRE_MIGRATION_ADD_ENTITY
    REMOVE_ENTITY = _ffi.QUIRE_MIGRATION_REMOVE_ENTITY
    RENAME_ENTITY = _ffi.QUIRE_MIGRATION_RENAME_ENTITY
    CHANGE_ENTITY = _ffi.QUIRE_MIGRATION_CHANGE_ENTITY
    """Another parent, or abstract or not."""
    ADD_PROPERTY = _ffi.QUIRE_MIGRATION_ADD_PROPERTY
    REMOVE_PROPERTY = _ffi.QUIRE_MIGRATION_REMOVE_PROPERTY
    RENAME_PROPERTY = _ffi.QUIRE_MIGRATION_RENAME_PROPERTY
    CHANGE_PROPERTY = _ffi.QUIRE_MIGRATION_CHANGE_PROPERTY
    """Optional, to-many, ordered, its inverse, or moved."""
    CHANGE_TABLE = _ffi.QUIRE_MIGRATION_CHANGE_TABLE
    """SQL that changes tables and rows."""
    CHANGE_INDEX = _ffi.QUIRE_MIGRATION_CHANGE_INDEX
    """SQL that changes indexes and triggers."""
    CHANGE_BOOKKEEPING = _ffi.QUIRE_MIGRATION_CHANGE_BOOKKEEPING
    """SQL that notes what the file is."""


@public
class MigrationStep(NamedTuple):
    """One step of a migration, from `quire.migrate`."""

    kind: MigrationStepKind
    entity: str
    """The entity of the new model, or of the former one for what is gone; empty for none."""
    property: str
    """The property, likewise; empty for none. The names are those of the store."""
    sentence: str
    """What the step does, for a person. The words may change from version to version."""
    sql: str
    """The statements that the step runs, each ended by a semicolon; empty for what those of later steps do. A question
    mark stands for the metadata and for the copy of the model."""

    def __str__(self) -> str:
        return self.sentence


def migrate(
    path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
    models: Union[Iterable[type[Model]], LoadedModel],
    *,
    source: Union[Iterable[type[Model]], LoadedModel, None] = None,
    dry_run: bool = False,
    relaxed_durability: bool = False,
    timeout: float = 5.0,
    cancellation: Optional[Cancellation] = None,
    progress: Optional[_watch.Progress] = None,
) -> list[MigrationStep]:
    """Takes the store at `path` over to `models`, in place and in one transaction, and returns what that takes.

    The list is empty when the file is of `models` already. With `dry_run` the file stays as it is. Whatever interrupts
    a run, the file is as it was or as it is to be.

    What becomes of entities and properties is inferred from what the file has and from `models`. Equal names are the
    same thing; `renamed_from` of a property and `__renamed_from__` of a class name what it was called before. What can
    be inferred is what Core Data infers in its lightweight migrations:

    - attributes are new, are gone, have another name, become optional or searchable, or become required with a default.
      Objects that are there have the default of a new attribute;
    - relationships are new, are gone, have another name, become to-many, ordered or not, or lose or get an inverse;
    - classes are new, are gone with their objects, have another name, become concrete, or have another base or others
      that inherit from them;
    - properties move to a base class or to one that inherits;
    - indexes and unique properties come and go.

    A file whose version hashes are those of `models` is theirs already. Indexes, defaults and former names are no part
    of a hash: what differs in these alone needs a `hash_modifier`.

    Whatever else differs raises `Unsupported` before a byte is written, and says which property it is about. It takes
    two migrations, by a version in between that has both the old and the new property.

    `source` is the model that the file has now, where the file keeps no copy of its model. `progress` is called with
    how many steps are done. Ctrl-C and a `Cancellation` end a run, which leaves the file as it was.

    Close the store first: one that is open in this process raises `InvalidState`. Other processes that have it open as
    the former version get `ModelMismatch` from their next save or merge on.

    Raises `Unsupported`, `InvalidModel`, `ModelMismatch`, `ConstraintError` (a new unique property for which objects
    have equal values), `Cancelled`, `InvalidState`, `Busy`, `ReadOnly`, `CannotOpen`, `NotAStore`, `DatabaseError`. Any
    thread.
    """
    _watch.check(cancellation, progress)
    target, former = _opening.GivenModel(models), _opening.GivenModel(source)
    if target.pointer is None:
        raise InvalidModel("A migration needs the models that the store is to have. Give classes, or a loaded model.")
    encoded = os.fsencode(path)
    options = _opening.options(timeout, is_read_only=dry_run, relaxed_durability=relaxed_durability)
    log = _sql_log.to_logging()
    if log is not None:
        options.log = ctypes.pointer(log)
    error, made = c_void_p(), _handle.Slot(library.quire_migration_release)
    try:
        status = library.quire_migration_create(
            encoded, len(encoded), former.pointer, target.pointer, byref(options), byref(made), byref(error))
    except BaseException:
        made.give_back()
        _sql_log.forget(log)
        raise
    if status:
        _sql_log.forget(log)
        raise failure(status, error)
    try:
        steps = [_step(made, place) for place in range(library.quire_migration_step_count(made))]
        if not dry_run:
            _run(made, cancellation, progress)
        return steps
    finally:
        made.give_back()


def _step(migration: c_void_p, place: int) -> MigrationStep:
    error, step = c_void_p(), _ffi.quire_migration_step(struct_size=ctypes.sizeof(_ffi.quire_migration_step))
    status = library.quire_migration_get_step(migration, place, byref(step), byref(error))
    if status:
        raise failure(status, error)
    return MigrationStep(
        MigrationStepKind(step.kind), text(step.entity), text(step.property), text(step.sentence), text(step.sql))


def _run(migration: c_void_p, cancellation: Optional[Cancellation], progress: Optional[_watch.Progress]) -> None:
    watch = _watch.watch(progress)
    error = c_void_p()
    status = library.quire_migration_run(
        migration, None if cancellation is None else cancellation._raw,
        None if watch is None else byref(watch.progress), byref(error))
    failed = failure(status, error) if status else None
    raised = None if watch is None else watch.take_failure()
    if raised is not None:
        raise raised
    if failed is not None:
        raise failed
