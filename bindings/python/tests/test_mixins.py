"""Classes that are no models, and whose declarations models take."""

import enum
import inspect
import os
import tempfile
import unittest
from typing import ClassVar, Optional

import future_mixins
import quire
from mixin_cases import MixinTestCase, Noted, rows
from support import Animal, day


class Page(Noted, quire.Model):
    number: quire.Attr[int]


class Leaf(Noted, quire.Model):
    color: quire.Attr[str] = quire.attr(default="green")


class TakenTests(MixinTestCase):
    def test_a_value_of_an_attribute_of_a_mixin_is_in_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.sqlite")
            with quire.open(path, [Page]) as store:
                page = store.context.add(Page(number=1))
                self.assertEqual((page.note, page.shout()), ("m", "M"))
                page.note = "x"
                store.context.add(Page(number=2, note="y"))
                store.context.save()
            with quire.open(path, [Page]) as store:
                self.assertEqual(
                    store.context.query(Page).order_by("number").values("number", "note"), [(1, "x"), (2, "y")])
                self.assertEqual(store.context.query(Page).where(Page.note == "y").one().number, 2)
            with quire.open(path) as store:
                self.assertIn("note", store.model.entities["Page"].properties)

    def test_each_model_has_an_attribute_of_its_own(self):
        self.assertIsNot(Page.note, Leaf.note)
        self.assertEqual((str(Page.note), str(Leaf.note)), ("Page.note", "Leaf.note"))
        with quire.open(":memory:", [Page, Leaf]) as store:
            page = store.context.add(Page(number=1, note="x"))
            leaf = store.context.add(Leaf(note="x"))
            self.assertEqual(store.context.query(Page).where(Page.note == "x").all(), [page])
            self.assertEqual(store.context.query(Leaf).where(Leaf.note == "x").all(), [leaf])
            with self.assertRaisesRegex(quire.InvalidArgument, "Leaf"):
                store.context.query(Page).where(Leaf.note == "x").all()
            with self.assertRaisesRegex(TypeError, "Leaf.note expects str, not int"):
                leaf.note = 5

    def test_a_mixin_may_stand_on_either_side_of_the_base(self):
        class Behind(quire.Model, Noted):
            number: quire.Attr[int]

        self.assertEqual(rows(Behind, number=1, note="x"), [{"number": 1, "note": "x"}])

    def test_an_attribute_without_a_default_is_needed_by_the_constructor(self):
        class Named:
            name: quire.Attr[str]

        class Ship(Named, quire.Model):
            length: quire.Attr[int] = quire.attr(default=0)

        with self.assertRaisesRegex(TypeError, r"Ship\(\) needs name"):
            Ship()
        self.assertEqual(list(inspect.signature(Ship).parameters), ["name", "length"])
        self.assertIn("name: Attr[str], required", Ship.__doc__)

    def test_relationships_and_fetched_properties_are_taken(self):
        class Filed:
            drawer: quire.ToOne["Drawer | None"] = quire.relation(inverse="letters")
            copies: quire.ToMany["Letter"] = quire.relation()
            longer: quire.Fetched["Letter"] = quire.fetched("length > $FETCH_SOURCE.length")
            double: quire.Attr[Optional[int]] = quire.derived("drawer.number")

        class Letter(Filed, quire.Model):
            length: quire.Attr[int]

        class Drawer(quire.Model):
            number: quire.Attr[int]
            letters: quire.ToMany["Letter"] = quire.relation(inverse="drawer")

        with quire.open(":memory:", [Letter, Drawer]) as store:
            drawer = store.context.add(Drawer(number=7))
            short = store.context.add(Letter(length=1, drawer=drawer))
            long = store.context.add(Letter(length=9, copies=[short]))
            store.context.save()
            self.assertEqual((list(drawer.letters), list(long.copies)), ([short], [short]))
            self.assertEqual((short.longer, short.double), ([long], 7))

    def test_annotations_mean_what_the_names_are_in_the_module_of_the_mixin(self):
        class Entry(future_mixins.Moody, quire.Model):
            pass

        with quire.open(":memory:", [Entry, future_mixins.Diary]) as store:
            diary = store.context.add(future_mixins.Diary(text="d"))
            entry = store.context.add(Entry(mood=future_mixins.Mood.BAD, changed_at=day(1), next=diary))
            store.context.save()
            self.assertEqual((entry.mood, entry.changed_at, entry.next), (future_mixins.Mood.BAD, day(1), diary))

    def test_names_of_a_function_are_known_to_mixins_that_it_defines(self):
        class Size(enum.Enum):
            SMALL = 1

        class Sized:
            size: "quire.Attr[Size]" = quire.attr(default=Size.SMALL)

        class Shoe(Sized, quire.Model):
            pass

        self.assertIs(Shoe().size, Size.SMALL)

    def test_a_mixin_of_a_mixin_is_taken_and_the_most_derived_declaration_counts(self):
        class Both(Noted):
            note: quire.Attr[Optional[int]] = quire.attr(default=5)
            more: quire.Attr[int] = quire.attr(default=1)

        class First:
            more: quire.Attr[str] = quire.attr(default="first")

        class Sheet(First, Both, quire.Model):
            pass

        class Own(Both, quire.Model):
            more: quire.Attr[float]

        self.assertEqual((Sheet().note, Sheet().more), (5, "first"))
        self.assertEqual((Own(more=0.5).more, Own(more=0.5).note), (0.5, 5))
        # The declaration counts as a whole: the default of the mixin is not that of the class.
        with self.assertRaisesRegex(TypeError, r"Own\(\) needs more"):
            Own()

    def test_rules_of_an_attribute_hold_in_each_model(self):
        class Rated:
            stars: quire.Attr[int] = quire.attr(
                default=1, maximum=5, rules=(each for each in [("SELF != 3", "Three is no answer.")]))

        class Film(Rated, quire.Model):
            pass

        class Play(Rated, quire.Model):
            pass

        for model in (Film, Play, Film):
            with quire.open(":memory:", [model]) as store:
                for stars in (3, 6):
                    store.context.add(model(stars=stars))
                    with self.assertRaises(quire.ValidationError):
                        store.context.save()
                    store.context.rollback()

    def test_methods_properties_and_plain_class_attributes_stay_as_they_are(self):
        class Shown:
            style = "plain"
            shown: ClassVar[int] = 3
            _cache: int = 0

            @property
            def title(self):
                return f"<{self.number}>"

        class Sign(Shown, quire.Model):
            number: quire.Attr[int]

        sign = Sign(number=4)
        sign.style = "bold"
        sign._cache = 9
        self.assertEqual((sign.title, sign.style, sign._cache, sign.shown, Sign.style), ("<4>", "bold", 9, 3, "plain"))
        self.assertEqual(list(Sign._quire_entity.properties), ["number"])


