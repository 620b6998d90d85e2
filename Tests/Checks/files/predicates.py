"""Predicates and expressions as plain dictionaries: from the objects of an archive, or from their text.

    {"and": [...]}  {"or": [...]}  {"not": [...]}  {"constant": True}
    {"compare": "==", "left": {...}, "right": {...}, "modifier": 0, "options": 0}
    {"self": True}  {"key": "a.b"}  {"value": 3}  {"variable": "X"}  {"function": "now", "arguments": []}
    {"list": [...]}
"""

from __future__ import annotations

import re
from typing import Any, Optional

from archive import ArchiveError, Node, members, plain

OPERATORS = {
    0: "<", 1: "<=", 2: ">", 3: ">=", 4: "==", 5: "!=", 6: "MATCHES", 7: "LIKE", 8: "BEGINSWITH", 9: "ENDSWITH",
    10: "IN", 11: "CUSTOM", 99: "CONTAINS", 100: "BETWEEN"}
COMPOUNDS = {0: "not", 1: "and", 2: "or"}
SPELLINGS = {"=": "==", "<>": "!=", "=<": "<=", "=>": ">="}
MODIFIERS = {"ALL": 1, "ANY": 2, "SOME": 2}
WORDS: dict[str, Any] = {
    "TRUE": True, "YES": True, "FALSE": False, "NO": False, "NULL": None, "NIL": None}
TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?)"""
    r"""|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<word>\$?[#@A-Za-z_][\w@]*(?:\.[#@A-Za-z_][\w@]*)*:?)"""
    r"""|(?P<sign>==|!=|<>|<=|>=|=<|=>|&&|\|\||\*\*|:=|[-+*/=<>!(){}\[\],]))""")


def predicate(node: Node) -> dict[str, Any]:
    """A predicate of an archive."""
    kind = node.kind
    if kind == "NSCompoundPredicate":
        word = COMPOUNDS.get(node.number("NSCompoundPredicateType"), "?")
        return {word: [predicate(each) for each in node.members("NSSubpredicates")]}
    if kind in ("NSTruePredicate", "NSFalsePredicate"):
        return {"constant": kind == "NSTruePredicate"}
    if kind != "NSComparisonPredicate":
        return {"unknown": kind}
    operator, left, right = (
        node.node(key) for key in ("NSPredicateOperator", "NSLeftExpression", "NSRightExpression"))
    if operator is None or left is None or right is None:
        raise ArchiveError("a comparison without its parts")
    name = OPERATORS.get(operator.number("NSOperatorType"), "?")
    if name == "==" and operator.flag("NSNegate"):
        name = "!="
    # Operators on texts and lists hold their options as flags.
    options = operator.number("NSOptions") | (operator.number("NSFlags") if operator.has("NSFlags") else 0)
    return {"compare": name, "left": expression(left), "right": expression(right),
            "modifier": operator.number("NSModifier"), "options": options}


def expression(node: Node) -> dict[str, Any]:
    """An expression of an archive."""
    kind = node.kind
    if kind == "NSSelfExpression":
        return {"self": True}
    if kind == "NSVariableExpression":
        return {"variable": node.text("NSVariable")}
    if kind == "NSConstantValueExpression":
        if node.get("NSConstantValueClassName") is not None:
            return {"class": node.text("NSConstantValueClassName")}
        return {"value": plain(node.get("NSConstantValue"))}
    if kind == "NSAggregateExpression":
        collected = node.node("NSCollection")
        return {"list": [expression(each) for each in members(collected)] if collected else []}
    if kind == "NSKeyPathSpecifierExpression":
        return {"key": node.text("NSKeyPath")}
    if kind == "NSKeyPathExpression":
        return key_path(node)
    if kind == "NSFunctionExpression":
        operand = node.node("NSOperand")
        made: dict[str, Any] = {
            "function": (node.text("NSSelectorName") or "").rstrip(":"),
            "arguments": [expression(each) for each in node.members("NSArguments")]}
        whose = expression(operand) if operand else {}
        return made if "class" in whose else {**made, "of": whose}
    return {"unknown": kind, "entity": plain(node.get("NSExpressionType"))}


def key_path(node: Node) -> dict[str, Any]:
    arguments = [expression(each) for each in node.members("NSArguments")]
    operand = node.node("NSOperand")
    whose = expression(operand) if operand else {"self": True}
    path = ".".join(str(each.get("key")) for each in arguments)
    if whose == {"self": True}:
        return {"key": path}
    if "key" in whose and "of" not in whose:
        return {"key": f"{whose['key']}.{path}"}
    return {"key": path, "of": whose}


