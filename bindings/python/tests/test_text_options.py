"""What [c] and [d] ignore, in memory, in SQL and by a text index, in one way for every operator."""

import itertools
import random
import re
import sqlite3
import unittest
from contextlib import closing

import quire
from support import FileTestCase, seeds


class Word(quire.Model):
    plain: quire.Attr[str]
    indexed: quire.Attr[str] = quire.attr(searchable=True)


class Folded(quire.Model):
    name: quire.Attr[str]
    folded: quire.Attr[str] = quire.derived("canonical:(name)")


KEPT = [
    ("กิน", "กัน"), ("ไม่", "ไม้"), ("कुल", "केल"), ("मे", "मु"), ("कि", "कु"), ("ক্ত", "কত"), ("ດີ", "ດູ"),
    ("ကို", "ကူ"), ("ប៊ី", "ប៊ូ"), ("かく", "がく"), ("はり", "ぱり"), ("≮", "<"),
]
"""Words that differ in marks which are no accents, or of letters that have none."""
IGNORED = [
    ("café", "cafe"), ("cafe\u0301", "café"), ("Dvořák", "Dvorak"), ("κόσμος", "κοσμος"), ("й", "и"), ("ё", "е"),
    ("مُحَمَّد", "محمد"), ("مـُم", "مـم"), ("שָׁלוֹם", "שלום"), ("が", "か\u3099"), ("각", "\u1100\u1161\u11A8"),
]
"""Texts that differ in accents and points, or in the way of writing them."""
PARTS = ("BEGINSWITH", "ENDSWITH", "CONTAINS")


class MarkTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, [Word, Folded])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def answers(self, format: str, text: str, argument: object) -> set[bool]:
        """What memory, SQL and SQL with an index answer for one text."""
        self.context.query(Word).delete()
        self.context.insert_rows(Word, {"plain": [text], "indexed": [text]})
        query = self.context.query(Word)
        found = {query.where(f"{key} {format}", argument).count() == 1 for key in ("plain", "indexed")}
        return found | {quire.Predicate(f"SELF {format}", argument).matches(text)}

    def test_marks_count_where_they_are_no_accents(self) -> None:
        for pairs, expected in ((KEPT, False), (IGNORED, True)):
            for left, right in pairs:
                # A letter is a part of a word, and so are its marks.
                both = ((left, right), (right, left))
                for (text, word), options in itertools.product(both, ("cd", "dl")):
                    for operator in ("==", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "IN"):
                        argument = [word, "other"] if operator == "IN" else word
                        # Of two that differ, one may be a part of the other.
                        wanted = word in text if operator in PARTS and not expected else expected
                        with self.subTest(text=text, operator=operator, options=options, argument=argument):
                            self.assertEqual(self.answers(f"{operator}[{options}] %@", text, argument), {wanted})

    def test_a_mark_alone_is_looked_for(self) -> None:
        for operator, options in itertools.product(
                ("==", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"), ("", "[d]", "[cd]")):
            for mark in ("\u0345", "\u0e34", "\u0301"):
                self.assertEqual(self.answers(f"{operator}{options} %@", mark, mark), {True})
        self.assertEqual(self.answers("CONTAINS[d] %@", "café", "\u0301"), {False})

    def test_a_part_that_an_iota_subscript_precedes_is_found_by_the_index(self) -> None:
        for text in ("あ\u0345bcd", "aあ\u0345bcde"):
            for part in ("bcd", "\u0345bcd", "あ\u0345bc"):
                self.assertEqual(self.answers("CONTAINS[cd] %@", text, part), {True})

    def test_a_canonical_attribute_has_the_marks_that_count(self) -> None:
        words = ["กิน", "Café", "がく", "מִלָּה"]
        for word in words:
            self.context.add(Folded(name=word))
        self.context.save()
        self.assertEqual({each.folded for each in self.context.query(Folded)}, {"กิน", "cafe", "がく", "מלה"})

    def test_canonical_attributes_of_another_folding_are_calculated_again(self) -> None:
        self.context.add(Folded(name="กิน"))
        self.context.save()
        self.store.close()
        with closing(sqlite3.connect(self.path)) as plain, plain:
            triggers = plain.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%/* folding%'").fetchall()
            self.assertGreater(len(triggers), 0)
            for name, sql in triggers:
                plain.execute(f"DROP TRIGGER {name}")
                plain.execute(re.sub(r"/\* folding \d+ \*/ ", "", sql))
            plain.execute("UPDATE ZFOLDED SET ZFOLDED = 'กน'")
        with quire.open(self.path, [Word, Folded], read_only=True) as store:
            self.assertEqual([each.folded for each in store.context.query(Folded)], ["กน"])
        with quire.open(self.path, [Word, Folded]) as store:
            self.assertEqual([each.folded for each in store.context.query(Folded)], ["กิน"])

    def test_an_option_only_widens(self) -> None:
        for seed in seeds(3):
            dice = random.Random(seed)
            letters = [
                *"aAsßſẞİiıŉǰﬁénf", "e\u0301", "\u0301", "Å", "A\u030a", "ก", "กิ", "が", "ᾳ", "\u0345", "각"]
            texts = ["".join(dice.choices(letters, k=dice.randrange(1, 6))) for _ in range(120)]
            self.context.query(Word).delete()
            self.context.insert_rows(Word, {"plain": texts, "indexed": texts})
            for _ in range(60):
                text = dice.choice(texts)
                pattern = "".join(dice.choices(["?", "*", each], [2, 1, 4])[0] for each in text)
                # A mark behind a wildcard has no letter of its own in the pattern.
                if re.search("[?*][\u0301\u030a\u3099\u0345\u0e34]", pattern):
                    continue
                base = set(filter(quire.Predicate("SELF LIKE %@", pattern).matches, texts))
                self.assertIn(text, base)
                for options in ("c", "d", "cd"):
                    operator = f"LIKE[{options}]"
                    found = set(filter(quire.Predicate(f"SELF {operator} %@", pattern).matches, texts))
                    self.assertEqual(base - found, set(), (seed, operator, pattern))
                    for key in ("plain", "indexed"):
                        rows = self.context.query(Word).where(f"{key} {operator} %@", pattern).values(key)
                        self.assertEqual({each for (each,) in rows}, found, (seed, operator, pattern, key))

    def test_a_question_mark_is_one_character_of_the_text(self) -> None:
        for text, pattern, expected in (
            ("Straße", "STRA?E", True), ("Straße", "stra??e", True), ("Straße", "stra???e", False),
            ("İstanbul", "?stanbul", True), ("ﬁn", "?N", True), ("ﬁn", "F?N", True), ("oﬃce", "o?ce", True),
            ("oﬃce", "o????ce", False), ("ŉ", "?", True), ("ßß", "?", False), ("ßß", "??", True), ("ß", "???", False),
            ("Groß", "GR*?", True), ("Größe", "gr??e", True), ("", "?", False),
        ):
            with self.subTest(text=text, pattern=pattern):
                self.assertEqual(self.answers("LIKE[c] %@", text, pattern), {expected})
        for text, pattern, expected in (
            ("cafe\u0301", "caf?", True), ("cafe\u0301", "caf??", True), ("cafe\u0301", "cafe?", True),
            ("cafe\u0301", "cafe??", False), ("café", "caf??", False), ("กิน", "ก?น", True), ("กิน", "ก??", True),
            ("กิน", "??", False), ("e\u0301\u0323x", "????", True), ("e\u0301\u0323x", "???", True),
            ("e\u0301\u0323x", "?????", False), ("e\u0301\u0323", "*e???", False),
        ):
            with self.subTest(text=text, pattern=pattern):
                self.assertEqual(self.answers("LIKE[d] %@", text, pattern), {expected})


if __name__ == "__main__":
    unittest.main()
