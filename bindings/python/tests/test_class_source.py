"""Model classes as text, of models of files."""

from __future__ import annotations

import copy
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import checkers
import quire
import support

DATA = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data"

CONTENTS = """<model>
  <entity name="Optional" representedClassName="Cover">
    <attribute name="int" attributeType="Integer 16" defaultValueString="-3" minValueString="-5" maxValueString="9"/>
    <attribute name="quire" attributeType="Float" defaultValueString="inf" optional="YES"/>
    <attribute name="Decimal" attributeType="Decimal" defaultValueString="1.50"/>
    <attribute name="datetime" attributeType="Date" defaultDateTimeInterval="31536000.5" usesScalarValueType="NO"/>
    <attribute name="far" attributeType="Date" defaultDateTimeInterval="1e14" optional="YES"/>
    <attribute name="uuid" attributeType="UUID" defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F"/>
    <attribute name="id" attributeType="String" regularExpressionString="[a-z'&quot;]+" optional="YES" indexed="YES">
      <userInfo><entry key="a'b&quot;" value="c&#10;# d"/></userInfo>
    </attribute>
    <attribute name="from" attributeType="Boolean" defaultValueString="YES" elementID="h" versionHashModifier="2"/>
    <attribute name="like" attributeType="URI" optional="YES" elementID="likes"/>
    <attribute name="any" attributeType="Undefined" optional="YES" transient="YES"/>
    <attribute name="image" attributeType="Transformable" valueTransformerName="T" customClassName="Image"
      allowsExternalBinaryDataStorage="YES" preservesValueInHistoryOnDeletion="YES" optional="YES"/>
    <attribute name="secret" attributeType="String" allowsCloudEncryption="YES" optional="YES"
      customClassName="NSString"/>
    <attribute name="total" attributeType="Integer 64" optional="YES" derived="YES" derivationExpression="books.@count"
      preservesValueInHistoryOnDeletion="YES"/>
    <relationship name="books" toMany="YES" minCount="2" optional="YES" deletionRule="Cascade" ordered="YES"
      destinationEntity="books" inverseName="context" inverseEntity="books"/>
    <relationship name="must" toMany="YES" deletionRule="Deny" destinationEntity="books"/>
    <relationship name="fleeting" maxCount="1" optional="YES" transient="YES" destinationEntity="Optional"/>
    <fetchedProperty name="found" optional="YES">
      <fetchRequest name="fetchedPropertyFetchRequest" entity="books" predicateString="title == $FETCH_SOURCE.id"
        fetchLimit="4"/>
      <userInfo><entry key="k" value="v"/></userInfo>
    </fetchedProperty>
  </entity>
  <entity name="books" isAbstract="YES">
    <attribute name="title" attributeType="String"/>
    <relationship name="context" maxCount="1" minCount="1" destinationEntity="Optional" inverseName="books"
      inverseEntity="Optional"/>
    <relationship name="books" maxCount="1" optional="YES" destinationEntity="books"/>
    <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="descending"/>
      <fetchIndexElement property="context" type="Binary" order="ascending"/></fetchIndex>
    <fetchIndex name="some" partialIndexPredicate="title != 'x'">
      <fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
    <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
    </uniquenessConstraints>
  </entity>
  <entity name="Volume" parentEntity="books">
    <attribute name="number" attributeType="Integer 32" optional="YES"/>
  </entity>
  <fetchRequest name="all" entity="books" predicateString="TRUEPREDICATE"/>
  <fetchRequest name="few" entity="Volume" predicateString="title BEGINSWITH $start" fetchLimit="2"/>
  <fetchRequest name="Volume.few" entity="Volume" predicateString="number &gt; 5"/>
  <configuration name="Some"><memberEntity name="Volume"/></configuration>
</model>"""


def executed(source: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "made"}
    exec(compile(source, "made.py", "exec"), scope)
    return scope


@functools.lru_cache(maxsize=None)
def real_source(path: pathlib.Path) -> str:
    """That of a model of another program; making one of 68 entities takes a while."""
    return quire.class_source(quire.load_model(path))


class SourceTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def loaded(self, contents: str) -> quire.LoadedModel:
        path = self.folder / "contents"
        path.write_text(contents)
        return quire.load_model(path)

    def declared_model(self, source: str) -> quire.ModelDescription:
        with quire.open(":memory:", executed(source)["CLASSES"]) as store:
            return store.model