class ParentTests(MixinTestCase):
    def test_a_mixin_beside_a_parent_adds_to_the_entity_of_the_class(self):
        class Dog(Animal, Noted):
            pass

        class Puppy(Dog):
            age: quire.Attr[int] = quire.attr(default=0)

        self.assertEqual(list(Dog._quire_entity.own), ["note"])
        self.assertEqual(list(Puppy._quire_entity.own), ["age"])
        self.assertIs(Puppy.note, Dog.note)
        with quire.open(":memory:", [Puppy]) as store:
            puppy = store.context.add(Puppy(name="Rex", note="x"))
            store.context.save()
            self.assertEqual(store.context.query(Dog).where(Dog.note == "x").all(), [puppy])

    def test_what_the_parent_has_taken_is_not_declared_twice(self):
        class Book(Noted, quire.Model):
            __unique__ = ["note"]

        class Novel(Book, Noted):
            pass

        class Numbered(Noted):
            number: quire.Attr[int] = quire.attr(default=1)

        class Volume(Numbered, Book):
            pass

        self.assertEqual((list(Novel._quire_entity.own), list(Volume._quire_entity.own)), ([], ["number"]))
        self.assertIs(Volume.note, Book.note)
        with quire.open(":memory:", [Novel, Volume]) as store:
            store.context.add(Volume(note="x"))
            store.context.save()
            self.assertEqual(store.context.query(Book).values("note"), [("x",)])

    def test_a_declaration_of_the_parent_wins_over_a_mixin_behind_it(self):
        class Named:
            name: quire.Attr[int] = quire.attr(default=0)
            nick: quire.Attr[int] = quire.attr(default=0)

        class Cat(Animal, Named):
            pass

        self.assertEqual(list(Cat._quire_entity.own), ["nick"])
        self.assertIs(Cat.name, Animal.name)

    def test_a_mixin_that_declares_again_what_the_parent_has_is_refused(self):
        class Named:
            name: quire.Attr[str]

        def body():
            class Cat(Named, Animal):
                pass
        self.assertRefused(
            "^Cat takes name from the mixin Named, but inherits Animal.name: .*Rename.*leave the mixin out", body)

    def test_a_fetched_property_of_the_parent_is_not_declared_again(self):
        class Box(quire.Model):
            larger: quire.Fetched["Box"] = quire.fetched(None)

        class Large:
            larger: quire.Attr[bool] = quire.attr(default=True)

        def by_a_mixin():
            class Crate(Large, Box):
                pass

        def by_itself():
            class Crate(Box):
                larger: quire.Attr[bool]

        def by_a_value():
            class Crate(Box):
                larger = True
        self.assertRefused("Crate takes larger from the mixin Large, but inherits Box.larger", by_a_mixin)
        self.assertRefused("Crate.larger is declared by a class that Crate inherits from", by_itself)
        self.assertRefused("Crate.larger would hide Box.larger", by_a_value)


