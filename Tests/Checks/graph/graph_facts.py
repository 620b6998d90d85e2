"""The model: what a context holds, as a plain dictionary of facts.

    5: "Book"                      object 5 is there
    (5, "title"): "x"              an attribute, or the number of the object that a to-one relationship holds
    ("tags", 5, 9): True           a membership that no to-one relationship says
    ("order", 5, "tags"): (9, 4)   the members of an ordered relationship

What is nil, empty or not so has no key. Whatever two states differ in is a comparison of dictionaries, undoing is
putting keys back, and merging takes for each key whichever side has changed it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Optional

from graph_world import DEFAULTS, FIRST, KEYS, NAMED, OF, TRANSIENT, Relation, inverse, is_kind

Facts = dict[Any, Any]


def put(facts: Facts, key: Any, value: Any) -> None:
    if value is None or value == ():
        facts.pop(key, None)
    else:
        facts[key] = value


def insert(facts: Facts, n: int, entity: str) -> None:
    facts[n] = entity
    for name in KEYS[entity]:
        put(facts, (n, name), DEFAULTS.get(name))


def pair(relation: Relation, owner: int, member: int) -> tuple[str, int, int]:
    assert relation.pair
    if relation.inverse == relation.name:
        return (relation.pair, min(owner, member), max(owner, member))
    return (relation.pair, owner, member) if relation.owner == FIRST[relation.pair] else (relation.pair, member, owner)


def members(facts: Facts, n: int, relation: Relation) -> list[int]:
    """The members of a to-many relationship, in no order or in its own."""
    if relation.ordered:
        return list(facts.get(("order", n, relation.name), ()))
    if relation.pair:
        both = [key[1:] for key in facts if type(key) is tuple and key[0] == relation.pair and n in key[1:]]
        if relation.inverse == relation.name:
            return [a if b == n else b for a, b in both]
        place = 1 if relation.owner == FIRST[relation.pair] else 0
        return [each[place] for each in both if each[1 - place] == n]
    return [key[0] for key, value in facts.items()
            if value == n and type(key) is tuple and key[1] == relation.inverse and key[0] in facts]


def _order(facts: Facts, n: int, relation: Optional[Relation], member: int, is_in: bool) -> None:
    if relation is None or not relation.ordered:
        return
    key = ("order", n, relation.name)
    order = tuple(each for each in facts.get(key, ()) if each != member)
    if not is_in:
        put(facts, key, order)
    elif member not in facts.get(key, ()):
        facts[key] = (*order, member)


def point(facts: Facts, n: int, relation: Relation, to: Optional[int]) -> None:
    """Has a to-one relationship hold another object, and the other sides follow."""
    key = (n, relation.name)
    old = facts.get(key)
    if old == to:
        return
    back = inverse(relation)
    if back and back.many:
        if old is not None:
            _order(facts, old, back, n, False)
        if to is not None:
            _order(facts, to, back, n, True)
    elif back:
        if old is not None and facts.get((old, back.name)) == n:
            put(facts, (old, back.name), None)
        if to is not None:
            if (to, back.name) in facts:
                put(facts, (facts[to, back.name], relation.name), None)
            facts[to, back.name] = n
    put(facts, key, to)


def link(facts: Facts, n: int, relation: Relation, member: int, is_in: bool = True) -> None:
    """Adds a member to a to-many relationship, or removes it."""
    back = inverse(relation)
    if back and not back.many:
        if is_in or facts.get((member, back.name)) == n:
            point(facts, member, back, n if is_in else None)
        return
    put(facts, pair(relation, n, member), True if is_in else None)
    _order(facts, n, relation, member, is_in)
    _order(facts, member, back, n, is_in)


def assign(facts: Facts, n: int, relation: Relation, wanted: tuple[int, ...]) -> None:
    for each in reversed(members(facts, n, relation)):
        if each not in wanted:
            link(facts, n, relation, each, False)
    for each in wanted:
        if each not in members(facts, n, relation):
            link(facts, n, relation, each)
    if relation.ordered:
        put(facts, ("order", n, relation.name), wanted)


def about(key: Any) -> tuple[int, ...]:
    """The objects whose fact it is."""
    if type(key) is int:
        return (key,)
    if key[0] == "order":
        return (key[1],)
    return (key[0],) if type(key[0]) is int else key[1:]


def drop(facts: Facts, n: int) -> None:
    """Forgets all about an object, and takes it out of pairs and orders."""
    for key in [each for each in facts if n in about(each)]:
        del facts[key]
    for key, order in [(key, order) for key, order in facts.items() if type(key) is tuple and key[0] == "order"]:
        if n in order:
            put(facts, key, tuple(each for each in order if each != n))


def apply_rules(
    facts: Facts, base: Facts, deleted: list[tuple[int, str]], withdrawn: Collection[int] = ()
) -> list[int]:
    """Has the delete rules of objects that were taken away do their work; gives those that went with them. Nothing goes
    with those that were withdrawn: their insertion was undone."""
    more: list[int] = []
    while deleted:
        batch, deleted = deleted, []
        for n, entity in batch:
            for relation in OF[entity]:
                back = inverse(relation)
                # One that was never saved is forgotten, and nothing to be denied.
                if relation.rule == "no action" or relation.rule == "deny" and n in base or not back:
                    continue
                held = members(facts, n, relation) if relation.many else [facts.get((n, relation.name))]
                for other in held:
                    # What was given to another meanwhile is no longer its concern.
                    if other not in facts or not back.many and facts.get((other, back.name)) != n:
                        continue
                    # A saved reference to what was gone already stays.
                    if relation.rule == "deny" and base.get((other, back.name)) == n:
                        continue
                    if relation.rule == "cascade" and n not in withdrawn:
                        deleted.append((other, facts.pop(other)))
                        more.append(other)
                    elif relation.many:
                        link(facts, n, relation, other, False)
                    else:
                        point(facts, n, relation, None)
        gone = {n for n, _ in batch}
        for n in gone:
            # References to it that a rule of no action or of deny leaves stay.
            drop(facts, n)
        for key, value in list(facts.items()):
            # What is to be saved cannot refer to them.
            if value in gone and type(key) is tuple and type(key[0]) is int and base.get(key) != value:
                if is_exposed(facts, key):
                    del facts[key]
    return more


def is_exposed(facts: Facts, key: Any) -> bool:
    """Whether it is a reference of which no delete rule at the other end takes care."""
    entity = facts.get(key[0])
    relation = next((each for each in OF[entity] if each.name == key[1]), None) if entity else None
    if relation is None:
        return False
    back = inverse(relation)
    return back is None or back.rule == "no action"


def differing(before: Facts, after: Facts) -> set[Any]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def stored(facts: Facts) -> Facts:
    """Without what lives in memory only."""
    return {key: value for key, value in facts.items() if not is_transient(key)}


def is_transient(key: Any) -> bool:
    return type(key) is tuple and key[1] in TRANSIENT


def objects(facts: Facts, entity: Optional[str] = None) -> list[int]:
    return [key for key, value in facts.items() if type(key) is int and (entity is None or is_kind(value, entity))]


def merge(
    base: Facts, mine: Facts, theirs: Facts, withdrawn: Collection[int] = ()
) -> tuple[Facts, set[Any]]:
    """What there is when others have made `theirs` of `base` meanwhile and what was changed here stays on top of that.

    Also the keys of which this is not to decide: an order that follows from two, both sides of what can only be one.
    """
    gone = {n for n in objects(base) if n not in theirs}
    deleted = {n for n in objects(base) if n not in mine and n in theirs}
    # Inserted again on both sides, by undoing a deletion.
    twice = {n for n in objects(mine) if n in theirs and n not in base}
    merged: Facts = {}
    open_keys: set[Any] = set()
    for key in mine.keys() | theirs.keys():
        was, here, there = base.get(key), mine.get(key), theirs.get(key)
        if is_transient(key) and key[0] in base:
            there = was
        value = here if here != was and not deleted.intersection(about(key)) else there
        if twice.intersection(about(key)):
            if is_given(key, mine):
                value = here
            else:
                open_keys.add(key)
        elif twice.intersection({here, there}) and _is_one_to_one(key, mine, theirs):
            # Its other side belongs to one of those.
            open_keys.add(key)
        if value is None or gone.intersection(about(key)):
            continue
        if type(key) is tuple and here != was and value in gone and value not in theirs and _is_reference(key, mine):
            # What was to refer to a row that is gone lets go of it: with a change, or by taking its own change back, so
            # that it holds what another has saved, be that gone or not.
            if was is not None or there is None:
                continue
            value = there
        merged[key] = value
    # What refers to objects that are deleted here is for their rules, which go by the members that there are now.
    _merge_orders(merged, base, mine, theirs, open_keys)
    apply_rules(merged, theirs, [(n, merged.pop(n)) for n in deleted], withdrawn)
    for key, value in mine.items():
        # What refers to something deleted since before, by undoing, goes on to do so.
        if value not in deleted or base.get(key) != theirs.get(key) or type(key) is not tuple or key[0] not in merged:
            continue
        if _is_reference(key, mine) and not NAMED[mine[key[0]], key[1]].inverse:
            put(merged, key, value)
    _merge_orders(merged, base, mine, theirs, open_keys)
    for n in objects(merged):
        for relation in OF[merged[n]]:
            back = inverse(relation)
            if back and not relation.many and not back.many:
                other = merged.get((n, relation.name))
                if other in merged and merged.get((other, back.name)) != n:
                    open_keys |= {(n, relation.name), (other, back.name)}
    for key in [key for key in open_keys if type(key[0]) is int and key[0] in merged]:
        # So is the order of whom it may belong to.
        back = next((inverse(each) for each in OF[merged[key[0]]] if each.name == key[1]), None)
        if back and back.ordered:
            open_keys |= {("order", facts[key], back.name) for facts in (mine, theirs) if key in facts}
    return merged, open_keys


def _is_one_to_one(key: Any, *all_facts: Facts) -> bool:
    if type(key) is not tuple or type(key[0]) is not int:
        return False
    relations = [NAMED.get((facts[key[0]], key[1])) for facts in all_facts if key[0] in facts]
    backs = [each and not each.many and inverse(each) for each in relations]
    return any(back and not back.many for back in backs)


def _merge_orders(merged: Facts, base: Facts, mine: Facts, theirs: Facts, open_keys: set[Any]) -> None:
    """Makes orders hold their members. Orders that changed on both sides, or follow from others, are open."""
    for n in objects(merged):
        for relation in OF[merged[n]]:
            if not relation.ordered:
                continue
            key = ("order", n, relation.name)
            present = _unordered(merged, n, relation)
            order = [m for m in merged.get(key, ()) if m in present]
            if order != list(merged.get(key, ())) or len(order) < len(present):
                open_keys.add(key)
            if base.get(key) != mine.get(key) and base.get(key) != theirs.get(key):
                open_keys.add(key)
            put(merged, key, tuple(order + [m for m in present if m not in order]))


def _is_reference(key: Any, facts: Facts) -> bool:
    return type(key[0]) is int and key[0] in facts and any(each.name == key[1] for each in OF[facts[key[0]]])


def _unordered(facts: Facts, n: int, relation: Relation) -> list[int]:
    return members(facts, n, relation._replace(ordered=False))


def is_membership(key: Any) -> bool:
    return type(key) is tuple and key[0] in FIRST


def is_given(key: Any, facts: Facts) -> bool:
    """Whether it is an attribute or the existence of an object, which are never left open."""
    return type(key) is int or (type(key[0]) is int and key[1] in KEYS.get(facts.get(key[0], ""), {}))
