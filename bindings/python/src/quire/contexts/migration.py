"""Taking stores over to other versions of their models."""

from __future__ import annotations

import ctypes
import enum
import inspect
import itertools
import os
from collections.abc import Callable, Iterable
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from .._c import _ffi, _handle, _values
from .._c._load import library
from .._c._public import public
from ..errors import InvalidArgument, InvalidModel, ModelMismatch, Unsupported, failure, text
from ..fetching import _watch
from ..fetching.cancellation import Cancellation
from ..models.model import Model
from . import _opening, _sql_log
from .store import Store

if TYPE_CHECKING:
    from .context import Context
    from ..models.loaded import LoadedModel

__all__ = ["MigrationStage", "MigrationStep", "MigrationStepKind", "migrate"]


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
    stage: int = 0
    """The stage that it is of, by its place in `stages`."""

    def __str__(self) -> str:
        return self.sentence


@public
class MigrationStage(NamedTuple):
    """A part of a migration that is one transaction: what is inferred between two models, and functions around it.

    Each function gets a `Context` for the time of the call. Its store is of the models before the stage, or of its own.
    `context.store.classes` has the classes by name where none were given. What is unsaved at the end is saved. What a
    function raises comes out of `migrate`, and the file is as the stage before has left it.

    A function cannot begin a transaction (`InvalidState`), close the store (`InvalidState`), use another context of it
    (`Busy`), or open or migrate the file (`InvalidState`). The context raises `StoreClosed` afterwards, and so do its
    objects for what was not read before.
    """

    models: Union[Iterable[type[Model]], LoadedModel]
    """What the store has after the stage."""
    will_migrate: Optional[Callable[[Context], object]] = None
    """Called before the stage changes anything, with the former models."""
    did_migrate: Optional[Callable[[Context], object]] = None
    """Called when what is inferred is done, with the models of the stage."""