class Reader:
    """Reads the text of a predicate or of an expression."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = TOKEN.match(text, place)
            if not found or not found.lastgroup:
                raise ValueError(f"cannot read a predicate at {text[place:]!r}")
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()
        self.place = 0

    def peek(self) -> str:
        if self.place >= len(self.tokens):
            return ""
        kind, text = self.tokens[self.place]
        return text.upper() if kind in ("word", "sign") else ""

    def take(self, *wanted: str) -> Optional[str]:
        found = self.peek()
        if found and found in wanted:
            self.place += 1
            return found
        return None

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            raise ValueError(f"{wanted} is missing before {self.tokens[self.place:][:1]}")

    def end(self) -> None:
        if self.place < len(self.tokens):
            raise ValueError(f"what follows is no part of it: {self.tokens[self.place]}")

    def predicate(self) -> dict[str, Any]:
        return self.joined("or", ("OR", "||"), self.conjunction)

    def conjunction(self) -> dict[str, Any]:
        return self.joined("and", ("AND", "&&"), self.negation)

    def joined(self, word: str, signs: tuple[str, ...], part: Any) -> dict[str, Any]:
        parts = [part()]
        while self.take(*signs):
            parts.append(part())
        return {word: parts} if len(parts) > 1 else parts[0]

    def negation(self) -> dict[str, Any]:
        if self.take("NOT", "!"):
            return {"not": [self.negation()]}
        if self.take("TRUEPREDICATE"):
            return {"constant": True}
        if self.take("FALSEPREDICATE"):
            return {"constant": False}
        before = self.place
        if self.take("("):
            # A bracket holds a predicate, or the first operand of a comparison.
            try:
                inner = self.predicate()
                self.need(")")
                return inner
            except ValueError:
                self.place = before
        return self.comparison()

    def comparison(self) -> dict[str, Any]:
        modifier = MODIFIERS.get(self.take(*MODIFIERS) or "", 0)
        left = self.expression()
        operator = self.take(*SPELLINGS, *OPERATORS.values())
        if operator is None:
            raise ValueError("a comparison without its operator")
        options = 0
        if self.take("["):
            _, letters = self.tokens[self.place]
            self.place += 1
            options = sum({"c": 1, "d": 2, "n": 4, "l": 8}[each] for each in letters.lower())
            self.need("]")
        return {"compare": SPELLINGS.get(operator, operator), "left": left, "right": self.expression(),
                "modifier": modifier, "options": options}

    def expression(self) -> dict[str, Any]:
        if self.peek() in ("(", "{"):
            closing = {"(": ")", "{": "}"}[self.peek()]
            self.place += 1
            if closing == ")":
                inner = self.expression()
                self.need(closing)
                return inner
            return {"list": self.listed(closing)}
        if self.take("-"):
            value = self.expression()
            return {"value": -value["value"]}
        if self.place >= len(self.tokens):
            raise ValueError("an expression is missing")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return {"value": int(text) if text.isdigit() else float(text)}
        if kind == "text":
            return {"value": re.sub(r"\\(.)", r"\1", text[1:-1])}
        if kind == "word":
            return self.word(text)
        raise ValueError(f"{text} begins no expression")

    def word(self, text: str) -> dict[str, Any]:
        if self.take("("):
            return {"function": text.rstrip(":"), "arguments": self.listed(")")}
        if text.upper() in WORDS:
            return {"value": WORDS[text.upper()]}
        if text.upper() == "SELF":
            return {"self": True}
        if text.startswith("$"):
            variable, _, path = text[1:].partition(".")
            return {"key": path, "of": {"variable": variable}} if path else {"variable": variable}
        parts = [part[1:] if part.startswith("#") else part for part in text.split(".")]
        if parts[0].upper() == "SELF":
            parts = parts[1:]
        return {"key": ".".join(parts)}

    def listed(self, closing: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while not self.take(closing):
            if found:
                self.need(",")
            found.append(self.expression())
        return found


def read_predicate(text: str) -> dict[str, Any]:
    reader = Reader(text)
    found = reader.predicate()
    reader.end()
    return found


def read_expression(text: str) -> dict[str, Any]:
    reader = Reader(text)
    found = reader.expression()
    reader.end()
    return found
