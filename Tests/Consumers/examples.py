#!/usr/bin/env python3
"""Builds the examples in C against the installed library, by the command at the top of each, and runs them.

    examples.py PREFIX LIBDIR [NAME...]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
QUOTATIONS = """\
Die and let live.
\t\t-- A. Author
%
A second one.
\t\t-- A. Author
%
Nothing is said of where this comes from.
%
"""
# Of each example a run: its arguments, its input, its status and what it says of errors. What it prints is in a file.
RUNS = {
    "quotes": (["--file", "quotations"], "", 0, ""),
    "products": ([], "", 0, ""),
    "departures": (["300"], "", 0, ""),
    "predicates": (
        [], "pages > 300 AND author.born < 1850\ntitle CONTAINS[cd] 'emile'\n\npages > > 3\npags > 3\n"
        "ANY author.books.pages > 800\n", 1,
        "predicates: Entity 'Book' has no property 'pags'. It has: author, pages, title, year.\n"),
    "distances": ([], "", 0, "distances: The function soundsLike failed: soundsLike compares two texts\n"),
}
# The same programs with other arguments: what they print must have these lines in it.
LINES = [
    ("predicates", ["year < 1800", "SELF = "], 1, ["    Émile, or On Education", "SELF = ", "       ^"]),
    ("distances", ["50", "14", "100"], 0, ["  Prague, 33 km"]),
]


def main():
    prefix, libdir, *names = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = f"{prefix}/{libdir}"
        environment = {
            **os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{library}/pkgconfig",
            "LD_LIBRARY_PATH": library, "LC_ALL": "C.UTF-8"}
        environment.pop("QUIRE_LIBRARY", None)
        # The compiler of the command, with warnings being errors.
        (folder / "bin").mkdir()
        compiler = shutil.which("cc")
        (folder / "bin/cc").write_text(f'#!/bin/sh\nexec {compiler} -std=c11 -pedantic -Wall -Wextra -Werror "$@"\n')
        (folder / "bin/cc").chmod(0o755)
        for path in [*EXAMPLES.glob("*.c"), *EXAMPLES.glob("*.h")]:
            shutil.copy(path, folder)
        (folder / "quotations").write_text(QUOTATIONS)

        def run(name, arguments, text=""):
            return subprocess.run(
                [f"./{name}", *arguments], cwd=folder, env=environment, input=text, capture_output=True, text=True,
                encoding="utf-8", timeout=60)
        for name, (arguments, text, status, errors) in RUNS.items():
            if names and name not in names:
                continue
            command = re.search(r"^ \*     (cc .*)$", (EXAMPLES / f"{name}.c").read_text(), re.MULTILINE)[1]
            built = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            if built.returncode:
                problems.append(f"{command}\n{built.stdout}{built.stderr}")
                continue
            result = run(name, arguments, text)
            expected = (HERE / "expected" / f"{name}.stdout").read_text(encoding="utf-8")
            if name == "departures" and result.stdout != expected:
                # On a busy machine two saves may be merged at once, and be one change of the board.
                result = run(name, ["3000"])
            if (result.returncode, result.stderr) != (status, errors):
                problems.append(f"{name} ended with {result.returncode}, and says: {result.stderr}")
            if result.stdout != expected:
                problems.append(f"{name} printed:\n{result.stdout}and not:\n{expected}")
        for name, arguments, status, lines in LINES:
            if names and name not in names:
                continue
            result = run(name, arguments)
            missing = [line for line in lines if line not in result.stdout.splitlines()]
            if result.returncode != status or missing:
                problems.append(f"{name} {arguments} ended with {result.returncode}, without {missing}")
    for problem in problems:
        print(problem)
    print(f"{len(RUNS)} examples built and run, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
