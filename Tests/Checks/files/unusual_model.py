"""A model of names that mean something to SQL, to predicates, to Python or to the library, in letters of all kinds."""

from __future__ import annotations

import random
from typing import Any

from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER16, INTEGER64, STRING, URI, UUID, Index, IndexElement, Model)
from fixture_model import attribute, entity, many, one
from fixtures import StoreWriter, random_value
from model_names import SQL_WORDS, PREDICATE_WORDS, TAKEN_NAMES

# The first has an accent that is a character of its own. Which capitals others have in the file is not known for all.
LETTERS = ["nai\u0308ve", "GRÖSSE", "名前", "🙂", "ИМЯ", "ÜN_Ö2"]
VALUES = [
    "👩‍👩‍👧‍👦", "e\u0301", "é", "\u0301", "🇩🇪", "a\u0000b", "\ufeffx", "ı İ ß ẞ ﬁ", "\u202eright", "𐐀" * 50,
    "'; DROP TABLE ZSELECT; --",
    "%@ %K $x", "", "\n\t\r", "\U0010ffff"]


def unusual() -> Model:
    """Entities and properties that are called by these names."""
    entities = [
        entity("Select", [attribute(word, STRING) for word in SQL_WORDS] + [
            one("group", "Group", "selects"), many("order", "Order", "by", ordered=True)],
            constraints=[["where"]], indexes=[Index("index", [IndexElement("from"), IndexElement("index")])]),
        entity("Group", [attribute(word, INTEGER64) for word in PREDICATE_WORDS] + [
            many("selects", "Select", "group", ordered=True), many("all", "Group", "any"),
            many("any", "Group", "all")]),
        entity("Order", [attribute(word, DOUBLE) for word in TAKEN_NAMES] + [many("by", "Select", "order")]),
        entity("TRUEPREDICATE", [attribute("self", STRING), one("SUBQUERY", "AND", "none")]),
        entity("AND", [attribute("value", BOOLEAN), many("none", "TRUEPREDICATE", "SUBQUERY")]),
        entity("Model", [attribute("Model", STRING), attribute("store", BINARY, external=True)]),
        entity("Öffnung", [attribute(name, STRING) for name in LETTERS]),
        entity("Fenster🪟", [attribute("HÖHE", FLOAT)], parent="Öffnung"),
        entity("Nothing", [
            attribute(f"of{kind}", kind) for kind in (
                INTEGER16, INTEGER64, DECIMAL, DOUBLE, FLOAT, STRING, BOOLEAN, DATE, BINARY, UUID, URI)] + [
            one("one", "Nothing", "other"), one("other", "Nothing", "one"), many("more", "Nothing", "less"),
            many("less", "Nothing", "more", ordered=True)]),
    ]
    return Model({each.name: each for each in entities})


def write_unusual(path: str, seed: int, size: int) -> None:
    """A store of this model."""
    dice = random.Random(seed)
    model = unusual()
    store = StoreWriter(path, model, [])
    objects: dict[str, list[int]] = {}
    for number in range(size):
        for name in model.entities:
            values: dict[str, Any] = {
                each.name: dice.choice(VALUES) if each.type == STRING else random_value(dice, each)
                for each in model.attributes(name)}
            if name == "Select":
                values["where"] = f"{dice.choice(VALUES)}{number}"
            objects.setdefault(name, []).append(store.add(name, {} if name == "Nothing" else values))
    for place, key in enumerate(objects.get("Select", []), 1):
        store.point("Select", key, "group", ("Group", dice.choice(objects["Group"])), 1024 * place)
        for each in dice.sample(objects["Order"], min(3, size)):
            store.join("Select", "order", key, each, 1024 * dice.randrange(1, 1000) + place)
        for each in dice.sample(objects["Group"], min(2, size)):
            store.join("Group", "all", objects["Group"][place - 1], each)
    for key in objects.get("TRUEPREDICATE", []):
        store.point("TRUEPREDICATE", key, "SUBQUERY", ("AND", dice.choice(objects["AND"])))
    store.close()
