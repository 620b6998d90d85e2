"""The classes that `graph.py` uses, and once more as plain tuples, which is all that the model knows of them."""

from __future__ import annotations

from typing import NamedTuple, Optional

import quire


class Thing(quire.Model):
    __abstract__ = True
    label: quire.Attr[Optional[str]] = quire.attr(default=None)
    crate: quire.ToOne["Crate | None"] = quire.relation(inverse="items")
    notes: quire.ToMany["Note"] = quire.relation(inverse="about", on_delete="no action")


class Person(Thing):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    age: quire.Attr[int] = quire.attr(default=7)
    nick: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True)
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
    passport: quire.ToOne["Passport | None"] = quire.relation(inverse="holder", on_delete="cascade")
    friends: quire.ToMany["Person"] = quire.relation(inverse="friends")
    manager: quire.ToOne["Person | None"] = quire.relation(inverse="reports")
    reports: quire.ToMany["Person"] = quire.relation(inverse="manager")
    favourite: quire.ToOne["Book | None"] = quire.relation(on_delete="no action")
    bands: quire.ToMany["Band"] = quire.relation(inverse="players")


class Book(Thing):
    title: quire.Attr[Optional[str]] = quire.attr(default=None)
    price: quire.Attr[Optional[float]] = quire.attr(default=None)
    author: quire.ToOne["Person | None"] = quire.relation(inverse="books")
    chapters: quire.ToMany["Chapter"] = quire.relation(inverse="book", ordered=True, on_delete="cascade")
    tags: quire.ToMany["Tag"] = quire.relation(inverse="books", ordered=True)
    clips: quire.ToMany["Clip"] = quire.relation()


class Crate(quire.Model):
    mark: quire.Attr[Optional[int]] = quire.attr(default=None)
    items: quire.ToMany["Thing"] = quire.relation(inverse="crate", on_delete="deny")


class Passport(quire.Model):
    number: quire.Attr[Optional[int]] = quire.attr(default=None)
    holder: quire.ToOne["Person | None"] = quire.relation(inverse="passport")


class Chapter(quire.Model):
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    book: quire.ToOne["Book | None"] = quire.relation(inverse="chapters")


class Tag(quire.Model):
    word: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany["Book"] = quire.relation(inverse="tags", ordered=True)


class Note(quire.Model):
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    about: quire.ToOne["Thing | None"] = quire.relation(inverse="notes")


class Clip(quire.Model):
    text: quire.Attr[Optional[str]] = quire.attr(default=None)


class Band(quire.Model):
    title: quire.Attr[Optional[str]] = quire.attr(default=None)
    players: quire.ToMany["Person"] = quire.relation(inverse="bands", minimum=1, maximum=3)


class Node(quire.Model):
    key: quire.Attr[Optional[int]] = quire.attr(default=None)
    parent: quire.ToOne["Node | None"] = quire.relation(inverse="children")
    children: quire.ToMany["Node"] = quire.relation(inverse="parent", ordered=True, on_delete="cascade")


class Account(quire.Model):
    email: quire.Attr[Optional[str]] = quire.attr(default=None)
    visits: quire.Attr[int] = quire.attr(default=0)
    keeper: quire.ToOne["Node | None"] = quire.relation(inverse=None, on_delete="no action")
    sponsor: quire.ToOne["Account | None"] = quire.relation(inverse="clients")
    clients: quire.ToMany["Account"] = quire.relation(inverse="sponsor")


class UniqueAccount(Account):
    """Of the variant with a uniqueness constraint."""

    __unique__ = ["code"]
    code: quire.Attr[Optional[str]] = quire.attr(default=None)


CLASSES = {each.__name__: each for each in (
    Thing, Person, Book, Crate, Passport, Chapter, Tag, Note, Clip, Band, Node, Account, UniqueAccount)}
