"""Mixins of every kind that Python has, and mistakes in them."""

import abc
import dataclasses
import enum
import inspect
import sys
import unittest
from typing import Generic, List, Optional, Protocol, TypeVar

import quire
from mixin_cases import MixinTestCase, Noted, rows
from support import Animal, Author, Quote

T = TypeVar("T")
M = TypeVar("M")


class ForeignTests(MixinTestCase):
    def test_a_generic_mixin_declares_what_its_arguments_are(self):
        class Valued(Generic[T]):
            value: quire.Attr[T]
            former: quire.Attr[Optional[T]] = quire.attr(default=None)

        class Linked(Valued[T], Generic[M, T]):
            link: quire.ToOne[Optional[M]] = quire.relation()
            links: quire.ToMany[M] = quire.relation()

        class Number(Valued[int], quire.Model):
            pass

        class Text(Linked["Number", "str | None"], quire.Model):
            pass

        self.assertEqual((Number.value._type, Number.former._type), (quire.Integer64, quire.Integer64))
        self.assertEqual((Number.value._is_optional, Text.value._is_optional), (False, True))
        with quire.open(":memory:", [Number, Text]) as store:
            number = store.context.add(Number(value=5))
            text = store.context.add(Text(value="x", link=number, links=[number]))
            store.context.save()
            self.assertEqual((text.value, text.former, text.link, list(text.links)), ("x", None, number, [number]))

        def body():
            class Nothing(Valued, quire.Model):
                pass
        self.assertRefused(r"Nothing.value.*mixin Valued.*T .*write class \.\.\.\(Valued\[\.\.\.\]", body)

    @unittest.skipIf(sys.version_info < (3, 12), "no parameters of classes before 3.12")
    def test_a_generic_mixin_may_be_written_with_its_parameters(self):
        scope = {"quire": quire, "__name__": __name__}
        exec("class Valued[V]:\n value: 'quire.Attr[V | None]'\nclass N(Valued[int], quire.Model): pass", scope)
        self.assertEqual((scope["N"].value._type, scope["N"].value._is_optional), (quire.Integer64, True))

    def test_a_mixin_without_slots_of_its_own_is_taken(self):
        class Slim:
            __slots__ = ()
            size: quire.Attr[int]

        class Box(Slim, quire.Model):
            pass

        self.assertEqual(rows(Box, size=1), [{"size": 1}])

    def test_a_constructor_of_a_mixin_may_add_values(self):
        class Made:
            maker: quire.Attr[str]

            def __init__(self, **values):
                super().__init__(**{"maker": "me", **values})

        class Box(Made, quire.Model):
            size: quire.Attr[int]

        self.assertEqual(rows(Box, size=1), [{"maker": "me", "size": 1}])

    def test_a_mixin_may_register_the_classes_that_take_it(self):
        found = []

        class Size(enum.Enum):
            SMALL = 1

        class Listed:
            size: "quire.Attr[Size]" = quire.attr(default=Size.SMALL)

            def __init_subclass__(cls, **options):
                super().__init_subclass__(**options)
                found.append(cls)

        class Box(Listed, quire.Model):
            other: "quire.Attr[Size]" = quire.attr(default=Size.SMALL)

        self.assertEqual((found, Box().size, Box().other), ([Box], Size.SMALL, Size.SMALL))

    def test_a_class_that_a_mixin_keeps_from_becoming_a_model_is_refused(self):
        class Silent:
            def __init_subclass__(cls, **options):
                pass

        class Box(Silent, quire.Model):
            size: quire.Attr[int]

        class Cat(Silent, Animal):
            size: quire.Attr[int]

        for model in (Box, Cat):
            expected = rf"{model.__name__} is no entity.*Silent.__init_subclass__.*super\(\).__init_subclass__"
            self.assertRefused(expected, lambda: quire.open(":memory:", [model]), quire.InvalidModel)
            self.assertRefused(expected, lambda: model(size=1), quire.InvalidModel)
            with quire.open(":memory:", [Animal, Quote, Author]) as store:
                self.assertRefused(expected, lambda: store.context.query(model), quire.InvalidModel)

    def test_an_abstract_base_class_is_a_mixin(self):
        class Size(enum.Enum):
            SMALL = 1

        class Priced(abc.ABC):
            price: quire.Attr[float] = quire.attr(default=1.0)

            @property
            @abc.abstractmethod
            def title(self): ...

            @abc.abstractmethod
            def total(self): ...

        class Item(Priced, quire.Model):
            title: quire.Attr[str]
            size: "quire.Attr[Size]" = quire.attr(default=Size.SMALL)

            def total(self):
                return self.price * 2

        self.assertEqual(Item(title="x", price=3).total(), 6)
        self.assertEqual(rows(Item, title="x"), [{"title": "x", "price": 1.0, "size": Size.SMALL}])

    def test_a_protocol_is_a_mixin_and_a_class_may_declare_what_it_asks_for(self):
        class HasTitle(Protocol):
            title: str
            price: float

        class Priced(Protocol):
            price: quire.Attr[float] = quire.attr(default=1.0)

        class Item(HasTitle, Priced, quire.Model):
            title: quire.Attr[str]

        for _ in range(2):
            self.assertEqual(list(inspect.signature(Item).parameters), ["price", "title"])
            self.assertEqual(rows(Item, title="x"), [{"title": "x", "price": 1.0}])

    def test_annotations_of_a_mixin_that_knows_nothing_of_quire_are_left_alone(self):
        scope = {"__name__": "elsewhere"}
        exec("class Observed:\n watchers: 'Unknown[int]'\n count: int = 0\n other: 'list[int' = None", scope)

        class Item(scope["Observed"], quire.Model):
            size: quire.Attr[int]

        item = Item(size=1)
        item.count = 3
        self.assertEqual((item.count, list(Item._quire_entity.properties)), (3, ["size"]))

    def test_a_dataclass_is_refused(self):
        @dataclasses.dataclass
        class Noted:
            note: quire.Attr[str] = quire.attr(default="m")

        @dataclasses.dataclass
        class Plain:
            note: str = "m"

        for mixin in (Noted, Plain):
            for bases in ((mixin, quire.Model), (quire.Model, mixin)):
                self.assertRefused(
                    f"Item takes the mixin {mixin.__name__}, which is a dataclass.*@dataclass.*quire.Attr",
                    lambda: type("Item", bases, {}))


