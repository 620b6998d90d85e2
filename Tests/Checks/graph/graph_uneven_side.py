"""One context of which nothing is read but what a step is to read, and beside it what it may show."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Optional

import quire

from graph_facts import Facts, about, differing, drop, is_membership, objects, pair, put
from graph_side import Difference, Side, same
from graph_world import NAMED, OF, TRANSIENT, Relation, inverse, is_kind

HELD = {("Person", "passport"): "holder", ("Passport", "holder"): "passport"}
"""The one-to-one relationship of the classes, from both sides."""


def is_order(key: Any) -> bool:
    return type(key) is tuple and key[0] == "order"


def is_one_to_one(key: Any) -> bool:
    return type(key) is tuple and key[1] in ("passport", "holder")


def dependents(facts: Facts, n: int, entity: str, open_keys: Collection[Any] = ()) -> list[int]:
    """What a delete rule has go with an object, unless it is open whether it belongs to that."""
    found = []
    for relation in OF[entity]:
        back = inverse(relation)
        if relation.rule == "cascade" and back:
            found += [key[0] for key, value in facts.items()
                      if value == n and type(key) is tuple and key[1] == back.name and key not in open_keys]
    return [m for m in found if m in facts]


def delete(facts: Facts, n: int, open_keys: Collection[Any] = ()) -> None:
    """Deletes an object by the delete rules, which leave references of no inverse and of a rule of no action."""
    entity = facts.pop(n)
    for m in dependents(facts, n, entity, open_keys):
        if m in facts:
            delete(facts, m, open_keys)
    drop(facts, n)
    for key in [key for key, value in facts.items() if value == n and type(key) is tuple and key[0] in facts]:
        relation = NAMED.get((facts[key[0]], key[1]))
        back = relation and inverse(relation)
        if back and back.rule in ("nullify", "cascade"):
            del facts[key]


class UnevenSide(Side):
    """What such a context holds is what is saved beneath it, and on top of that what was done here. A context on the
    store shows its moment. A child may show for whatever was not done here what its parent held at any time since it
    last merged; nothing else is open.

    `now` is what it shows once it has merged."""

    def __init__(self, world: Any, index: int, context: quire.Context, parent: Optional[UnevenSide] = None) -> None:
        super().__init__(world, index, context, None, parent)
        self.done: dict[Any, tuple[Any, bool]] = {}
        """What was done here to a fact, and whether that is certain: to what a child read before its parent changed it
        may have been nothing. Not certain are the values that it may have got here, `...` for none."""
        self.made: Facts = {}
        """What was inserted here."""
        self.gone: set[int] = set()
        """What was deleted here."""
        self.past: dict[Any, set[Any]] = {}
        """Other values that the parent held since the last merge."""
        self.former: dict[Any, set[Any]] = {}
        """What was in `past` of a fact that was changed and saved here since."""
        self.last = dict(self.saved)
        """What the parent held when that was last looked at."""
        self.last_open: dict[Any, set[Any]] = {}
        """What its parent left open then, and what that may have been."""
        self.is_late = False
        """Whether there is something that its parent has not told, or that it has not merged."""
        self.open: set[Any] = set()
        self.update()

    @property
    def above(self) -> Optional[UnevenSide]:
        assert self.parent is None or isinstance(self.parent, UnevenSide)
        return self.parent

    def is_changed(self) -> bool:
        return bool(self.done or self.made or self.gone)

    def disputed(self) -> set[int]:
        """What was changed here, on either side of relationships, and by others since its moment."""
        touched: set[Any] = set()
        for key, (value, is_certain) in self.done.items():
            touched.update(about(key), {value} if is_certain else value, {self.saved.get(key)})
        return {n for n in touched & self.world.ids.keys() if self.versions.get(n) != self.world.versions.get(n)}

    # MARK: what it shows

    def update(self) -> None:
        """Lays what was done here over what is saved."""
        self.now = self.laid_over(self.saved)

    def laid_over(self, saved: Facts) -> Facts:
        facts = {key: value for key, value in saved.items() if self.parent is None or not is_order(key)}
        if self.is_changed():
            facts = {key: value for key, value in facts.items() if not is_order(key)}
        self.open = set(self.above.open) if self.above else set()
        facts |= self.made
        for key, (value, is_certain) in self.done.items():
            if not all(n in facts for n in about(key)):
                continue
            if not is_certain or (self._is_reference(key, facts) and value is not None and value not in facts):
                self.open.add(key)
                if not is_certain and ... not in value:
                    put(facts, key, sorted(value, key=str)[0])
            else:
                put(facts, key, value)
        self._match(facts)
        for n in self.gone:
            if n in facts:
                delete(facts, n, self.open)
        return facts

    def _match(self, facts: Facts) -> None:
        """Has one-to-one relationships agree: what was done here wins."""
        for key in [key for key in facts if is_one_to_one(key)]:
            other = facts.get(key)
            if other not in facts:
                continue
            back = (other, HELD[facts[key[0]], key[1]])
            if facts.get(back) == key[0]:
                continue
            if key in self.done and back not in self.done:
                rival = (facts.get(back), key[1])
                facts[back] = key[0]
                if rival in facts and rival not in self.done:
                    del facts[rival]
            elif back in self.done and key not in self.done:
                del facts[key]
            else:
                self.open.add(key)
        if any(is_one_to_one(key) for key in self.open):
            self.open |= {(n, name) for n in objects(facts) for entity, name in HELD if facts[n] == entity}

    def _is_reference(self, key: Any, facts: Facts) -> bool:
        return type(key) is tuple and type(key[0]) is int and (facts.get(key[0]), key[1]) in NAMED

    def possible(self, key: Any) -> set[Any]:
        """What was not done here to a fact may show."""
        found = {self.saved.get(key)} | self.past.get(key, set())
        return found | self.above.shows(key) if self.above else found

    def shows(self, key: Any) -> set[Any]:
        """What may be shown before merging."""
        if key not in self.done:
            return self.possible(key)
        value, is_certain = self.done[key]
        if is_certain:
            return {value}
        return value - {...} | (self.possible(key) if ... in value else set())

    def allowed(self, key: Any) -> set[Any]:
        """What may be shown."""
        if not self.is_late:
            if key not in self.open:
                return {self.now.get(key)}
            found = self.shows(key) | {self.now.get(key)}
        else:
            found = self.shows(key)
        if is_one_to_one(key) and not self.done.get(key, (None, False))[1]:  # May be left alone.
            found = found | {None}
        return found

    def is_shaky(self, n: int) -> bool:
        """Whether it is open if an object is there."""
        if n in self.made or n in self.gone or not self.is_late:
            return False
        return n in self.past or (n in self.saved) != (n in self.now)

    def may_miss(self) -> bool:
        """Whether something that is referred to may turn out to be gone."""
        return any(self.is_shaky(n) for n in self.world.ids)

    # MARK: what is done

    def note(self, key: Any, value: Any, looked: Any = ..., is_certain: bool = True) -> None:
        """A fact was to become this; what was shown before is known if it was looked at."""
        shown, possible = self.shows(key), self.possible(key)
        if shown == {value} or looked == value:
            return
        if is_certain and possible == {value}:
            self.done.pop(key, None)
        elif is_certain and (value not in possible or looked is not ... and key not in self.done):
            self.done[key] = (value, True)
        else:
            self.note_perhaps(key, {value})

    def note_perhaps(self, key: Any, values: set[Any]) -> None:
        """A fact may have become one of these here, or may be what it was."""
        before, is_certain = self.done.get(key, ({...}, False))
        if values & self.possible(key):
            # Then it is no change any more.
            values = values | {...}
        self.done[key] = (values | ({before} if is_certain else before), False)

    def note_reading(self, n: Optional[int]) -> None:
        """An object may have been read again: what its parent holds as well is no change any more."""
        for key, (value, is_certain) in self.done.items():
            if is_certain and n in about(key) and value == self.saved.get(key):
                self.note_perhaps(key, {value})

    def note_point(self, n: int, relation: Relation, to: Optional[int], looked: Any = ...) -> None:
        key, back = (n, relation.name), inverse(relation)
        if back and not back.many and looked != to:
            # Partners that are left alone.
            rivals = [(m, relation.name) for m in self.world.ids if m != n and self._entity(m) == relation.owner]
            left = [(m, back.name) for m in self.shows(key) if m not in (to, None) and n in self.shows((m, back.name))]
            left += [each for each in rivals if to is not None and to in self.shows(each)]
            certain = [each for each in left if len(self.shows(each)) == 1 and to not in self.shows(key)]
            for m in {m for m, _ in left} | {to}:
                self.note_reading(m)
            if to is not None:
                self.note((to, back.name), n, is_certain=to not in self.shows(key))
            for each in left:
                self.note(each, None, is_certain=each in certain)
        self.note(key, to, looked)

    def note_partners(self, done: Facts) -> None:
        """What a context on it has given partners to takes them from whom they were given to here."""
        for (n, name), to in [each for each in done.items() if is_one_to_one(each[0]) and each[1] is not None]:
            for m in self.world.ids:
                shown = self.shows((m, name)) if m != n and (m, name) not in done else set()
                if to in shown:
                    self.note((m, name), None, is_certain=shown == {to})

    def note_member(self, n: int, relation: Relation, m: int, is_in: bool, looked: Any = ...) -> None:
        back = inverse(relation)
        if looked == is_in:
            return
        if back and not back.many:
            key = (m, back.name)
            if is_in and looked is ... and self.is_late and n in self.former.get(key, ()):
                self.note_perhaps(key, {n})
            elif is_in:
                self.note(key, n, ... if looked is ... or n in self.shows(key) else None)
            elif self.shows(key) == {n}:
                self.note(key, None)
            elif n in self.shows(key):
                self.note_perhaps(key, {None})
            return
        looked = looked if looked is ... else looked or None
        self.note(pair(relation, n, m), is_in or None, looked)

    def _entity(self, n: int) -> str:
        entity: str = self.world.ids[n][0]
        return entity

    def take_deletions(self, n: Optional[int]) -> None:
        """After deletions were processed: what went with them."""
        deleted = {self.number(each) for each in self.context.deleted}
        inserted = {self.number(each) for each in self.context.inserted}
        new = (deleted - self.gone) | (self.made.keys() - inserted)
        if n is not None:
            self._check_deleted(n, new)
        for m in new:
            for key in [key for key in self.done if m in about(key)]:
                del self.done[key]
            for key in [*self.done, *self.saved, *self.past]:
                if not self._is_reference(key, self.saved | self.made) or m not in self.shows(key):
                    continue
                if self.done.get(key) == (m, True):
                    del self.done[key]
                    self.note(key, None, is_certain=not self.is_late)
                elif key in self.done or self.shows(key) != {m}:
                    self.note_perhaps(key, {None})
            self.made.pop(m, None)
        self.gone |= new & self.saved.keys() | deleted
        for lost in new:
            self.held.pop(lost, None)
        self.update()

    def _check_deleted(self, n: int, new: set[int]) -> None:
        if n not in new and not self.is_shaky(n):
            raise Difference(f"{n} was deleted and is not among what is deleted")
        if not self.is_late and not self.open:
            facts = dict(self.now)
            delete(facts, n)
            same(f"deleted with {n}", new, set(objects(self.now)) - set(objects(facts)))
        for m in new - {n}:
            owners = [self.shows((m, back.name)) for relation in OF[self._entity(m)]
                      if (back := relation) and not relation.many]
            if not any(owner & new for owner in owners):
                raise Difference(f"{m} was deleted with {n}, to which it never belonged")

    # MARK: others

    def advance(self) -> None:
        """Something was done, here or to the parent of a child."""
        if self.above is None:
            return self.update()
        for key in differing(self.last, self.saved):
            if is_order(key):
                continue
            self.is_late = True
            before = self.last.get(key)
            self.past.setdefault(key, set()).add(before)
            self._note_emptied(key, self.last)
            if is_one_to_one(key):
                # An object that lost its partner may have got another one.
                for each in [each for each, done in self.done.items() if done == (None, True) and is_one_to_one(each)]:
                    self.note_perhaps(each, set())
        self.last = dict(self.saved)
        # What was open there may have been either.
        for key in self.last_open.keys() - self.above.open:
            self.is_late = True
            self.past.setdefault(key, set()).update(self.last_open[key])
        self.last_open = {key: self.above.shows(key) for key in self.above.open if not is_order(key)}
        self.update()

    def _note_emptied(self, key: Any, before: Facts) -> None:
        """Where the delete rules have emptied something that another has changed."""
        if key not in self.done and before.get(key) in self.gone and self._is_reference(key, before):
            self.note_perhaps(key, {None})

    def drop_past(self, key: Any) -> None:
        """It is what was saved here. An object that held it when it was read may show it until that is merged."""
        self.former.setdefault(key, set()).update(self.past.pop(key, set()))

    def merged(self) -> None:
        """It has taken over all that is saved, to it."""
        if self.parent is None:
            before, self.moment, self.is_fresh = self.moment, self.world.stored, True
            self.versions = dict(self.world.versions)
            for key in differing(before, self.moment):
                self._note_emptied(key, before)
        self.is_late, self.past, self.former = False, {}, {}
        present = self.saved.keys() | self.made.keys()
        self.gone &= present
        self.done = {key: each for key, each in self.done.items() if all(n in present for n in about(key))}
        for key, (value, is_certain) in list(self.done.items()):
            if value == self.saved.get(key) if is_certain else value <= {self.saved.get(key), ...}:
                # What others have saved as well is no change any more.
                del self.done[key]
            elif is_certain and self._is_reference(key, self.saved | self.made) and value not in {None, *present}:
                self.done[key] = ({None, ...}, False)
        self.held = {n: each for n, each in self.held.items() if n in present}
        self.update()
        for key in [key for key in self.saved if is_one_to_one(key) and key not in self.open]:
            # A partner that was lost to what was done here was lost here.
            if key not in self.done and key not in self.now and {key[0], self.saved[key]} <= self.now.keys():
                self.done[key] = (None, True)
        if not self.open:
            wanted = {n for n in objects(self.saved) if n not in self.now}
            same("deleted, merged", {self.number(each) for each in self.context.deleted}, wanted)
        self.take_deletions(None)

    # MARK: comparing

    def look(self, n: int, name: str) -> Any:
        """Reads one property and says whether it may be so; what is shown."""
        relation = NAMED.get((self._entity(n), name))
        if relation is None or not relation.many:
            shown = getattr(self.object(n), name) if relation is None else self.target(n, relation)
            self._check(n, name, shown, self.allowed((n, name)))
            return shown
        found = {self.number(each) for each in getattr(self.object(n), name)}
        for m, (entity, _) in self.world.ids.items():
            if is_kind(entity, relation.destination) and (m in found) not in self._membership(n, relation, m):
                raise Difference(f"context {self.index}: {name} of {n} shows {sorted(found)}, and {m} is "
                                 f"{'no' if m in found else 'a'} member")
        return found

    def _check(self, n: int, name: str, shown: Any, allowed: set[Any]) -> None:
        if shown in allowed:
            return
        relation = NAMED.get((self._entity(n), name))
        if relation and shown in (None, "gone") and any(m is not None and (m not in self.now or self.is_shaky(m))
                                                        for m in allowed):
            return
        raise Difference(f"context {self.index}: {name} of {n} shows {shown!r}, not {allowed}")

    def _membership(self, n: int, relation: Relation, m: int) -> set[bool]:
        """Whether it may be shown as a member."""
        back = inverse(relation)
        if m in self.gone or m not in self.now and not self.is_shaky(m):
            return {False}
        if back and not back.many:
            key = (m, back.name)
            found = {value == n for value in self.allowed(key)}
            if self.is_late and n in self.possible(key) | self.former.get(key, set()):
                # An object that held it when it was read shows it until the change is merged.
                found = found if self.done.get(key) == (n, True) else {True, False}
        else:
            found = {bool(value) for value in self.allowed(pair(relation, n, m))}
        return found | {False} if self.is_shaky(m) else found

    def check(self) -> None:
        """Reads everything, once everything is merged."""
        self.update()
        self.held = {n: each for n, each in self.held.items() if n in self.now}
        found = self.view()
        shows_orders = self.parent is None and not self.context.has_changes and not self.is_changed()
        for key in sorted(differing(self.now, found), key=str):
            if is_order(key) and not shows_orders or type(key) is tuple and key[1] in TRANSIENT:
                continue
            value, shown = self.now.get(key), found.get(key)
            if type(key) is tuple and not is_order(key) and not is_membership(key):
                self._check(key[0], key[1], shown, self.allowed(key))
            elif key not in self.open:
                raise Difference(f"context {self.index}: {key} is {shown!r}, not {value!r}")
        for key in [key for key in self.done if key in self.open]:
            # What was open is known now, unless it is as it was made here, and what the parent has is open still.
            shown = found.get(key)
            if self.above and key in self.above.open and self.done[key] == (shown, True):
                continue
            del self.done[key]
            if shown not in (self.saved.get(key), "gone") and not self.gone.intersection(about(key)):
                self.done[key] = (shown, True)
        self.update()
        same("inserted", {self.number(each) for each in self.context.inserted}, set(self.made))
        same("deleted", {self.number(each) for each in self.context.deleted}, self.gone)
