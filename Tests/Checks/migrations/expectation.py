"""What becomes of the objects of a store, in plain Python: which models can be inferred from each other, and what is
then in the store.

The rules are those of migration.h. Objects are those that rows.py reads, before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Optional, TypeVar

from description import AnyProperty, Attribute, Model, Relationship
from rows import Object, Reading, Reference

T = TypeVar("T")
Origin = tuple[str, str]


def match(targets: list[T], sources: list[T], name: Callable[[T], str], identifier: Callable[[T], Optional[str]]
          ) -> list[Optional[T]]:
    """What each of the targets was. An identifier names the former name, or is the identifier that was there."""
    taken: list[T] = []
    found: list[Optional[T]] = [None] * len(targets)

    def take(place: int, candidates: list[T]) -> None:
        for each in candidates:
            if all(each is not other for other in taken):
                taken.append(each)
                found[place] = each
                return

    for place, each in enumerate(targets):
        wanted = identifier(each)
        if wanted:
            same = [one for one in sources if identifier(one) == wanted]
            take(place, same[:1] or [one for one in sources if name(one) == wanted])
    for place, each in enumerate(targets):
        if found[place] is None:
            take(place, [one for one in sources if name(one) == name(each)][:1] or [
                one for one in sources if identifier(one) == name(each)])
    return found


@dataclass
class Verdict:
    """Why a migration is to be refused, with the names of which the message must have one."""

    must: list[tuple[str, set[str]]] = field(default_factory=list)
    # What the format cannot always hold, so that a refusal is no difference.
    may: list[tuple[str, set[str]]] = field(default_factory=list)


class Mapping:
    def __init__(self, source: Model, target: Model) -> None:
        self.source, self.target = source, target
        pairs = match(
            list(target.entities.values()), list(source.entities.values()), lambda each: each.name,
            lambda each: each.renamed_from)
        self.former = {
            entity.name: found.name for entity, found in zip(target.entities.values(), pairs) if found is not None}
        self.latter = {former: name for name, former in self.former.items()}
        self._properties: dict[str, dict[str, Optional[AnyProperty]]] = {}
        for name, former in self.former.items():
            now, then = target.properties(name), source.properties(former)
            found = match(
                list(now.values()), list(then.values()), lambda each: each.name, lambda each: each.renamed_from)
            self._properties[name] = dict(zip(now, found))

    def origin(self, entity: str, name: str) -> Optional[AnyProperty]:
        """What a property of an entity of the target was in the source."""
        return self._properties.get(entity, {}).get(name)

    def identity(self, entity: str, name: str) -> Optional[Origin]:
        """The same, with the entity that declares it."""
        each = self.origin(entity, name)
        return None if each is None else (self.source.declarer(self.former[entity], each.name), each.name)

    def origins(self, entity: str, name: str) -> set[Origin]:
        """All that a property was, in the entities below the one that declares it."""
        found = (self.identity(each, name) for each in self.target.tree(entity))
        return {each for each in found if each is not None and isinstance(
            self.source.properties(each[0])[each[1]], Relationship)}

    def concrete(self) -> list[tuple[str, str]]:
        """The entities that have objects, as they were and as they are."""
        return [
            (former, name) for name, former in self.former.items() if not self.source.entities[former].abstract]

    # What cannot be inferred.

    def verdict(self) -> Verdict:
        found = Verdict()
        for former, name in self.concrete():
            if self.target.entities[name].abstract:
                found.must.append(("abstract", {name}))
            for each in self.target.properties(name).values():
                self._judge(found, former, name, each)
        roots: dict[str, set[str]] = {}
        for former, name in self.concrete():
            roots.setdefault(self.target.root(name), set()).add(self.source.root(former))
        for root, formers in roots.items():
            if len(formers) > 1:
                found.must.append(("merged", {root, *self.target.tree(root)}))
        for name, entity in self.target.entities.items():
            for each in entity.properties.values():
                if isinstance(each, Relationship):
                    self._judge_storage(found, name, each)
        return found

    def _judge(self, found: Verdict, former: str, name: str, each: AnyProperty) -> None:
        was, names = self.origin(name, each.name), {each.name, f"{name}.{each.name}"}
        if isinstance(each, Attribute):
            if was is None:
                if not each.optional and each.default is None:
                    found.must.append(("new and mandatory", names))
            elif not isinstance(was, Attribute):
                found.must.append(("kind", names))
            elif was.type != each.type:
                found.must.append(("type", names))
            elif was.external != each.external:
                found.must.append(("external", names))
            elif was.optional and not each.optional and each.default is None:
                found.must.append(("mandatory", names))
        elif isinstance(each, Relationship):
            if was is None:
                if not each.optional:
                    found.must.append(("new and mandatory", names))
            elif not isinstance(was, Relationship):
                found.must.append(("kind", names))
            else:
                self._judge_relationship(found, name, each, was, names)

    def _judge_relationship(
        self, found: Verdict, name: str, each: Relationship, was: Relationship, names: set[str]
    ) -> None:
        if was.many and not each.many:
            found.must.append(("to-one", names))
        if was.optional and not each.optional:
            found.must.append(("mandatory", names))
        for entity in self.source.tree(was.destination):
            now = self.latter.get(entity)
            if now and not self.source.entities[entity].abstract and not self.target.is_kind(now, each.destination):
                found.must.append(("destination", names))
        inverse = self.target.inverse(each)
        if inverse is None:
            return
        former = self.source.inverse(was)
        is_own = inverse is each
        if former is None:
            if is_own:
                found.must.append(("its own inverse", names))
            return
        if (former is was) != is_own:
            found.may.append(("inverse", names))
        owner = self.target.declarer(each.destination, inverse.name)
        heirs = [one for one in self.target.tree(owner) if one in self.former]
        if all(self.origin(one, inverse.name) is not former for one in heirs):
            found.may.append(("another inverse", names | {inverse.name}))

    def _judge_storage(self, found: Verdict, name: str, each: Relationship) -> None:
        """Where an object can be in the relationship of one object alone, it must have been so."""
        inverse, names = self.target.inverse(each), {each.name}
        origins = self.origins(name, each.name)
        mirrored: set[Origin] = set()
        if inverse is not None:
            names.add(inverse.name)
            mirrored = self.origins(self.target.declarer(each.destination, inverse.name), inverse.name)
        paired = {self._other(one) for one in origins} - {None}
        if mirrored - paired and origins or len(origins) > 1:
            if not (inverse is not None and inverse.many and each.many):
                found.may.append(("several", names))
        if inverse is None:
            if each.many and any(not self._has_one_owner(one) for one in origins):
                found.may.append(("several owners", names))
        elif not inverse.many and inverse is not each:
            if any(not self._has_one_owner(one) for one in origins):
                found.may.append(("several owners", names))
            if len(mirrored) > 1:
                found.may.append(("several", names))

    def _other(self, origin: Origin) -> Optional[Origin]:
        each = self.source.properties(origin[0])[origin[1]]
        assert isinstance(each, Relationship)
        inverse = self.source.inverse(each)
        return None if inverse is None else (self.source.declarer(each.destination, inverse.name), inverse.name)

    def _has_one_owner(self, origin: Origin) -> bool:
        each = self.source.properties(origin[0])[origin[1]]
        assert isinstance(each, Relationship)
        inverse = self.source.inverse(each)
        return each.many if inverse is None else not inverse.many


class Expectation:
    """The objects of a store of the target, as far as the rules say."""

    def __init__(self, before: Reading, mapping: Mapping, default: Callable[[Attribute], Any]) -> None:
        self.before, self.mapping = before, mapping
        self.objects: dict[Reference, Object] = {}
        # Objects of the source, with what they become.
        self._become: dict[Reference, Reference] = {}
        # Lists whose order no rule says.
        self.loose: set[tuple[Reference, str]] = set()
        for each in before.objects.values():
            name = mapping.latter.get(each.entity)
            if name is not None:
                self._become[each.reference] = (name, each.key)
                self.objects[name, each.key] = Object(name, each.key, each.version)
        for each in before.objects.values():
            if each.reference in self._become:
                self._fill(each, self.objects[self._become[each.reference]], default)
        self._relate()

    def _fill(self, was: Object, made: Object, default: Callable[[Attribute], Any]) -> None:
        for name, each in self.mapping.target.properties(made.entity).items():
            if not isinstance(each, Attribute):
                continue
            former = self.mapping.origin(made.entity, name)
            if former is None:
                made.values[name] = default(each)
            else:
                value = was.values.get(former.name)
                is_filled = value is None and former.optional and not each.optional
                made.values[name] = default(each) if is_filled else value

    def _relate(self) -> None:
        """Each pair of the source is one of the target, seen from both sides."""
        held: dict[tuple[Reference, str], list[Reference]] = {}

        def hold(owner: Reference, name: str, member: Reference) -> None:
            members = held.setdefault((owner, name), [])
            if member not in members:
                members.append(member)

        target = self.mapping.target
        own: set[tuple[Reference, str, Reference]] = set()
        for was in self.before.objects.values():
            owner = self._become.get(was.reference)
            for each in target.relationships(owner[0]) if owner is not None else []:
                former = self.mapping.origin(owner[0], each.name) if owner is not None else None
                for member in self._members(was, former):
                    assert owner is not None
                    hold(owner, each.name, member)
                    own.add((owner, each.name, member))
        for owner, name, member in sorted(own):
            near = target.properties(owner[0])[name]
            assert isinstance(near, Relationship)
            inverse = target.inverse(near)
            if inverse is None or (member, inverse.name, owner) in own:
                continue
            if inverse.name in target.properties(member[0]):
                hold(member, inverse.name, owner)
                self.loose.add((member, inverse.name))
        for reference, made in self.objects.items():
            for one in target.relationships(reference[0]):
                members = held.get((reference, one.name), [])
                if not one.many:
                    made.one[one.name] = members[0] if members else None
                    continue
                former = self.mapping.origin(reference[0], one.name)
                kept = isinstance(former, Relationship) and former.many and former.ordered
                if not kept or (reference, one.name) in self.loose:
                    self.loose.add((reference, one.name))
                if not one.ordered or (reference, one.name) in self.loose:
                    members = sorted(members)
                made.many[one.name] = members
        self.torn = {
            key for key, members in held.items()
            if len(members) > 1 and not getattr(target.properties(key[0][0])[key[1]], "many")}

    def _members(self, was: Object, former: Optional[AnyProperty]) -> list[Reference]:
        if not isinstance(former, Relationship):
            return []
        held = was.one.get(former.name)
        members = was.many.get(former.name, [held] if held else [])
        return [self._become[each] for each in members if each in self._become]