PARENTS = {"Person": "Thing", "Book": "Thing", "UniqueAccount": "Account"}
ABSTRACT = {"Thing"}
ATTRIBUTES = {
    "Thing": {"label": "text"}, "Person": {"name": "text", "age": "number", "nick": "text"},
    "Book": {"title": "text", "price": "number"}, "Crate": {"mark": "number"}, "Passport": {"number": "number"},
    "Chapter": {"text": "text"}, "Tag": {"word": "text"}, "Note": {"text": "text"}, "Clip": {"text": "text"},
    "Band": {"title": "text"}, "Node": {"key": "number"}, "Account": {"email": "text", "visits": "number"},
    "UniqueAccount": {"code": "text"},
}
TRANSIENT = {"nick"}
DEFAULTS = {"age": 7, "visits": 0}
MANDATORY = {"age", "visits"}
UNIQUE = ("UniqueAccount", "code")


class Relation(NamedTuple):
    owner: str
    name: str
    destination: str
    many: bool
    ordered: bool
    inverse: Optional[str]
    rule: str
    least: int = 0
    most: int = 0
    pair: Optional[str] = None
    """Under what name memberships are kept that no to-one relationship says."""


RELATIONS = [
    Relation("Thing", "crate", "Crate", False, False, "items", "nullify"),
    Relation("Thing", "notes", "Note", True, False, "about", "no action"),
    Relation("Person", "books", "Book", True, False, "author", "nullify"),
    Relation("Person", "passport", "Passport", False, False, "holder", "cascade"),
    Relation("Person", "friends", "Person", True, False, "friends", "nullify", pair="friends"),
    Relation("Person", "manager", "Person", False, False, "reports", "nullify"),
    Relation("Person", "reports", "Person", True, False, "manager", "nullify"),
    Relation("Person", "favourite", "Book", False, False, None, "no action"),
    Relation("Person", "bands", "Band", True, False, "players", "nullify", pair="players"),
    Relation("Book", "author", "Person", False, False, "books", "nullify"),
    Relation("Book", "chapters", "Chapter", True, True, "book", "cascade"),
    Relation("Book", "tags", "Tag", True, True, "books", "nullify", pair="tags"),
    Relation("Book", "clips", "Clip", True, False, None, "nullify", pair="clips"),
    Relation("Crate", "items", "Thing", True, False, "crate", "deny"),
    Relation("Passport", "holder", "Person", False, False, "passport", "nullify"),
    Relation("Chapter", "book", "Book", False, False, "chapters", "nullify"),
    Relation("Tag", "books", "Book", True, True, "tags", "nullify", pair="tags"),
    Relation("Note", "about", "Thing", False, False, "notes", "nullify"),
    Relation("Band", "players", "Person", True, False, "bands", "nullify", 1, 3, pair="players"),
    Relation("Node", "parent", "Node", False, False, "children", "nullify"),
    Relation("Node", "children", "Node", True, True, "parent", "cascade"),
    Relation("Account", "keeper", "Node", False, False, None, "no action"),
    Relation("Account", "sponsor", "Account", False, False, "clients", "nullify"),
    Relation("Account", "clients", "Account", True, False, "sponsor", "nullify"),
]
# Which relationship's owner comes first in a pair.
FIRST = {"friends": "Person", "players": "Band", "tags": "Book", "clips": "Book"}


def lineage(entity: str) -> list[str]:
    """An entity and those that it inherits from, the entity first."""
    found = [entity]
    while found[-1] in PARENTS:
        found.append(PARENTS[found[-1]])
    return found


def root(entity: str) -> str:
    return lineage(entity)[-1]


def is_kind(entity: str, of: str) -> bool:
    return of in lineage(entity)


OF = {entity: [each for each in RELATIONS if each.owner in lineage(entity)] for entity in CLASSES}
"""The relationships of an entity, inherited ones included."""
NAMED = {(entity, each.name): each for entity in CLASSES for each in OF[entity]}
INVERSE = {(each.owner, each.name): NAMED[each.destination, each.inverse] for each in RELATIONS if each.inverse}
KEYS = {entity: {name: kind for each in lineage(entity) for name, kind in ATTRIBUTES[each].items()}
        for entity in CLASSES}
"""The attributes of an entity, inherited ones included."""
CONCRETE = [entity for entity in CLASSES if entity not in ABSTRACT]


def inverse(relation: Relation) -> Optional[Relation]:
    return INVERSE.get((relation.owner, relation.name))
