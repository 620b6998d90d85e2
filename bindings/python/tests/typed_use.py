"""What a type checker makes of the package; checked by test_typing, never run."""

from __future__ import annotations

import enum
from datetime import date
from typing import TYPE_CHECKING, Generic, TypeVar

import quire


class Kind(enum.Enum):
    NOVEL = "novel"
    PLAY = "play"


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany[Book] = quire.relation(inverse="author", on_delete="cascade")
    book_count: quire.Attr[int] = quire.derived("books.@count")


class Book(quire.Model):
    title: quire.Attr[str]
    author: quire.ToOne[Author | None] = quire.relation(inverse="books")
    price: quire.Attr[float] = quire.attr(default=0.0)
    note: quire.Attr[str | None] = quire.attr(default=None)
    thicker: quire.Fetched[Book] = quire.fetched("price > $FETCH_SOURCE.price")
    cover: quire.Attr[bytes | None] = quire.attr(default=None, external=True, preserved=True, hash_modifier="2")
    kind: quire.Attr[Kind] = quire.attr(as_=Kind, default=Kind.NOVEL)
    day: quire.Attr[date | None] = quire.attr(default=None)
    pair: quire.Attr[complex] = quire.attr(as_=(str, complex), default=1j, ordered=True)
    __indexes__ = {"cheap": quire.Index("price", where="price < 5"), "title": "title", "both": ("title", "price")}
    __templates__ = {"dear": quire.Template("price > $least", "-price", limit=3), "all": quire.Template(None)}
    __hash_modifier__ = "3"


T = TypeVar("T")


class Noted:
    note: quire.Attr[str] = quire.attr(default="m")
    book: quire.ToOne[Book | None] = quire.relation()
    books: quire.ToMany[Book] = quire.relation()

    def shout(self) -> str:
        self.note = self.note + "!"
        return self.note.upper()

    def reset(self) -> None:
        self.note = 5  # E


class Valued(Generic[T]):
    value: quire.Attr[T]


if TYPE_CHECKING:
    Base = quire.Model
else:
    Base = object


class Dated(Base):
    """Known as a model to type checkers, whose constructors then take what it declares."""

    day: quire.Attr[date]
    place: quire.Attr[str] = quire.attr(default="")


class Letter(Dated, Noted, Valued[int], quire.Model):
    text: quire.Attr[str]


def mixed(context: quire.Context) -> None:
    letter = context.add(Letter(text="x", day=date(2025, 1, 1)))
    reveal_type(letter)  # R: Letter
    reveal_type(letter.note)  # R: str
    reveal_type(Letter.note)  # R: Attr[str]
    reveal_type(Letter.note == "x")  # R: Predicate
    reveal_type(letter.book)  # R: Book | None
    reveal_type(letter.books)  # R: Related[Book]
    reveal_type(letter.value)  # R: int
    reveal_type(letter.day)  # R: date
    reveal_type(letter.shout())  # R: str
    letter.note = "y"
    letter.note = None  # E
    letter.value = "y"  # E
    Letter(text="x", day=date(2025, 1, 1), place=5)  # E
    Letter(text="x")  # E


