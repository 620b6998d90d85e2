"""Quire: an object store in Core Data's file format, with sectioned lists that stay up to date.

Classes declare what is stored. A store is a file of their objects, and a context a working set of these. Queries
find objects, and live lists keep them sorted, in sections and up to date. Handlers hear exactly what changed,
or that contents may differ where a file does not say which rows another program has changed.

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

`help(quire.Context)` describes a class with its methods, `help(quire.sections)` a module, and so on for each name:

Declaring classes
    Model           base of model classes: each class is an entity of the store, and each instance an object
    Attr, attr      an attribute, in an annotation, and what else is to say about it: its default, its rules
    ToOne, ToMany   a relationship to one object or to many, in an annotation
    relation        what else is to say about a relationship: its inverse, its delete rule
    derived         an attribute that the store calculates
    Fetched, fetched
                    a property that holds what a condition finds
    Index           one of `__indexes__`, with a condition or more
    Template        one of `__templates__`: a query that the class keeps under a name
    AttributeType   how an attribute is stored. Its instances are Integer16, Integer32, Integer64, Float, Double, URI,
                    Transformable and Undefined. Classes of Python have one: str, int, float, bool, bytes, datetime,
                    date, time, Decimal, UUID and enumerations
    JSON            what `json` writes, as a value of an attribute

Stores and contexts
    open            opens a store, or makes it
    Store           an open store, for all threads
    Context         a working set of objects: `add`, `get`, `query`, `save`, `undo`, `merge`; one thread at a time
    Moment          the name of a commit that contexts show, from `Context.moment`
    WALInfo         how large the write-ahead log of a store is, from `Store.wal_info`
    Related         what a relationship to many objects holds
    MergePolicy     what a save does with objects that another writer has changed
    ObjectConflict  such an object, in all its versions
    SnapshotEvents  why an object has other values than before, for `Model.awake_from_snapshot`
    Metadata        what `Store.metadata` is
    read_metadata   the metadata of a store that need not be open
    delete_store    deletes a store with all its files
    migrate         takes a store over to other versions of its classes. What it does is a list of MigrationStep, each
                    of a MigrationStepKind. MigrationStage is a part of it, with functions of the program
    History, HistoryTransaction, HistoryChange
                    what any program has changed, from `Store.history`
    convert         writes an XML store of Core Data as one of SQLite, or the other way round

Finding
    Query           which objects, in which order: `where`, `order_by`, `limit`, then `all`, `count`, `live` and others
    Predicate       a condition, in the language of NSPredicate
    Expression      a value in that language
    Key             a property of a class, such as `Quote.author`: compare it, calculate with it, order by it
    Order           a key with a direction, from `Key.asc` and `Key.desc`
    Quantified      any, all or none of a collection, from `ToMany.any` and its like
    function        a function of the language, in a condition made of keys
    register_function, unregister_function
                    functions of the program in predicates
    Column          the values of one key path, from `Query.columns`
    Columns         several of them, a table of Arrow
    RecordBatches   such a table as a stream of batches, from `Columns.batches`
    TableLike       what `Context.insert_many` takes, in an annotation: columns, or a table of polars, pandas and others
    Cancellation    ends a query from another thread

Live lists
    Results         a list that stays up to date, from `Query.live`
    sections        a module with the rules that make sections: `by_letter`, `by_day`, `by_number` and others
    SectionRule     such a rule
    Sections, Section
                    the sections of a list at one moment
    Composite       several lists as one
    Snapshot, SnapshotSection
                    a list at one moment, which never changes
    Aggregates      sums, counts and extremes of a list
    ChangeSet       everything that happened to a list at once
    Change          a change of a row: Insert, Delete, Move or Update, together RowChange
    SectionChange   a change of a section: InsertSection or DeleteSection
    AggregateChange a change of an aggregate
    Path            the place of a row: its section, and its place in it
    Step, StepKind, PlanOrder
                    the same changes one after another, as a widget takes them

Models of files
    load_model      the model in a `.xcdatamodel`, a `.mom` or a store, as a LoadedModel
    class_source    the text of a module that declares the classes of a model
    archive         a module that reads archives in transformable attributes
    ModelDescription
                    what a model declares: EntityDescription, AttributeDescription, RelationshipDescription,
                    FetchedPropertyDescription, IndexDescription, IndexElement, RequestDescription, RuleDescription

Errors
    Error           root of all that follow. `entity`, `key`, `id` and `row` name the subject, where that is known
    saving          ValidationError (Rule says which rule is broken), Conflict, ConstraintError
    finding         NotFound, MultipleFound, PredicateError, FunctionError, Cancelled, HistoryExpired
    using           InvalidArgument, InvalidState, InvalidText, WrongType, WrongThread, StoreClosed, Unsupported
    opening         CannotOpen, NotAStore, ModelMismatch, InvalidModel
    the file        Busy, ReadOnly, FileMoved, DatabaseError
    the machine     NoMemory

`__version__` is the version of the package, `sqlite_version` and `icu_version` are those of the libraries that it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    # A library that is missing, or does not fit, fails the import of the package.
    from ._c import _load
except ImportError as _missing:
    # The command cannot say it, as it is part of the package.
    from ._c._command import end_with

    end_with(_missing)
    raise
from ._c._ffi import VERSION as __version__

if TYPE_CHECKING:
    from .errors import (
        Busy as Busy,
        Cancelled as Cancelled,
        CannotOpen as CannotOpen,
        Conflict as Conflict,
        ConstraintError as ConstraintError,
        DatabaseError as DatabaseError,
        Error as Error,
        FileMoved as FileMoved,
        FunctionError as FunctionError,
        HistoryExpired as HistoryExpired,
        InvalidArgument as InvalidArgument,
        InvalidModel as InvalidModel,
        InvalidState as InvalidState,
        InvalidText as InvalidText,
        ModelMismatch as ModelMismatch,
        MultipleFound as MultipleFound,
        NoMemory as NoMemory,
        NotAStore as NotAStore,
        NotFound as NotFound,
        PredicateError as PredicateError,
        ReadOnly as ReadOnly,
        Rule as Rule,
        StoreClosed as StoreClosed,
        Unsupported as Unsupported,
        ValidationError as ValidationError,
        WrongThread as WrongThread,
        WrongType as WrongType,
    )
    from .sections import Section as Section, SectionRule as SectionRule, Sections as Sections
    from ._c._versions import icu_version as icu_version, sqlite_version as sqlite_version
    from .predicates.expression import Expression as Expression, function as function
    from .predicates.functions import register_function as register_function, unregister_function as unregister_function
    from .predicates.keys import Key as Key, Order as Order
    from .predicates.operand import Quantified as Quantified
    from .predicates.predicate import Predicate as Predicate
    from .objects.related import Related as Related
    from .models import archive as archive
    from .models.loaded import LoadedModel as LoadedModel, load_model as load_model
    from .models._fetched import Fetched as Fetched, fetched as fetched
    from .models._class_source import class_source as class_source
    from .models._indexes import Index as Index
    from .models._conversions import JSON as JSON
    from .models._templates import Template as Template
    from .models._types import (
        AttributeType as AttributeType,
        Double as Double,
        Float as Float,
        Integer16 as Integer16,
        Integer32 as Integer32,
        Integer64 as Integer64,
        Transformable as Transformable,
        Undefined as Undefined,
        URI as URI,
    )
    from .models.model_description import (
        AttributeDescription as AttributeDescription,
        EntityDescription as EntityDescription,
        FetchedPropertyDescription as FetchedPropertyDescription,
        IndexDescription as IndexDescription,
        IndexElement as IndexElement,
        ModelDescription as ModelDescription,
        RelationshipDescription as RelationshipDescription,
        RequestDescription as RequestDescription,
        RuleDescription as RuleDescription,
    )
    from .models.model import Model as Model, SnapshotEvents as SnapshotEvents
    from .models.properties import (
        Attr as Attr,
        ToMany as ToMany,
        ToOne as ToOne,
        attr as attr,
        derived as derived,
        relation as relation,
    )
    from .fetching.cancellation import Cancellation as Cancellation
    from .fetching.column import Column as Column, Columns as Columns, RecordBatches as RecordBatches
    from .lists.aggregates import Aggregates as Aggregates
    from .lists.changes import (
        AggregateChange as AggregateChange,
        Change as Change,
        ChangeSet as ChangeSet,
        Delete as Delete,
        DeleteSection as DeleteSection,
        Insert as Insert,
        InsertSection as InsertSection,
        Move as Move,
        Path as Path,
        PlanOrder as PlanOrder,
        RowChange as RowChange,
        SectionChange as SectionChange,
        Step as Step,
        StepKind as StepKind,
        Update as Update,
    )
    from .lists.composite import Composite as Composite
    from .lists.results import Results as Results
    from .lists.snapshot import Snapshot as Snapshot, SnapshotSection as SnapshotSection
    from .contexts._bulk import TableLike as TableLike
    from .contexts.context import Context as Context
    from .contexts.history import (
        History as History, HistoryChange as HistoryChange, HistoryTransaction as HistoryTransaction,
    )
    from .contexts.merging import MergePolicy as MergePolicy, ObjectConflict as ObjectConflict
    from .contexts.metadata import Metadata as Metadata, read_metadata as read_metadata
    from .contexts.migration import (
        MigrationStage as MigrationStage,
        MigrationStep as MigrationStep,
        MigrationStepKind as MigrationStepKind,
        migrate as migrate,
    )
    from .contexts.moment import Moment as Moment
    from .contexts.query import Query as Query
    from .contexts.store import (
        Store as Store,
        WALInfo as WALInfo,
        convert as convert,
        delete_store as delete_store,
        open as open,
    )

__all__ = [
    "Double", "Float", "Integer16", "Integer32", "Integer64", "JSON", "RowChange", "TableLike", "Transformable", "URI",
    "Undefined", "__version__", "attr", "class_source", "convert", "delete_store", "derived", "fetched", "function",
    "icu_version", "load_model", "migrate", "open", "read_metadata", "register_function", "relation", "sqlite_version",
    "unregister_function",
]
"""What `help` of the package describes in full, and a star import takes: all public names but the classes.

