"""A sectioned list of quotations that stays right while they change.

Reads quotations into a new store, shows them by author, edits them and prints what the list reports about each edit:
first unsaved, then with the save. Closes the store, opens it again and compares. Prints what quotes.c prints.

    python3 quotes.py [--file FILE] [--store PATH | --print]

Without --file the quotations are those of Debian's packages fortunes and fortunes-min; without --store the store is a
temporary file. --print shows the quotations as they were read, and makes no store.
"""
from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from typing import Optional

import quire
from fortune_file import FileProblem, Quotation, print_all, read_file, read_packages

FIRST_DATE = datetime(2024, 1, 1, tzinfo=timezone.utc)


class Quote(quire.Model):
    author: quire.Attr[Optional[str]] = quire.attr(default=None)
    contents: quire.Attr[str]
    created_at: quire.Attr[datetime] = quire.attr(name="createdAt")
    __indexes__ = [("author", "created_at")]  # for the order of the list


class Program:
    def __init__(self, path: str) -> None:
        self.path = path
        self.dates = (FIRST_DATE + timedelta(seconds=count) for count in itertools.count())
        self.has_reported = False  # whether the list has reported a change since this was last set

    def run(self, quotations: list[Quotation]) -> bool:
        with quire.open(self.path, [Quote]) as store:
            self.context = store.context
            self.insert_all(quotations)
            self.quotes = self.make_list()
            self.print_counts()
            self.print_largest_sections()
            self.print_first_rows()
            self.section_names = self.quotes.sections.names
            self.quotes.on_change(self.report)
            self.make_edits()
            self.print_counts()
            before = self.rows()

        print("\nClosed, and opened again")
        with quire.open(self.path, [Quote], must_exist=True) as store:
            self.context = store.context
            self.quotes = self.make_list()
            self.print_counts()
            is_same = self.rows() == before
            print("Every row is as it was." if is_same else "The rows differ.")
            return is_same

    def insert_all(self, quotations: list[Quotation]) -> None:
        """Inserts all quotations in one call, column by column, and saves them."""
        authors, contents = zip(*quotations)
        dates = list(itertools.islice(self.dates, len(quotations)))
        self.context.insert_many(Quote, {Quote.author: authors, Quote.contents: contents, Quote.created_at: dates})
        self.context.save()

    def make_list(self) -> quire.Results[Quote]:
        """All quotations by author, then by date, with a section for each author."""
        return self.context.query(Quote).order_by(Quote.author, Quote.created_at).live(section_by=Quote.author)

    def rows(self) -> list[tuple]:
        return [(quote.author, quote.contents, quote.created_at) for quote in self.quotes]

    # What the list shows and reports

    def print_counts(self) -> None:
        print(f"{len(self.quotes)} objects in {len(self.quotes.sections)} sections")

    def largest_sections(self) -> list[tuple[int, quire.Section[Quote]]]:
        """The indexes and sections, the largest first."""
        return sorted(enumerate(self.quotes.sections), key=lambda item: (-len(item[1]), item[0]))

    def print_largest_sections(self) -> None:
        print("\nThe largest sections:")
        for _, section in self.largest_sections()[:10]:
            print(f"{len(section):7}  {shown_name(section.name)}")

    def print_first_rows(self) -> None:
        """Of the second largest section, or the only one: in the packages the largest has no author."""
        index, section = self.largest_sections()[:2][-1]
        print(f"\nThe first rows of section {index}:")
        for quote in section[:5]:
            print(f"  {quote.created_at:%Y-%m-%d %H:%M:%S}  {described(quote)}")

    def report(self, changes: quire.ChangeSet[Quote]) -> None:
        names = self.quotes.sections.names
        for index in reversed(changes.deleted_sections):  # places in the old list
            print(f"    delete section {index} {shown_name(self.section_names[index])}")
        for index in changes.inserted_sections:  # places in the new list
            print(f"    insert section {index} {shown_name(names[index])}")
        for change in changes:
            line = f"    {type(change).__name__.lower()}"
            if change.old:
                line += f" from {change.old.section},{change.old.row}"
            if change.new:
                line += f" to {change.new.section},{change.new.row} {described(self.quotes[change.new])}"
            print(line)
        self.section_names = names
        self.has_reported = True

    def process_and_save(self) -> None:
        """Lets the list see the edits made since the last time, then saves them."""
        self.has_reported = False
        print("  unsaved:")
        self.context.process()
        if not self.has_reported:
            print("    nothing")
        self.has_reported = False
        print("  saved:")
        self.context.save()
        if not self.has_reported:
            print("    nothing more")

    # Editing

    def add_quote(self, author: str | None, contents: str) -> Quote:
        return self.context.add(Quote(author=author, contents=contents, created_at=next(self.dates)))

    def make_edits(self) -> None:
        named = [section.name for _, section in self.largest_sections() if section.name]
        first, second = [*named, None, None][:2]

        print("\nAdd a quotation of an author who has some")
        known = self.add_quote(first, "The list was right before I looked.")
        self.process_and_save()

        print("\nAdd a quotation of a new author")
        new = self.add_quote("Ada Example", "A section of one's own.")
        self.process_and_save()

        print("\nEdit the text of the first")
        known.contents = "The list was right before anybody looked."
        self.process_and_save()

        print("\nChange the author of the first: others of that author remain")
        known.author = second
        self.process_and_save()

        print("\nChange the author of the second: it was the last of that author")
        new.author = first
        self.process_and_save()

        print("\nDelete the last quotation of an author")
        self.delete_last_of_an_author()
        self.process_and_save()

        print("\nMake a hundred changes, of all kinds")
        self.make_mixed_changes(first)

    def delete_last_of_an_author(self) -> None:
        """Deletes the only quotation of the first author with just one."""
        for section in self.quotes.sections:
            if len(section) == 1:
                print(f"  which is {described(section[0])}")
                self.context.delete(section[0])
                return
        print("  but every section has more than one")

    def make_mixed_changes(self, author: str | None) -> None:
        """Up to 75 rows spread over the list get another text, get another author or go, in turn; and 25 come."""
        rows = len(self.quotes)
        edits = min(rows, 75)
        for i, quote in enumerate([self.quotes[i * rows // edits] for i in range(edits)]):
            if i % 3 == 0:
                quote.contents = "Edited together with others."
            elif i % 3 == 1:
                quote.author = f"Example Author {i % 7}"
            else:
                self.context.delete(quote)
        for i in range(25):
            self.add_quote(author if i % 2 else f"Example Author {i}", "Added together with others.")
        print("  saved at once:")
        self.context.save()


def shown_name(author: str | None) -> str:
    return author or "(no author)"


def described(quote: Quote) -> str:
    """A quotation as its author and the first line of its text, shortened, with control characters as spaces."""
    line = quote.contents.lstrip(" \t\n").split("\n")[0][:48]
    return f"{shown_name(quote.author)}: " + "".join(" " if c < " " or c == "\x7f" else c for c in line)


def main() -> int:
    parser = argparse.ArgumentParser(prog="quotes", allow_abbrev=False)
    parser.add_argument("--file", help="quotations, with a line of one %% after each")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--store", help="a new file for the store")
    where.add_argument("--print", action="store_true", help="only print the quotations as they were read")
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stderr.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        if options.store and os.path.lexists(options.store):
            raise FileProblem(f"{options.store} exists already; name a new file for the store.")
        quotations = read_file(options.file) if options.file is not None else read_packages()
        if options.print:
            print_all(quotations)
            return 0
        with tempfile.TemporaryDirectory() as folder:
            return 0 if Program(options.store or f"{folder}/quotes.sqlite").run(quotations) else 1
    except (FileProblem, quire.Error) as problem:
        print(f"quotes: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
