"""What a type checker makes of the package; checked by test_typing, never run."""

from __future__ import annotations

import quire


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany[Book] = quire.relation(inverse="author", on_delete="cascade")


class Book(quire.Model):
    title: quire.Attr[str]
    author: quire.ToOne[Author | None] = quire.relation(inverse="books")
    price: quire.Attr[float] = quire.attr(default=0.0)
    note: quire.Attr[str | None] = quire.attr(default=None)


def use(context: quire.Context) -> None:
    author = context.add(Author(name="x"))
    book = Book(title="t", author=author, price=5)
    reveal_type(author)  # R: typed_use.Author
    reveal_type(book.title)  # R: str
    reveal_type(book.note)  # R: str | None
    reveal_type(book.author)  # R: typed_use.Author | None
    reveal_type(author.books)  # R: quire.related.Related[typed_use.Book]
    reveal_type(Book.price)  # R: quire.properties.Attr[float]
    book.price = 3
    author.books = [book]
    book.price = "x"  # E: assignment
    Book(titel="x")  # E: call-arg
    Book(title=1)  # E: arg-type
    Book()  # E: call-arg
    book.nothing = 1  # E: attr-defined
    reveal_type(Book.price < 5)  # R: quire.predicate.Predicate
    reveal_type(5 < Book.price)  # R: quire.predicate.Predicate
    reveal_type(Book.title == "t")  # R: quire.predicate.Predicate
    reveal_type((Book.price < 5) & ~Book.title.contains("x", "cd"))  # R: quire.predicate.Predicate
    reveal_type(Book.price * 2 + 1)  # R: quire.expression.Expression
    reveal_type(Author.books.any(Book.price) < 5)  # R: quire.predicate.Predicate
    reveal_type(Book.author.to(Author.name))  # R: quire.expression.Expression
    reveal_type(Author.books.subquery(lambda b: b.to(Book.price) < 5).count > 2)  # R: quire.predicate.Predicate
    reveal_type(quire.Predicate("a == 1").matches({"a": 1}, x=2))  # R: bool
    (Book.price < 5) & 5  # E: operator
    Book.title.contains("x", 5)  # E: arg-type
    query = context.query(Book).where("price < %f", 5).order_by(Book.title, Book.price.desc(), "-note")
    reveal_type(query.first())  # R: typed_use.Book | None
    reveal_type(query.all())  # R: list[typed_use.Book]
    reveal_type(context.get(Book, 1, None))  # R: typed_use.Book | None
    reveal_type(query.update(price=3, note=None))  # R: int
    reveal_type(query.update({Book.price: 3}, returning_ids=True))  # R: array.array[int]
    reveal_type(query.delete(merge=False))  # R: int
    reveal_type(context.insert_rows(Book, {"title": ["x"]}))  # R: array.array[int]
    query.delete(merge=1)  # E: call-overload
    live = query.live(section_by=Book.author, aggregates={"total": "sum:(price)"})
    reveal_type(live.aggregates["total"])  # R: Any
    reveal_type(live[quire.Path(0, 1)])  # R: typed_use.Book
    reveal_type(live.sections["x"][0])  # R: typed_use.Book

    @live.on_change
    def changed(change: quire.ChangeSet[Book]) -> None:
        for each in change:
            reveal_type(each.object)  # R: typed_use.Book | None
        for section in change.section_changes:
            reveal_type(section.name)  # R: str


@quire.register_function("half")
def half(number: float) -> float:
    return number / 2


reveal_type(half)  # R: def (number: float) -> float
