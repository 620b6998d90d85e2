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
from ._c import _load
from ._c._ffi import VERSION as __version__

if TYPE_CHECKING:
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
    from .sections import Section, SectionRule, Sections
    from ._c._versions import icu_version, sqlite_version
    from .predicates.expression import Expression, function
    from .predicates.functions import register_function, unregister_function
    from .predicates.keys import Key, Order
    from .predicates.operand import Quantified
    from .predicates.predicate import Predicate
    from .objects.related import Related
    from .models import archive as archive
    from .models.loaded import LoadedModel, load_model
    from .models._fetched import Fetched, fetched
    from .models._class_source import class_source
    from .models._indexes import Index
    from .models._conversions import JSON
    from .models._templates import Template
    from .models._types import (
        AttributeType,
        Double,
        Float,
        Integer16,
        Integer32,
        Integer64,
        Transformable,
        Undefined,
        URI,
    )
    from .models.model_description import (
        AttributeDescription,
        EntityDescription,
        FetchedPropertyDescription,
        IndexDescription,
        IndexElement,
        ModelDescription,
        RelationshipDescription,
        RequestDescription,
        RuleDescription,
    )
    from .models.model import Model, SnapshotEvents
    from .models.properties import Attr, ToMany, ToOne, attr, derived, relation
    from .fetching.cancellation import Cancellation
    from .fetching.column import Column
    from .lists.aggregates import Aggregates
    from .lists.changes import (
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
    from .lists.composite import Composite
    from .lists.results import Results
    from .lists.snapshot import Snapshot, SnapshotSection
    from .contexts.context import Context
    from .contexts.merging import MergePolicy, ObjectConflict
    from .contexts.metadata import Metadata, read_metadata
    from .contexts.query import Query
    from .contexts.store import Store, delete_store, open

__all__ = [
    "AggregateChange", "Aggregates", "Attr", "AttributeDescription", "AttributeType", "Busy", "Cancellation",
    "Cancelled", "CannotOpen", "Change", "ChangeSet", "Column", "Composite", "Conflict", "ConstraintError",
    "Context", "DatabaseError", "Delete", "DeleteSection", "Double", "EntityDescription", "Error", "Expression",
    "Fetched", "FetchedPropertyDescription", "FileMoved", "Float", "FunctionError", "Index", "IndexDescription",
    "IndexElement", "Insert", "InsertSection", "Integer16", "Integer32", "Integer64", "InvalidArgument",
    "InvalidModel", "InvalidState", "InvalidText", "JSON", "Key", "LoadedModel", "MergePolicy", "Metadata", "Model",
    "ModelDescription", "ModelMismatch", "Move", "MultipleFound", "NoMemory", "NotAStore", "NotFound",
    "ObjectConflict", "Order", "Path", "PlanOrder", "Predicate", "PredicateError", "Quantified", "Query",
    "ReadOnly", "Related", "RelationshipDescription", "RequestDescription", "Results", "RowChange", "Rule",
    "RuleDescription", "Section", "SectionChange", "Sections", "Snapshot", "SnapshotEvents", "SnapshotSection",
    "Step", "StepKind", "Store", "StoreClosed", "Template", "ToMany", "ToOne", "Transformable", "URI", "Undefined",
    "Unsupported", "Update", "ValidationError", "WrongThread", "WrongType", "__version__", "attr", "class_source",
    "delete_store", "derived", "fetched", "function", "icu_version", "load_model", "open", "read_metadata",
    "register_function", "relation", "sqlite_version", "unregister_function",
]

_NAMES = {
    "errors":
        "Busy Cancelled CannotOpen Conflict ConstraintError DatabaseError Error FileMoved FunctionError "
        "InvalidArgument InvalidModel InvalidState InvalidText ModelMismatch MultipleFound NoMemory NotAStore "
        "NotFound PredicateError ReadOnly Rule StoreClosed Unsupported ValidationError WrongThread WrongType",
    "sections": "Section SectionRule Sections",
    "_c._versions": "icu_version sqlite_version",
    "predicates.expression": "Expression function",
    "predicates.functions": "register_function unregister_function",
    "predicates.keys": "Key Order",
    "predicates.operand": "Quantified",
    "predicates.predicate": "Predicate",
    "objects.related": "Related",
    "models.archive": "",
    "models.loaded": "LoadedModel load_model",
    "models._fetched": "Fetched fetched",
    "models._class_source": "class_source",
    "models._indexes": "Index",
    "models._conversions": "JSON",
    "models._templates": "Template",
    "models._types": "AttributeType Double Float Integer16 Integer32 Integer64 Transformable URI Undefined",
    "models.model_description":
        "AttributeDescription EntityDescription FetchedPropertyDescription IndexDescription IndexElement "
        "ModelDescription RelationshipDescription RequestDescription RuleDescription",
    "models.model": "Model SnapshotEvents",
    "models.properties": "Attr ToMany ToOne attr derived relation",
    "fetching.cancellation": "Cancellation",
    "fetching.column": "Column",
    "lists.aggregates": "Aggregates",
    "lists.changes":
        "AggregateChange Change ChangeSet Delete DeleteSection Insert InsertSection Move Path PlanOrder "
        "RowChange SectionChange Step StepKind Update",
    "lists.composite": "Composite",
    "lists.results": "Results",
    "lists.snapshot": "Snapshot SnapshotSection",
    "contexts.context": "Context",
    "contexts.merging": "MergePolicy ObjectConflict",
    "contexts.metadata": "Metadata read_metadata",
    "contexts.query": "Query",
    "contexts.store": "Store delete_store open",
}
"""The public names of each module, which is loaded when one of them is first asked for: few programs need all."""
_MODULES = {
    **{module.rpartition(".")[2]: module for module in _NAMES},
    **{name: module for module, names in _NAMES.items() for name in names.split()},
}
"""The module of each public name. A module can be asked for, too, by its name without the room: `quire.sections`."""

if not TYPE_CHECKING:
    def __getattr__(name: str) -> object:
        """A public name, or a module, when it is first asked for."""
        module = _MODULES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = import_module(f".{module}", __name__)
        if name in _NAMES[module].split():
            found = getattr(found, name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES})