Of each class `help` would list all methods, with those of its bases again for each. The text above says what there is.
"""

_NAMES = {
    "errors":
        "Busy Cancelled CannotOpen Conflict ConstraintError DatabaseError Error FileMoved FunctionError "
        "HistoryExpired InvalidArgument InvalidModel InvalidState InvalidText ModelMismatch MultipleFound NoMemory "
        "NotAStore NotFound PredicateError ReadOnly Rule StoreClosed Unsupported ValidationError WrongThread WrongType",
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
    "fetching.column": "Column Columns RecordBatches",
    "lists.aggregates": "Aggregates",
    "lists.changes":
        "AggregateChange Change ChangeSet Delete DeleteSection Insert InsertSection Move Path PlanOrder "
        "RowChange SectionChange Step StepKind Update",
    "lists.composite": "Composite",
    "lists.results": "Results",
    "lists.snapshot": "Snapshot SnapshotSection",
    "contexts._bulk": "TableLike",
    "contexts.context": "Context",
    "contexts.history": "History HistoryChange HistoryTransaction",
    "contexts.merging": "MergePolicy ObjectConflict",
    "contexts.metadata": "Metadata read_metadata",
    "contexts.migration": "MigrationStage MigrationStep MigrationStepKind migrate",
    "contexts.moment": "Moment",
    "contexts.query": "Query",
    "contexts.store": "Store WALInfo convert delete_store open",
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
        names = {*globals(), *_MODULES} - {"__dir__", "__getattr__"}
        return sorted(name for name in names if not name.startswith("_") or name.startswith("__"))
