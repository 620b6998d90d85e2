"""Makes names of the headers and of the package links, where they stand in code within a sentence."""
import os
import pathlib
import re

from docutils import nodes
from sphinx import addnodes

import docstrings

SURFACE = pathlib.Path(os.environ["QUIRE_ROOT"], "Tests/ABI/quire.abi").read_text(encoding="utf-8")
HEADERS = set(re.findall(r"^function .*?\b(quire_\w+)\(", SURFACE, re.MULTILINE))


def link(app, doctree):
    """Code that is such a name alone, and no part of a link already."""
    page = app.env.current_document.docname
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext()
        if isinstance(literal.parent, (nodes.reference, addnodes.pending_xref, nodes.title)):
            continue
        if name in HEADERS:
            domain, kind = "c", "func"
        elif name.startswith("quire.") and name[len("quire."):] in docstrings.KNOWN:
            domain, kind = "py", "obj"
        else:
            continue
        found = addnodes.pending_xref(
            "", literal.deepcopy(), refdomain=domain, reftype=kind, reftarget=name, refexplicit=True, refdoc=page)
        literal.replace_self(found)


def setup(app):
    app.connect("doctree-read", link)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