class RefusedTests(MixinTestCase):
    def test_a_mistake_in_a_mixin_names_it_and_the_class(self):
        class Listed:
            tags: quire.Attr[List[str]]

        class Bare:
            note: quire.Attr[str] = "m"

        class Loose:
            note = quire.attr(default="m")

        class Plain:
            number: quire.Attr[int]
            note: str = "m"

        class Hidden:
            _note: quire.Attr[str]

        class Reserved:
            id: quire.Attr[int]

        class Wrong:
            note: quire.Attr[str] = quire.attr(default=5)

        for mixin, expected in (
                (Listed, "an attribute cannot be "), (Bare, r"attr\(default='m'\)"), (Loose, "needs an annotation"),
                (Plain, "is annotated .*quire.Attr"), (Hidden, "begins with a letter"),
                (Reserved, "every object has 'id'"), (Wrong, "expects str, not int")):
            with self.subTest(mixin=mixin.__name__):
                with self.assertRaisesRegex(TypeError, expected) as caught:
                    type("Item", (mixin, quire.Model), {})
                self.assertRegex(str(caught.exception), f"Item.*mixin {mixin.__name__}")

    def test_an_attribute_whose_annotation_cannot_be_read_is_not_lost(self):
        scope = {"__name__": "elsewhere"}
        exec("class Far:\n note: 'quire.Attr[str]'\n", scope)

        def body():
            class Item(scope["Far"], quire.Model):
                pass
        self.assertRefused("Item.note.*mixin Far.*'quire.Attr' in an annotation is not defined", body)

    def test_hiding_what_a_mixin_declares_is_refused(self):
        def by_a_value():
            class Item(Noted, quire.Model):
                note = "other"

        def by_a_property():
            class Item(Noted, quire.Model):
                @property
                def note(self):
                    return "x"

        def by_another_mixin():
            class Item(Titled, Noted, quire.Model):
                pass

        class Titled:
            def note(self):
                return "x"

        for body in (by_a_value, by_a_property):
            self.assertRefused(
                r"Item.note would hide Noted.note, which Item takes; .*note: quire.Attr\[\.\.\.\]", body)
        self.assertRefused("Titled.note would hide Noted.note, which Item takes", by_another_mixin)


if __name__ == "__main__":
    unittest.main()
