from __future__ import annotations

import unittest
from typing import Optional

import quire


class Asset(quire.Model):
    __abstract__ = True
    __hash_modifier__ = "m1"
    __renamed_from__ = "OldAsset"
    __class_name__ = "MyAsset"
    __user_info__ = {"k": "v"}
    __rules__ = [("size != 5", "Not five.")]
    size: quire.Attr[Optional[int]] = quire.attr(
        default=3, type=quire.Integer32, minimum=1, maximum=9, preserved=True, hash_modifier="m2",
        renamed_from="extent", user_info={"unit": "cm"}, rules=[("SELF != 4", "Nor four.")])
    name: quire.Attr[str] = quire.attr(searchable=True, min_length=1, max_length=20, pattern="[a-z]+")


class Photo(Asset):
    __indexes__ = {
        "byName": quire.Index("-name", "self", "entity", quire.Expression("size + 1"), where="size > 1"),
        "bySize": quire.Index("size", rtree=True),
        "plain": "name",
        "several": ("name", "-size"),
    }
    __unique__ = [("name", "size")]
    image: quire.Attr[bytes] = quire.attr(
        type=quire.Transformable, external=True, transformer="ImageCoder", value_class="Image")
    note: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True, name="remark")
    album: quire.ToOne[Album] = quire.relation(
        inverse="photos", minimum=1, on_delete="deny", hash_modifier="m3", renamed_from="folder")


class Album(quire.Model):
    __templates__ = {"dear": "photoCount > $least"}
    photoCount: quire.Attr[int] = quire.derived("photos.@count")
    photos: quire.ToMany[Photo] = quire.relation(
        inverse="album", ordered=True, minimum=2, maximum=2**32 - 1, required=True, user_info={"a": "b"})
    large: quire.Fetched[Photo] = quire.fetched("size > $FETCH_SOURCE.photoCount")


class Plain(quire.Model):
    x: quire.Attr[int]


