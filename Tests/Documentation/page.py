"""Runs the code of one page, from its first block to its last.

    page.py [--write] PAGE

Python blocks are run in one namespace, and C blocks are one program. Captioned blocks are files in an empty folder, in
which all commands run. What a block prints is compared with the output that the page shows. --write puts it there.

Environment: QUIRE_PREFIX is where the library is installed. PYTHONPATH and QUIRE_LIBRARY as usual.
"""
import contextlib
import difflib
import doctest
import io
import json
import linecache
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
import types

import conditions
import programs
from blocks import ROOT, Block, Misplaced, blocks

CHECKER = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS


class Page:
    """A page while it is run."""

    def __init__(self, page: pathlib.Path, write: bool) -> None:
        self.page = page
        self.write = write
        self.problems: list[str] = []
        self.edits: list[tuple[Block, str]] = []
        self.counts: dict[str, int] = {}
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        # README shows its output in comments, which Tests/Examples compares.
        self.strict = page.name != "README.md"

    def run(self) -> None:
        """Runs all blocks. The first that raises is the last that runs."""
        found = blocks(self.page)
        c_output = None
        for block in found:
            self.counts[block.language] = self.counts.get(block.language, 0) + 1
            if block.reason:
                continue
            try:
                if block.caption:
                    with open(block.caption, "a", encoding="utf-8") as file:
                        file.write(("\n" if file.tell() else "") + block.text)
                elif block.language == "c":
                    c_output = c_output or programs.outputs([other for other in found if is_c(other)])
                    self.compare(block, c_output[id(block)])
                elif block.language == "python":
                    self.compare(block, self.python(block))
                elif block.language == "pycon":
                    self.session(block)
                elif block.language == "console":
                    self.session_of_shell(block)
                else:
                    self.conditions(block)
            except programs.Failed as failure:
                self.problems.append(f"{block.place}: {failure}")
                return
            except BaseException:
                self.problems.append(f"{block.place}:\n{traceback.format_exc()}")
                return

    def python(self, block: Block) -> str:
        """What a block of Python prints."""
        name = str(block.page)
        code = compile("\n" * (block.line - 1) + block.text, name, "exec", dont_inherit=True)
        linecache.checkcache(name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.module.__dict__)
        return printed.getvalue()

    def session(self, block: Block) -> None:
        """Runs lines behind `>>>` and compares what follows each."""
        test = doctest.DocTestParser().get_doctest(block.text, {}, block.place, str(block.page), block.line - 1)
        test.globs = self.module.__dict__
        answers: list[str] = []
        runner = Answers(answers)
        said = io.StringIO()
        runner.run(test, out=said.write, clear_globs=False)
        if runner.failures:
            self.problems.append(f"{block.place}:\n{said.getvalue()}")
            self.edits.append((block, "".join(
                programs.prompted(example.source) + (example.want if answer is None else answer)
                for example, answer in zip(test.examples, answers))))

    def session_of_shell(self, block: Block) -> None:
        """Runs lines behind `$ ` and compares what follows each."""
        shown = ""
        for command, wanted in programs.commands(block):
            answer = programs.shell(command)
            if not CHECKER.check_output(tidied(wanted), tidied(answer), FLAGS):
                self.problems.append(f"{block.place}: {command.splitlines()[0]}\n{difference(wanted, answer)}")
                wanted = answer
            shown += programs.prompted(command, "$ ", "> ") + wanted
        if shown != block.text:
            self.edits.append((block, shown))

    def conditions(self, block: Block) -> None:
        """Asks each condition of a block and compares the rows."""
        problems, text = conditions.check(block.text, self.module.__dict__, block.line)
        self.problems += [f"{block.page.relative_to(ROOT)}:{line}: {problem}" for line, problem in problems]
        if text != block.text:
            self.edits.append((block, text))

    def compare(self, block: Block, printed: str) -> None:
        """Compares what a block printed with what the page shows."""
        if not block.output:
            if printed and self.strict:
                self.problems.append(f"{block.place}: the page does not show this output:\n{printed}")
            return
        if not CHECKER.check_output(tidied(block.output.text), tidied(printed), FLAGS):
            self.problems.append(f"{block.output.place}:\n{difference(block.output.text, printed)}")
            self.edits.append((block.output, printed))

    def save(self) -> None:
        """Writes what was printed into the page, last block first."""
        for block, text in sorted(self.edits, key=lambda edit: -edit[0].line):
            lines = block.page.read_text(encoding="utf-8").splitlines(keepends=True)
            indent = " " * (len(lines[block.line - 1]) - len(lines[block.line - 1].lstrip(" "))
                            - (len(block.text) - len(block.text.lstrip(" "))))
            lines[block.line - 1:block.end - 1] = [
                (indent + line if line.strip() else line) for line in text.splitlines(keepends=True)]
            block.page.write_text("".join(lines), encoding="utf-8")


class Answers(doctest.DocTestRunner):
    """Remembers what each example of a session answered; None where that is what the page shows."""

    def __init__(self, answers: list) -> None:
        super().__init__(optionflags=FLAGS, verbose=False)
        self.answers = answers

    def report_success(self, out, test, example, got):
        self.answers.append(None)

    def report_failure(self, out, test, example, got):
        self.answers.append(got)
        super().report_failure(out, test, example, got)

    def report_unexpected_exception(self, out, test, example, exc_info):
        kind, value = exc_info[:2]
        self.answers.append(f"Traceback (most recent call last):\n  ...\n{kind.__module__}.{kind.__name__}: {value}\n")
        super().report_unexpected_exception(out, test, example, exc_info)


def is_c(block: Block) -> bool:
    return block.language == "c" and not block.reason and not block.caption


def tidied(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def difference(shown: str, printed: str) -> str:
    return "".join(difflib.unified_diff(
        tidied(shown).splitlines(keepends=True), tidied(printed).splitlines(keepends=True), "shown", "printed", n=3))


def main() -> None:
    arguments = sys.argv[1:]
    write = "--write" in arguments
    page = Page(pathlib.Path(arguments[-1]).resolve(), write)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            page.run()
        except Misplaced as mistake:
            page.problems.append(str(mistake))
        sys.stdout.flush()
        os.chdir("/")
    if write and page.edits:
        page.save()
    for problem in page.problems:
        print(problem, file=sys.stderr)
    print(json.dumps(page.counts))
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads that a page leaves waiting do not hold the test up.
    os._exit(bool(page.problems))


if __name__ == "__main__":
    main()