class ClassSourceTests(SourceTestCase):
    def test_classes_declare_what_the_model_declares(self) -> None:
        model = self.loaded(CONTENTS)
        source = quire.class_source(model)
        self.assertEqual(source, quire.class_source(model.description))
        declared = self.declared_model(source)
        for name, entity in model.entities.items():
            there = declared.entities[name]
            self.assertEqual(there.version_hash, entity.version_hash, name)
            self.assertEqual(list(there.properties), list(entity.properties))
        self.assertEqual(
            [index.name for index in declared.entities["Optional"].indexes], ["id"], "which stores have of `indexed`")
        self.assertEqual(
            {name: request.condition for name, request in declared.templates.items()},
            {"books.all": "TRUEPREDICATE", "Volume.few": "title BEGINSWITH $start", "Volume.Volume.few": "number > 5"})
        self.assertEqual(declared.templates["Volume.few"].limit, 2)
        for line in ("# - the configuration 'Some' of 'Volume'", "# - the mark that CloudKit encrypts Optional.secret"):
            self.assertIn(f"\n{line}\n", source)

    def test_a_store_of_the_model_is_used_with_the_classes(self) -> None:
        model, path = self.loaded(CONTENTS), self.folder / "store.sqlite"
        scope = executed(quire.class_source(model))
        cover, volume = scope["Optional"], scope["Volume"]
        with quire.open(path, model) as store:
            found = store.classes
            context = store.context
            owner = context.add(found["Optional"](id_="x"))
            owner.must = [context.add(found["Volume"](title=title, context_=owner)) for title in ("x", "y")]
            context.save()
        with quire.open(path, scope["CLASSES"]) as store:
            context = store.context
            owner = context.query(cover).one()
            self.assertEqual((owner.id_, owner.int, owner.from_, owner.total), ("x", -3, True, 2))
            self.assertEqual([each.title for each in owner.found], ["x"])
            self.assertEqual(context.template(volume, "few", start="x").count(), 1)
            self.assertEqual(context.template(scope["books"], "all").count(), 2)
            context.add(volume(title="z", context_=owner))
            context.save()
            self.assertEqual(owner.total, 3)
        with quire.open(path) as store:
            self.assertEqual(store.context.query(store.classes["Volume"]).count(), 3)

    def test_type_checkers_know_the_classes(self) -> None:
        if checkers.MISSING:
            self.skipTest(checkers.MISSING)
        path = self.folder / "made.py"
        used = "\ndef use(it: Volume) -> None:\n    reveal_type(it.number)\n    reveal_type(it.context_.int)\n"
        source = quire.class_source(self.loaded(CONTENTS)) + used
        path.write_text(source)
        last = len(source.splitlines())
        for name, check in checkers.CHECKERS.items():
            with self.subTest(checker=name):
                found = check(str(path))
                self.assertEqual((found.wrong, found.text), (set(), ""))
                self.assertEqual({found.types[last - 1], found.types[last]}, {"int | None", "int"})

    def test_what_classes_cannot_declare_is_named(self) -> None:
        def entity(inner: str, name: str = "A") -> str:
            return f'<model><entity name="{name}">{inner}</entity></model>'

        composite = entity('<attribute name="place" attributeType="Composite" composite="P"/>').replace(
            "</model>", '<composite name="P"><attribute name="x" attributeType="Double"/></composite></model>')
        element = '<fetchIndexElement property="x" type="Binary" order="ascending"/>'
        index = f'<fetchIndex name="twice">{element}</fetchIndex>'
        x = '<attribute name="x" attributeType="String" optional="YES"/>'
        for contents, message, key in (
            (composite, "the composite attribute 'place' of A", "place"),
            (entity(x, "class"), "the entity 'class', whose name", ""),
            (entity(x + 2 * index), "the index 'twice' of A", ""),
            (entity(x.replace('"x"', '"self"')), "A.self.*stands for a value", ""),
            (entity(x.replace('"x"', '"größe"')), "größe", "größe"),
            (entity(x.replace('"x"', '"_x"')), "'_x' cannot name a property of entity 'A'", ""),
            (entity(x.replace('optional="YES"', 'derived="YES" derivationExpression="median:(x)"')), "A.x", "x"),
            (entity(x).replace("</model>", '<fetchRequest name="t" entity="A" resultType="2"/></model>'),
             "the template 't' of A, whose result is 'dictionaries'", ""),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(quire.Unsupported, message) as caught:
                quire.class_source(self.loaded(contents))
            self.assertIn(caught.exception.key, ("", key))
        for given in (self.folder, "x.momd", quire.Model):
            with self.assertRaisesRegex(quire.WrongType, "quire.load_model"):
                quire.class_source(given)  # type: ignore[arg-type]

    def test_texts_of_a_file_are_never_code(self) -> None:
        evil = "&quot;&quot;&quot;' + __import__(&#39;os&#39;)&#10;raise SystemExit"
        contents = f"""<model><entity name="A" representedClassName="{evil}" versionHashModifier="{evil}">
          <attribute name="x" attributeType="String" defaultValueString="{evil}" renamingIdentifier="{evil}"
            allowsCloudEncryption="YES"><userInfo><entry key="{evil}" value="{evil}"/></userInfo></attribute>
          </entity><configuration name="{evil}"><memberEntity name="A"/></configuration></model>"""
        model = self.loaded(contents)
        scope = executed(quire.class_source(model))
        self.assertEqual(scope["A"]().x, model.entities["A"].properties["x"].default)
        for name in ("A(quire.Model): pass\nraise SystemExit\nclass B", "A, B", "A.b", "a b", "1"):
            path = self.folder / "contents"
            path.write_text(contents.replace('name="A"', f'name="{name}"'.replace("\n", "&#10;")))
            try:
                model = quire.load_model(path)
            except quire.Error:
                continue
            with self.assertRaises(quire.Unsupported):
                quire.class_source(model)

    def test_a_parent_that_is_no_entity_is_never_code(self) -> None:
        mark = self.folder / "run"
        path = self.folder / "a.sqlite"
        quire.open(path, self.loaded('<model><entity name="A"/></model>')).close()
        with quire.open(path) as store:
            described = copy.deepcopy(store.model)
        described.entities["A"].__dict__["parent"] = f"open({str(mark)!r}, 'w') or quire.Model"
        with self.assertRaisesRegex(quire.Unsupported, "which is no entity"):
            quire.class_source(described)
        self.assertFalse(mark.exists())

    def test_names_of_a_file_are_never_code(self) -> None:
        mark = self.folder / "run"
        code = f"open({str(mark)!r}, 'w')"
        for name in (
                f"x = {code} #", f"x: quire.Attr[int] = {code} #", f"x\n    {code}\n    y", f"{code}", "x y", "ﬁx"):
            written = name.replace("\n", "&#10;").replace("'", "&apos;")
            for inner in (f'<attribute name="{written}" attributeType="String" optional="YES"/>',
                          f'<relationship name="{written}" destinationEntity="A" toMany="YES"/>',
                          f'<relationship name="x" destinationEntity="{written}" toMany="YES"/>',
                          f'<fetchedProperty name="{written}"><fetchRequest entity="A"/></fetchedProperty>',
                          f'<fetchedProperty name="x"><fetchRequest entity="{written}"/></fetchedProperty>',
                          f'</entity><entity name="B" parentEntity="{written}">',
                          f'</entity><entity name="{written}">'):
                try:
                    model = self.loaded(f'<model><entity name="A">{inner}</entity></model>')
                except quire.Error:
                    continue
                with self.subTest(inner=inner), self.assertRaises((quire.Unsupported, quire.InvalidModel)):
                    quire.class_source(model)
        self.assertFalse(mark.exists())
        written = code.replace("'", "&apos;")
        with self.assertRaises(quire.Error):
            quire.class_source(
                self.loaded(f'<model><entity name="A"/><fetchRequest name="t" entity="{written}"/></model>'))
        self.assertFalse(mark.exists())


class RealModelTests(SourceTestCase):
    """Models of other programs, which are not part of the project."""

    def models(self) -> list[pathlib.Path]:
        found = sorted(DATA.glob("models/*.xml")) + sorted(DATA.glob("stores/*/*.sqlite")) + sorted(
            DATA.glob("stores/**/*.mom")) + sorted(DATA.glob("stores/**/contents"))
        if not found:
            support.say_skipped("all models of other programs are not written as classes", DATA)
            self.skipTest("no models of other programs")
        return found

    def test_each_is_declared_or_refused_by_name(self) -> None:
        for path in self.models():
            with self.subTest(path=path.relative_to(DATA)):
                model = quire.load_model(path)
                composite = any(
                    each.type == "Composite" for entity in model.entities.values()
                    for each in entity.properties.values() if isinstance(each, quire.AttributeDescription))
                try:
                    declared = self.declared_model(real_source(path))
                except quire.Unsupported as error:
                    self.assertTrue(composite, error)
                    continue
                self.assertFalse(composite)
                for name, entity in model.entities.items():
                    self.assertEqual(declared.entities[name].version_hash, entity.version_hash, name)

    def test_stores_open_with_their_classes(self) -> None:
        for path in self.models():
            if path.suffix != ".sqlite":
                continue
            with self.subTest(path=path.relative_to(DATA)), quire.open(path, read_only=True) as store:
                scope = executed(real_source(path))
                with quire.open(path, scope["CLASSES"], read_only=True) as other:
                    for name, found in store.classes.items():
                        keys = [each.name for each in store.model.entities[name].properties.values()
                                if isinstance(each, quire.AttributeDescription) and not each.transient]
                        self.assertEqual(
                            store.context.query(found).limit(50).values(*keys),
                            other.context.query(scope[name]).limit(50).values(*keys), name)

    def test_mypy_is_content(self) -> None:
        if checkers.MISSING:
            self.skipTest(checkers.MISSING)
        paths = []
        for number, path in enumerate(self.models()):
            try:
                source = real_source(path)
            except quire.Unsupported:
                continue
            paths.append(self.folder / f"made_{number}.py")
            paths[-1].write_text(source)
        printed = checkers.mypy(*map(str, paths))
        self.assertIn(f"Success: no issues found in {len(paths)} source files", printed)


class ProgramTests(unittest.TestCase):
    def test_it_is_loaded_when_it_is_asked_for(self) -> None:
        program = "import sys, quire; quire.load_model; print('quire.models._class_source' in sys.modules)"
        environment = {**os.environ, "PYTHONPATH": checkers.PACKAGE}
        said = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment).stdout
        self.assertEqual(said, "False\n")


if __name__ == "__main__":
    unittest.main()
