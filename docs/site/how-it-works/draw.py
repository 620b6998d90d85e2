#!/usr/bin/env python3
"""Draws the pictures of these pages, with colours for light and for dark screens.

    draw.py [FOLDER]    into the folder of the pages, or another
"""
import pathlib
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
STYLE = """
svg { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }
.page { fill: #fdfbf8; } .text { fill: #2b2623; } .quiet { fill: #6d635c; font-size: 12px; }
.code { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 12px; }
.title { font-weight: 600; } .box { stroke-width: 1.3; }
.plain { fill: #f3ece5; stroke: #b9a898; } .main { fill: #f7ddcb; stroke: #b4683d; }
.file { fill: #dde9f0; stroke: #5d8aa3; } .good { fill: #dfecd8; stroke: #6d9a58; }
.line { stroke: #6d635c; fill: none; stroke-width: 1.4; } .dashed { stroke-dasharray: 5 4; } .head { fill: #6d635c; }
@media (prefers-color-scheme: dark) {
  .page { fill: #1f1c1a; } .text { fill: #ece4dc; } .quiet { fill: #b0a499; }
  .plain { fill: #2e2926; stroke: #6d6159; } .main { fill: #4b2f20; stroke: #c98458; }
  .file { fill: #20333e; stroke: #6c9db8; } .good { fill: #26351f; stroke: #7fae69; }
  .line { stroke: #b0a499; } .head { fill: #b0a499; }
}
"""