class SettingTests(MixinTestCase):
    def test_indexes_uniqueness_rules_templates_and_info_of_mixins_add_up(self):
        class Coded:
            code: quire.Attr[str]
            __unique__ = ["code"]
            __indexes__ = {"codes": "code", "both": ("code", "number")}
            __rules__ = [("code != ''", "The code is empty.")]
            __templates__ = {"coded": "code == $code", "all": "code != nil"}
            __user_info__ = {"origin": "mixin", "kind": "coded"}
            __hash_modifier__ = "2"

        class Numbered:
            number: quire.Attr[int]
            __indexes__ = ["-number"]
            __unique__ = [("number", "code")]

        class Item(Numbered, Coded, quire.Model):
            size: quire.Attr[int] = quire.attr(default=0)
            __indexes__ = [quire.Index("size"), "-number"]
            __unique__ = ["size", ("number", "code")]
            __rules__ = [("size >= 0", "The size is negative.")]
            __templates__ = {"all": "size != nil"}
            __user_info__ = {"origin": "class"}

        with quire.open(":memory:", [Item]) as store:
            entity = store.model.entities["Item"]
            self.assertEqual({each.name for each in entity.indexes}, {"by_size", "by_number", "codes", "both"})
            self.assertEqual({tuple(each) for each in entity.unique}, {("size",), ("number", "code"), ("code",)})
            self.assertEqual((entity.user_info, entity.hash_modifier), ({"origin": "class", "kind": "coded"}, "2"))
            context = store.context
            item = context.add(Item(code="x", number=1, size=3))
            context.save()
            self.assertEqual(context.template(Item, "coded", code="x").all(), [item])
            self.assertIn("size", str(store.model.templates["Item.all"].condition))
            for wrong in (dict(code="", size=4), dict(code="y", size=-1)):
                context.add(Item(number=1, **wrong))
                with self.assertRaises(quire.ValidationError):
                    context.save()
                context.rollback()
            context.add(Item(code="x", number=2))
            with self.assertRaises(quire.ConstraintError):
                context.save()

    def test_settings_of_a_parent_are_not_taken_again(self):
        class Coded:
            code: quire.Attr[str]
            __unique__ = ["code"]
            __indexes__ = {"codes": "code"}

        class Item(Coded, quire.Model):
            pass

        class Part(Item):
            pass

        with quire.open(":memory:", [Part]) as store:
            found = store.model.entities
            self.assertEqual((len(found["Item"].indexes), len(found["Part"].indexes)), (1, 0))
            self.assertEqual((len(found["Item"].unique), len(found["Part"].unique)), (1, 0))

    def test_settings_may_be_what_is_read_once(self):
        class Coded:
            code: quire.Attr[str] = quire.attr(default="x")
            __unique__ = (each for each in ["code"])
            __indexes__ = map(str, ["code"])
            __rules__ = iter([("code != ''", "The code is empty.")])

        class One(Coded, quire.Model):
            pass

        class Two(Coded, quire.Model):
            pass

        for _ in range(2):
            with quire.open(":memory:", [One, Two]) as store:
                for each in ("One", "Two"):
                    found = store.model.entities[each]
                    self.assertEqual((len(found.unique), len(found.indexes), len(found.rules)), (1, 1, 1))

    def test_that_a_mixin_is_abstract_does_not_make_models_abstract(self):
        class Base:
            __abstract__ = True
            code: quire.Attr[str]

        class Item(Base, quire.Model):
            pass

        self.assertEqual(rows(Item, code="x"), [{"code": "x"}])

    def test_a_mistake_in_a_setting_names_the_mixin(self):
        for name, written, expected in (
                ("__indexes__", ["nothing"], "Wrong.__indexes__.*no property 'nothing'"),
                ("__indexes__", "note", "Wrong.__indexes__ is a list"),
                ("__unique__", ["nothing"], "Wrong.__unique__.*no property 'nothing'"),
                ("__rules__", ["note != ''"], "Wrong.__rules__: a rule is a tuple"),
                ("__templates__", {"a": 5}, r"Wrong.__templates__\['a'\] is a condition"),
                ("__templates__", 5, "Wrong.__templates__ is a mapping"),
                ("__user_info__", 5, "Wrong.__user_info__ is a mapping")):
            mixin = type("Wrong", (Noted,), {name: written})
            model = type("Item", (mixin, quire.Model), {"__module__": __name__})
            with self.subTest(name=name, written=written):
                with self.assertRaisesRegex(quire.InvalidModel, expected) as caught:
                    quire.open(":memory:", [model])
                self.assertIn("Item", str(caught.exception))


