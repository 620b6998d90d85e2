"""Cases that suites of other implementations assert, Apple's among them, run through the public interface.

The cases are not part of the repository: they are looked for beside it, or where QUIRE_SHARED says, and their README
explains them. What does not hold is listed, with a reason, in docs/behaviour/predicate-cases.md.
"""

from __future__ import annotations

import base64
import ctypes
import functools
import json
import math
import operator
import os
import pathlib
import posixpath
import re
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Callable, Optional, Union

import predicate_structures
import quire
from stored_rows import Engine, Members, Shape

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = pathlib.Path(os.environ.get("QUIRE_SHARED", ROOT.parent / "shared")) / "data" / "predicates"
TABLE = ROOT / "docs" / "behaviour" / "predicate-cases.md"

METHODS: dict[str, Callable[..., Any]] = {
    "characterStringAtIndex:": operator.getitem,
    "elementAtIndex:": operator.getitem,
    "elementForKey:": operator.getitem,
    "factorial": math.factorial,
    "isKindOfClass:": lambda value, name: isinstance(value, {"$class NSNumber": (int, float)}[name]),
    "lastPathComponent": posixpath.basename,
    "pow:": operator.pow,
    "stringByAppendingString:": operator.add,
    "stringByReplacingOccurrencesOfString:withString:": str.replace,
    "uppercaseString": str.upper,
}
"""The methods that the cases want the programs to have, as functions that a program registers under their selectors.

`uppercase`, which some want too, is a function of the language here.
"""


class Memory:
    """What is asked about rows, answered without a store; `stored_rows.Engine` does the same with one."""

    def places(self, rows: list[Any], predicate: quire.Predicate, variables: dict[str, Any]) -> list[int]:
        """The places of the rows that fulfil a predicate."""
        return [place for place, row in enumerate(rows) if predicate.matches(row, variables)]

    def value(self, row: Any, expression: quire.Expression, variables: dict[str, Any]) -> Any:
        """The value of an expression for a row."""
        return expression.evaluate(row, variables)


def read(name: str) -> list[dict[str, Any]]:
    """The cases of one file."""
    cases: list[dict[str, Any]] = json.loads((CASES / name).read_text(encoding="utf-8"))
    return cases


def unmet() -> dict[tuple[str, str], tuple[str, str]]:
    """The authority of each case that the table lists, and the reason, by its id and where it does not hold."""
    rows = re.findall(
        r"^\| ((?:eval|parse|sort|fetch)-\d+) \| ([\w, ]+) \| ([\w-]+) \| (.+) \|$", TABLE.read_text(), re.M)
    return {(id, where): (authority, reason) for id, places, authority, reason in rows for where in places.split(", ")}


# MARK: values


def value(json: Any) -> Any:
    """The value that the notation of the cases means."""
    if isinstance(json, list):
        return [value(each) for each in json]
    if not isinstance(json, dict):
        return json
    if len(json) != 1 or not next(iter(json)).startswith("$"):
        return {key: value(each) for key, each in json.items()}
    (kind, content), = json.items()
    if kind == "$null":
        return None
    if kind == "$date":
        found = datetime.fromisoformat(content.replace("Z", "+00:00"))
        return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
    if kind == "$date_ref":
        return datetime(2001, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=content)
    if kind == "$data":
        return base64.b64decode(content)
    if kind == "$decimal":
        return Decimal(content)
    if kind == "$float":
        return ctypes.c_float(content)
    if kind == "$uuid":
        return uuid.UUID(content)
    if kind == "$url":
        return content
    if kind == "$set":
        return Members(value(each) for each in content)
    if kind == "$expr":
        return quire.Expression(content)
    return f"{kind} {content}"


def same(found: Any, wanted: Any) -> bool:
    """Whether a value is the one that a case asserts: numbers but for rounding, sets in any order."""
    if isinstance(wanted, ctypes.c_float):
        wanted = wanted.value
    if isinstance(wanted, Members):
        return len(found) == len(wanted) and all(any(same(each, other) for each in found) for other in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(
            same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, (int, float, Decimal)):
        return isinstance(found, (int, float, Decimal)) and math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-12)
    return bool(found == wanted)


# MARK: eval.json


def evaluation_problem(case: dict[str, Any], engine: Union[Memory, Engine]) -> Optional[str]:
    """What is wrong with a case of eval.json, or None when it holds."""
    try:
        is_expression = case.get("kind") in ("expression", "keypath")
        problem = (expression_problem if is_expression else predicate_problem)(case, engine)
    except quire.Error as error:
        return None if case.get("throws") else f"{type(error).__name__}: {error}"
    return "is no error" if case.get("throws") else problem


