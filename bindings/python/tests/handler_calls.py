"""The public calls of contexts, queries and lists, made for a case of test_handlers.py."""

import quire


class Line(quire.Model):
    text: quire.Attr[str]
    rank: quire.Attr[int] = quire.attr(default=0)
    equals: quire.Fetched["Line"] = quire.fetched("rank == $FETCH_SOURCE.rank", "text")
    __templates__ = {"ranked": "rank == $rank"}


def in_group(case):
    with case.context.undo_group():
        case.context.add(Line(text="c"))


def without_undo(case):
    with case.context.without_undo():
        case.context.process()


def save_child(case):
    with case.context.create_child() as child:
        child.add(Line(text="a"))
        child.save()


def pin(case):
    with case.store.create_context() as other:
        case.context.pin(other.moment)


def pinned(case):
    with case.store.create_context() as other, case.context.pinned(other.moment):
        case.context.add(Line(text="c"))


def suspended(tell):
    def call(case):
        with case.parts[0].suspended(tell):
            case.context.add(Line(text="c"))

    return call


def suspended_together(case):
    with case.live.suspended(), case.parts[1].suspended():
        case.context.add(Line(text="c"))


# What each public call does to the list, beside what is pending: brackets of its own.
CONTEXT = {
    "add": (lambda case: case.context.add(Line(text="c")), 0),
    "create_child": (save_child, 1),
    "delete": (lambda case: case.context.delete(case.lines[0]), 0),
    "find": (lambda case: case.context.find(Line, text="t1"), 0),
    "find_or_add": (lambda case: case.context.find_or_add(Line, text="t1"), 0),
    "get": (lambda case: case.context.get(Line, case.lines[0].id), 0),
    "get_by_uri": (lambda case: case.context.get_by_uri(case.lines[0].uri), 0),
    "insert_many": (lambda case: case.context.insert_many(Line, {"text": ["a", "c"]}), 0),
    "insert_rows": (lambda case: case.context.insert_rows(Line, {"text": ["a", "c"]}), 1),
    "merge": (lambda case: case.context.merge(), 1),
    "moment": (lambda case: case.context.moment, 0),
    "obtain_permanent_ids": (lambda case: case.context.obtain_permanent_ids(), 0),
    "pin": (pin, 1),
    "pinned": (pinned, 1),
    "process": (lambda case: case.context.process(), 0),
    "redo": (lambda case: case.context.redo(), 0),
    "refresh_all": (lambda case: case.context.refresh_all(), 0),
    "reset": (lambda case: case.context.reset(), 0),
    "rollback": (lambda case: case.context.rollback(), 0),
    "save": (lambda case: case.context.save(), 0),
    "template": (lambda case: case.context.template(Line, "ranked", rank=0).all(), 0),
    "undo": (lambda case: case.context.undo(), 1),
    "undo_group": (in_group, 1),
    "without_undo": (without_undo, 0),
    "Model.refresh": (lambda case: case.lines[4].refresh(), 0),
    "Fetched": (lambda case: case.lines[0].equals, 0),
}
QUERY = {
    "__getitem__": (lambda case: case.query[1:3], 0),
    "__iter__": (lambda case: list(case.query), 0),
    "aggregate": (lambda case: case.context.query(Line).aggregate(count="count:(text)"), 0),
    "all": (lambda case: case.query.all(), 0),
    "columns": (lambda case: case.query.columns("text"), 0),
    "count": (lambda case: case.query.count(), 0),
    "delete": (lambda case: case.query.limit(3).delete(), 1),
    "dictionaries": (lambda case: case.query.dictionaries("text"), 0),
    "exists": (lambda case: case.query.exists(), 0),
    "explain": (lambda case: case.query.explain(), 0),
    "first": (lambda case: case.query.first(), 0),
    "ids": (lambda case: case.query.ids(), 0),
    "live": (lambda case: case.query.live(), 0),
    "one": (lambda case: case.query.where("text == 't0'").one(), 0),
    "refreshing": (lambda case: case.query.refreshing().all(), 1),
    "update": (lambda case: case.query.limit(3).update(text="u"), 1),
    "values": (lambda case: case.query.values("text"), 0),
}
RESULTS = {
    "display": (lambda case: case.live.display("text"), 0),
    "fetch": (lambda case: case.live.fetch(), 0),
    "set_query": (lambda case: case.live.set_query(case.query.where("text > 't'")), 1),
    "snapshot": (lambda case: case.live.snapshot(), 0),
    "suspended": (suspended_together, 1),
    "suspended, as a part": (suspended(True), 0),
    "suspended, silently": (suspended(False), 0),
    "Composite.fetch": (lambda case: case.composite.fetch(), 0),
    "set_query, as a part": (lambda case: case.parts[1].set_query(case.query.where("text > 't'")), 0),
}
NOT_OF_A_CHILD = {
    "context: insert_rows", "context: moment", "context: pin", "context: pinned", "query: update", "query: delete",
}
TOLD_OF_NOTHING = {
    quire.Context: {
        "author", "can_redo", "can_undo", "close", "closed", "deleted", "disable_undo", "enable_undo", "fileno",
        "has_changes", "has_lost_moment", "inserted", "is_pinned", "merge_policy", "merges_automatically", "name",
        "parent", "query", "redo_name",
        "remove_undo_actions", "store", "transaction", "undo_enabled", "undo_name", "unpin", "updated",
    },
    quire.Query: {
        "batch_size", "distinct", "excluding_pending_changes", "excluding_subentities", "group_by", "having", "limit",
        "offset", "order_by", "prefetch", "watched", "where",
    },
    quire.Results: {
        "aggregates", "close", "closed", "columns", "context", "count", "flat", "generation", "ids", "index",
        "awaits_query", "index_titles", "is_fetched", "on_change", "path_of", "position_of", "remove_handler",
        "section_for_index_title", "sections", "values",
    },
}
