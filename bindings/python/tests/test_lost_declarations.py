"""Declarations that are none, and were lost without a word."""

import unittest
from typing import ClassVar, Final

import quire
from mixin_cases import MixinTestCase, Noted


class Page(Noted, quire.Model):
    number: quire.Attr[int]


class LostTests(MixinTestCase):
    def test_a_declaration_that_comes_after_the_class_is_refused(self):
        class Late(quire.Model):
            n: quire.Attr[int]

        Late.note = quire.attr(default="x")
        late = Late(n=1)
        with self.assertRaisesRegex(AttributeError, "Late.note was declared after the class was made"):
            late.note = "y"
        with self.assertRaisesRegex(quire.InvalidModel, "Late.note was declared after the class was made.*class body"):
            quire.open(":memory:", [Late])

        class Mixed:
            pass

        class Item(Mixed, quire.Model):
            n: quire.Attr[int]

        Mixed.book: quire.ToOne["Item"] = quire.relation()
        with self.assertRaisesRegex(quire.InvalidModel, "Mixed.book was declared after Item was made"):
            quire.open(":memory:", [Item])

    def test_a_class_may_become_abstract_before_the_store_is_opened(self):
        class Item(quire.Model):
            n: quire.Attr[int]

        Item.__abstract__ = True
        with quire.open(":memory:", [Item]) as store:
            self.assertTrue(store.model.entities["Item"].abstract)

    def test_an_attribute_is_no_class_variable(self):
        def by_class_var():
            class Item(quire.Model):
                n: ClassVar[quire.Attr[int]]

        def by_text():
            class Item(quire.Model):
                n: "ClassVar[quire.Attr[int]]"

        def by_final():
            class Item(quire.Model):
                n: Final[quire.ToMany["Item"]] = quire.relation()

        def by_a_mixin():
            class Mixed:
                n: ClassVar[quire.Attr[int]] = quire.attr(default=1)

            class Item(Mixed, quire.Model):
                pass
        for body in (by_class_var, by_text, by_final, by_a_mixin):
            self.assertRefused(r"Item.n.*write n: quire.(Attr|ToMany)\[", body)

    def test_an_annotation_that_was_assigned_instead_is_refused(self):
        def typed():
            class Item(quire.Model):
                n = quire.Attr[int]

        def bare():
            class Item(quire.Model):
                n = quire.Attr

        def by_type():
            class Item(quire.Model):
                n = quire.Integer16

        for body in (typed, bare, by_type):
            self.assertRefused("Item.n .*annotation.* n: quire.Attr", body)

    def test_a_name_with_two_underscores_is_no_property(self):
        def body():
            class Item(quire.Model):
                __note__: quire.Attr[str]
        self.assertRefused("Item.__note__: the name of a property begins with a letter", body)

    def test_a_misspelled_setting_is_refused(self):
        for wrong, right in (
                ("__index__", "__indexes__"), ("__uniqe__", "__unique__"), ("__uniques__", "__unique__"),
                ("__rule__", "__rules__"), ("__template__", "__templates__"), ("__abstact__", "__abstract__"),
                ("__userinfo__", "__user_info__"), ("__hash_modifer__", "__hash_modifier__")):
            for bases, where in (((quire.Model,), "Item"), ((Noted, quire.Model), "Item")):
                with self.assertRaisesRegex(TypeError, f"{where}.{wrong} .*{right}"):
                    type("Item", bases, {wrong: ["n"]})
            mixin = type("Mixed", (), {wrong: ["n"]})
            with self.assertRaisesRegex(TypeError, f"Item.*mixin Mixed.*{right}"):
                type("Item", (Noted, mixin, quire.Model), {})

        class Item(quire.Model):
            __version__ = "1"
            __match_args__ = ("n",)
            n: quire.Attr[int]

            def __index__(self):
                return self.n

        self.assertEqual([10, 20][Item(n=1)], 20)

    def test_a_hook_by_its_name_in_core_data_is_refused(self):
        for wrong, right in (("willSave", "will_save"), ("awakeFromInsert", "awake_from_insert")):
            for bases in ((quire.Model,), (type("Mixed", (), {wrong: lambda self: None}), quire.Model)):
                with self.assertRaisesRegex(TypeError, f"{wrong} .*{right}"):
                    type("Item", bases, {} if len(bases) == 2 else {wrong: lambda self: None})

        class Item(quire.Model):
            n: quire.Attr[int]

            def _validate(self):
                return self.n

            class Validate:
                pass

        self.assertEqual(Item(n=1)._validate(), 1)

    def test_an_object_takes_no_attribute_that_its_class_does_not_have(self):
        page = Page(number=1)
        with self.assertRaisesRegex(AttributeError, "Page has no attribute 'notes'. It has: note, number"):
            page.notes = "x"


if __name__ == "__main__":
    unittest.main()