def arguments(case: dict[str, Any]) -> list[Any]:
    return [value(each) for each in case.get("args", ())]


def predicate_of(case: dict[str, Any]) -> tuple[quire.Predicate, dict[str, Any]]:
    """The predicate of a case, and the variables that are left open: a dictionary cannot be substituted."""
    word = case.get("compound")
    if word:
        parts = [quire.Predicate(format) for format in case["subpredicates"]]
        if word == "not":
            return ~parts[0], {}
        join, nothing = (operator.and_, "TRUEPREDICATE") if word == "and" else (operator.or_, "FALSEPREDICATE")
        return functools.reduce(join, parts) if parts else quire.Predicate(nothing), {}
    predicate = quire.Predicate(case["format"], *arguments(case))
    values = {name: value(each) for name, each in case.get("substitution", {}).items()}
    if not values or any(isinstance(each, dict) for each in values.values()):
        return predicate, values
    return predicate.substituting(values), {}


def predicate_problem(case: dict[str, Any], engine: Union[Memory, Engine]) -> Optional[str]:
    predicate, variables = predicate_of(case)
    problem = text_problem(predicate)
    if problem:
        return problem
    rows = [value(each) for each in case["objects"]] if "objects" in case else [value(case.get("object"))]
    found = engine.places(rows, predicate, variables)
    wanted = case.get("expected")
    if "objects" not in case:
        return None if wanted is None or found == [0] * wanted else f"is {bool(found)}"
    if "expected_count" in case:
        return None if len(found) == case["expected_count"] else f"{found}, not {case['expected_count']} of them"
    if found != wanted:
        return f"{found}, not {wanted}"
    if "negation_expected" in case:
        found = engine.places(rows, ~predicate, variables)
        return None if found == case["negation_expected"] else f"NOT: {found}, not {case['negation_expected']}"
    return None


def text_problem(predicate: quire.Predicate) -> Optional[str]:
    """What is wrong with the canonical text of a predicate, which must read as the same tree."""
    again = quire.Predicate(str(predicate))
    return None if again == predicate else f"prints as {predicate}, which reads as {again}"


def expression_problem(case: dict[str, Any], engine: Union[Memory, Engine]) -> Optional[str]:
    """What is wrong with the value of an expression."""
    expression, variables = expression_of(case)
    again = quire.Expression(str(expression))
    if not again.same_as(expression):
        return f"prints as {expression}, which reads as {again}"
    found, wanted = engine.value(value(case.get("object")), expression, variables), value(case.get("expected"))
    return None if case.get("throws") or same(found, wanted) else f"gives {found!r}, not {wanted!r}"


def expression_of(case: dict[str, Any]) -> tuple[quire.Expression, dict[str, Any]]:
    """The expression of a case, and the variables that are left open."""
    variables = {name: value(each) for name, each in case.get("substitution", {}).items()}
    if "keypath" in case:
        expression = quire.Expression("%K", case["keypath"])
    elif "set_expression" in case:
        variables = {"left": value(case["left"]), "right": value(case["right"])}
        expression = quire.Expression(f"$left {case['set_expression'].upper()} $right")
    elif "function" in case:
        parts = []
        for place, each in enumerate(case["arguments"]):
            symbol = each.get("$symbol") if isinstance(each, dict) else None
            variables[f"a{place}"] = value(each)
            parts.append(symbol or f"$a{place}")
        expression = quire.Expression(f"{case['function']}({', '.join(parts)})")
    else:
        expression = quire.Expression(case["format"], *arguments(case))
    if any(isinstance(each, quire.Expression) for each in variables.values()):
        return expression.substituting(variables), {}
    return expression, variables


# MARK: parse.json

SIGNS = {
    0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
    10: "IN", 99: "CONTAINS", 100: "BETWEEN"}

STRUCTURES = {"mgl_structure": predicate_structures.style, "n1ql_structure": predicate_structures.query}


def parsing_problem(case: dict[str, Any]) -> Optional[str]:
    """What is wrong with a case of parse.json, or None when it holds."""
    make: Any = quire.Expression if case.get("kind") == "expression" else quire.Predicate
    try:
        tree = make(case["format"], *arguments(case))
    except quire.Error as error:
        return None if not case["should_parse"] else f"{type(error).__name__}: {error}"
    if not case["should_parse"]:
        return f"is read as {tree}"
    if "substitution" in case:
        tree = tree.substituting({name: value(each) for name, each in case["substitution"].items()})
    return tree_problem(case, make, tree)