class DescriptionTests(unittest.TestCase):
    def setUp(self) -> None:
        from quire.models._schema import Schema
        from quire._c import _handle
        from quire._c._load import quick
        from quire.models import _describing as description

        # No store is made of it: an index on an expression cannot be made.
        model = _handle.Slot(quick.quire_model_release)
        model.value = Schema([Asset, Photo, Album]).create()
        self.model = description.describe(model.value)

    def test_entities(self) -> None:
        self.assertEqual(sorted(self.model.entities), ["Album", "Asset", "Photo"])
        asset = self.model.entities["Asset"]
        self.assertEqual(
            (asset.name, asset.parent, asset.number, asset.abstract, asset.class_name, asset.hash_modifier,
             asset.renamed_from, dict(asset.user_info)),
            ("Asset", "", 2, True, "MyAsset", "m1", "OldAsset", {"k": "v"}))
        self.assertEqual(len(asset.version_hash), 32)
        photo = self.model.entities["Photo"]
        self.assertEqual(
            (photo.parent, photo.abstract, photo.class_name, photo.hash_modifier), ("Asset", False, "", ""))
        self.assertEqual(list(photo.properties), ["size", "name", "image", "remark", "album"])

    def test_attributes(self) -> None:
        size = self.model.entities["Photo"].properties["size"]
        self.assertEqual(size.__dict__, dict(
            name="size", entity="Asset", optional=True, user_info={"unit": "cm"}, transient=False, hash_modifier="m2",
            renamed_from="extent", type="Integer32", default=3, searchable=False, external=False, preserved=True,
            minimum=1, maximum=9, min_length=0, max_length=0, pattern="", derivation="", transformer="",
            value_class="", indexed=False, encrypted=False, composite="", elements={}))
        name = self.model.entities["Asset"].properties["name"]
        self.assertEqual(
            (name.searchable, name.min_length, name.max_length, name.pattern, name.default, name.minimum),
            (True, 1, 20, "[a-z]+", None, None))
        image = self.model.entities["Photo"].properties["image"]
        self.assertEqual(
            (image.type, image.external, image.transformer, image.value_class),
            ("Transformable", True, "ImageCoder", "Image"))
        self.assertTrue(self.model.entities["Photo"].properties["remark"].transient)
        self.assertEqual(self.model.entities["Album"].properties["photoCount"].derivation, "photos.@count")

    def test_relationships(self) -> None:
        album = self.model.entities["Photo"].properties["album"]
        self.assertEqual(album.__dict__, dict(
            name="album", entity="Photo", optional=False, user_info={}, transient=False, hash_modifier="m3",
            renamed_from="folder", destination="Album", inverse="photos", to_many=False, ordered=False,
            names_join_table=False, indexed=False, on_delete="deny", minimum=1, maximum=1))
        photos = self.model.entities["Album"].properties["photos"]
        self.assertEqual(
            (photos.to_many, photos.ordered, photos.optional, photos.minimum, photos.maximum, photos.user_info),
            (True, True, False, 2, 2**32 - 1, {"a": "b"}))
        large = self.model.entities["Album"].properties["large"]
        self.assertIsInstance(large, quire.FetchedPropertyDescription)
        self.assertEqual((large.destination, large.request.condition), ("Photo", "size > $FETCH_SOURCE.photoCount"))

    def test_what_a_to_many_relationship_requires(self) -> None:
        class Many(quire.Model):
            required: quire.ToMany[Plain] = quire.relation(required=True)
            least: quire.ToMany[Plain] = quire.relation(minimum=2)
            emptied: quire.ToMany[Plain] = quire.relation(minimum=2, required=False)
            free: quire.ToMany[Plain] = quire.relation(transient=True)

        with quire.open(":memory:", [Many, Plain]) as store:
            properties = store.model.entities["Many"].properties.values()
        self.assertEqual([each.optional for each in properties], [False, False, True, True])
        self.assertEqual([each.minimum for each in properties], [0, 2, 2, 0])
        self.assertEqual([each.transient for each in properties], [False, False, False, True])

    def test_indexes_constraints_and_rules(self) -> None:
        photo = self.model.entities["Photo"]
        indexes = {
            index.name: (index.rtree, index.where, [
                (element.property, element.expression, element.descending) for element in index.elements])
            for index in photo.indexes}
        self.assertEqual(indexes, {
            "byName": (False, "size > 1", [
                ("name", "", True), ("self", "", False), ("entity", "", False), ("", "size + 1", False)]),
            "bySize": (True, "", [("size", "", False)]),
            "plain": (False, "", [("name", "", False)]),
            "several": (False, "", [("name", "", False), ("size", "", True)]),
        })
        self.assertEqual(photo.unique, [["name", "size"]])
        self.assertEqual(
            [(rule.key, rule.predicate, rule.message) for rule in self.model.entities["Asset"].rules],
            [("", "size != 5", "Not five."), ("size", "SELF != 4", "Nor four.")])
        self.assertEqual(list(self.model.templates), ["Album.dear"])
        self.assertEqual((self.model.configurations, self.model.version_identifiers), ({}, []))

    def test_descriptions_are_equal_when_they_say_the_same(self) -> None:
        self.assertEqual(self.model.entities["Photo"], self.model.entities["Photo"])
        self.assertNotEqual(self.model.entities["Photo"], self.model.entities["Asset"])
        self.assertIn("name='byName'", repr(self.model))


    def test_help_lists_the_fields(self) -> None:
        for kind in (
                quire.AttributeDescription, quire.EntityDescription, quire.FetchedPropertyDescription,
                quire.IndexDescription, quire.IndexElement, quire.ModelDescription, quire.RelationshipDescription,
                quire.RequestDescription, quire.RuleDescription):
            names = {name for each in kind.__mro__ for name in vars(each).get("__annotations__", ()) if name[0] != "_"}
            self.assertTrue(names)
            for name in names:
                self.assertRegex(kind.__doc__, rf"\n        {name}: \w")


class StoreModelTests(unittest.TestCase):
    def test_a_store_has_its_model_and_keeps_it(self) -> None:
        store = quire.open(":memory:", [Plain])
        self.assertEqual(store.model.entities["Plain"].properties["x"].type, "Integer64")
        store.close()
        self.assertEqual(list(store.model.entities), ["Plain"])
        closed = quire.open(":memory:", [Plain])
        closed.close()
        self.assertEqual(closed.model, store.model)


class DeclarationTests(unittest.TestCase):
    def test_index_that_cannot_be_made_is_named(self) -> None:
        with self.assertRaisesRegex(quire.Unsupported, "'byName'"):
            quire.open(":memory:", [Asset, Photo, Album])

    def test_mistakes(self) -> None:
        class Wrong(quire.Model):
            __indexes__ = {5: "x"}
            x: quire.Attr[int]

        class Told(quire.Model):
            __user_info__ = {"a": 5}
            x: quire.Attr[int]

        class Empty(quire.Model):
            x: quire.Attr[int] = quire.attr(external=True)

        for model, message in ((Wrong, "no name of an index"), (Told, "texts to texts"), (Empty, "only data")):
            with self.assertRaisesRegex(quire.InvalidModel, message):
                quire.open(":memory:", [model])
        with self.assertRaisesRegex(TypeError, "required already"):
            type("A", (quire.Model,), {
                "__annotations__": {"a": "quire.ToOne['A']"}, "__module__": __name__,
                "a": quire.relation(required=True)})


if __name__ == "__main__":
    unittest.main()
