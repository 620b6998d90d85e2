"""The cases of fetch.json: models, rows, unsaved changes, and what requests give, through the public interface."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any, Callable, Optional

import quire
from predicate_cases import TEXT_ORDERS, same, text_problem, value
from stored_rows import LISTS, DoesNotFit, plain
from support import Decimal, UUID, datetime

TYPES: dict[str, tuple[type, Optional[quire.AttributeType]]] = {
    "string": (str, None), "int": (int, None), "int16": (int, quire.Integer16), "int32": (int, quire.Integer32),
    "int64": (int, None), "double": (float, None), "float": (float, quire.Float), "bool": (bool, None),
    "date": (datetime, None), "decimal": (Decimal, None), "data": (bytes, None), "uuid": (UUID, None),
    "transformable": (bytes, quire.Transformable)}

Case = dict[str, Any]
Row = dict[str, Any]


# MARK: models and rows


def classes(case: Case, are_complete: bool = True) -> dict[str, type[quire.Model]]:
    """The model of a case as classes by the names of entities; properties are named `a_key` in Python.

    An attribute that must have a value is one only if objects are complete when they are saved. Attributes that hold
    lists are left out.
    """
    rows = case["rows"] + [change["insert"] for change in case.get("pending", ()) if "insert" in change]
    made: dict[str, type[quire.Model]] = {}
    added, lists = shared_relationships(case), lists_of(case)

    def make(name: str) -> type[quire.Model]:
        if name in made:
            return made[name]
        entity = case["model"][name]
        body: dict[str, Any] = {"__module__": "a model of a case", "__annotations__": {}}
        for key, text in entity.get("attributes", {}).items():
            if key in lists:
                continue
            text, _, default = text.partition("=")
            kind, narrowed = TYPES[text.rstrip("?")]
            # Some models say that there is always a value where their rows have none.
            lacks = not are_complete or any(row.get(key) is None for row in rows if row["$entity"] == name)
            may_lack = text.endswith("?") or lacks
            body["__annotations__"][f"a_{key}"] = quire.Attr[
                Optional[kind] if may_lack else kind]  # type: ignore[valid-type]
            options = {"default": json.loads(default)} if default else {"default": None} if may_lack else {}
            body[f"a_{key}"] = quire.attr(name=key, type=narrowed, **options)
        for key, each in entity.get("relationships", {}).items():
            inverse = f"a_{each['inverse']}" if "inverse" in each else added.get((name, key))
            to = each["to"]
            body["__annotations__"][f"a_{key}"] = (
                quire.ToMany[to] if each["many"] else quire.ToOne[f"{to} | None"])  # type: ignore
            body[f"a_{key}"] = quire.relation(name=key, inverse=inverse, ordered=each.get("ordered", False))
        for (owner, key), inverse in added.items():
            if case["model"][owner]["relationships"][key]["to"] == name:
                body["__annotations__"][inverse] = quire.ToMany[owner]  # type: ignore
                body[inverse] = quire.relation(inverse=f"a_{key}")
        parent = make(entity["parent"]) if "parent" in entity else quire.Model
        made[name] = type(name, (parent,), body)
        return made[name]

    for name in case["model"]:
        make(name)
    return made


def shared_relationships(case: Case) -> dict[tuple[str, str], str]:
    """The to-many relationships without inverse of which several objects hold the same one, and names for inverses.

    Realm's lists are such; in Core Data's files an object belongs to one owner where there is no inverse.
    """
    found: dict[tuple[str, str], str] = {}
    for name, entity in case["model"].items():
        for key, each in entity.get("relationships", {}).items():
            if each["many"] and "inverse" not in each:
                owners = [row for row in case["rows"] if row["$entity"] == name]
                members = [str(member) for row in owners for member in row.get(key) or ()]
                if len(set(members)) < len(members):
                    found[name, key] = f"of_{name}_{key}"
    return found


class Session:
    """A context with the rows of a case, saved or not, and its unsaved changes."""

    def __init__(self, context: quire.Context, models: dict[str, type[quire.Model]], owner: Any = None) -> None:
        self.context = context
        self.close: Callable[[], None] = (owner or context).close
        """Ends it."""
        self.models = models
        self.objects: dict[str, quire.Model] = {}

    def add(self, rows: list[Row], random: Optional[Random] = None) -> None:
        """Adds objects, first their attributes, then what they refer to.

        With random numbers many attributes come later too, and there is a save somewhere on the way.
        """
        lists = {key for row in rows for key in row if holds_list(row[key])}
        later: list[tuple[quire.Model, str, Any]] = []
        for row in rows:
            model = self.models[row["$entity"]]
            waits = random is not None and random.random() < 0.5
            now: dict[str, Any] = {}
            rest: dict[str, Any] = {}
            for key in row.keys() - lists - {"$entity", "$id"}:
                if row[key] is not None:
                    (rest if waits or is_relationship(model, key) else now)[key] = row[key]
            made = self.context.add(model(**{f"a_{key}": assigned(each) for key, each in now.items()}))
            self.objects[row["$id"]] = made
            later += [(made, key, each) for key, each in rest.items()]
        save_at = None
        if random is not None and later:
            random.shuffle(later)
            save_at = random.randrange(len(later))
        for place, (made, key, each) in enumerate(later):
            if place == save_at:
                self.context.save()
            self.set(made, key, each)

    def set(self, object: quire.Model, key: str, json: Any) -> None:
        new = self.resolved(json) if is_relationship(type(object), key) else assigned(json)
        setattr(object, f"a_{key}", new)

    def change(self, changes: list[dict[str, Any]]) -> None:
        """Makes the unsaved changes of a case."""
        for change in changes:
            if "insert" in change:
                self.add([change["insert"]])
            elif "delete" in change:
                self.context.delete(self.objects.pop(change["delete"]))
            else:
                for key, each in change["set"].items():
                    self.set(self.objects[change["update"]], key, each)

    def resolved(self, json: Any) -> Any:
        """A value in which objects may be referred to; the id of an object is what the object is."""
        if isinstance(json, list):
            return [self.resolved(each) for each in json]
        if isinstance(json, dict) and len(json) == 1:
            (kind, content), = json.items()
            if kind in ("$ref", "$objectID"):
                return self.objects[content]
            if kind == "$set":
                return self.resolved(content)
        return value(json)

    def results(self, json: Any) -> Any:
        """A value as results have it: the id of an object is a number."""
        if isinstance(json, list):
            return [self.results(each) for each in json]
        if isinstance(json, dict) and "$objectID" in json:
            return self.objects[json["$objectID"]].id
        if isinstance(json, dict) and not any(key.startswith("$") for key in json):
            return {key: self.results(each) for key, each in json.items()}
        return value(json)

    def name(self, model: type[quire.Model], id: int) -> str:
        """How the case calls the object of a class with an id."""
        return next(name for name, each in self.objects.items() if isinstance(each, model) and each.id == id)


def is_relationship(model: type[quire.Model], key: str) -> bool:
    return isinstance(getattr(model, f"a_{key}"), (quire.ToOne, quire.ToMany))


def assigned(json: Any) -> Any:
    """The value of an attribute."""
    return plain(value(json))


class Sessions:
    """Stores with the rows of the cases at new paths, one for the cases of each data set, kept until the end."""

    def __init__(self, new_path: Callable[[], str]) -> None:
        self._new_path = new_path
        self._stores: dict[str, tuple[quire.Store, dict[str, type[quire.Model]], dict[str, int]]] = {}

    def close(self) -> None:
        for store, _, _ in self._stores.values():
            store.close()

    def saved(self, case: Case) -> Session:
        """The rows are saved, and nothing of them is in memory."""
        if case["dataset"] not in self._stores:
            models = classes(case)
            store = quire.open(self._new_path(), models.values())
            first = Session(store.context, models)
            first.add(case["rows"])
            store.context.save()
            self._stores[case["dataset"]] = store, models, {name: each.id for name, each in first.objects.items()}
        store, models, ids = self._stores[case["dataset"]]
        session = Session(store.create_context(), models)
        types = {row["$id"]: models[row["$entity"]] for row in case["rows"]}
        session.objects = {name: session.context.get(types[name], id) for name, id in ids.items()}
        session.change(case.get("pending", []))
        return session


def unsaved(case: Case) -> Session:
    """All rows are unsaved objects."""
    return session_in_memory(case, None)


def partly_saved(case: Case, seed: int) -> Session:
    """The rows came about in many steps, with a save at one of them."""
    return session_in_memory(case, Random(seed))


def session_in_memory(case: Case, random: Optional[Random]) -> Session:
    request = case["request"]
    if request.get("resultType") == "dictionary" or not request.get("includesPendingChanges", True):
        raise DoesNotFit("the request is about what is saved")
    models = classes(case, are_complete=random is None)
    store = quire.open(":memory:", models.values())
    session = Session(store.context, models, store)
    session.add(case["rows"], random)
    session.change(case.get("pending", []))
    return session


# MARK: requests

Engine = Callable[[Case], Session]


def fetching_problem(case: Case, engine: Engine) -> Optional[str]:
    """What is wrong with a case of fetch.json, or None when it holds."""
    if engine == unsaved and lists_of(case):
        return matching_problem(case)
    session = engine(case)
    try:
        problem = defaults_problem(session) if case["request"].get("defaults") else request_problem(case, session)
    except quire.Error as error:
        unknown = re.search("has no property '([^']*)'", error.message)
        if unknown and unknown[1] in lists_of(case):
            raise DoesNotFit(LISTS) from None
        return None if case["expected"].get("throws") else f"{type(error).__name__}: {error}"
    finally:
        session.close()
    return "is no error" if case["expected"].get("throws") else problem


def request_problem(case: Case, session: Session) -> Optional[str]:
    request, expected = case["request"], case["expected"]
    model = session.models[request["entity"]]
    query: quire.Query[Any] = session.context.query(model)
    if "predicate" in request:
        predicate = predicate_of(request, session)
        if not refers_to_objects(request):
            problem = text_problem(predicate)
            if problem:
                return problem
        query = query.where(predicate)
    for each in request.get("sort", ()):
        text: Any = TEXT_ORDERS[each.get("selector", "compare:")]
        query = query.order_by(quire.Order(each["key"], each["ascending"], text))
    query = query.limit(request.get("limit")).offset(request.get("offset", 0))
    query = with_flags(query, request)
    if request.get("resultType") == "dictionary":
        found = dictionaries(query, request)
        wanted = expected.get("dictionaries")
        if wanted is not None and not same_rows(found, session.results(wanted), expected.get("ordered", False)):
            return f"{found}, not {wanted}"
        return None if expected.get("row_count", len(found)) == len(found) else f"{len(found)} rows"
    ids, objects, count = list(query.ids()), query.all(), query.count()
    if ids != [each.id for each in objects] or count != len(ids):
        return f"as ids {ids}, as objects {objects}, as a count {count}"
    if expected.get("count", count) != count:
        return f"{count} rows, not {expected['count']}"
    if "ids" in expected:
        names = [session.name(model, id) for id in ids]
        wanted = expected["ids"]
        if names != wanted if expected["ordered"] else sorted(names) != sorted(wanted):
            return f"{names}, not {wanted}"
    if "values" in expected:
        rows = [{key: getattr(each, f"a_{key}") for key in shown(expected)} for each in objects]
        wanted = [each if isinstance(each, dict) else {expected["column"]: each} for each in expected["values"]]
        if not same_rows(rows, session.results(wanted), expected["ordered"]):
            return f"{rows}, not {wanted}"
    return None


def lists_of(case: Case) -> set[str]:
    """The attributes that hold lists of plain values, which an entity has none for."""
    return {key for row in case["rows"] for key, each in row.items() if holds_list(each)}


def holds_list(json: Any) -> bool:
    return isinstance(json, list) and any(not isinstance(member, dict) for member in json)


def matching_problem(case: Case) -> Optional[str]:
    """What is wrong when the rows are dictionaries, which refer to each other in no circle."""
    rows = {row["$id"]: row for row in case["rows"]}

    def dictionary(row: Row) -> dict[str, Any]:
        return {key: dictionary(rows[each["$ref"]]) if isinstance(each, dict) and "$ref" in each else value(each)
                for key, each in row.items() if not key.startswith("$")}

    request = case["request"]
    assert request.keys() <= {"entity", "predicate", "args", "stores"} and case["expected"].keys() <= {"ids", "ordered"}
    predicate = quire.Predicate(request["predicate"], *map(value, request.get("args", ())))
    found = [id for id, row in rows.items()
             if row["$entity"] == request["entity"] and predicate.matches(dictionary(row))]
    return None if sorted(found) == sorted(case["expected"]["ids"]) else f"{found}, not {case['expected']['ids']}"


def defaults_problem(session: Session) -> Optional[str]:
    """A request of which nothing is said gives all objects, unsaved ones among them."""
    for model in session.models.values():
        session.context.add(model())
        wanted = [each for each in session.objects.values() if isinstance(each, model)]
        found = session.context.query(model).all()
        if len(found) != len(wanted) + 1 or not all(isinstance(each, model) for each in found):
            return f"{found}"
    return None


def predicate_of(request: dict[str, Any], session: Session) -> quire.Predicate:
    predicate = quire.Predicate(request["predicate"], *map(session.resolved, request.get("args", ())))
    values = {name: session.resolved(each) for name, each in request.get("substitution", {}).items()}
    return predicate.substituting(values) if values else predicate


def refers_to_objects(json: Any) -> bool:
    """Whether objects are among the arguments: their text says which they are, and is no condition by itself."""
    if isinstance(json, list):
        return any(map(refers_to_objects, json))
    return isinstance(json, dict) and any(
        key in ("$ref", "$objectID") or refers_to_objects(each) for key, each in json.items())


def shown(expected: dict[str, Any]) -> list[str]:
    return [expected["column"]] if "column" in expected else list(expected["values"][0])


def same_rows(found: list[Any], wanted: list[Any], ordered: bool) -> bool:
    if len(found) != len(wanted):
        return False
    if ordered:
        return all(map(same, found, wanted))
    return all(any(same(each, other) for each in found) for other in wanted)


def with_flags(query: quire.Query[Any], request: dict[str, Any]) -> quire.Query[Any]:
    """The query with the flags of the request."""
    if not request.get("includesSubentities", True):
        query = query.excluding_subentities()
    if not request.get("includesPendingChanges", True):
        query = query.excluding_pending_changes()
    return query


def dictionaries(query: quire.Query[Any], request: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a request for dictionaries."""
    keys = [each for each in request["propertiesToFetch"] if isinstance(each, str)]
    columns = {
        each["name"]: quire.function(each["function"], quire.Expression("%K", each["keyPath"]))
        for each in request["propertiesToFetch"] if not isinstance(each, str)}
    query = query.group_by(*request.get("groupBy", ()))
    if "having" in request:
        query = query.having(request["having"], *map(value, request.get("havingArgs", ())))
    if request.get("distinct"):
        query = query.distinct()
    rows = query.dictionaries(*keys, **columns)
    # Core Data leaves out what has no value.
    return [{name: each for name, each in row.items() if each is not None} for row in rows]
