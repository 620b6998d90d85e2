"""Scenarios that suites of other list controllers assert, run through the public interface.

They are not part of the repository: they are looked for beside it, or where QUIRE_SHARED says, and their README
explains them. What became of each is in docs/behaviour/list-scenarios.md.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import pathlib
from collections import Counter
from typing import Any, Callable, Iterator, NamedTuple, Optional

import quire
from quire import sections

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCENARIOS = pathlib.Path(os.environ.get("QUIRE_SHARED", ROOT.parent / "shared")) / "data" / "scenarios"
TABLE = ROOT / "docs" / "behaviour" / "list-scenarios.md"

TYPES = {"integer": int, "boolean": int, "text": str, "real": float}

OPERATORS = {"==": "{0} == %@", "!=": "{0} != %@", "<": "{0} < %@", ">": "{0} > %@", "in": "{0} IN %@"}


@functools.cache
def scenarios() -> dict[str, dict[str, Any]]:
    """All of them, by name."""
    found = json.loads((SCENARIOS / "scenarios.json").read_text(encoding="utf-8"))
    named = {each["name"]: each for each in found}
    assert len(named) == len(found)
    return named


class Event(NamedTuple):
    """What is told of a row or a section, as the scenarios write it."""

    type: str
    what: Any
    """The id of a row, the value of a section."""
    old: Any = None
    new: Any = None


def told(change: quire.ChangeSet[Any], number_of: Callable[[int], Any]) -> list[Event]:
    """A change set as events, in the order in which it tells them. `number_of` turns ids into numbers of rows."""
    found = []
    for each in change.section_changes:
        if isinstance(each, quire.InsertSection):
            found.append(Event("section_insert", each.value, None, each.index))
        else:
            found.append(Event("section_delete", each.value, each.index, None))
    for row in change:
        old, new = (None if path is None else tuple(path) for path in (row.old, row.new))
        found.append(Event(type(row).__name__.lower(), number_of(row.id), old, new))
    return found


def wanted(events: list[dict[str, Any]]) -> list[Event]:
    """Events of a scenario. A move of a row that kept its place among the others is an update."""
    found = []
    for each in events:
        kind = each["type"]
        if kind == "section_insert":
            found.append(Event(kind, each.get("name"), None, each["index"]))
        elif kind == "section_delete":
            found.append(Event(kind, each.get("name"), each["index"], None))
        else:
            old, new = (None if each.get(key) is None else tuple(each[key]) for key in ("old", "new"))
            found.append(Event("update" if each.get("update_ok") else kind, each["id"], old, new))
    return found


def without_names(events: list[Event]) -> list[Event]:
    """The same where sections are told of by place alone."""
    return [each._replace(what=None) if each.type.startswith("section") else each for each in events]


def applied(events: list[Event], before: list[Any]) -> list[Any]:
    """Sections as they are after the events: what goes is counted in the list before, what comes in the one after."""
    after = [[value, list(rows)] for value, rows in before]
    for event in sorted((each for each in events if each.type in ("delete", "move")), key=lambda each: each.old):
        after[event.old[0]][1].remove(event.what)
    for event in sorted((each for each in events if each.type == "section_delete"), key=lambda each: -each.old):
        assert after[event.old] == [event.what, []], f"{event} goes with {after[event.old]}"
        del after[event.old]
    for event in sorted((each for each in events if each.type == "section_insert"), key=lambda each: each.new):
        after.insert(event.new, [event.what, []])
    for event in sorted((each for each in events if each.type in ("insert", "move")), key=lambda each: each.new):
        after[event.new[0]][1].insert(event.new[1], event.what)
    for event in events:
        if event.type == "update":
            assert before[event.old[0]][1][event.old[1]] == after[event.new[0]][1][event.new[1]] == event.what
    return after


def heaviest_to_stay(before: list[Any], after: list[Any]) -> set[Any]:
    """The sections of both lists that may stay where they are: of those in the same order the ones with most rows."""
    sizes = {value: len(rows) for value, rows in before}
    order = [value for value, _ in before]
    common = [value for value, _ in after if value in sizes]
    if common == sorted(common, key=order.index):
        return set(common)
    runs = (
        run for count in range(len(common), -1, -1) for run in itertools.combinations(common, count)
        if list(run) == sorted(run, key=order.index))
    return set(max(runs, key=lambda run: sum(sizes[value] + 1 for value in run)))


def fewest_moves(before: list[Any], after: list[Any]) -> int:
    """How many rows that are in both lists have to move: those beside the longest runs that keep order and section."""
    home = {id: value for value, rows in after for id in rows}
    staying = heaviest_to_stay(before, after)
    moves = 0
    for value, rows in before:
        stays = value in staying
        moves += sum(id in home and not (stays and home[id] == value) for id in rows)
        place = {id: number for other, ids in after if stays and other == value for number, id in enumerate(ids)}
        lengths: dict[int, int] = {}
        for number in (place[id] for id in rows if id in place):
            lengths[number] = 1 + max((length for other, length in lengths.items() if other < number), default=0)
        moves += len(lengths) - max(lengths.values(), default=0)
    return moves


def is_in_documented_order(events: list[Event]) -> bool:
    """Sections that go last to first, those that come first to last; rows the same, then moves and updates."""
    kinds = ["section_delete", "section_insert", "delete", "insert", "move", "update"]

    def place(event: Event) -> tuple[Any, ...]:
        if event.type == "section_delete":
            return kinds.index(event.type), -event.old
        if event.type == "delete":
            return kinds.index(event.type), -event.old[0], -event.old[1]
        return kinds.index(event.type), event.new

    return events == sorted(events, key=place)


def check_report(events: list[Event], before: list[Any], after: list[Any]) -> None:
    """What holds of every report: its order, that it leads from one list to the other, and that it moves few rows."""
    assert is_in_documented_order(events), f"told in another order than documented: {events}"
    assert applied(events, before) == after, f"{events} do not lead from {before} to {after}"
    moves = sum(each.type == "move" for each in events)
    assert moves == fewest_moves(before, after), f"{moves} moves, not {fewest_moves(before, after)}: {events}"


class Sequence:
    """A scenario of steps: its model, its store, and the live list that follows.

    `way` says how the steps reach the list: "processed" without a save, "saved" by its context, "merged" from another
    context of the store, "child" from a context on its own.
    """

    WAYS = ("processed", "saved", "merged", "child")

    def __init__(self, scenario: dict[str, Any], way: str) -> None:
        self.scenario = scenario
        self.way = way
        self.models = dict(self._models())
        self.main = scenario.get("table", "rows")
        self.ids: dict[tuple[str, Any], int] = {}
        """Ids of the objects, by table and number of the row."""
        self.numbers: dict[int, Any] = {}
        """The numbers of the rows of the list, by id."""
        self.store = quire.open(":memory:", list(self.models.values()))
        context = self.store.context
        for table, rows in self._tables():
            for row in sorted(rows, key=lambda each: each["id"]):
                self._insert(context, table, row)
        context.save()
        self.events: list[list[Event]] = []
        self.live = self._query(scenario).live(section_by=self._section_by(scenario))
        if scenario.get("derived"):
            self.live.display(*(f"{each['count']}.@count" for each in scenario["derived"].values()))
        self.live.on_change(lambda change: self.events.append(told(change, self.numbers.__getitem__)))

    def problem(self) -> Optional[str]:
        """What is told otherwise than the scenario says, or None. What holds of every list is asserted."""
        self._check("at the beginning", self.scenario["initial_sections"])
        with self.store:
            return next(filter(None, itertools.starmap(self._take, enumerate(self.scenario["steps"]))), None)

    def _take(self, number: int, step: dict[str, Any]) -> Optional[str]:
        before = self._sections()
        self.events.clear()
        if "request" in step:
            asked = {**self.scenario, **step["request"]}
            self.live.set_query(self._query(asked), section_by=self._section_by(asked))
        self._mutate(step["mutations"])
        where = f"step {number}"
        self._check(where, step["final_sections"])
        assert len(self.events) <= 1, f"{where}: told of {len(self.events)} times"
        events = [each for bracket in self.events for each in bracket]
        assert events or not self.events, f"{where}: told of nothing"
        check_report(events, before, step["final_sections"])
        # Changes of the request, which NSFetchedResultsController does not tell, have the events of their source alone.
        is_canonical = "canonical_events" in step
        expected = wanted(step["canonical_events" if is_canonical else "expected_events"])
        found = events if is_canonical else without_names(events)
        return None if Counter(found) == Counter(expected) else f"{where}: {found}, not {expected}"

    def _check(self, where: str, expected: list[Any]) -> None:
        found = self._sections()
        assert found == expected, f"{where}: {found}, not {expected}"

    def _sections(self) -> list[Any]:
        return [[each.value, [self.numbers[row.id] for row in each]] for each in self.live.sections]

    # MARK: what the list is of

    def _tables(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        yield self.main, self.scenario["initial_rows"]
        for name, other in self.scenario.get("other_tables", {}).items():
            yield name, other["initial_rows"]

    def _models(self) -> Iterator[tuple[str, type[quire.Model]]]:
        """A class for each table; its properties are named `a_field` there, and `field` in the store."""
        main = self.scenario.get("table", "rows")
        derived = self.scenario.get("derived", {})
        body = self._body({key: kind for key, kind in self.scenario["fields"].items() if key not in derived})
        for each in derived.values():
            self._annotate(body, each["count"], quire.ToMany[each["count"].capitalize()], inverse="a_" + each["fk"])
        yield main, type(main.capitalize(), (quire.Model,), body)
        owners = {each["count"]: each["fk"] for each in derived.values()}
        for name, other in self.scenario.get("other_tables", {}).items():
            owner = owners.get(name)
            body = self._body({key: kind for key, kind in other["fields"].items() if key != owner})
            if owner is not None:
                self._annotate(body, owner, quire.ToOne[main.capitalize() + " | None"], inverse="a_" + name)
            yield name, type(name.capitalize(), (quire.Model,), body)

    def _body(self, fields: dict[str, str]) -> dict[str, Any]:
        body: dict[str, Any] = {"__module__": __name__, "__annotations__": {}}
        for key, description in fields.items():
            body[f"a_{key}"] = quire.attr(default=None, name=key)
            body["__annotations__"][f"a_{key}"] = quire.Attr[Optional[TYPES[description.split()[0].rstrip(":,")]]]
        return body

    @staticmethod
    def _annotate(body: dict[str, Any], key: str, annotation: Any, inverse: str) -> None:
        body[f"a_{key}"] = quire.relation(name=key, inverse=inverse)
        body["__annotations__"][f"a_{key}"] = annotation

    def _query(self, asked: dict[str, Any]) -> quire.Query[Any]:
        query = self.store.context.query(self.models[self.main])
        if asked["predicate"] is not None:
            format, arguments = condition(asked["predicate"])
            query = query.where(format, *arguments)
        for each in asked["sort"]:
            text: Any = "case-insensitive" if each.get("ci") else "binary"
            query = query.order_by(quire.Order(each["key"], each["asc"], text=text))
        return query.limit(asked.get("limit")).offset(asked.get("offset") or 0)

    def _section_by(self, asked: dict[str, Any]) -> Any:
        key = asked["section_key"]
        fixed = asked.get("static_sections")
        return key if fixed is None else sections.by_value(key, fixed=fixed)

    # MARK: what happens to it

    def _mutate(self, mutations: list[dict[str, Any]]) -> None:
        context = self.store.context
        acting = {
            "processed": lambda: context, "saved": lambda: context, "merged": self.store.create_context,
            "child": context.create_child}[self.way]()
        for each in mutations:
            table = each.get("table", self.main)
            if each["op"] == "insert":
                self._insert(acting, table, each["row"])
                continue
            object = acting.get(self.models[table], self.ids[table, each["id"]])
            if each["op"] == "delete":
                acting.delete(object)
            else:
                for key, value in each["set"].items():
                    setattr(object, f"a_{key}", value)
        if self.way != "processed":
            acting.save()
        if self.way == "merged":
            context.merge()
        context.process()
        if acting is not context:
            acting.close()

    def _insert(self, context: quire.Context, table: str, row: dict[str, Any]) -> None:
        owners = {each["fk"] for each in self.scenario.get("derived", {}).values()} if table != self.main else ()
        values = {
            f"a_{key}": context.get(self.models[self.main], self.ids[self.main, value]) if key in owners else value
            for key, value in row.items()}
        object = context.add(self.models[table](**values))
        self.ids[table, row["id"]] = object.id
        if table == self.main:
            self.numbers[object.id] = row["id"]


def condition(predicate: dict[str, Any]) -> tuple[str, list[Any]]:
    """The predicate of a scenario as text and arguments."""
    if predicate["op"] == "and":
        parts = [condition(each) for each in predicate["args"]]
        return " AND ".join(f"({text})" for text, _ in parts), [each for _, values in parts for each in values]
    if predicate["op"] == "odd":
        return f"modulus:by:({predicate['field']}, 2) == {int(predicate['value'])}", []
    return OPERATORS[predicate["op"]].format(predicate["field"]), [predicate["value"]]


class ListRow(quire.Model):
    """A row that may be in two lists, each with its own order and sections."""

    number: quire.Attr[str]
    source: quire.Attr[Optional[int]] = quire.attr(default=None)
    source_section: quire.Attr[Optional[str]] = quire.attr(default=None)
    target: quire.Attr[Optional[int]] = quire.attr(default=None)
    target_section: quire.Attr[Optional[str]] = quire.attr(default=None)
    content: quire.Attr[int] = quire.attr(default=0)


class Difference:
    """A scenario of two lists: one live list that comes to show the other, and the snapshots of before and after."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.scenario = scenario
        self.is_sectioned = scenario["kind"] == "sectioned_list_diff"
        self.before, self.after = (self._numbered(key) for key in ("source", "target"))

    def _numbered(self, key: str) -> list[Any]:
        """The sections of a list. An id that occurs again is a row of its own: the second is the second in both."""
        if self.is_sectioned:
            lists = [(str(name), list(ids)) for name, ids in self.scenario[key + "_sections"]]
        else:
            lists = [(None, list(self.scenario[key + "_list"]))]
        seen: Counter[str] = Counter()
        found = []
        for name, ids in lists:
            rows = []
            for id in map(str, ids):
                seen[id] += 1
                rows.append(id if seen[id] == 1 else f"{id} ({seen[id]})")
            found.append([name, rows])
        return found

    def problem(self) -> Optional[str]:
        """What is told otherwise than the scenario says, or None. What holds of every list is asserted."""
        with quire.open(":memory:", [ListRow]) as store:
            context = store.context
            rows: dict[str, ListRow] = {}
            for key, lists in (("source", self.before), ("target", self.after)):
                place = 0
                for name, numbers in lists:
                    for number in numbers:
                        row = rows.get(number) or context.add(ListRow(number=number))
                        rows[number] = row
                        setattr(row, key, place)
                        setattr(row, key + "_section", name)
                        place += 1
            context.save()
            numbers = {row.id: number for number, row in rows.items()}
            live = self._query(context, "source").live(section_by=self._section_by("source", self.before))
            brackets: list[list[Event]] = []
            live.on_change(lambda change: brackets.append(told(change, numbers.__getitem__)))
            assert self._sections(live) == self.before, f"{self._sections(live)}, not {self.before}"
            old = live.snapshot()
            live.set_query(self._query(context, "target"), section_by=self._section_by("target", self.after))
            assert self._sections(live) == self.after, f"{self._sections(live)}, not {self.after}"
            events = [each for bracket in brackets for each in bracket]
            changed = {str(each) for each in self.scenario.get("content_changed", ())}
            for number in changed:
                rows[number].content += 1
            context.process()
            across = told(old.changes_to(live.snapshot()), numbers.__getitem__)
        check_report(events, self.before, self.after)
        check_report(across, self.before, self.after)
        moves = sum(each.type == "move" for each in events)
        if moves != self.scenario.get("minimum_number_of_moves", moves):
            return f"{moves} moves: {events}"
        stayed = {id for _, ids in self.before for id in ids} & {id for _, ids in self.after for id in ids}
        moved = {each.what for each in across if each.type == "move"}
        updated = {each.what for each in across if each.type == "update"}
        if updated != (changed & stayed) - moved:
            return f"{updated} are updates, of {changed}"
        return self._forced(events) or self._stage(events)

    def _forced(self, events: list[Event]) -> Optional[str]:
        """Deletions and insertions are the same in every difference."""
        expected = self.scenario["expected"]
        for kind, place in (("delete", "old"), ("insert", "new")):
            wanted_places = self.scenario.get(f"{kind}s_forced", expected.get(f"{kind}s"))
            found = sorted(getattr(each, place)[1] for each in events if each.type == kind)
            if wanted_places is not None and not self.is_sectioned and found != sorted(wanted_places):
                return f"{kind}s at {found}, not {wanted_places}"
        return None

    def _stage(self, events: list[Event]) -> Optional[str]:
        """What happened to sections, where the scenario says it."""
        for stage in self.scenario["expected"].get("stages", ()):
            for kind, place in (("delete", "old"), ("insert", "new")):
                places = stage.get({"delete": "section_deleted", "insert": "section_inserted"}[kind], [])
                found = sorted(getattr(each, place) for each in events if each.type == f"section_{kind}")
                if "section_moved" not in stage and found != places:
                    return f"sections {kind}d at {found}, not {places}"
            if "section_moved" in stage:
                gone, came = ([each.what for each in events if each.type == f"section_{kind}"] for kind in (
                    "delete", "insert"))
                if sorted(gone) != sorted(came) or not gone:
                    return f"sections {gone} went and {came} came"
        return None

    def _query(self, context: quire.Context, key: str) -> quire.Query[ListRow]:
        return context.query(ListRow).where(f"{key} != nil").order_by(key)

    def _section_by(self, key: str, lists: list[Any]) -> Any:
        """Sections in any order, empty ones among them: those of a fixed list."""
        return sections.by_value(f"{key}_section", fixed=[name for name, _ in lists]) if self.is_sectioned else None

    def _sections(self, live: quire.Results[ListRow]) -> list[Any]:
        return [[each.value, [row.number for row in each]] for each in live.sections]
