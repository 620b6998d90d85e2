"""What a predicate must have been, judging by what another program made of its tree.

Mapbox GL's style expressions and Couchbase's JSON queries are made from the trees of Apple's parser. Going back gives
texts, one of which must read as the tree of the case: some forms, such as IN and CONTAINS, become the same.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

COMPARISONS = {"==": "==", "=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
ARITHMETIC = {"+": "+", "-": "-", "*": "*", "/": "/", "^": "**"}
NAMES = {"geometry-type": "$geometryType", "id": "$featureIdentifier", "zoom": "$zoomLevel"}


def constant(value: Any) -> str:
    if isinstance(value, list):
        return "{" + ", ".join(map(constant, value)) + "}"
    return "nil" if value is None else json.dumps(value, ensure_ascii=False)


def style(tree: Any) -> list[str]:
    """The texts that may have become a style expression; none for what is not known here."""
    if not isinstance(tree, list):
        return [constant(tree)]
    head, *rest = tree
    if head == "get":
        return [rest[0]]
    if head == "literal":
        return [constant(rest[0])]
    if head in NAMES:
        return [NAMES[head]]
    if head == "/" and isinstance(rest[1], list) and rest[1][0] == "length":
        return [f"average({constant(rest[0][1:])})"]
    if head in ("min", "max"):
        return [f"{head}({constant(rest)})"]
    if head == "+" and len(rest) > 2:
        return [f"sum({constant(rest)})"]
    option = "[cd]" if isinstance(rest[-1], list) and rest[-1][0] == "collator" else ""
    parts = [style(each) for each in (rest[:-1] if option else rest)]
    if head == "all" and [each[0] for each in rest] == ["<=", "<="] and rest[0][2] == rest[1][1]:
        low, middle, high = style(rest[0][1]), style(rest[0][2]), style(rest[1][2])
        between = [f"{value} BETWEEN {{{least}, {most}}}"
                   for least, value, most in itertools.product(low, middle, high)]
        return between + joined("AND", parts)
    if head in ("all", "any"):
        return joined("AND" if head == "all" else "OR", parts)
    found = []
    for texts in itertools.product(*parts):
        found += style_texts(head, texts, option)
    return found


def style_texts(head: str, texts: tuple[str, ...], option: str) -> list[str]:
    if head in COMPARISONS:
        return [f"{texts[0]} {COMPARISONS[head]}{option} {texts[1]}"]
    if head in ARITHMETIC:
        return [f"({texts[0]}) {ARITHMETIC[head]} ({texts[1]})"]
    if head == "in":
        return [f"{texts[0]} IN {texts[1]}", f"{texts[1]} CONTAINS {texts[0]}"]
    if head == "!":
        return [f"NOT ({texts[0]})"]
    if head == "to-number":
        return [f'CAST({texts[0]}, "NSNumber")'] if len(texts) == 1 else [
            f'FUNCTION({texts[0]}, "doubleValue", {texts[1]})']
    if head == "to-string":
        return [f'CAST({texts[0]}, "NSString")']
    if head == "to-boolean":
        return [f'FUNCTION({texts[0]}, "boolValue")']
    return []


def joined(word: str, parts: list[list[str]]) -> list[str]:
    return [f" {word} ".join(f"({text})" for text in texts) for texts in itertools.product(*parts)]


def query(tree: Any) -> list[str]:
    """The texts that may have become a Couchbase query; none for what is not known here."""
    if not isinstance(tree, list):
        return ["YES" if tree is True else constant(tree)]
    head, *rest = tree
    if head[0] == ".":
        return [head[1:]]
    if head[0] == "$":
        return [head]
    if head == "COLLATE":
        return [text.replace(" ==", " ==[cd]") for text in query(rest[1])]
    if head in ("ANY", "EVERY"):
        word = "ANY" if head == "ANY" else "ALL"
        collection, (sign, element, value) = query(rest[1])[0], rest[2]
        path = ".".join([collection, *element[1:]])
        return [f"{word} {path} {COMPARISONS[sign]} {constant(value)}", f"{constant(value)} IN {path}"]
    texts = [query(each)[0] for each in rest if each != ["MISSING"]]
    if head in COMPARISONS:
        return [f"{texts[0]} {COMPARISONS[head]} {texts[1]}"]
    if head == "IN":
        return [f"{texts[0]} IN {texts[1]}"]
    if head == "BETWEEN":
        return [f"{texts[0]} BETWEEN {{{texts[1]}, {texts[2]}}}"]
    if head == "IS NOT":
        return [f"{texts[0]} != nil"]
    if head == "ARRAY_COUNT()":
        return [f"{texts[0]}[SIZE]"]
    if head == "ARRAY_SUM()":
        return [f"sum({texts[0]})"]
    return [f'FUNCTION({texts[0]}, "{head[:-2]}", {texts[1]})'] if head == "REGEXP_LIKE()" else []
