#!/usr/bin/env python3
"""Has Doxygen read the headers, as docs/Doxyfile says: no warning, and a first sentence for every function and type.

Then it has Doxygen read copies with mistakes, each of which must be found.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of each a text of a header, what it becomes, and what Doxygen has to say.
MISTAKES = [
    ("quire/log.h", "/** Receives statements. */", "", "quire_log is not documented"),
    ("quire/list.h", "/** Rows of the page. */", "", "quire_page_row_count(const quire_page *page) (function)"),
    ("quire/error.h", "/** Text that does not match the pattern. */", "/** @param */", "argument of command param"),
    ("quire/value.h", "/** An integer. */", "/** An integer. @param number The number. */", "argument 'number'"),
]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        (tree / "docs").mkdir(parents=True)
        shutil.copy(ROOT / "docs/Doxyfile", tree / "docs")
        shutil.copytree(ROOT / "include", tree / "include")
        said = doxygen(tree, folder)
        problems += said.splitlines()
        names = set(documented(pathlib.Path(folder) / "xml"))
        lines = (ROOT / "Tests/ABI/quire.abi").read_text().splitlines()
        public = {re.search(r"\b(quire_\w+)(?:\(|$|:)", line)[1]
                  for line in lines if re.match("function|enum|handle|struct", line) and "Arrow" not in line}
        problems += [f"{name} has no first sentence for Doxygen" for name in sorted(public - names)]
        if "<computeroutput>%K</computeroutput>" not in (pathlib.Path(folder) / "xml/predicate_8h.xml").read_text():
            problems.append("Doxygen has lost the percent sign of %K")
        for header, text, mistake, expected in MISTAKES:
            path = tree / "include" / header
            right = path.read_text()
            if right.count(text) != 1:
                problems.append(f"{header} does not have {text!r} any more, which this test changes")
                continue
            path.write_text(right.replace(text, mistake))
            said = doxygen(tree, folder)
            if expected not in said:
                problems.append(f"{mistake!r} for {text!r} in {header} is not found; Doxygen says: {said!r}")
            path.write_text(right)
    for problem in problems:
        print(problem)
    print(f"{len(public)} names with a first sentence, {len(MISTAKES)} mistakes")
    sys.exit(1 if problems else 0)


def doxygen(tree, folder):
    """What Doxygen says; nothing when all is well."""
    result = subprocess.run(
        ["doxygen", "docs/Doxyfile"], cwd=tree, env={"PATH": "/usr/bin:/bin", "QUIRE_DOXYGEN": str(folder)},
        capture_output=True, text=True)
    said = (result.stdout + result.stderr).replace(f"{tree}/", "")
    return said or (f"doxygen ended with {result.returncode}" if result.returncode else "")


def documented(folder):
    """The names of functions, types and their members that have a first sentence."""
    for path in sorted(folder.glob("*.xml")):
        for node in xml.etree.ElementTree.parse(path).iter():
            if node.tag in ("memberdef", "compounddef") and (node.find("briefdescription/para") is not None):
                yield node.findtext("name") or node.findtext("compoundname")


if __name__ == "__main__":
    main()
