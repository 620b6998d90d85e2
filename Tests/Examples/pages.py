"""The blocks of code of the pages that show how Quire is used."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / name).read_text() for name in ("README.md", "bindings/python/README.md")}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.DOTALL | re.MULTILINE)


def program(page):
    """The Python blocks of a page, one after the other."""
    return "\n\n".join(blocks(page, "python"))