def use(context: quire.Context) -> None:
    author = context.add(Author(name="x"))
    book = Book(title="t", author=author, price=5)
    reveal_type(author)  # R: Author
    reveal_type(book.title)  # R: str
    reveal_type(book.thicker)  # R: list[Book]
    reveal_type(book.note)  # R: str | None
    reveal_type(book.author)  # R: Author | None
    reveal_type(author.books)  # R: Related[Book]
    reveal_type(Book.price)  # R: Attr[float]
    reveal_type(context.store.model.entities["Book"].indexes)  # R: list[IndexDescription]
    reveal_type(context.store.model.templates["all"].limit)  # R: int | None
    reveal_type(quire.class_source(context.store.model))  # R: str
    len(context.query(Book))  # E
    book.price = 3
    author.books = [book]
    author.books |= {book, book}
    author.books -= author.books
    reveal_type(author.books | [book])  # R: set[Book]
    reveal_type({author: book})  # R: dict[Author, Book]
    reveal_type(book.kind)  # R: Kind
    reveal_type(book.day)  # R: date | None
    reveal_type(book.pair)  # R: complex
    reveal_type(Book.kind == Kind.PLAY)  # R: Predicate
    book.kind = "novel"  # E
    book.price = "x"  # E
    Book(titel="x")  # E
    Book(title=1)  # E
    Book()  # E
    Book(title="t", thicker=[book])  # E
    Author(name="x", book_count=1)  # E
    Author(name="x", books=[author])  # E
    book.thicker = [book]  # E
    book.nothing = 1  # E
    reveal_type(Book.price < 5)  # R: Predicate
    reveal_type(5 < Book.price)  # R: Predicate
    reveal_type(Book.title == "t")  # R: Predicate
    reveal_type((Book.price < 5) & ~Book.title.contains("x", "cd"))  # R: Predicate
    reveal_type(Book.price * 2 + 1)  # R: Expression
    reveal_type(Author.books.any(Book.price) < 5)  # R: Predicate
    reveal_type(Book.author.to(Author.name))  # R: Expression
    reveal_type(Author.books.subquery(lambda b: b.to(Book.price) < 5).count > 2)  # R: Predicate
    reveal_type(quire.Predicate("a == 1").matches({"a": 1}, x=2))  # R: bool
    (Book.price < 5) & 5  # E
    Book.title.contains("x", 5)  # E
    query = context.query(Book).where("price < %f", 5).order_by(Book.title, Book.price.desc(), "-note")
    reveal_type(query.first())  # R: Book | None
    reveal_type(query.all())  # R: list[Book]
    reveal_type(context.get(Book, 1, None))  # R: Book | None
    reveal_type(query.update(price=3, note=None))  # R: int
    reveal_type(query.update({Book.price: 3}, returning_ids=True))  # R: array[int]
    reveal_type(query.delete(merge=False))  # R: int
    reveal_type(context.insert_rows(Book, {"title": ["x"]}))  # R: array[int]
    query.delete(merge=1)  # E
    reveal_type(context.moment)  # R: Moment
    reveal_type(context.is_pinned)  # R: bool
    reveal_type(context.has_lost_moment)  # R: bool
    context.pin(context.moment)
    context.pin(5)  # E
    with context.pinned():
        reveal_type(context.store.wal_info.size)  # R: int
    reveal_type(context.store.compact())  # R: int
    context.store.checkpoint()
    reveal_type(len(context.store.change_journal))  # R: int
    found = context.store.history(after=context.store.history_token, entity=Book, author="me", limit=5)
    reveal_type(found.token)  # R: bytes
    reveal_type(found[0].number)  # R: int
    for transaction in found:
        reveal_type(transaction.changes[0].entity)  # R: str | None
    reveal_type(context.store.purge_history(before=found.token))  # R: int
    reveal_type(context.author)  # R: str | None
    context.name = 5  # E
    live = query.live(section_by=Book.author, aggregates={"total": "sum:(price)"})
    live.set_query(query, wait=False)
    live.set_query(query, wait="no")  # E
    reveal_type(live.awaits_query)  # R: bool
    reveal_type(live.aggregates["total"])  # R: Any
    reveal_type(live[quire.Path(0, 1)])  # R: Book
    reveal_type(live.sections["x"][0])  # R: Book

    @live.on_change
    def changed(change: quire.ChangeSet[Book]) -> None:
        for each in change:
            reveal_type(each.object)  # R: Book | None
            if isinstance(each, quire.Insert):
                reveal_type(each)  # R: Insert[Book]
                reveal_type(each.new)  # R: Path
                reveal_type(each.new_flat)  # R: int
                reveal_type(each.old)  # R: None
            elif isinstance(each, quire.Delete):
                reveal_type(each)  # R: Delete[Book]
                reveal_type(each.old)  # R: Path
                reveal_type(each.old_flat)  # R: int
                reveal_type(each.new)  # R: None
            else:
                reveal_type(each)  # R: Move[Book] | Update[Book]
                reveal_type(each.old)  # R: Path
                reveal_type(each.new.row + each.new_flat)  # R: int
        reveal_type(change.contents_may_differ)  # R: bool
        for section in change.section_changes:
            reveal_type(section.name)  # R: str
            if not isinstance(section, quire.InsertSection):
                reveal_type(section)  # R: DeleteSection


def added(context: quire.Context, table: quire.TableLike) -> quire.Columns:
    context.insert_many(Book, table)
    return context.query(Book).columns(Book.title)


def batches(columns: quire.Columns) -> quire.RecordBatches:
    return columns.batches(1000)


def shown(change: quire.RowChange[Book]) -> int:
    if isinstance(change, quire.Delete):
        return 0
    return change.new.row


def place(change: quire.Change[Book]) -> quire.Path:
    return change.new  # E


@quire.register_function("half")
def half(number: float) -> float:
    return number / 2


reveal_type(half)  # R: (number: float) -> float


def converted() -> None:
    with quire.open("a.xml", [Author, Book], type="xml") as store:
        reveal_type(store)  # R: Store
    quire.convert("a.xml", "b.sqlite", [Author, Book], type="sqlite")
    quire.convert("a.xml", "b.sqlite", type="csv")  # E


def migrated() -> None:
    def did_migrate(context: quire.Context) -> None:
        reveal_type(context.store)  # R: Store

    stage = quire.MigrationStage([Author, Book], did_migrate=did_migrate)
    reveal_type(quire.migrate("a.sqlite", stages=[stage]))  # R: list[MigrationStep]
    quire.MigrationStage([Author], will_migrate=1)  # E
