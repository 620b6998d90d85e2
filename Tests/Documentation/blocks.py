"""The blocks of code of a page, in order.

A page is Markdown as MyST reads it. A block is a fence, and its first word is its language. `{code-block} LANGUAGE`
with `:caption: FILE` is the text of that file. CONTRIBUTING.md has the rules.
"""
import dataclasses
import pathlib
import re
import typing

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/site"
# What is run, and what a block before it is compared with.
RUN = ("python", "pycon", "c", "console", "conditions")
SHOWN = "output"
MARK = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->\s*$", re.DOTALL)
OPTION = re.compile(r":([\w-]+):\s*(.*)$")


@dataclasses.dataclass
class Block:
    """A fence of a page."""

    page: pathlib.Path
    line: int
    """The line of the first line of its text, from 1."""
    language: str
    text: str
    caption: typing.Optional[str] = None
    """The file that the text belongs to."""
    reason: typing.Optional[str] = None
    """Why it is not run."""
    output: typing.Optional["Block"] = None
    """What the page shows as its output."""
    end: int = 0
    """The line after the last line of its text."""

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Misplaced(Exception):
    """A page has a block that cannot be one."""


def pages() -> list[pathlib.Path]:
    """All pages with code that is run."""
    return [ROOT / "README.md", *sorted(SITE.rglob("[!_]*.md"))]


def blocks(page: pathlib.Path) -> list[Block]:
    """The blocks of a page and of what it includes, each with its output."""
    found: list[Block] = []
    for block in _fences(page, page.read_text(encoding="utf-8"), 0):
        if block.language != SHOWN:
            found.append(block)
        elif not found or found[-1].output or found[-1].reason or found[-1].caption:
            raise Misplaced(f"{block.place}: this output follows no block that is run.")
        else:
            found[-1].output = block
    return found


def _fences(page: pathlib.Path, text: str, offset: int) -> typing.Iterator[Block]:
    reason = None
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            mark = MARK.search(token.content)
            reason = mark[1] if mark else None
            continue
        if token.type == "code_block":
            assert token.map
            raise Misplaced(f"{page.relative_to(ROOT)}:{offset + token.map[0] + 1}: code needs a fence and a language.")
        if token.type == "fence":
            assert token.map
            yield from _fence(page, token.info.strip(), token.content, offset + token.map[0] + 1, reason)
        if token.type != "paragraph_open" or token.level == 0:
            reason = None


def _fence(page: pathlib.Path, info: str, text: str, line: int, reason: typing.Optional[str]) -> typing.Iterator[Block]:
    directive = re.match(r"\{([\w:-]+)\}\s*(.*)$", info)
    options: dict[str, str] = {}
    language = info.split(" ")[0]
    if directive:
        language, argument = directive[1], directive[2]
        if language == "include":
            included = page.parent / argument
            yield from _fences(included, included.read_text(encoding="utf-8"), 0)
            return
        lines = text.splitlines(keepends=True)
        while lines and (option := OPTION.match(lines[0])):
            options[option[1]] = option[2]
            lines, line = lines[1:], line + 1
        while options and lines and not lines[0].strip():
            lines, line = lines[1:], line + 1
        text = "".join(lines)
        if language == "code-block":
            language = argument
        elif language != "conditions":
            # A note, a picture: what is in it is Markdown again.
            yield from _fences(page, text, line - 1)
            return
    if language not in (*RUN, SHOWN) and not reason:
        known = ", ".join((*RUN, SHOWN))
        raise Misplaced(
            f"{page.relative_to(ROOT)}:{line}: {language or 'a block without a language'} is not run. "
            f"Run are {known}; before another block stands <!-- not run: REASON -->.")
    yield Block(
        page, line + 1, language, text, options.get("caption"), reason, end=line + 1 + text.count("\n"))
