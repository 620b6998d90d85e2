"""Writes a quotation to the file that it is given, with the library that it is given the path of, and no other."""
import importlib.metadata
import os
import sys

import quire


class Quote(quire.Model):
    contents: quire.Attr[str]


def main(path: str, library: str) -> None:
    with open("/proc/self/maps") as maps:
        (loaded,) = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "libquire.so" in line}
    if not os.path.samefile(loaded, library):
        sys.exit(f"{loaded} was loaded, and not {library}.")
    if importlib.metadata.version("quire") != quire.__version__:
        sys.exit(f"The package calls itself {importlib.metadata.version('quire')}, and its code {quire.__version__}.")
    with quire.open(path, [Quote]) as store:
        quotes = store.context.query(Quote).live()
        changes = []
        quotes.on_change(changes.extend)
        quote = store.context.add(Quote(contents="More light!"))
        store.context.save()
        if [change.object for change in changes] != [quote] or quotes[-1] is not quote:
            sys.exit(f"The list did not tell of the quotation, but of {changes}.")
        print("saved", quote.uri)


main(*sys.argv[1:])
