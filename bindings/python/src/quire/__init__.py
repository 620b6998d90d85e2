"""Quire: an object store in Core Data's file format, with sectioned lists that stay up to date.

    from datetime import datetime, timezone
    from typing import Optional
    import quire

    class Quote(quire.Model):
        author: quire.Attr[Optional[str]] = quire.attr(default=None)
        contents: quire.Attr[str]
        created_at: quire.Attr[datetime]

    with quire.open("dated-quotes.sqlite", [Quote]) as store:
        context = store.context
        quotes = context.query(Quote).order_by(Quote.author).live(section_by=Quote.author)

        @quotes.on_change
        def redraw(changes: quire.ChangeSet[Quote]) -> None:
            for change in changes:
                print(change)

        context.add(Quote(author="Goethe", contents="More light!", created_at=datetime.now(timezone.utc)))
        context.save()
"""

from importlib import import_module
from typing import TYPE_CHECKING

# A library that is missing, or does not fit, fails the import of the package.
from . import _load
from ._ffi import VERSION as __version__

if TYPE_CHECKING:
    from ._fetched import Fetched, fetched
    from ._types import AttributeType, Double, Float, Integer16, Integer32, Integer64, Transformable, URI
    from .aggregates import Aggregates
    from ._versions import icu_version, sqlite_version
    from .cancellation import Cancellation
    from .changes import (
        AggregateChange,
        Change,
        ChangeSet,
        Delete,
        DeleteSection,
        Insert,
        InsertSection,
        Move,
        Path,
        PlanOrder,
        RowChange,
        SectionChange,
        Step,
        StepKind,
        Update,
    )
    from .column import Column
    from .composite import Composite
    from .context import Context
    from .errors import (
        Busy,
        Cancelled,
        CannotOpen,
        Conflict,
        ConstraintError,
        DatabaseError,
        Error,
        FileMoved,
        FunctionError,
        InvalidArgument,
        InvalidModel,
        InvalidState,
        InvalidText,
        ModelMismatch,
        MultipleFound,
        NoMemory,
        NotAStore,
        NotFound,
        PredicateError,
        ReadOnly,
        Rule,
        StoreClosed,
        Unsupported,
        ValidationError,
        WrongThread,
        WrongType,
    )
    from .expression import Expression, function
    from .functions import register_function, unregister_function
    from .keys import Key, Order
    from .merging import MergePolicy, ObjectConflict
    from .model import Model, SnapshotEvents
    from .operand import Quantified
    from .predicate import Predicate
    from .properties import Attr, ToMany, ToOne, attr, derived, relation
    from .query import Query
    from .related import Related
    from .results import Results
    from .section_rule import SectionRule
    from .sections import Section, Sections
    from .snapshot import Snapshot, SnapshotSection
    from .store import Store, delete_store, open

__all__ = [
    "AggregateChange", "Aggregates", "Attr", "AttributeType", "Busy", "Cancellation", "Cancelled", "CannotOpen",
    "Change", "ChangeSet", "Column", "Composite", "Conflict", "ConstraintError", "Context", "DatabaseError", "Delete",
    "DeleteSection", "Double", "Error", "Expression", "Fetched", "FileMoved", "Float", "FunctionError", "Insert",
    "InsertSection", "Integer16", "Integer32", "Integer64", "InvalidArgument", "InvalidModel", "InvalidState",
    "InvalidText", "Key", "MergePolicy", "Model", "ModelMismatch", "Move", "MultipleFound", "NoMemory", "NotAStore",
    "NotFound", "ObjectConflict", "Order", "Path", "PlanOrder", "Predicate", "PredicateError", "Quantified", "Query",
    "ReadOnly", "Related", "Results", "RowChange", "Rule", "Section", "SectionChange", "Sections", "Snapshot",
    "SnapshotEvents", "SnapshotSection", "Step", "StepKind", "Store", "StoreClosed", "ToMany", "ToOne",
    "Transformable", "URI", "Unsupported", "Update", "ValidationError", "WrongThread", "WrongType", "__version__",
    "attr", "delete_store", "derived", "fetched", "function", "icu_version", "open", "register_function", "relation",
    "sqlite_version", "unregister_function",
]

_NAMES = {
    "_fetched": "Fetched fetched",
    "_types": "AttributeType Double Float Integer16 Integer32 Integer64 Transformable URI",
    "_versions": "icu_version sqlite_version",
    "aggregates": "Aggregates",
    "cancellation": "Cancellation",
    "changes":
        "AggregateChange Change ChangeSet Delete DeleteSection Insert InsertSection Move Path PlanOrder "
        "RowChange SectionChange Step StepKind Update",
    "column": "Column",
    "composite": "Composite",
    "context": "Context",
    "errors":
        "Busy Cancelled CannotOpen Conflict ConstraintError DatabaseError Error FileMoved FunctionError "
        "InvalidArgument InvalidModel InvalidState InvalidText ModelMismatch MultipleFound NoMemory NotAStore "
        "NotFound PredicateError ReadOnly Rule StoreClosed Unsupported ValidationError WrongThread WrongType",
    "expression": "Expression function",
    "functions": "register_function unregister_function",
    "keys": "Key Order",
    "merging": "MergePolicy ObjectConflict",
    "model": "Model SnapshotEvents",
    "operand": "Quantified",
    "predicate": "Predicate",
    "properties": "Attr ToMany ToOne attr derived relation",
    "query": "Query",
    "related": "Related",
    "results": "Results",
    "section_rule": "SectionRule",
    "sections": "Section Sections",
    "snapshot": "Snapshot SnapshotSection",
    "store": "Store delete_store open",
}
"""The public names of each module, which is loaded when one of them is first asked for: few programs need all."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:
    def __getattr__(name: str) -> object:
        """A public name, or a module, when it is first asked for."""
        module = _MODULES.get(name)
        if module is None and name not in _NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = import_module(f".{module or name}", __name__)
        if module is not None:
            found = globals()[name] = getattr(found, name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_NAMES})
