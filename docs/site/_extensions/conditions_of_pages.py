"""The directive `conditions`: a table of predicates, in text and in Python, with what each finds."""
import os
import pathlib
import sys

from docutils import nodes
from docutils.parsers.rst import Directive

sys.path.append(str(pathlib.Path(os.environ["QUIRE_ROOT"], "Tests/Documentation")))
from condition_text import entries  # noqa: E402


class Conditions(Directive):
    """A block of conditions, as Tests/Documentation/condition_text.py reads it."""

    has_content = True

    def run(self):
        table = nodes.table(classes=["conditions"])
        group = nodes.tgroup(cols=2)
        table += group
        group += [nodes.colspec(colwidth=62), nodes.colspec(colwidth=38)]
        head = nodes.thead()
        head += row([nodes.paragraph(text="condition")], [nodes.paragraph(text="finds")])
        body = nodes.tbody()
        group += [head, body]
        for _, condition, python, rows in entries("\n".join(self.content)):
            lines = [nodes.paragraph("", "", nodes.literal(text=condition, classes=["text"]))]
            lines += [nodes.paragraph("", "", nodes.literal(text=line)) for line in python]
            body += row(lines, [nodes.paragraph(text=rows)])
        return [table]


def row(*cells):
    made = nodes.row()
    for cell in cells:
        entry = nodes.entry()
        entry += cell
        made += entry
    return made


def setup(app):
    app.add_directive("conditions", Conditions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