class HookTests(MixinTestCase):
    def test_hooks_of_mixins_are_called_and_may_call_those_behind_them(self):
        called = []

        class Tracked:
            def will_save(self):
                called.append("tracked")
                super().will_save()

            def awake_from_insert(self):
                called.append("awake")

        class Counted(Tracked):
            def will_save(self):
                called.append("counted")
                super().will_save()

        class Item(Counted, quire.Model):
            size: quire.Attr[int]

            def will_save(self):
                called.append("own")
                super().will_save()

        with quire.open(":memory:", [Item]) as store:
            store.context.add(Item(size=1))
            store.context.save()
        self.assertEqual(called, ["awake", "own", "counted", "tracked"])

    def test_validate_of_a_mixin_checks_the_whole_object(self):
        class Even:
            size: quire.Attr[int] = quire.attr(maximum=10)

            def validate(self):
                if self.size % 2:
                    raise quire.ValidationError("The size is odd.", key="size")

        class Positive(Even):
            def validate(self):
                super().validate()
                if self.size < 0:
                    raise quire.ValidationError("The size is negative.", key="size")

        class Box(Even, quire.Model):
            pass

        class Crate(Positive, quire.Model):
            pass

        class Chest(Box, Positive):
            pass

        for model in (Box, Crate, Chest):
            with self.subTest(model=model.__name__), quire.open(":memory:", [model]) as store:
                sizes = (12, 3) if model is Box else (12, 3, -2)
                for size in sizes:
                    box = store.context.add(model(size=size))
                    with self.assertRaises(quire.ValidationError):
                        box.validate()
                    with self.assertRaises(quire.ValidationError):
                        store.context.save()
                    store.context.delete(box)
                store.context.add(model(size=4)).validate()
                store.context.save()

    def test_a_hook_behind_the_base_would_not_be_called_and_is_refused(self):
        class Tracked:
            def will_save(self):
                raise AssertionError

        def behind():
            class Item(quire.Model, Tracked):
                pass

        def behind_a_parent():
            class Cat(Animal, Tracked):
                pass
        for body, name, base in (behind, "Item", "Model"), (behind_a_parent, "Cat", "Animal"):
            self.assertRefused(
                rf"{name} would never call Tracked.will_save, .*Write class {name}\(Tracked, {base}\)", body)

        class Own(quire.Model, Tracked):
            def will_save(self):
                pass

        self.assertTrue(callable(Own.will_save))


if __name__ == "__main__":
    unittest.main()
