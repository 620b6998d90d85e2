"""One context, and beside it what it should hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Optional

import quire

from graph_facts import (
    Facts, about, apply_rules, differing, drop, inverse, is_given, is_membership, is_transient, link, members, merge,
    objects, pair, point, put, stored)
from graph_world import CLASSES, KEYS, NAMED, OF, Relation, root


class Difference(Exception):
    """The library does not show what the model says."""


def same(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Difference(f"{what}: {found!r}, not {wanted!r}")


def _is_contained(mine: Sequence[int], base: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether others have changed a list like that, and perhaps more."""
    is_same_order = [m for m in mine if m in base] == [m for m in base if m in mine]
    removed, added = set(base).difference(mine), set(mine).difference(base)
    return is_same_order and not removed.intersection(theirs) and added.issubset(theirs)


class Side:
    """The model of a context has what was last saved as far as it knows, and what is now; what is pending is how they
    differ. What can be undone are dictionaries of what facts were before."""

    def __init__(
        self, world: Any, index: Any, context: quire.Context, levels: Optional[int], parent: Optional[Side] = None
    ) -> None:
        self.world, self.index, self.context, self.levels, self.parent = world, index, context, levels, parent
        self.base: Facts = {}
        self.now: Facts = {}
        self.versions: dict[int, int] = {}
        self.deleted: list[tuple[int, str]] = []
        """Taken away, but their delete rules have not been applied."""
        self.withdrawn: set[int] = set()
        """Deleted by undoing their insertion."""
        self.undo: list[Facts] = []
        self.redo: list[Facts] = []
        self.mark: Facts = {}
        """As it was when the open group of changes began."""
        self.groups: list[Any] = []
        self.held: dict[int, quire.Model] = {}
        self.quiet = 0
        """For how many steps nothing is looked at, so that what was forgotten stays unread."""
        self.is_read = True
        """Whether everything has been read since the last step."""
        self.moment: Facts = dict(world.stored)
        """The commit at which it is, if it is a context on the store."""
        self.is_fresh = True
        """Whether there is nothing to take over: its moment is the newest, or it shows all that its parent has."""
        self.has_conflicted = False
        self.is_hazy = False
        """Whether groups that can be undone are older than something that came from another writer."""
        self.moved: set[int] = set()
        """Owners of orders of which a merge leaves open whether they are changed: it took members that were given to
        others here, or left open to whom they belong."""
        self.early: Facts = {}
        """Transient values of its parent, from before a reset, of objects that it did not show."""
        self.is_automatic = False
        """Whether processing merges."""
        self.policy: Any = quire.MergePolicy.ERROR
        if levels is not None:
            context.enable_undo(levels)

    @property
    def saved(self) -> Facts:
        """What is saved, to it: in the commit at which it is, or in its parent."""
        return self.moment if self.parent is None else self.parent.now

    def is_even(self) -> bool:
        """Whether it shows one state. A child may have read ahead what its parent has not told it."""
        return self.parent is None or self.is_fresh

    def is_whole(self) -> bool:
        """Whether the same is so for its parents."""
        return self.parent is None or self.is_fresh and self.parent.is_whole()

    def reads_past_parent(self) -> bool:
        """Whether the context above its parent has brought back what the parent takes for gone: the parent does not
        know that before it merges, but what is read through it is there."""
        parent = self.parent
        if parent is None or parent.parent is None:
            return False
        known = set(objects(self.now)) | set(objects(self.base))
        return parent.reads_past_parent() or any(
            n in parent.saved and n not in parent.now and n not in parent.base for n in known)

    def start(self, saved: Facts) -> None:
        """Has it begin with what is saved, to it."""
        self.base, self.now = dict(saved), dict(saved)
        if not self.groups:
            self.mark = dict(saved)

    # MARK: what is pending

    def inserted(self) -> list[int]:
        return [n for n in objects(self.now) if n not in self.base]

    def removed(self) -> list[int]:
        return [n for n in objects(self.base) if n not in self.now]

    def written(self, facts: Optional[Facts] = None) -> set[int]:
        """The saved objects of which a save writes something, so that their versions advance."""
        now = self.now if facts is None else facts
        found: set[int] = set()
        for key in differing(stored(self.base), stored(now)):
            if type(key) is int:
                continue
            if key[0] == "clips":
                # The owner's change, if the member is there to have an owner.
                if key[2] in now and (key[2] in self.base or key in now):
                    found.add(key[1])
            else:
                found.update(about(key))
        return {n for n in found if n in self.base and n in now}

    @property
    def soft(self) -> set[int]:
        """Those that a save need not write, but may."""
        return self.moved | {key[1] for key in self.base if type(key) is tuple and key[0] == "clips"
                             and key[2] not in self.now}

    def is_pending(self) -> bool:
        return bool(differing(self.base, self.now))

    # MARK: undoing, in the model

    def changed(self, before: Facts) -> None:
        if self.redo and before != self.now:
            self.redo = []

    def close(self) -> None:
        """Ends the open group, unless the caller has one open."""
        if self.levels is None or self.groups:
            return
        group = {key: self.mark.get(key) for key in differing(self.mark, self.now)}
        if group:
            self.undo.append(group)
            if self.levels:
                self.undo = self.undo[-self.levels:]
        self.mark = dict(self.now)

    def process(self) -> None:
        if self.parent:
            self.parent.process()
        self._apply_rules()
        self.close()

    def fetch(self) -> None:
        """What a fetch does: it applies delete rules, and ends no group."""
        if self.parent:
            self.parent.fetch()
        self._apply_rules()

    def _apply_rules(self) -> None:
        before = dict(self.now) if self.redo else {}
        apply_rules(self.now, self.base, self.deleted, self.withdrawn)
        self.deleted = []
        if self.redo:
            self.changed(before)

    def _may_put(self, key: Any, group: Facts) -> bool:
        if type(key) is int:
            return True
        if key[0] == "order" and key[1] in group and group[key[1]] is None:
            return False
        # One that another writer has brought back is not to be what it was when it was deleted.
        if type(key[0]) is int and key[0] in self.now and group.get(key[0]):
            return False
        if is_membership(key):
            owners = key[1:2] if key[0] == "clips" else key[1:]
            if all(n in self.now and group.get(n) for n in owners):
                return False
        return all(n in self.now or group.get(n) for n in about(key))

    def forget_undo(self) -> None:
        self.undo, self.redo, self.is_hazy = [], [], False
        self.mark = dict(self.now)

    def revert(self, take: list[Facts], give: list[Facts]) -> None:
        if not take:
            return
        group = take.pop()
        before = dict(self.now)
        if self.is_hazy:
            # What is gone is left out, and what others made of the rest has to be looked at.
            group = {key: value for key, value in group.items() if self._may_put(key, group)}
            self.deleted = [(n, self.now[n]) for n in group if type(n) is int and group[n] is None and n in self.now]
        gone = {n for n in group if type(n) is int and group[n] is None}
        self.withdrawn = self.withdrawn | gone if take is self.undo else self.withdrawn - gone
        for key, value in group.items():
            put(self.now, key, value)
        for key, value in group.items():
            # There is no way back to what is gone.
            relation = self.relation(key)
            if relation and value is not None and value not in self.now and before.get(key) != value:
                if self.base.get(key) == value and (key[0] not in before or value not in self.base):
                    continue
                back = inverse(relation)
                if value not in self.base or (back and back.rule in ("nullify", "cascade")):
                    put(self.now, key, None)
        apply_rules(self.now, self.base, self.deleted, self.withdrawn)
        self.deleted = []
        if self.is_hazy:
            self.compare_given()
        back = {key: before.get(key) for key in differing(before, self.now)}
        if back:
            give.append(back)
        if self.levels and give is self.undo:
            self.undo = self.undo[-self.levels:]
        self.mark = dict(self.now)

    # MARK: the library's objects

    def object(self, n: int) -> quire.Model:
        found = self.held.get(n)
        if found is None:
            entity, id = self.world.ids[n]
            found = self.held[n] = self.context.get(CLASSES[entity], id)
        return found

    def number(self, each: quire.Model) -> int:
        return self.world.numbers[root(type(each).__name__), each.id]

    def read(self) -> None:
        """Has the library read every object, where pages of lists have served so far."""
        self.is_read = True
        for n in objects(self.now):
            self.object(n).committed_values(next(iter(KEYS[self.now[n]])))

    def target(self, n: int, relation: Relation) -> Any:
        """The number of the object that a to-one relationship gives, "gone" if there is none behind it."""
        try:
            found = getattr(self.object(n), relation.name)
        except quire.NotFound:
            return "gone"
        return None if found is None else self.number(found)

    def view(self) -> Facts:
        """What the context shows, as facts, which have to agree with each other."""
        facts: Facts = {}
        lists: dict[tuple[int, str], list[int]] = {}
        for n in objects(self.now):
            each = self.object(n)
            facts[n] = type(each).__name__
            for name in KEYS[facts[n]]:
                put(facts, (n, name), getattr(each, name))
            for relation in OF[facts[n]]:
                if relation.many:
                    lists[n, relation.name] = [self.number(other) for other in getattr(each, relation.name)]
                else:
                    put(facts, (n, relation.name), self.target(n, relation))
        holders: dict[tuple[Any, str], list[int]] = defaultdict(list)
        for n in objects(facts):
            for relation in OF[facts[n]]:
                if not relation.many and relation.inverse and (n, relation.name) in facts:
                    holders[facts[n, relation.name], relation.inverse].append(n)
        for n in objects(facts):
            for relation in OF[facts[n]]:
                back = inverse(relation)
                if not relation.many:
                    if back and not back.many:
                        other = facts.get((n, relation.name))
                        other = other if other in facts else None
                        same(f"{relation.name} of {n} and back", holders.get((n, relation.name), []),
                             [] if other is None else [other])
                    continue
                found = lists[n, relation.name]
                strangers = [m for m in found if m not in facts]
                if strangers:
                    raise Difference(f"{relation.name} of {n} shows {strangers}, which are not there")
                if relation.ordered:
                    put(facts, ("order", n, relation.name), tuple(found))
                elif found != sorted(found, key=lambda m: self.world.ids[m][1]):
                    raise Difference(f"{relation.name} of {n} is not by id: {found}")
                if back and not back.many:
                    same(f"{relation.name} of {n}", sorted(found), sorted(holders[n, relation.name]))
                    continue
                for m in found:
                    if back and n not in lists[m, back.name]:
                        raise Difference(f"{relation.name} of {n} has {m}, but {back.name} of {m} has not {n}")
                    facts[pair(relation, n, m)] = True
        return facts

    # MARK: comparing

    def visible(self) -> Facts:
        """What the model says that the context shows: nothing in the place of what is gone."""
        facts = dict(self.now)
        for n, _ in self.deleted:
            drop(facts, n)
        for key in [key for key in facts if type(key) is tuple and about(key) and about(key)[0] not in facts]:
            del facts[key]
        return facts

    def compare(self, open_keys: Optional[set[Any]] = None) -> None:
        """Compares what the context shows. Of open keys the model takes over what that is."""
        wanted, found = self.visible(), self.view()
        for key in differing(wanted, found):
            value, shown = wanted.get(key), found.get(key)
            if self._keeps_dangling(key, value, shown, wanted):
                continue
            if open_keys is not None and key in open_keys:
                put(self.now, key, value if shown == "gone" else shown)
                continue
            if self.relation(key) and value not in wanted and shown in (None, "gone", value):
                continue
            raise Difference(f"context {self.index}: {key} of {wanted.get(about(key)[0])} is {shown!r}, not {value!r}")
        self.compare_sets()

    def _keeps_dangling(self, key: Any, value: Any, shown: Any, wanted: Facts) -> bool:
        """Whether it goes on to refer to what is gone, as its row does, and shows nothing."""
        relation = self.relation(key)
        if relation is None or value is None or value in wanted or shown not in (None, "gone", value):
            return False
        return self.base.get(key) == value and relation.name not in self.object(key[0]).changed_values

    def compare_given(self) -> None:
        """Compares what is not open after something that others have had a part in; the model takes over the rest."""
        found = self.view()
        self.compare({
            key for key in self.now.keys() | found.keys()
            if not is_given(key, found) and (not is_membership(key) or key[0] == "clips")})

    # MARK: other writers

    def take_over(self, open_keys: set[Any] = frozenset()) -> None:  # type: ignore[assignment]
        """After a merge, outside of any group."""
        self.compare(self.merge() | open_keys)
        self.mark = dict(self.now)

    def merge(self) -> set[Any]:
        """Takes over what others have saved; gives the keys that are open."""
        before = self.now
        self.moment = dict(self.world.stored)
        saved = self.saved
        self.now, open_keys = merge(self.base, before, saved, self.withdrawn)
        self.moved |= {
            key[1] for key in differing(self.now, saved) if type(key) is tuple and key[0] == "order"
            and _is_contained(before.get(key, ()), self.base.get(key, ()), saved.get(key, ()))}
        self.moved |= {key[1] for key in open_keys if key[0] == "order"}
        self.is_hazy = self.is_hazy or bool(self.undo or self.redo) and before != self.now
        self.mark = dict(self.now)
        # Transient values are not merged.
        nicks = {key: value for facts in (saved, self.base) for key, value in facts.items()
                 if is_transient(key) and key[0] in saved and (facts is self.base or key[0] not in self.base)
                 and (key[0] in self.base or key[0] not in before)}
        # What was inserted again here and there is as it is here.
        nicks |= {key: value for key, value in before.items()
                  if is_transient(key) and key[0] in saved and key[0] in before and key[0] not in self.base}
        for key, value in self.early.items():
            if key[0] in self.now and key[0] not in before and self.object(key[0]).nick == value:
                nicks[key] = self.now[key] = self.mark[key] = value
        self.early = {}
        self.base = {**stored(saved), **nicks}
        self.versions = dict(self.world.versions)
        self.is_fresh = True
        self.held = {n: each for n, each in self.held.items() if n in self.now or n in self.base}
        return open_keys

    def conflicts(self) -> set[int]:
        """The objects that keep a save from being made: another writer has changed or deleted them, or refers to what
        is to be deleted."""
        world = self.world
        touched = (self.written() - self.soft) | set(self.removed())
        found = {n for n in touched if self.versions[n] != world.versions.get(n)}
        # Two may insert a row again by undoing its deletion.
        found |= {n for n in self.inserted() if n in world.stored}
        final = dict(world.stored)
        for key in differing(stored(self.base), stored(self.now)):
            put(final, key, self.now.get(key))
            relation = self.relation(key)
            target = self.now.get(key)
            if relation and target is not None and target not in world.stored and target in self.base:
                found.add(target)
            if type(key) is tuple and key[0] == "clips" and key in self.now:
                found |= {n for n in key[1:] if n in self.base and n not in world.stored}
        removed = set(self.removed())
        for key, value in final.items():
            if type(value) is int and value in removed and type(key) is tuple and key[0] in final:
                relation = NAMED.get((final[key[0]], key[1]))
                back = relation and inverse(relation)
                if back and back.rule != "no action":
                    found.add(value)
        return found

    def relation(self, key: Any) -> Optional[Relation]:
        """The to-one relationship that a fact is about."""
        if type(key) is int or type(key[0]) is not int or key[0] not in self.now:
            return None
        return NAMED.get((self.now[key[0]], key[1]))

    def compare_sets(self) -> None:
        context = self.context
        same("inserted", {self.number(each) for each in context.inserted}, set(self.inserted()))
        same("deleted", {self.number(each) for each in context.deleted}, set(self.removed()))
        updated = {self.number(each) for each in context.updated}
        certain = self.written() | {
            key[0] for key in differing(self.base, self.now)
            if is_transient(key) and key[0] in self.base and key[0] in self.now}
        certain -= self.soft
        if self.deleted:
            # What they were taken out of shows that when their rules are applied.
            certain &= updated
        if self.is_even() and not certain <= updated:
            raise Difference(f"updated: {updated}, without {certain - updated}")
        possible = certain | self.soft | self._regrouped() | {n for n, _ in self.deleted}
        if self.is_even() and not self.deleted and not updated <= possible:
            raise Difference(f"updated: {updated}, with {updated - possible}")
        if self.levels is not None:
            if not self.is_hazy and not self.deleted:
                can_undo = bool(self.undo) or self.mark != self.now
                same("can_undo", context.can_undo, can_undo)
                same("can_redo", context.can_redo, bool(self.redo))

    def _regrouped(self) -> set[int]:
        """Whose members changed by their own to-one relationships."""
        found: set[int] = set()
        for key in differing(self.base, self.now):
            if type(key) is tuple and type(key[0]) is int:
                for value in (self.base.get(key), self.now.get(key)):
                    if type(value) is int and key[1] not in KEYS.get(self.now.get(key[0], ""), {}):
                        found.add(value)
        return found

    # MARK: relating, in the model

    def take_back(self, n: int) -> None:
        """Gives one object the values that were last saved, on both sides of its relationships."""
        now, base = self.now, self.base
        for name in KEYS[now[n]]:
            put(now, (n, name), base.get((n, name)))
        for relation in OF[now[n]]:
            back = inverse(relation)
            if not relation.many:
                target = base.get((n, relation.name))
                if target == now.get((n, relation.name)):
                    continue
                point(now, n, relation, target if target in now else None)
                if target is not None and target not in now and (not back or back.rule in ("no action", "deny")):
                    now[n, relation.name] = target
                continue
            if back and not back.many and not relation.ordered:
                continue
            wanted = [m for m in members(base, n, relation) if m in now]
            for m in reversed(members(now, n, relation)):
                if m not in wanted:
                    link(now, n, relation, m, False)
            for m in wanted:
                if m not in members(now, n, relation):
                    link(now, n, relation, m)
            if relation.ordered:
                put(now, ("order", n, relation.name), tuple(wanted))
