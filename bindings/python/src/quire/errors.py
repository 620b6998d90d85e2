"""Exceptions. All descend from `quire.Error`, and each also from the built-in one that a caller would catch.

A value of the wrong Python type, for an attribute or a predicate, is a `WrongType`, and so a `TypeError`.
"""

from __future__ import annotations

import ctypes
import enum
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional

from ._c import _buffers, _ffi
from ._c._load import quick
from ._c._public import public

if TYPE_CHECKING:
    from .protocols import Model, ObjectConflict

__all__ = [
    "Busy", "Cancelled", "CannotOpen", "Conflict", "ConstraintError", "DatabaseError", "Error", "FileMoved",
    "FunctionError", "HistoryExpired", "InvalidArgument", "InvalidModel", "InvalidState", "InvalidText",
    "ModelMismatch", "MultipleFound", "NoMemory", "NotAStore", "NotFound", "PredicateError", "ReadOnly", "Rule",
    "StoreClosed", "Unsupported", "ValidationError", "WrongThread", "WrongType",
]


@public
class Error(Exception):
    """Root of all exceptions of this package.

    `status` is the number of the C interface (`QUIRE_NOT_FOUND` is 5), `message` a sentence with the offender and the
    remedy, `offset` for predicates the byte at which reading failed, otherwise None, `details` the single errors of a
    combined one, and `database_code` SQLite's extended result code, 0 when SQLite was not involved.

    What it is about is told beyond words where it is known: `entity` is the name of a model class, `key` that of a
    property in the class, "" when it is the class or the object as a whole, `id` that of an object, otherwise 0, and
    `row` a row that was given to `insert_many` or `insert_rows`, counted from 0, otherwise None.
    """

    status: int = _ffi.QUIRE_INVALID_ARGUMENT

    def __init__(
        self,
        message: str = "",
        *,
        entity: str = "",
        key: str = "",
        id: int = 0,
        row: Optional[int] = None,
        offset: Optional[int] = None,
        details: tuple[Error, ...] = (),
        database_code: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.entity = entity
        self.key = key
        self.id = id
        self.row = row
        self.offset = offset
        self.details = details
        self.database_code = database_code

    def __str__(self) -> str:
        return self.message

    def _reword(self, message: str) -> None:
        self.message = message
        self.args = (message,)

    def _rename(self, key: str, name: str) -> None:
        """Calls a property as the class does, where the library calls it by the name that it has in the store."""
        if key != name:
            self._reword(self.message.replace(f".{key}'", f".{name}'"))


@public
class InvalidArgument(Error, ValueError):
    """An unknown key, a number out of range, an object of another context."""

    status = _ffi.QUIRE_INVALID_ARGUMENT


@public
class WrongType(Error, TypeError):
    """A value of a Python type that an attribute, a relationship or a predicate does not take."""

    status = _ffi.QUIRE_INVALID_ARGUMENT


@public
class InvalidState(Error, RuntimeError):
    """The right call at the wrong moment: changing a deleted object, reading a section of a list that has moved on."""

    status = _ffi.QUIRE_INVALID_STATE


class NotInContext(InvalidState, AttributeError):
    """What an object has only in a context is read before. `hasattr` and completion pass over it."""


@public
class InvalidText(Error, ValueError):
    """Text that has no UTF-8 form, such as a lone surrogate."""

    status = _ffi.QUIRE_INVALID_TEXT


@public
class Unsupported(Error, NotImplementedError):
    """Something that this version does not do; the message names the part."""

    status = _ffi.QUIRE_UNSUPPORTED


@public
class NotFound(Error, LookupError):
    """There is no such object, section or row."""

    status = _ffi.QUIRE_NOT_FOUND


@public
class MultipleFound(Error, LookupError):
    """`Query.one` found more than one object."""

    status = _ffi.QUIRE_INVALID_ARGUMENT


@public
class WrongThread(Error, RuntimeError):
    """Another thread is inside the same context. Give each thread a context of its own (`Store.create_context`)."""

    status = _ffi.QUIRE_WRONG_THREAD


@public
class StoreClosed(Error, ValueError):
    """The store, context or list was closed, or belongs to the process that this one was forked from."""

    status = _ffi.QUIRE_CLOSED


@public
class InvalidModel(Error, ValueError):
    """The model classes contradict each other."""

    status = _ffi.QUIRE_INVALID_MODEL


@public
class PredicateError(Error, ValueError):
    """A predicate cannot be read. The message shows the place with a caret; `offset` is its byte."""

    status = _ffi.QUIRE_INVALID_PREDICATE


@public
class Rule(enum.Enum):
    """The kinds of rules that an object can break."""

    MANDATORY = _ffi.QUIRE_RULE_MANDATORY
    """A property that must not be None is."""
    TOO_FEW = _ffi.QUIRE_RULE_TOO_FEW
    """A to-many relationship holds less than its `minimum`; the value is the number of objects."""
    TOO_MANY = _ffi.QUIRE_RULE_TOO_MANY
    """A to-many relationship holds more than its `maximum`."""
    DENIED = _ffi.QUIRE_RULE_DENIED
    """It was deleted, although a relationship with the rule "deny" still holds objects."""
    TOO_SMALL = _ffi.QUIRE_RULE_TOO_SMALL
    """Below the `minimum`: a number that is too small, a date that is too soon."""
    TOO_LARGE = _ffi.QUIRE_RULE_TOO_LARGE
    """Above the `maximum`: a number that is too large, a date that is too late."""
    TOO_SHORT = _ffi.QUIRE_RULE_TOO_SHORT
    """Shorter than `min_length`."""
    TOO_LONG = _ffi.QUIRE_RULE_TOO_LONG
    """Longer than `max_length`."""
    PATTERN = _ffi.QUIRE_RULE_PATTERN
    """Text that does not match its `pattern`."""
    CUSTOM = _ffi.QUIRE_RULE_CUSTOM
    """A condition of `__rules__` or of `attr(rules=...)`."""
    HOOK = _ffi.QUIRE_RULE_HOOK
    """What `Model.validate` raised."""


@public
class ValidationError(Error, ValueError):
    """Objects break the rules of their model; nothing was saved.

    `failures` has an error for each broken rule, the error itself when there is one alone. Of each, `object` is the one
    at fault, or None for rows of a batch request, `rule` a `Rule`, `value` what the property had, and `predicate` the
    text of a condition.

    `Model.validate` raises it to refuse an object: `raise quire.ValidationError("It is too late.", key="ends")`.
    """

    status = _ffi.QUIRE_VALIDATION

    def __init__(self, message: str = "", **more: Any) -> None:
        super().__init__(message, **more)
        self.object: Optional[Model] = None
        self.rule: Optional[Rule] = None
        self.value: Any = None
        self.predicate = ""

    @property
    def failures(self) -> tuple[ValidationError, ...]:
        """An error for each broken rule."""
        return tuple(each for each in self.details if isinstance(each, ValidationError)) or (self,)

    def _read(self, pointer: int) -> None:
        """What the library tells of a single broken rule, with values as it has them."""
        number = quick.quire_error_rule(pointer)
        if not number:
            return
        # A number that this package does not know keeps its meaning for programs that know it.
        self.rule = Rule(number) if number in _RULES else None
        self.predicate = text(quick.quire_error_predicate(pointer))
        value = _ffi.quire_value()
        if not quick.quire_error_value(pointer, ctypes.byref(value), None):
            self.value = _buffers.raw_value(value)


_RULES = {rule.value for rule in Rule}


@public
class Conflict(Error, RuntimeError):
    """A row was changed in the store since it was read; nothing was changed or saved.

    A save raises it. In a file without a write-ahead log, of which a context reads no moment, so does an assignment to
    an attribute that the program has read, when another writer has changed the object since. The object then shows the
    new values, and the next assignment changes those.

    Of a save `conflicts` has each object with what it was read as, what is stored now, and what it is here.
    """

    status = _ffi.QUIRE_CONFLICT
    conflicts: Sequence[ObjectConflict] = ()


@public
class ConstraintError(Error, ValueError):
    """Two objects have the same values where `__unique__` forbids it; nothing was saved.

    Of a save `conflicts` has each object with the `other` one.
    """

    status = _ffi.QUIRE_CONSTRAINT
    conflicts: Sequence[ObjectConflict] = ()


@public
class CannotOpen(Error, OSError):
    """The file or its folder is missing or may not be opened."""

    status = _ffi.QUIRE_CANNOT_OPEN


@public
class NotAStore(Error, OSError):
    """The file is not a database, or another program's."""

    status = _ffi.QUIRE_NOT_A_STORE


@public
class ModelMismatch(Error, ValueError):
    """The store was written with other models; the message names the entities and, where the file tells, the properties
    that differ."""

    status = _ffi.QUIRE_MODEL_MISMATCH


@public
class Busy(Error, OSError):
    """Another connection holds a lock of the store, or another context a transaction, for longer than the timeout.

    Queries, objects and live lists are read without waiting for either.
    """

    status = _ffi.QUIRE_BUSY


@public
class ReadOnly(Error, OSError):
    """The store was opened with `read_only=True`, or its file may not be written."""

    status = _ffi.QUIRE_READ_ONLY


@public
class FileMoved(Error, OSError):
    """A file of the open store was moved, deleted or replaced, and nothing was written.

    Close the store and open it where it is now. `Store.copy` and `quire.delete_store` are safe.
    """

    status = _ffi.QUIRE_FILE_MOVED


@public
class DatabaseError(Error, OSError):
    """SQLite failed: disk full, input/output error, damaged file. `database_code` has its number."""

    status = _ffi.QUIRE_DATABASE


@public
class FunctionError(Error, RuntimeError):
    """A registered function failed. Of a Python function, `__cause__` is the exception that it raised."""

    status = _ffi.QUIRE_FUNCTION


@public
class Cancelled(Error, RuntimeError):
    """A query was ended by its `Cancellation`, or by its progress function, which gave False."""

    status = _ffi.QUIRE_CANCELLED


@public
class NoMemory(Error, MemoryError):
    """There is not enough memory for a large value, a large result or for SQLite. Nothing was changed."""

    status = _ffi.QUIRE_NO_MEMORY


@public
class HistoryExpired(Error, LookupError):
    """What followed a token of the history is no longer in the file, or the file is an older copy. Read everything
    anew, and go on with a new `Store.history_token`."""

    status = _ffi.QUIRE_HISTORY_EXPIRED


_CLASSES: dict[int, type[Error]] = {
    kind.status: kind
    for kind in (
        InvalidArgument, InvalidState, InvalidText, Unsupported, NotFound, WrongThread, StoreClosed, InvalidModel,
        PredicateError, ValidationError, Conflict, ConstraintError, CannotOpen, NotAStore, ModelMismatch, Busy,
        ReadOnly, DatabaseError, FunctionError, Cancelled, FileMoved, NoMemory, HistoryExpired,
    )
}


def failure(status: int, error: ctypes.c_void_p) -> Error:
    """The exception for a failed call, from the `quire_error` that it stored; gives that back."""
    if not error.value:
        name = (quick.quire_status_name(status) or b"").decode()
        return _exception(status, f"The call failed with {name}.")
    try:
        found = _from_pointer(error.value)
    finally:
        quick.quire_error_release(error)
    if isinstance(found, FunctionError):
        hook: Optional[Error] = _take_hook(found)
        if hook is not None:
            return hook
        _explain(found)
    return found


_raised = threading.local()
"""`last`: the exception that a registered Python function raised in this thread, and the text that stands for it."""


def check(status: int, error: ctypes.c_void_p) -> None:
    """Raises what a call failed with, if it failed."""
    if status:
        raise failure(status, error)


def _reason(exception: BaseException) -> str:
    # As the library writes a NUL, at which a message would end in C.
    return f"{type(exception).__name__}: {exception}".replace("\0", "\u2400")


def remember(exception: BaseException) -> str:
    """Keeps the exception of a registered function for the error of the call that it fails; gives the text for it."""
    reason = _reason(exception)
    _raised.last = exception, reason
    return reason


def remember_hook(exception: BaseException) -> str:
    """Keeps the exception of a hook, which comes out of the call that ran it; gives the text for its error."""
    reason = _reason(exception)
    _raised.hook = exception, reason
    return reason


def _take_hook(error: FunctionError) -> Any:
    last = getattr(_raised, "hook", None)
    if last is None or not (error.message.startswith("The hook ") and error.message.endswith(last[1])):
        return None
    del _raised.hook
    return last[0]


def _explain(error: FunctionError) -> None:
    """Joins the error with the exception behind it. One that ends the program, such as KeyboardInterrupt, goes on."""
    last = getattr(_raised, "last", None)
    if last is None or not error.message.endswith(last[1]):
        return
    del _raised.last
    if not isinstance(last[0], Exception):
        raise last[0]
    error.__cause__ = last[0]


_WORDS = {
    "quire_context_object": "Context.get",
    "quire_context_merge": "Context.merge",
    "tracks_history": "track_history",
    "quire_context_refresh_all": "Context.refresh_all",
    "quire_context_enable_undo": "Context.enable_undo",
    "quire_context_begin_undo_group": "Context.undo_group",
    "quire_context_end_undo_group": "by leaving the block of Context.undo_group",
    "quire_object_get": "its name",
    "quire_object_get_fetched": "by its name",
    "quire_object_get_object": "its name",
    "quire_object_get_objects": "its name",
    "quire_conflict_has": "ObjectConflict",
    "QUIRE_ANY_NUMBER": "any number, by *arguments",
    "QUIRE_RESULT_OBJECTS": "objects",
    "QUIRE_RESULT_IDS": "ids",
    "QUIRE_RESULT_DICTIONARIES": "dictionaries",
    "Leave it without a value": "Give None instead, as in [None if value != value else value for value in column]",
    "in an attribute of type String": "with as_=(str, Decimal)",
    "results controller": "live list",
    "busy timeout": "timeout",
    "delegate": "handler",
    "Delegates": "Handlers",
}
"""What the library's messages call by its name in C, in the words of this package."""


@lru_cache(maxsize=None)
def _quoted_or_word() -> re.Pattern[str]:
    # Made with the first message, because most programs run without one, and it takes long.
    return re.compile("'[^']*'|\"[^\"]*\"|" + "|".join(rf"\b{word}\b" for word in _WORDS))


def in_python(message: str) -> str:
    """A message of the library in the words of this package; what it quotes stays as it is."""
    return _quoted_or_word().sub(lambda found: _WORDS.get(found[0], found[0]), message)


def _from_pointer(pointer: int) -> Error:
    status = quick.quire_error_status(pointer)
    offset = quick.quire_error_offset(pointer)
    row = quick.quire_error_row(pointer)
    details: list[Error] = []
    for index in range(quick.quire_error_detail_count(pointer)):
        detail = quick.quire_error_detail(pointer, index)
        if detail:
            details.append(_from_pointer(detail))
    error = _exception(
        status, in_python(text(quick.quire_error_message(pointer))),
        entity=text(quick.quire_error_entity(pointer)),
        key=text(quick.quire_error_key(pointer)),
        id=quick.quire_error_object_id(pointer),
        row=None if row < 0 else row,
        offset=None if offset < 0 else offset,
        details=tuple(details),
        database_code=quick.quire_error_database_code(pointer),
    )
    if isinstance(error, ValidationError):
        error._read(pointer)
    return error


def _exception(status: int, message: str, **more: Any) -> Error:
    error = _CLASSES.get(status, Error)(message, **more)
    # A number that this package does not know keeps its meaning for programs that know it.
    error.status = status
    return error


def text(string: _ffi.quire_string) -> str:
    """A borrowed `quire_string` as a Python string; empty when there is no text."""
    if not string.data:
        return ""
    return ctypes.string_at(string.data, string.size).decode()


def add_note(failed: BaseException, note: str) -> None:
    """Adds a sentence to what an exception tells (PEP 678). Python 3.11 and later print it."""
    notes: list[str] = getattr(failed, "__notes__", [])
    # A handler may raise the same exception again.
    if note not in notes:
        setattr(failed, "__notes__", [*notes, note])


def log(message: str, failed: BaseException) -> None:
    """Tells the logger "quire" of a failure that no call can raise."""
    # Rarely needed, and longer to load than the library.
    import logging

    logging.getLogger("quire").error(message, exc_info=failed, stacklevel=2)
