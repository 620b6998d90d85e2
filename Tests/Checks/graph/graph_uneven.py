"""Histories in which little is read: one side of a relationship long before the other, while other contexts save."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import quire
from quire import MergePolicy

import graph_file
from graph_facts import Facts, about, differing, is_membership, members, objects
from graph_nested import STEP
from graph_side import Difference
from graph_stage import Stage, Step
from graph_uneven_side import HELD, UnevenSide, is_one_to_one, is_order
from graph_world import CLASSES, DEFAULTS, KEYS, NAMED, OF, TRANSIENT, root

BEFORE, AFTER = 1, 2
"""Whether a step looks at what it is to change, before it does so and after that."""


class UnevenWorld(Stage):
    """A store with two or three contexts, and contexts on those. Nothing is read but what a step is to read."""

    def __init__(self, path: str, contexts: int) -> None:
        super().__init__(path, contexts)
        self.sides = [UnevenSide(self, index, each) for index, each in enumerate(self.contexts)]
        self.nested: dict[int, UnevenSide] = {}
        self.begin()

    def run(self, step: Step) -> bool:
        """Does a step and compares; false when it makes no sense here."""
        name, index, *rest = step
        side = self.sides[index] if index < len(self.sides) else self.nested.get(index)
        if side is None or getattr(self, f"do_{name}")(side, *rest) is False:
            return False
        for each in [*self.sides, *self.nested.values()]:
            each.advance()
        return True

    # MARK: reading

    def do_read(self, side: UnevenSide, n: int, name: str) -> Any:
        if n not in side.now:
            return False
        self._try(side, lambda: side.look(n, name))

    def do_forget(self, side: UnevenSide, numbers: tuple[int, ...]) -> Any:
        """Lets go of objects, so that those without changes are read anew; of all when none is named."""
        side.held = {n: each for n, each in side.held.items() if numbers and n not in numbers}

    def do_check(self, side: UnevenSide) -> Any:
        if side.is_late:
            return False
        side.check()

    def _try(self, side: UnevenSide, act: Callable[[], Any]) -> bool:
        """Does what may find that something is gone, if it may; then nothing has changed."""
        may_miss = side.may_miss()
        try:
            act()
        except (quire.NotFound, quire.InvalidState):
            if not may_miss:
                raise
            return False
        return True

    # MARK: changes

    def do_insert(self, side: UnevenSide, n: int, entity: str) -> Any:
        if n in self.ids:
            return False
        made = side.context.add(CLASSES[entity]())
        self.ids[n] = (entity, made.id)
        self.numbers[root(entity), made.id] = n
        side.held[n] = made
        side.made[n] = entity
        for name in KEYS[entity].keys() & DEFAULTS.keys():
            side.done[n, name] = (DEFAULTS[name], True)

    def do_set(self, side: UnevenSide, n: int, name: str, value: Any, looks: int) -> Any:
        if n not in side.now:
            return False
        self._change(side, n, name, looks, lambda: setattr(side.object(n), name, value),
                     lambda looked: side.note((n, name), value, looked), lambda shown: shown == value)

    def do_point(self, side: UnevenSide, n: int, name: str, to: Optional[int], looks: int) -> Any:
        if n not in side.now or to is not None and to not in side.now:
            return False
        relation = NAMED[side.now[n], name]
        self._change(side, n, name, looks,
                     lambda: setattr(side.object(n), name, None if to is None else side.object(to)),
                     lambda looked: side.note_point(n, relation, to, looked), lambda shown: shown == to)

    def do_link(self, side: UnevenSide, n: int, name: str, m: int, looks: int) -> Any:
        return self._member(side, n, name, m, True, looks)

    def do_unlink(self, side: UnevenSide, n: int, name: str, m: int, looks: int) -> Any:
        return self._member(side, n, name, m, False, looks)

    def _member(self, side: UnevenSide, n: int, name: str, m: int, is_in: bool, looks: int) -> Any:
        if n not in side.now or m not in side.now or is_in and self._is_owned(n, name, m):
            return False
        relation = NAMED[side.now[n], name]

        def change() -> None:
            related = getattr(side.object(n), name)
            if is_in:
                related.add(side.object(m))
            else:
                related.discard(side.object(m))

        self._change(side, n, name, looks, change,
                     lambda looked: side.note_member(n, relation, m, is_in, looked if looked is ... else m in looked),
                     lambda shown: (m in shown) == is_in)

    def do_assign(self, side: UnevenSide, n: int, name: str, wanted: tuple[int, ...], looks: int) -> Any:
        if any(m not in side.now or self._is_owned(n, name, m) for m in (n, *wanted)):
            return False
        relation = NAMED[side.now[n], name]

        def note(looked: set[int]) -> None:
            for m in looked.difference(wanted):
                side.note_member(n, relation, m, False, True)
            for m in set(wanted).difference(looked):
                side.note_member(n, relation, m, True, False)

        self._change(side, n, name, looks | BEFORE,
                     lambda: setattr(side.object(n), name, [side.object(m) for m in wanted]),
                     note, lambda shown: shown == set(wanted))

    def _is_owned(self, n: int, name: str, m: int) -> bool:
        """The file has one place for the owner of a clip, so contexts that give it to several undo each other."""
        if name != "clips":
            return False
        family = [self.stored]
        for side in [*self.sides, *self.nested.values()]:
            family += [side.now, dict.fromkeys(side.past), dict.fromkeys(side.done)]
        return any(key[0] == "clips" and key[2] == m and key[1] != n
                   for facts in family for key in facts if type(key) is tuple)

    def _change(
        self, side: UnevenSide, n: int, name: str, looks: int, change: Callable[[], None],
        note: Callable[[Any], None], is_right: Callable[[Any], bool]
    ) -> None:
        looked: list[Any] = []
        if looks & BEFORE and not self._try(side, lambda: looked.append(side.look(n, name))):
            return
        before = looked[0] if looked and looked[0] != "gone" else ...
        if not self._try(side, change):
            return
        note(before)
        side.update()
        if looks & AFTER:
            shown = side.look(n, name)
            if not is_right(shown):
                raise Difference(f"context {side.index}: {name} of {n} shows {shown!r}, right after it was set")

    def do_delete(self, side: UnevenSide, n: int) -> Any:
        if n not in side.now:
            return False
        may_miss = side.may_miss()
        try:
            side.context.delete(side.object(n))
        except quire.NotFound:
            if not may_miss:
                raise
            return
        side.held.pop(n, None)
        side.context.process()
        side.take_deletions(n)

    # MARK: the store

    def do_policy(self, side: UnevenSide, policy: int) -> Any:
        if side.parent:
            return False
        side.policy = side.context.merge_policy = MergePolicy(policy)

    def do_merge(self, side: UnevenSide) -> Any:
        side.context.merge()
        side.merged()

    def do_refresh(self, side: UnevenSide, n: int) -> Any:
        """Shows what is saved now, and what was done here on top of that."""
        if n not in side.now or n in side.made:
            return False
        if side.is_late and side.is_changed() or side.parent is None and side.disputed() - {n}:
            # Where both have changed one property, that stays a conflict.
            return False
        if not self._try(side, lambda: self._refresh(side, n)):
            return
        if side.parent:
            # There may be something that its parent has not told.
            side.context.merge()
        side.merged()
        if n in side.now:
            for name in [*KEYS[side.now[n]].keys() - TRANSIENT, *(each.name for each in OF[side.now[n]])]:
                side.look(n, name)

    def _refresh(self, side: UnevenSide, n: int) -> None:
        try:
            side.object(n).refresh(merge=True)
        except quire.NotFound:
            if side.parent or n in self.stored:
                raise

    def do_refresh_all(self, side: UnevenSide) -> Any:
        side.context.refresh_all()
        if side.parent:
            side.context.merge()
        side.merged()
        side.check()

    def do_rollback(self, side: UnevenSide) -> Any:
        side.held = {n: each for n, each in side.held.items() if n not in side.made}
        side.context.rollback()
        side.done, side.made, side.gone = {}, {}, set()
        if side.has_conflicted and side.parent is None:
            side.merged()
        side.has_conflicted = False
        side.update()

    def do_save(self, side: UnevenSide, merges: bool) -> Any:
        if side.parent:
            return self._save_above(side)
        before, wanted, is_behind = self.stored, side.laid_over(self.stored), not side.is_fresh
        is_settled = is_behind and side.policy is not MergePolicy.ERROR
        has_changes, number = side.context.has_changes, self.commits()
        try:
            side.context.save()
        except quire.ValidationError:
            # Settling goes by what others have made of bands, too.
            self._check_refused(side, *([wanted] if is_settled else []))
            if is_settled:
                # The policy may have settled something before the rule was met, and that is to be saved still.
                self.do_rollback(side)
                self.do_merge(side)
            return
        except quire.Conflict:
            if not is_behind or is_settled:
                raise
            self._check_file(side, self.stored)
            side.has_conflicted = True
            return
        shown = {key: side.shows(key) for key in differing(before, wanted) | side.done.keys()}
        self._check_saved(side, wanted, is_settled, shown)
        side.done, side.made, side.gone = {}, {}, set()
        has_written = self.commits() != number
        if has_changes and is_behind and not has_written:
            # What was changed was as it is saved by now, which may have been found by moving on.
            side.context.merge()
        if has_changes:
            side.has_conflicted = False
            side.merged()
        side.update()
        side.held = {n: each for n, each in side.held.items() if n in side.now}
        for other in self.sides:
            if other is not side and has_written:
                other.is_fresh = False
        if merges:
            self.do_merge(side)

    def _check_refused(self, side: UnevenSide, *settled: Facts) -> None:
        """The classes have one rule that a save can break."""
        bands = objects(side.now, "Band")
        counts = [len(members(facts, n, NAMED["Band", "players"]))
                  for facts in (side.now, *settled) for n in objects(facts, "Band")]
        is_gone = not bands and not any(self.ids[n][0] == "Band" and side.is_shaky(n) for n in self.ids)
        if not side.is_late and not side.open and all(1 <= each <= 3 for each in counts) or is_gone:
            raise Difference("a save is refused although no rule is broken")
        if not side.parent:
            self._check_file(side, self.stored)

    def _read(self) -> tuple[Facts, dict[int, int]]:
        try:
            return graph_file.read(self.file, self.numbers)
        except graph_file.FileFault as fault:
            raise Difference(f"the file: {fault}") from None

    def _check_file(self, side: UnevenSide, wanted: Facts) -> None:
        found = self._read()[0]
        for key in differing(found, wanted):
            raise Difference(f"the file: {key} is {found.get(key)!r}, not {wanted.get(key)!r}")

    def _check_saved(
        self, side: UnevenSide, wanted: Facts, is_settled: bool, shown: dict[Any, set[Any]]
    ) -> None:
        """Compares the file with what a save was to make of it, which then is what is saved."""
        before = self.stored
        found, self.versions = self._read()
        disputed = {n for n in self.ids if is_settled and len(
            {n in before, n in wanted, n in found, n in side.gone}) > 1}
        for key in sorted(differing(wanted, found), key=str):
            if is_order(key) or type(key) is tuple and key[1] in TRANSIENT or key in side.open:
                continue
            value, other = wanted.get(key), found.get(key)
            if disputed.intersection(about(key)):
                continue
            is_to_one = type(key) is tuple and (wanted.get(key[0]), key[1]) in NAMED
            if is_to_one and (disputed & {value, other, before.get(key)} or value not in wanted and other is None):
                continue
            if is_settled and other in self._settled(side, key, shown.get(key, set()) | {before.get(key)}):
                continue
            raise Difference(f"the file, saved by context {side.index} with {side.policy!r}: {key} is {other!r}, "
                             f"not {value!r}")
        self.stored = found

    def _settled(self, side: UnevenSide, key: Any, others: set[Any]) -> set[Any]:
        """What the file may hold, after a save that a policy had to settle, in the place of what was done here."""
        if side.policy is MergePolicy.OBJECT_WINS or type(key) is int:
            return set()
        if side.policy is MergePolicy.STORE_WINS and is_membership(key):
            return set()
        return others | {None} if is_one_to_one(key) else others

    # MARK: contexts on contexts

    def do_open(self, side: UnevenSide) -> Any:
        index = side.index + STEP + 1
        if side.parent or index in self.nested:
            return False
        side.context.process()
        self.nested[index] = UnevenSide(self, index, side.context.create_child(), side)

    def do_close(self, side: UnevenSide) -> Any:
        if not side.parent:
            return False
        side.held = {}
        side.context.close()
        del self.nested[side.index]

    def _save_above(self, side: UnevenSide) -> None:
        parent = side.above
        assert parent
        try:
            side.context.save()
        except quire.ValidationError:
            self._check_refused(side)
            return
        except quire.Conflict:
            if not side.is_late:
                raise
            return
        done, made, gone = side.done, side.made, side.gone
        parent.made |= made
        parent.context.process()
        for key, (value, is_certain) in done.items():
            if is_certain:
                parent.note(key, value)
            else:
                parent.note_perhaps(key, value - {...})
                if is_one_to_one(key) and None in value:
                    for m in [m for m in self.ids if key[0] in parent.shows((m, HELD[self.ids[key[0]][0], key[1]]))]:
                        parent.note_perhaps((m, HELD[self.ids[key[0]][0], key[1]]), {None})
        parent.note_partners({key: value for key, (value, is_certain) in done.items() if is_certain})
        parent.update()
        if gone:
            parent.take_deletions(None)
        if not side.is_late:
            side.past, side.former = {}, {}
        for key, (value, is_certain) in done.items():
            if is_certain:
                side.drop_past(key)
            else:
                side.past.setdefault(key, set()).update(value - {...})
        side.done, side.made, side.gone = {}, {}, set()
        side.last = dict(side.saved)
        side.update()
        side.held = {n: each for n, each in side.held.items() if n in side.now}