class Picture:
    """Boxes, lines and words on a page of its own colour, so that both read well wherever it is shown."""

    def __init__(self, name: str, title: str, width: int, height: int) -> None:
        self.name = name
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path class="head" d="M0 0L10 5L0 10z"/></marker></defs>',
            f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        ]

    def words(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        self.parts.append(f'<text class="text {kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, title: str, *lines: str, kind: str = "plain",
            words: str = "quiet") -> None:
        """A box with a title and lines below it, in its middle."""
        self.parts.append(
            f'<rect class="box {kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>')
        top = y + (height - 17 * (len(lines) + bool(title))) / 2 + 13
        if title:
            self.words(x + width / 2, top, title, "title", "middle")
            top += 17
        for number, line in enumerate(lines):
            self.words(x + width / 2, top + 17 * number, line, words, "middle")

    def arrow(self, *points: tuple[float, float], label: str = "", at: tuple[float, float] = (0, 0),
              anchor: str = "start", dashed: bool = False) -> None:
        """A line along these points, with a head at its end."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path class="line{" dashed" if dashed else ""}" d="{path}" marker-end="url(#head)"/>')
        if label:
            self.words(*at, label, "quiet", anchor)

    def table(self, x: float, y: float, widths: list[int], rows: list[list[str]], kind: str = "file") -> None:
        """Rows of cells, the first of which are names."""
        for number, row in enumerate(rows):
            left = x
            for width, cell in zip(widths, row):
                top = y + 24 * number
                style = kind if number == 0 else "plain"
                self.parts.append(f'<rect class="box {style}" x="{left:g}" y="{top:g}" width="{width}" height="24"/>')
                self.words(left + 6, top + 16, cell, "code title" if number == 0 else "code")
                left += width

    def save(self, folder: pathlib.Path) -> None:
        (folder / f"{self.name}.svg").write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")


def fetch() -> Picture:
    picture = Picture("fetch", "From a condition to objects", 760, 420)
    picture.box(20, 20, 230, 56, "text or keys", "pages > 300 AND author.name …")
    picture.box(290, 20, 200, 56, "a tree", "comparisons, AND, key paths")
    picture.box(520, 20, 220, 56, "a bound query", "properties in place of names", kind="main")
    picture.arrow((250, 48), (288, 48))
    picture.arrow((490, 48), (518, 48))
    picture.box(60, 150, 290, 60, "what is saved", "one SQL statement, without the rows", "that have unsaved changes",
                kind="file")
    picture.box(410, 150, 290, 60, "what is unsaved", "the same tree, evaluated in memory", "for each changed object",
                kind="main")
    picture.arrow((590, 76), (590, 112), (205, 112), (205, 148), label="columns, joins, subqueries", at=(215, 106))
    picture.arrow((650, 76), (650, 148), label="an evaluator", at=(658, 118))
    picture.box(235, 270, 290, 50, "merged by the sort keys", "then the limit and the offset", kind="good")
    picture.arrow((205, 210), (205, 240), (320, 240), (320, 268))
    picture.arrow((555, 210), (555, 240), (440, 240), (440, 268))
    picture.box(235, 358, 290, 44, "ids, in order", "objects are made when they are used", kind="good")
    picture.arrow((380, 320), (380, 356))
    return picture


def objects() -> Picture:
    picture = Picture("objects", "The table of objects of a context", 760, 330)
    for x, name in ((20, "context of the view"), (400, "context of an import")):
        picture.parts.append(f'<rect class="box plain" x="{x}" y="20" width="340" height="190" rx="6"/>')
        picture.words(x + 14, 44, name, "title")
    picture.box(40, 64, 90, 56, "1", "clean", kind="good")
    picture.box(148, 64, 90, 56, "2", "a fault")
    picture.box(256, 64, 90, 56, "3", "changed", kind="main")
    picture.words(85, 142, "held by the", "quiet", "middle")
    picture.words(85, 158, "program alone", "quiet", "middle")
    picture.words(193, 142, "no values yet", "quiet", "middle")
    picture.words(301, 142, "held by the", "quiet", "middle")
    picture.words(301, 158, "context, too", "quiet", "middle")
    picture.box(420, 64, 90, 56, "3", "clean", kind="good")
    picture.box(528, 64, 90, 56, "7", "new", kind="main")
    picture.words(465, 142, "another object", "quiet", "middle")
    picture.words(465, 158, "of the same row", "quiet", "middle")
    picture.words(34, 196, "one object for each id within a context", "quiet")
    picture.words(414, 196, "no object belongs to two contexts", "quiet")
    picture.box(20, 262, 720, 50, "the store", "one connection, its pages in memory are what all contexts share",
                kind="file")
    picture.arrow((193, 260), (193, 212), label="the first use of a fault reads its row", at=(202, 240))
    picture.arrow((470, 212), (470, 260), label="a save writes what is changed", at=(479, 240))
    return picture


def lists() -> Picture:
    picture = Picture("list", "From a change to a handler", 760, 410)
    picture.box(20, 20, 200, 60, "changes", "objects, and the properties", "that differ", kind="main")
    picture.box(280, 20, 200, 60, "which rows?", "changed objects, and rows that", "lead to one by a key path")
    picture.box(540, 20, 200, 60, "in or out, and where", "the condition, then the", "section and sort key")
    picture.arrow((220, 50), (278, 50))
    picture.arrow((480, 50), (538, 50))
    picture.box(20, 140, 460, 146, "")
    picture.words(34, 162, "the index: ids and sort keys in blocks, below a tree that counts", "quiet")
    picture.box(200, 174, 100, 26, "", "7 rows", words="code")
    for x, name, count in ((40, "Austen", 2), (190, "Goethe", 3), (340, "Hugo", 2)):
        picture.box(x, 216, 120, 26, "", f"{name}: {count}", words="code", kind="good")
        picture.arrow((250, 200), (x + 60, 214))
        for row in range(count):
            picture.box(x + 38 * row + 4, 252, 34, 24, "", str(x // 10 + row), words="code")
    picture.arrow((640, 80), (640, 213), (482, 213), label="cost: the logarithm", at=(630, 130), anchor="end")
    picture.words(630, 147, "of the number of rows", "quiet", "end")
    picture.box(20, 326, 460, 62, "a change set", "which rows came, went, moved or show other values,",
                "and which sections; unchanged rows never move", kind="good")
    picture.arrow((250, 286), (250, 324))
    picture.box(540, 326, 200, 62, "handlers", "called before the call", "that processed returns", kind="main")
    picture.arrow((480, 357), (538, 357))
    return picture


def saving() -> Picture:
    picture = Picture("save", "A save, and how other contexts take it over", 760, 440)
    for number, (title, *lines) in enumerate([
        ("process", "delete rules, lists"), ("hooks", "will_save, until nothing changes"),
        ("validation", "all rules, one error"), ("transaction", "rows whose version is the one read"),
    ]):
        picture.box(20, 20 + 86 * number, 300, 54, title, *lines, kind="file" if title == "transaction" else "plain")
        if number:
            picture.arrow((170, 20 + 86 * number - 32), (170, 20 + 86 * number - 2))
    picture.box(410, 192, 330, 54, "settling", "the merge policy decides, with nothing locked")
    picture.arrow((320, 292), (575, 292), (575, 248), label="another version is there", at=(340, 284))
    picture.arrow((410, 230), (322, 230), label="again", at=(372, 244), anchor="middle")
    picture.box(20, 368, 300, 54, "done", "ids, did_save, handlers", kind="good")
    picture.arrow((170, 332), (170, 366))
    picture.box(410, 320, 330, 44, "inbox of each other context", "its descriptor polls readable")
    picture.arrow((320, 320), (365, 320), (365, 342), (408, 342))
    picture.box(410, 384, 330, 44, "merge", "new values, with unsaved ones on top; lists report", kind="main")
    picture.arrow((575, 364), (575, 382))
    picture.box(410, 20, 330, 84, "a failure", "nothing was written,", "and the changes stay pending")
    picture.arrow((320, 208), (365, 208), (365, 62), (408, 62), label="a rule is broken", at=(374, 130))
    picture.arrow((575, 192), (575, 106), label="no policy decides", at=(583, 154))
    return picture


def file() -> Picture:
    picture = Picture("file", "Two classes in a file", 760, 350)
    picture.words(20, 34, "ZAUTHOR", "title")
    picture.table(20, 44, [50, 58, 58, 100], [
        ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"], ["1", "1", "1", "Goethe"], ["2", "1", "3", "Austen"]])
    picture.words(320, 34, "ZBOOK", "title")
    picture.table(320, 44, [50, 58, 58, 80, 74, 100], [
        ["Z_PK", "Z_ENT", "Z_OPT", "ZAUTHOR", "ZPAGES", "ZTITLE"], ["1", "2", "1", "1", "330", "Faust"],
        ["2", "2", "1", "1", "90", "Stella"], ["3", "2", "2", "2", "410", "Emma"]])
    picture.arrow((525, 142), (525, 190), (45, 190), (45, 118), label="the author's key", at=(250, 184))
    picture.words(20, 234, "Z_PRIMARYKEY", "title")
    picture.table(20, 244, [58, 80, 70, 62], [
        ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], ["1", "Author", "0", "2"], ["2", "Book", "0", "3"]])
    picture.words(330, 234, "Z_METADATA", "title")
    picture.table(330, 244, [90, 80, 90], [["Z_VERSION", "Z_UUID", "Z_PLIST"], ["1", "6F2A…", "hashes"]])
    picture.words(610, 234, "Z_MODELCACHE", "title")
    picture.table(610, 244, [120], [["Z_CONTENT"], ["the model"]])
    picture.words(
        20, 338, "Z_PK: the key. Z_ENT: the number of the class. Z_OPT: the version, one more with each save.", "quiet")
    return picture


PICTURES = (fetch, objects, lists, saving, file)


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for draw in PICTURES:
        draw().save(folder)


if __name__ == "__main__":
    main()