def migrate(
    path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]],
    models: Union[Iterable[type[Model]], LoadedModel, None] = None,
    *,
    stages: Optional[Iterable[MigrationStage]] = None,
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
    `stages`, in the place of `models`: the models that the store is to have one after the other, each in a
    `MigrationStage` with functions that set what cannot be inferred. One stage has both the old and the new property,
    and the next is without the old one. Each stage is a transaction. A run begins behind the last stage whose models
    the file has, so that one that was cut off goes on at the next. No two stages have models with the same version
    hashes.

    `source` is the model that the file has now, or before the first stage, where the file keeps no copy of its model.
    `progress` is called with how many steps are done. Ctrl-C and a `Cancellation` end a run, which leaves the file as
    the last stage that was done has left it.

    Close the store first: one that is open in this process raises `InvalidState`. Other processes that have it open as
    the former version get `ModelMismatch` from their next save or merge on.

    Raises `Unsupported`, `InvalidModel`, `ModelMismatch`, `ConstraintError` (a new unique property for which objects
    have equal values), `Cancelled`, `InvalidState`, `Busy`, `ReadOnly`, `CannotOpen`, `NotAStore`, `DatabaseError`, and
    what a function of a stage raised. Any thread.
    """
    _watch.check(cancellation, progress)
    target, former = _opening.GivenModel(models), _opening.GivenModel(source)
    given = _checked(target, stages)
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
        with _Calls(given, former) as calls:
            calls.add_stages(made)
            steps = _steps(made)
            if not dry_run:
                _run(made, cancellation, progress, calls)
            return steps
    finally:
        made.give_back()


def _checked(target: _opening.GivenModel, stages: Optional[Iterable[MigrationStage]]) -> list[MigrationStage]:
    if stages is None:
        if target.pointer is None:
            raise InvalidModel(
                "A migration needs the models that the store is to have. Give classes, or a loaded model, or stages.")
        return []
    if target.pointer is not None:
        raise InvalidArgument("A migration has models or stages, not both. Let the last stage have the models.")
    if isinstance(stages, MigrationStage):
        raise TypeError("stages is a list of quire.MigrationStage, and this is one stage. Put it in a list.")
    given = list(stages)
    for stage in given:
        if not isinstance(stage, MigrationStage):
            raise TypeError(f"a stage is a quire.MigrationStage, not {type(stage).__name__}")
        for function in (stage.will_migrate, stage.did_migrate):
            if function is not None and not callable(function):
                raise TypeError(f"what a stage calls is a function of a context, not {type(function).__name__}")
            if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
                name = getattr(function, "__name__", function)
                raise TypeError(
                    f"what a stage calls is a plain function, which {name!r} is not: a call of it would do nothing. "
                    "Leave out async and yield.")
    if not given:
        raise InvalidArgument("A migration needs a stage at least. Give a quire.MigrationStage for each model.")
    return given


class _Calls:
    """The functions of stages while the library may call them."""

    _numbers = itertools.count(1)
    _all: dict[int, tuple[_Calls, int]] = {}
    """By the number that the library knows a stage by: the calls, and the place of the stage."""

    def __init__(self, stages: list[MigrationStage], source: _opening.GivenModel) -> None:
        self._stages = stages
        # What the file had before, and has after each stage. Stages keep what the library was given.
        self._models: list[Optional[_opening.GivenModel]] = [None if source.pointer is None else source]
        self._own: list[int] = []
        self.failures: list[BaseException] = []
        self._reason: Optional[_values.Values] = None
        """The text that the library is about to copy."""

    def __enter__(self) -> _Calls:
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._own:
            self._all.pop(number, None)

    def add_stages(self, migration: c_void_p) -> None:
        for place, stage in enumerate(self._stages):
            model = _opening.GivenModel(stage.models)
            if model.pointer is None:
                raise InvalidModel("A stage needs the models that the store is to have: classes, or a loaded model.")
            self._models.append(model)
            callbacks = None
            if stage.will_migrate is not None or stage.did_migrate is not None:
                number = next(self._numbers)
                self._own.append(number)
                self._all[number] = self, place
                callbacks = _ffi.quire_migration_callbacks(
                    struct_size=ctypes.sizeof(_ffi.quire_migration_callbacks), user_data=number)
                if stage.will_migrate is not None:
                    callbacks.will_migrate = _calls_will_migrate
                if stage.did_migrate is not None:
                    callbacks.did_migrate = _calls_did_migrate
            error = c_void_p()
            status = library.quire_migration_add_stage(
                migration, model.pointer, None if callbacks is None else byref(callbacks), byref(error))
            if status:
                raise failure(status, error)

    def call(self, place: int, is_before: bool, pointer: int, target: Any) -> bool:
        # An exception that left here would be printed and lost.
        try:
            stage = self._stages[place]
            function = stage.will_migrate if is_before else stage.did_migrate
            assert function is not None
            store = Store._lent(pointer, self._models[place if is_before else place + 1])
            try:
                function(store.context)
                # Here, so that hooks of classes are called, and what they raise comes out.
                if not store.context.closed:
                    store.context.save()
            finally:
                store._take_back()
            return True
        except BaseException as exception:
            self.failures.append(exception)
            reason = f"{type(exception).__name__}: {exception}".encode(errors="replace")
            self._reason = _values.Values([_values.data(reason, _ffi.QUIRE_VALUE_TEXT)])
            ctypes.memmove(target, self._reason.array, ctypes.sizeof(_ffi.quire_value))
            return False


def _called(number: int, is_before: bool, pointer: int, target: Any) -> bool:
    calls, place = _Calls._all[number]
    return calls.call(place, is_before, pointer, target)


def _will_migrate(number: int, pointer: int, target: Any) -> bool:
    return _called(number, True, pointer, target)


def _did_migrate(number: int, pointer: int, target: Any) -> bool:
    return _called(number, False, pointer, target)


_calls_will_migrate = _ffi.quire_migration_callbacks_will_migrate(_will_migrate)
_calls_did_migrate = _ffi.quire_migration_callbacks_did_migrate(_did_migrate)


def _steps(migration: c_void_p) -> list[MigrationStep]:
    count = library.quire_migration_step_count(migration)
    if not count:
        # Where the file cannot be migrated by the stages, any step says so.
        try:
            _step(migration, 0)
        except (Unsupported, InvalidModel, ModelMismatch):
            raise
        except InvalidArgument:
            pass
    return [_step(migration, place) for place in range(count)]


def _step(migration: c_void_p, place: int) -> MigrationStep:
    error, step = c_void_p(), _ffi.quire_migration_step(struct_size=ctypes.sizeof(_ffi.quire_migration_step))
    status = library.quire_migration_get_step(migration, place, byref(step), byref(error))
    if status:
        raise failure(status, error)
    return MigrationStep(
        MigrationStepKind(step.kind), text(step.entity), text(step.property), text(step.sentence), text(step.sql),
        step.stage)


def _run(
    migration: c_void_p, cancellation: Optional[Cancellation], progress: Optional[_watch.Progress], calls: _Calls
) -> None:
    watch = _watch.watch(progress)
    error = c_void_p()
    status = library.quire_migration_run(
        migration, None if cancellation is None else cancellation._raw,
        None if watch is None else byref(watch.progress), byref(error))
    failed = failure(status, error) if status else None
    raised = calls.failures[0] if calls.failures else None if watch is None else watch.take_failure()
    if raised is not None:
        raise raised
    if failed is not None:
        raise failed
