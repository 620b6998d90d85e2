"""A program with annotations that uses much of the package; test_typing runs it and has type checkers read it."""

from __future__ import annotations

from datetime import datetime, timezone

import quire


class Author(quire.Model):
    name: quire.Attr[str]
    born: quire.Attr[datetime | None] = quire.attr(default=None)
    books: quire.ToMany[Book] = quire.relation(inverse="author", on_delete="cascade")
    book_count: quire.Attr[int] = quire.derived("books.@count")
    cheap: quire.Fetched[Book] = quire.fetched("author == $FETCH_SOURCE AND price < 5", "title")


class Book(quire.Model):
    title: quire.Attr[str] = quire.attr(searchable=True, min_length=1)
    price: quire.Attr[float] = quire.attr(default=0, minimum=0)
    author: quire.ToOne[Author | None] = quire.relation(inverse="books")
    __indexes__ = [("title",), "price"]
    __unique__ = ["title"]
    __templates__ = {"cheap": "price < $limit"}
    __rules__ = [("price != 13", "No book costs thirteen.")]

    def validate(self) -> None:
        if self.title == "untitled":
            raise quire.ValidationError("It needs a title.", key="title")

    def awake_from_insert(self) -> None:
        self.price += 1


class Novel(Book):
    chapters: quire.Attr[int] = quire.attr(default=1, type=quire.Integer16)


@quire.register_function("twice")
def twice(number: float) -> float:
    return 2 * number


def changed(changes: quire.ChangeSet[Book]) -> list[str]:
    told: list[str] = []
    for section in changes.section_changes:
        told.append(f"{'+' if isinstance(section, quire.InsertSection) else '-'}section {section.name}")
    for change in changes:
        if isinstance(change, quire.Insert):
            told.append(f"+{change.new.section}.{change.new.row}")
        elif isinstance(change, quire.Delete):
            told.append(f"-{change.old.section}.{change.old.row}")
        else:
            told.append(f"{change.old.row}>{change.new.row} {' '.join(change.keys)}")
    return told


def follow(store: quire.Store) -> None:
    told: list[str] = []
    context = store.context
    query = context.query(Book).where((Book.price < 100) & Book.author.to(Author.name).is_not(None))
    query = query.order_by("author.name", Book.price.desc(), Book.title.asc("localized", locale="de"))
    live = query.live(section_by="author.name", aggregates={"total": "sum:(twice(price))"})

    @live.on_change
    def redraw(changes: quire.ChangeSet[Book]) -> None:
        told.extend(changed(changes))

    before = live.snapshot()
    with context.transaction():
        author = context.add(Author(name="Goethe", born=datetime(1749, 8, 28, tzinfo=timezone.utc)))
        faust = context.add(Book(title="Faust", price=5, author=author))
        author.books |= [context.add(Novel(title="Werther", chapters=2))]
    assert told == ["+section Goethe", "+0.0", "+0.1"], told
    assert [book.title for book in author.books] == [book.title for book in sorted(live, key=lambda book: book.id)]
    assert live[0] is live[quire.Path(0, 0)] is live.sections["Goethe"][0] is faust
    assert live.aggregates["total"] == 14 and changed(before.changes_to(live.snapshot())) == told
    assert author.book_count == 2 and [book.title for book in author.cheap] == ["Werther"]
    with live.suspended():
        faust.price = 50
    assert context.template(Book, "cheap", limit=5).one().title == "Werther"
    assert [row["title"] for row in query.dictionaries("title")] and query.values(Book.title, "price")
    assert sum(price or 0 for price in query.columns(Book.price)[Book.price]) == 51
    first = query.first()
    assert first is not None and first.author is author and {first: 1}[faust] == 1
    child = context.create_child()
    held = child.get(Book, faust.id)
    held.price = 13
    try:
        child.save()
        context.save()
    except quire.ValidationError as error:
        assert "thirteen" in error.message, error.message
        context.rollback()
    child.close()
    both = quire.Composite(live, context.query(Author).order_by(Author.name).live())
    assert len(both) == 3 and isinstance(both[2], Author)


def main() -> None:
    with quire.open(":memory:", [Author, Book, Novel]) as store:
        follow(store)


if __name__ == "__main__":
    main()
