"""Builds the site, and checks that all of its links lead somewhere and that it fetches nothing from other hosts.

Environment: QUIRE_BUILD is a folder to build in, as script/site takes it.
"""
import html.parser
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import xml.dom.minidom

import blocks

SCRIPT = blocks.ROOT / "script/site"
OUT = pathlib.Path(os.environ.get("QUIRE_BUILD", blocks.ROOT / "build")) / "site"
FETCHING = {
    ("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}


class Page(html.parser.HTMLParser):
    """What a page of the site links to and fetches, and the places within it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag, name) == ("a", "name"):
                self.places.add(value)
            if (tag, name) == ("a", "href"):
                self.links.add(value)
            if (tag, name) in FETCHING:
                self.fetched.add(value)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        built = subprocess.run([str(SCRIPT)], capture_output=True, text=True)
        if built.returncode:
            raise AssertionError(built.stdout + built.stderr)
        cls.pages = {path: Page(path.read_text(encoding="utf-8")) for path in OUT.rglob("*.html")}

    def test_each_page_of_the_sources_is_there(self):
        for source in blocks.SITE.rglob("[!_]*.md"):
            self.assertIn(OUT / source.relative_to(blocks.SITE).with_suffix(".html"), self.pages)

    def test_each_public_name_has_its_place_in_the_reference(self):
        import quire

        places = {place for path, page in self.pages.items() for place in page.places if "python" in path.parts}
        missing = [name for name in quire._MODULES if not name.startswith("_")
                   and not inspect.ismodule(getattr(quire, name)) and f"quire.{name}" not in places]
        self.assertEqual(missing, [])

    def test_each_function_of_the_headers_has_its_place_in_the_reference(self):
        surface = (blocks.ROOT / "Tests/ABI/quire.abi").read_text(encoding="utf-8")
        functions = set(re.findall(r"\b(quire_[a-z0-9_]+)\(", surface))
        places = {place for path, page in self.pages.items() for place in page.places if path.parent.name == "c"}
        self.assertGreater(len(functions), 200)
        self.assertEqual([name for name in sorted(functions) if f"c.{name}" not in places], [])

    def test_all_links_lead_somewhere(self):
        checked, lost = 0, []
        for path, page in self.pages.items():
            for link in page.links | page.fetched:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
                checked += 1
                if not target.is_file():
                    lost.append((str(path.relative_to(OUT)), link))
                elif parts.fragment and target in self.pages:
                    if urllib.parse.unquote(parts.fragment) not in self.pages[target].places:
                        lost.append((str(path.relative_to(OUT)), link))
        self.assertEqual(lost, [])
        self.assertGreater(checked, 100)
        print(f"docs.site: {len(self.pages)} pages, {checked} links")

    def test_nothing_is_fetched_from_other_hosts(self):
        for path, page in self.pages.items():
            self.assertEqual([link for link in page.fetched if urllib.parse.urlsplit(link).netloc], [], path)
        for sheet in OUT.rglob("*.css"):
            self.assertNotRegex(sheet.read_text(encoding="utf-8"), r"(@import|url\()\s*[\"']?(https?:)?//", sheet)

    def test_pictures_are_those_that_their_program_draws(self):
        drawn = blocks.SITE / "how-it-works"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, str(drawn / "draw.py"), folder], check=True)
            made = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(made, {path.name: path.read_text(encoding="utf-8") for path in drawn.glob("*.svg")})
        for name, text in made.items():
            xml.dom.minidom.parseString(text)
            self.assertIn("prefers-color-scheme: dark", text, name)

    def test_readme_links_to_what_is_there(self):
        from markdown_it import MarkdownIt

        text = (blocks.ROOT / "README.md").read_text(encoding="utf-8")
        for token in MarkdownIt("commonmark").parse(text):
            for child in token.children or []:
                target = str(child.attrs.get("href", "")).partition("#")[0]
                if target and "://" not in target:
                    self.assertTrue((blocks.ROOT / target).exists(), target)


if __name__ == "__main__":
    unittest.main()
