"""Stores of applications: each command reads them without a model, and leaves them as they were."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
from typing import Any

from support import say_skipped

from .command import CommandTestCase
from .test_browse import LARGE, SMALL, BrowserTestCase

STORES = pathlib.Path(__file__).parents[5] / "shared" / "data" / "stores"
EXAMPLE = pathlib.Path(__file__).parents[4] / "examples" / "quotes.py"
# Those whose browser is looked at: a library of photos with 68 entities, one with derived attributes and inheritance,
# one with a log and a history.
CHOSEN = ("photos-Test-15.4.1/Photos", "coredataplus-samplemodel2/SampleModel2_V1", "duckduckgo-bookmarks/Bookmarks_V5")
# Of each store, the entities with most objects. Those with many entities take long.
ENTITIES = 3


def files(folder: str) -> dict[str, str]:
    return {
        name: hashlib.sha256(pathlib.Path(folder, name).read_bytes()).hexdigest()
        for name in sorted(os.listdir(folder)) if os.path.isfile(os.path.join(folder, name))}


class FoundStoreTestCase(CommandTestCase):
    def stores(self, chosen: bool = False) -> list[str]:
        """A copy of each store, or of those that are chosen, with what lies beside it."""
        found = sorted(STORES.glob("*/*.sqlite"))
        if chosen:
            found = [path for path in found if str(path.relative_to(STORES).with_suffix("")) in CHOSEN]
        if not found:
            say_skipped("the command on stores of applications", STORES)
            self.skipTest("no stores of applications")
        copies = []
        for place, path in enumerate(found):
            folder = self.place(str(place))
            os.mkdir(folder)
            for each in path.parent.glob(f"{path.name}*"):
                shutil.copyfile(each, os.path.join(folder, each.name))
            copies.append(os.path.join(folder, path.name))
        return copies


class FoundStoreTests(FoundStoreTestCase):
    def test_info_query_explain_check_and_export(self) -> None:
        for path in self.stores():
            with self.subTest(path=os.path.basename(path)):
                before = files(os.path.dirname(path))
                described = json.loads(self.succeed("info", path, "--format", "json"))
                self.assertIn(described["uuid"], self.succeed("info", path))
                largest = sorted(described["entities"], key=lambda each: -int(each["objects_with_subentities"]))
                for entity in largest[: ENTITIES if len(largest) < 20 else 1]:
                    name, count = entity["name"], entity["objects_with_subentities"]
                    rows = json.loads(self.succeed("query", path, name, "--format", "json", "--ids"))
                    self.assertEqual(len(rows), count, name)
                    self.assertIn("SELECT", self.succeed("explain", path, name))
                    exported = self.succeed("export", path, name, "--format", "jsonl")
                    self.assertEqual(len(exported.splitlines()), count)
                ran = self.run_command("check", path)
                self.assertIn("file and text indexes: sound", ran.out, ran.err)
                # Some photos lack mandatory values.
                lacks = int(path.endswith("Photos.sqlite"))
                self.assertEqual((ran.code, ran.err, ran.out.count(": wrong")), (lacks, "", lacks), ran.out)
                self.assertEqual("mandatory values: wrong" in ran.out, bool(lacks))
                self.assertEqual(files(os.path.dirname(path)), before)


    def test_an_import_is_in_the_history_of_a_store_that_keeps_one(self) -> None:
        for path in self.stores(chosen=True):
            if os.path.basename(path) == "SampleModel2_V1.sqlite":
                rows = "alias,age\nZadig,40\n"
                self.succeed("import", path, "Author", given=rows)
                self.assertIn("Zadig", self.succeed("query", path, "Author"))
                told = self.succeed("history", path, "--format", "json").splitlines()
                self.assertEqual([json.loads(each)["number"] for each in told], [1, 2])
                self.assertEqual(
                    [(each["kind"], each["entity"]) for each in json.loads(told[1])["changes"]], [("insert", "Author")])


class DemoStoreTests(CommandTestCase):
    def test_the_store_of_the_demo(self) -> None:
        """examples/quotes.py makes it, here of a few quotations."""
        text, path = self.place("quotes"), self.place("quotes.sqlite")
        with open(text, "w") as file:
            file.write("".join(f"Thought {n}.\n\t\t-- Author {n % 7}\n%\n" for n in range(100)))
        subprocess.run(
            [sys.executable, EXAMPLE, "--file", text, "--store", path], check=True, stdout=subprocess.DEVNULL)
        described = json.loads(self.succeed("info", path, "--format", "json"))
        self.assertEqual([each["name"] for each in described["entities"]], ["Quote"])
        count = described["entities"][0]["objects"]
        rows = json.loads(self.succeed("query", path, "Quote", "--section", "author", "--format", "json"))
        self.assertEqual(sum(each["count"] for each in rows), count)
        self.assertIn("by_author_createdAt", self.succeed("explain", path, "Quote", "--sort", "author,createdAt"))
        self.assertIn("relationships: sound", self.succeed("check", path))


class FoundStoreBrowserTests(FoundStoreTestCase, BrowserTestCase):
    def test_browse(self) -> None:
        for place, path in enumerate(self.stores(chosen=True)):
            for size in (SMALL, LARGE) if place == 0 else (LARGE,):
                async def work(app: Any, pilot: Any) -> None:
                    await pilot.press("down", "end", "s", "down", "down", "enter", "home")
                    await pilot.pause()
                    self.assertIn(" rows", self.lines(app, os.path.basename(os.path.dirname(path)))[0])

                with self.subTest(path=path, size=size):
                    self.browse(size, work, None, path)


if __name__ == "__main__":
    unittest.main()