def tree_problem(case: dict[str, Any], make: Any, tree: Any) -> Optional[str]:
    """Checks all that the case asserts of what was read."""
    equal = quire.Expression.same_as if make is quire.Expression else operator.eq
    text = str(tree)
    if not equal(make(text), tree):
        return f"prints as {text}, which reads as {make(text)}"
    if case.get("canonical_format", text) != text:
        return f"prints as {text}"
    if "equivalent_to" in case and not equal(make(case["equivalent_to"], *arguments(case)), tree):
        return f"{tree} is not {case['equivalent_to']}"
    if any(equal(make(each), tree) for each in case.get("not_equivalent_to", ())):
        return "is equal to what it is not"
    if "value" in case and not same(tree.evaluate(), value(case["value"])):
        return f"gives {tree.evaluate()!r}"
    if "function" in case:
        called = re.sub(r"(\w) \S+ (\w)", case["function"] + r"(\1, \2)", case["format"])
        if not equal(make(called), tree):
            return f"is not {called}"
    if "operator_type" in case and f" {SIGNS[case['operator_type']]} " not in text:
        return f"{text} is not made with {SIGNS[case['operator_type']]}"
    if "left" in case and not text.startswith(f"{side(case['left'])} "):
        return f"{text} has another left side"
    if "right" in case and not text.endswith(f" {side(case['right'])}"):
        return f"{text} has another right side"
    if "tree" in case and built(case["tree"]) != tree:
        return f"{tree} is another tree"
    for key, texts in STRUCTURES.items():
        if key in case and not any(equal(make(each), tree) for each in texts(case[key])):
            return f"{tree} is none of {texts(case[key])}"
    if "expression_count" in case and count_of_expressions(text) != case["expression_count"]:
        return f"{tree} has another number of expressions"
    return None


def side(json: Any) -> quire.Expression:
    """One side of a comparison, as parse.json describes it."""
    if not isinstance(json, dict):
        return quire.Expression("%@", value(json))
    if "keyPath" in json:
        return quire.Expression("%K", json["keyPath"])
    if "function" in json:
        return quire.function(json["function"], *map(side, json["arguments"]))
    return quire.Expression("%@", value(json["constant"]))


def built(json: Any) -> quire.Predicate:
    """The predicate of a tree, as parse.json describes it."""
    (kind, content), = json.items()
    if kind == "comparison":
        key, number, right = content
        return quire.Predicate(f"%K {SIGNS[number]} %@", key, side(right))
    parts = list(map(built, content))
    return ~parts[0] if kind == "not" else functools.reduce(operator.and_ if kind == "and" else operator.or_, parts)


def count_of_expressions(text: str) -> int:
    """Keys, numbers, lists and operations on sets in a canonical text without anything else."""
    words = re.findall(r"[\w.@]+|\{", text)
    return sum(word not in ("AND", "OR", "NOT", "IN", "TRUEPREDICATE", "FALSEPREDICATE") for word in words)


# MARK: sort.json

TEXT_ORDERS = {
    "compare:": "binary", "localizedCompare:": "localized", "caseInsensitiveCompare:": "case-insensitive",
    "localizedCaseInsensitiveCompare:": "localized-case-insensitive", "localizedStandardCompare:": "localized-standard"}


def sorting_problem(case: dict[str, Any], where: str) -> Optional[str]:
    """What is wrong with a case of sort.json for unsaved rows ("memory") or saved ones, or None when it holds."""
    rows = [row if isinstance(row, dict) else {"whole": row} for row in map(value, case["input"])]
    orders = []
    for each in case["descriptors"]:
        text: Any = TEXT_ORDERS[each.get("selector", "compare:")]
        orders.append(quire.Order(each["key"] or "whole", each["ascending"], text))
    shape = Shape(rows)
    if shape.left_out:
        return "no entity has such rows"
    try:
        places = sorted_places(shape, rows, orders, where)
        if places != case.get("expected", places):
            return f"{places}, not {case['expected']}"
        for first, second, wanted in case.get("compare", ()):
            # What is equal stays in the order of its insertion.
            there = sorted_places(shape, [rows[first], rows[second]], orders, where)
            back = sorted_places(shape, [rows[second], rows[first]], orders, where)
            found = 0 if there == back else -1 if there == [0, 1] else 1
            if found != wanted:
                return f"compares {first} and {second} as {found}, not {wanted}"
    except quire.Error as error:
        return f"{type(error).__name__}: {error}"
    return None


def sorted_places(
    shape: Shape, rows: list[dict[str, Any]], orders: list[quire.Order], where: str
) -> list[int]:
    """The places of the rows in their order, sorted in memory when they are unsaved, and else by the store."""
    with quire.open(":memory:", shape.models()) as store:
        context = store.context
        objects = [shape.add(context, row) for row in rows]
        if where == "sqlite":
            context.save()
        return [objects.index(each) for each in context.query(shape.model).order_by(*orders)]
