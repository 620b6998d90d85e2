"""Runs every block of code of the site and of README, and counts those that are not run.

    test_code.py [--write] [PAGE...]    one page or some; --write puts what is printed into the pages

Environment: as page.py.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import blocks

HERE = pathlib.Path(__file__).resolve().parent
# Blocks that are not run, by page. Each has its reason in the page.
NOT_RUN = {
    "README.md": 3,
    "docs/site/guide/c.md": 1,
    "docs/site/from/core-data.md": 1,
    "docs/site/from/realm.md": 1,
    "docs/site/guide/python.md": 2,
    "docs/site/recipes/event-loops.md": 2,
    "docs/site/reference/command.md": 1,
}


def run(page: pathlib.Path, write: bool = False) -> tuple[pathlib.Path, float, subprocess.CompletedProcess]:
    begin = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "page.py"), *(["--write"] if write else []), str(page)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    return page, time.monotonic() - begin, result


def run_all(pages: list[pathlib.Path], write: bool = False) -> list:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda page: run(page, write), pages))


class Code(unittest.TestCase):
    maxDiff = None

    def test_every_block_runs_and_prints_what_its_page_shows(self):
        counts: dict[str, int] = {}
        for page, _, result in run_all(blocks.pages()):
            with self.subTest(page=str(page.relative_to(blocks.ROOT))):
                self.assertEqual((result.returncode, result.stderr), (0, ""), "\n" + result.stderr)
                for language, count in json.loads(result.stdout.splitlines()[-1]).items():
                    counts[language] = counts.get(language, 0) + count
        print(f"docs.code: {len(blocks.pages())} pages; blocks: {counts}")

    def test_blocks_that_are_not_run_are_marked_and_counted(self):
        marked = {}
        for page in blocks.pages():
            reasons = [block.reason for block in blocks.blocks(page) if block.reason]
            self.assertTrue(all(len(reason) > 10 for reason in reasons), reasons)
            if reasons:
                marked[str(page.relative_to(blocks.ROOT))] = len(reasons)
        self.assertEqual(marked, {page: count for page, count in NOT_RUN.items() if count})


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    pages = [pathlib.Path(argument).resolve() for argument in arguments] or blocks.pages()
    failed = False
    for page, seconds, result in run_all(pages, "--write" in sys.argv):
        sys.stderr.write(result.stderr)
        print(f"{os.path.relpath(page)}: {seconds:.1f} s, {'failed' if result.returncode else 'runs'}")
        failed = failed or bool(result.returncode)
    sys.exit(failed)


if __name__ == "__main__":
    main()
