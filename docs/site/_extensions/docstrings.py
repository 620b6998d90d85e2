"""Has autodoc read the docstrings of the package, which are written for `help`: code in single backticks, examples and
tables as in Markdown. Public names in backticks become links.
"""
import inspect
import re

from docutils import nodes
from sphinx import addnodes

import quire

CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"(?:quire\.)?([A-Za-z]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?$", re.DOTALL)
# The classes that programs make by calling them. Others come from methods and functions, which have the parameters.
CALLED = {"Aggregates", "Cancellation", "Composite", "Expression", "Index", "Model", "Predicate", "Template"}
# Types that have a name in signatures and none in `quire`: the index of the reference describes them.
WORDS = {"KeyPath", "SectionKey", "TextOrder", "Decide", "Handler"}
FIELDS = re.compile(r"Alias for field number \d+$")


def known_names() -> set[str]:
    """Public names, and the members of public classes that have a text of their own."""
    names = {
        name for name in quire._MODULES if not name.startswith("_") and not inspect.ismodule(getattr(quire, name))}
    for name in list(names):
        value = getattr(quire, name)
        if isinstance(value, type):
            names |= {f"{name}.{member}" for member, found in inspect.getmembers(value)
                      if not member.startswith("_") and (callable(found) or inspect.isdatadescriptor(found))
                      and inspect.getdoc(found) and documented(value, member)}
    return names


def documented(cls: type, member: str) -> bool:
    """Whether a member is one of the package, and not of a class of Python that it descends from."""
    owner = next((base for base in cls.__mro__ if member in vars(base)), None)
    return owner is not None and owner.__module__.partition(".")[0] == "quire"


KNOWN = known_names()


def linked(code: str, name: str) -> str:
    """Code in a sentence, as a link where it is a public name."""
    path = PATH.match(code)
    if path:
        inner = name.split(".")[1:2]
        for candidate in (path[1], ".".join([*inner, path[1]])):
            if candidate in KNOWN and candidate != ".".join(name.split(".")[1:]):
                return f":py:obj:`{code.replace('<', '')} <quire.{candidate}>`"
    return f"``{code}``"


def sentence(text: str, name: str) -> str:
    """A paragraph of a docstring."""
    parts = CODE.split(text)
    written = ""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            part = re.sub(r"([\\*|])", r"\\\1", part)
            written += re.sub(r"_(?=\W|$)", r"\\_", part)
        else:
            if written and re.search(r"[\w`]$", written):
                written += "\\ "
            written += linked(part, name)
            if number + 1 < len(parts) and re.match(r"\w", parts[number + 1]):
                written += "\\ "
    return written


def table(lines: list[str], name: str) -> list[str]:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    written = [".. list-table::", "   :header-rows: 1", ""]
    for row in [rows[0], *rows[2:]]:
        written += [f"   {'* -' if number == 0 else '  -'} {sentence(cell, name)}" for number, cell in enumerate(row)]
    return written


def is_python(text: str) -> bool:
    try:
        compile(inspect.cleandoc(text), "", "exec")
    except SyntaxError:
        return False
    return True


def process(app, what, name, value, options, lines):
    """Rewrites a docstring, which is a list of lines."""
    text = "\n".join(lines).strip("\n")
    if FIELDS.match(text):
        lines[:] = []
        return
    written: list[str] = []
    for chunk in re.split(r"\n\s*\n", text):
        each = chunk.split("\n")
        if all(line.startswith("    ") for line in each) and chunk.strip():
            if written[-2:-1] and written[-2].startswith("   ") and "code-block" in "".join(written[-40:]):
                written += [f"   {line[4:]}" for line in each] + [""]
                continue
            written += [f".. code-block:: {'python' if is_python(chunk) else 'text'}", ""]
            written += [f"   {line[4:]}" for line in each]
        elif all(line.startswith("|") for line in each):
            written += table(each, name)
        else:
            written += sentence(chunk, name).split("\n")
        written.append("")
    lines[:] = written


def signature(app, what, name, value, options, arguments, result):
    """No parameters for a class that programs do not call."""
    if what in ("class", "exception") and name.rpartition(".")[2] not in CALLED:
        return "", None
    return arguments, result


def skip(app, what, name, value, skipped, options):
    """Leaves out what a class has from Python."""
    module = getattr(inspect.unwrap(getattr(value, "fget", None) or value), "__module__", None)
    if isinstance(module, str) and module.partition(".")[0] not in ("quire", "enum"):
        return True
    return None


def resolve(app, doctree):
    """Types in signatures are links where they are public names or words of the reference, and plain text otherwise."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") != "py" or link.get("reftype") not in ("class", "exc"):
            continue
        target = link["reftarget"]
        last = target.rpartition(".")[2]
        if target.startswith("quire.") and target[len("quire."):] in KNOWN or target in KNOWN:
            if "." not in target:
                link["reftarget"] = f"quire.{target}"
            continue
        if last in WORDS:
            word = addnodes.pending_xref(
                "", nodes.literal(text=last), refdomain="std", reftype="ref", reftarget=f"type-{last.lower()}",
                refexplicit=True, refdoc=app.env.current_document.docname, refwarn=True)
            link.replace_self(word)
        else:
            link.replace_self(nodes.Text(last))


def setup(app):
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", resolve)
    app.connect("autodoc-process-docstring", process)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
