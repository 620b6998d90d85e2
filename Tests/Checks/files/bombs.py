#!/usr/bin/env python3
"""Files that are built to exhaust their reader: small, and without an end as calls, as memory or as time.

    bombs.py FOLDER [--size N]

Writes all of them to FOLDER. N is how often each repeats what it is made of.
"""

from __future__ import annotations

import argparse
import os
import plistlib
import struct
import zlib
from collections.abc import Callable
from typing import Any

from archive_writer import Writer

UID = plistlib.UID
SIZE = 30_000
STRING = 700
Bomb = Callable[[int], bytes]


# Archives of models.


class Sketch(Writer):
    """A model of as little as there can be, to which a part is added that is too much."""

    def model(self, entities: dict[str, plistlib.UID], **more: Any) -> bytes:
        made = self.object("NSManagedObjectModel", {"NSEntities": self.mapped(entities), **more})
        return self.data(made)

    def entity(self, name: str, properties: dict[str, plistlib.UID], **more: Any) -> plistlib.UID:
        return self.object("NSEntityDescription", {
            "NSEntityName": self.value(name), "NSProperties": self.mapped(properties), **more})

    def attribute(self, name: str, **more: Any) -> plistlib.UID:
        return self.object("NSAttributeDescription", {
            "NSPropertyName": self.value(name), "NSAttributeType": STRING, "NSIsOptional": True, **more})

    def only(self, **more: Any) -> bytes:
        """One entity with one attribute, which has more than usual."""
        return self.model({"Thing": self.entity("Thing", {"name": self.attribute("name", **more)})})


def number_of_itself(size: int) -> bytes:
    sketch = Sketch()
    number = sketch.object("NSNumber")
    sketch.fill(number, {"NS.intval": number, "NS.boolval": number, "NS.dblval": number})
    return sketch.only(NSDefaultValue=number, NSIsTransient=number, NSFlagsKey=number)


def numbers_in_numbers(size: int) -> bytes:
    sketch = Sketch()
    number = sketch.value(1)
    for _ in range(size):
        number = sketch.object("NSNumber", {"NS.intval": number, "NS.boolval": number, "NS.dblval": number})
    return sketch.only(NSDefaultValue=number)


def text_of_itself(size: int) -> bytes:
    sketch = Sketch()
    text = sketch.object("NSMutableString")
    sketch.fill(text, {"NS.string": text})
    url = sketch.object("NSURL")
    sketch.fill(url, {"NS.relative": url, "NS.base": url})
    return sketch.only(NSDefaultValue=text, NSRenamingIdentifier=url)


def class_of_itself(size: int) -> bytes:
    sketch = Sketch()
    odd = sketch.add({})
    sketch.fill(odd, {"$class": odd, "$classname": odd})
    return sketch.only(NSDefaultValue=odd, NSUserInfo=odd)


def compounds(size: int) -> bytes:
    sketch = Sketch()
    predicate = sketch.object("NSTruePredicate")
    for _ in range(size):
        predicate = sketch.object("NSCompoundPredicate", {
            "NSCompoundPredicateType": 0, "NSSubpredicates": sketch.listed([predicate])})
    return sketch.only(NSValidationPredicates=sketch.listed([predicate]))


def expressions(size: int) -> bytes:
    sketch = Sketch()
    expression = sketch.expression({"self": True})
    for _ in range(size):
        expression = sketch.object("NSKeyPathExpression", {
            "NSExpressionType": 3, "NSOperand": expression, "NSSelectorName": sketch.value("valueForKey:"),
            "NSArguments": sketch.listed([sketch.value("x")])})
    return sketch.only(NSDerivationExpression=expression)


def superentities(size: int) -> bytes:
    sketch = Sketch()
    made: dict[str, plistlib.UID] = {}
    parent: dict[str, Any] = {}
    for place in range(size):
        made[f"E{place}"] = sketch.entity(f"E{place}", {f"a{place}": sketch.attribute(f"a{place}")}, **parent)
        parent = {"NSSuperentity": made[f"E{place}"]}
    return sketch.model(made)


def one_text_often(size: int) -> bytes:
    """A user info whose values are one long text."""
    sketch = Sketch()
    text = sketch.value("x" * 16 * size)
    return sketch.only(NSUserInfo=sketch.mapped({f"k{place}": text for place in range(size)}))


def one_path_often(size: int) -> bytes:
    """Orders by one key path of many keys."""
    sketch = Sketch()
    path = sketch.value("a." * 8 * size + "a")
    sort = [sketch.object("NSSortDescriptor", {"NSKey": path, "NSAscending": True}) for _ in range(size // 10)]
    entity = sketch.entity("Thing", {"name": sketch.attribute("name")})
    request = sketch.object("NSFetchRequest", {"NSEntity": entity, "NSSortDescriptors": sketch.listed(sort)})
    return sketch.model({"Thing": entity}, NSFetchRequestTemplates=sketch.mapped({"all": request}))


def one_path_in_expressions(size: int) -> bytes:
    sketch = Sketch()
    path = sketch.object("NSKeyPathSpecifierExpression", {"NSKeyPath": sketch.value("a." * 8 * size + "a")})
    left = sketch.listed([path])
    parts = sketch.listed([path] * (size // 10))
    aggregate = sketch.object("NSAggregateExpression", {"NSCollection": parts})
    operator = sketch.object("NSInPredicateOperator", {"NSOperatorType": 10, "NSModifier": 0, "NSFlags": 0})
    predicate = sketch.object("NSComparisonPredicate", {
        "NSLeftExpression": left, "NSRightExpression": aggregate, "NSPredicateOperator": operator})
    return sketch.only(NSValidationPredicates=sketch.listed([predicate]))


def one_list_of_warnings(size: int) -> bytes:
    """Attributes that share the list of their warnings."""
    sketch = Sketch()
    warnings = sketch.listed([sketch.value("w")] * (10 * size))
    properties = {f"a{place}": sketch.attribute(f"a{place}", NSValidationWarnings=warnings) for place in range(4000)}
    return sketch.model({"Thing": sketch.entity("Thing", properties)})


def one_list_of_arguments(size: int) -> bytes:
    """Calls that share the list of their arguments."""
    sketch = Sketch()
    given = sketch.listed([sketch.value(1)] * (10 * size))
    calls = [sketch.object("NSKeyPathExpression", {
        "NSOperand": UID(0), "NSSelectorName": sketch.value("valueForKey:"), "NSArguments": given})
        for _ in range(size)]
    return sketch.only(NSDerivationExpression=sketch.object(
        "NSAggregateExpression", {"NSCollection": sketch.listed(calls)}))


def properties_of_an_ancestor(size: int) -> bytes:
    """A root with many properties, and a chain below it that shares them with it."""
    sketch = Sketch()
    shared = sketch.mapped({f"a{place}": sketch.attribute(f"a{place}") for place in range(1900)})
    made: dict[str, plistlib.UID] = {}
    parent: dict[str, Any] = {}
    for place in range(size // 10):
        made[f"E{place}"] = sketch.object("NSEntityDescription", {
            "NSEntityName": sketch.value(f"E{place}"), "NSProperties": shared, **parent})
        parent = {"NSSuperentity": made[f"E{place}"]}
    return sketch.model(made)


def widely_inherited(size: int) -> bytes:
    """Entities that declare one property each, without a column, and inherit many."""
    sketch = Sketch()
    root = sketch.entity("Root", {f"a{place}": sketch.attribute(f"a{place}") for place in range(1900)})
    made = {"Root": root}
    for place in range(size // 3):
        relation = sketch.object("NSRelationshipDescription", {
            "NSPropertyName": sketch.value(f"r{place}"), "_NSDestinationEntityName": sketch.value("Root"),
            "NSMaxCount": 1, "NSIsTransient": True, "NSDeleteRule": 1})
        made[f"E{place}"] = sketch.entity(f"E{place}", {f"r{place}": relation}, NSSuperentity=root)
    return sketch.model(made)


def counts(size: int) -> bytes:
    sketch = Sketch()
    most = 2 ** 63 - 1
    relation = sketch.object("NSRelationshipDescription", {
        "_NSDestinationEntityName": sketch.value("Thing"), "NSMaxCount": most, "NSMinCount": -most, "NSDeleteRule": 1})
    entity = sketch.entity("Thing", {"r": relation, "name": sketch.attribute("name", NSFlagsKey=-1)})
    request = sketch.object("NSFetchRequest", {
        "NSEntity": entity, "NSFetchLimit": most, "NSFetchOffset": most, "NSBatchSize": most, "NSResultType": most})
    return sketch.model({"Thing": entity}, NSFetchRequestTemplates=sketch.mapped({"all": request}))


def requests_without_end(size: int) -> bytes:
    """A limit and an offset that are as large as can be, which together are more than any number."""
    sketch = Sketch()
    most = 2 ** 63 - 1
    entity = sketch.entity("Thing", {"name": sketch.attribute("name")})
    requests = {f"r{place}": sketch.object("NSFetchRequest", {
        "NSEntity": entity, "NSFetchLimit": limit, "NSFetchOffset": offset, "NSBatchSize": batch})
        for place, (limit, offset, batch) in enumerate([
            (most, most, 0), (most, 1, 1), (1, most, most), (most, 0, most), (most - 1, most - 1, 7)])}
    return sketch.model({"Thing": entity}, NSFetchRequestTemplates=sketch.mapped(requests))


def slow_pattern(size: int) -> bytes:
    """A regular expression that tries all ways to divide a text."""
    sketch = Sketch()
    predicates = []
    for pattern in ("(a*)*b", "(a|aa)+$b", "((((a+)+)+)+)+b", "(" * 5000 + "a" + ")" * 5000, "a{99999}{99999}"):
        operator = sketch.object("NSMatchingPredicateOperator", {"NSOperatorType": 6, "NSModifier": 0, "NSFlags": 0})
        predicates.append(sketch.object("NSComparisonPredicate", {
            "NSLeftExpression": sketch.expression({"self": True}), "NSRightExpression": sketch.expression({
                "value": pattern}), "NSPredicateOperator": operator}))
    properties = {f"a{place}": sketch.attribute(f"a{place}", NSValidationPredicates=sketch.listed([each]))
                  for place, each in enumerate(predicates)}
    return sketch.model({"Thing": sketch.entity("Thing", properties)})


def names_with_zero(size: int) -> bytes:
    sketch = Sketch()
    names = ["a\x00b", "a\x00", "\x00"]
    entity = sketch.entity("Thing", {each: sketch.attribute(each) for each in names})
    return sketch.model({"Thing\x00x": entity})


def defaults_of_archives(size: int) -> bytes:
    """Defaults of transformable attributes that share one large object."""
    sketch = Sketch()
    shared = sketch.listed([sketch.value(place) for place in range(size)])
    properties = {}
    for place in range(1900):
        properties[f"a{place}"] = sketch.object("NSAttributeDescription", {
            "NSAttributeType": 1800, "NSIsOptional": True, "NSDefaultValue": shared})
    return sketch.model({"Thing": sketch.entity("Thing", properties)})


# Sources.


def source(inner: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<model>{inner}</model>'.encode()


def attributes_of_an_element(size: int) -> bytes:
    return source("<entity " + " ".join(f'a{place}=""' for place in range(10 * size)) + "/>")


def namespaces(size: int) -> bytes:
    return source("<entity " + " ".join(f'xmlns:a{place}="x"' for place in range(size)) + "/>")


def elements(size: int) -> bytes:
    return source("<a/>" * 100 * size)


def elements_with_an_attribute(size: int) -> bytes:
    return source('<a b=""/>' * 100 * size)


def chain(size: int) -> bytes:
    """Entities below each other, each with a property that takes no column."""
    return source('<entity name="E0"/>' + "".join(
        f'<entity name="E{place}" parentEntity="E{place - 1}"><relationship name="r{place}" '
        f'destinationEntity="E0" toMany="YES" transient="YES"/></entity>' for place in range(1, size)))


def empty_chain(size: int) -> bytes:
    """A long chain of entities, and relationships at its end."""
    return source('<entity name="E0"/>' + "".join(
        f'<entity name="E{place}" parentEntity="E{place - 1}"/>' for place in range(1, size)) + (
            f'<entity name="L" parentEntity="E{size - 1}">' + "".join(
                f'<relationship name="r{place}" destinationEntity="L" inverseName="r{place}" toMany="YES"/>'
                for place in range(size // 4)) + "</entity>"))


def broad(size: int) -> bytes:
    """Entities that inherit many properties, and have one of their own."""
    root = "".join(f'<attribute name="a{place}" attributeType="String"/>' for place in range(1900))
    return source(f'<entity name="R">{root}</entity>' + "".join(
        f'<entity name="E{place}" parentEntity="R"><relationship name="r{place}" destinationEntity="R" '
        f'transient="YES"/></entity>' for place in range(size)))


def many_properties(size: int) -> bytes:
    return source('<entity name="R">' + "".join(
        f'<attribute name="a{place}" attributeType="String" transient="YES"/>' for place in range(2 * size))
        + "</entity>")


def many_identifiers(size: int) -> bytes:
    return source('<entity name="R"/>' + "".join(
        f'<versionIdentifier value="{place}"/>' for place in range(3 * size)))


def many_requests(size: int) -> bytes:
    return source('<entity name="R"/>' + "".join(
        f'<fetchRequest name="{place}" entity="R"/>' for place in range(3 * size)))


def many_configurations(size: int) -> bytes:
    return source('<entity name="R"/>' + "".join(f'<configuration name="{place}"/>' for place in range(3 * size)))


def many_constraints(size: int) -> bytes:
    return source('<entity name="R"><uniquenessConstraints>' + "".join(
        f'<uniquenessConstraint><constraint value="{place}"/></uniquenessConstraint>'
        for place in range(2 * size)) + "</uniquenessConstraints></entity>")


def old_indexes(size: int) -> bytes:
    return source('<entity name="R">' + "".join(
        f'<attribute name="a{place}" attributeType="String" indexed="YES" transient="YES"/>'
        for place in range(size)) + "</entity>")


def long_predicate(size: int) -> bytes:
    return source('<entity name="R"/><fetchRequest name="f" entity="R" predicateString="R IN {'
                  + "1," * 20 * size + '1}"/>')


def deep_predicate(size: int) -> bytes:
    return source('<entity name="R"/><fetchRequest name="f" entity="R" predicateString="'
                  + "(" * 4 * size + "TRUEPREDICATE" + ")" * 4 * size + '"/>')


def long_path(size: int) -> bytes:
    return source('<entity name="R"/><fetchRequest name="f" entity="R"><sortDescriptor key="'
                  + "a." * 20 * size + 'a"/></fetchRequest>')


def numbers(size: int) -> bytes:
    relations = "".join(
        f'<relationship name="r{place}" destinationEntity="R" toMany="YES" minCount="{low}" maxCount="{high}"/>'
        for place, (low, high) in enumerate([(0, 2 ** 63 - 1), (-2 ** 63, 2 ** 63 - 1), (2 ** 31, 2 ** 32)]))
    return source(f'<entity name="R">{relations}</entity>')


def requests_of_numbers(size: int) -> bytes:
    most = 2 ** 63 - 1
    return source('<entity name="R"/>' + "".join(
        f'<fetchRequest name="f{place}" entity="R" fetchLimit="{limit}" fetchOffset="{offset}" '
        f'fetchBatchSize="{batch}"/>' for place, (limit, offset, batch) in enumerate([
            (most, most, most), (most, 1, 1), (1, most, 3), (most, 0, most)])))


def lengths(size: int) -> bytes:
    return source('<entity name="R">' + "".join(
        f'<attribute name="a{place}" attributeType="String" optional="YES" minValueString="{low}" '
        f'maxValueString="{high}"/>' for place, (low, high) in enumerate([
            (2 ** 63 - 1, 1), (-2 ** 63, 2 ** 63 - 1), (5, -1), (2 ** 62, 2 ** 63 - 1)])) + "</entity>")


def slow_patterns(size: int) -> bytes:
    return source('<entity name="R">' + "".join(
        f'<attribute name="a{place}" attributeType="String" optional="YES" defaultValueString="{"a" * 60}" '
        f'regularExpressionString="{pattern}"/>'
        for place, pattern in enumerate(["(a*)*b", "(a|aa)+$b", "(((a+)+)+)+b", "(?:a?){60}a{60}b", "(.*)*\\1b"]))
        + "</entity>")


def doctype(declarations: str, inner: str = "") -> bytes:
    return (f'<?xml version="1.0"?>\n<!DOCTYPE model [{declarations}]>\n'
            f'<model><entity name="R">{inner}</entity></model>').encode()


def laughs(size: int) -> bytes:
    levels = "".join(f'<!ENTITY a{place} "{f"&a{place - 1};" * 10}">' for place in range(1, 20))
    return doctype(f'<!ENTITY a0 "aaaaaaaaaa">{levels}', '<attribute name="&a19;"/>&a19;')


def parameter_laughs(size: int) -> bytes:
    levels = "".join(
        f'<!ENTITY % a{place} "{f"&#37;a{place - 1};" * 10}">' for place in range(1, 20))
    return doctype(f'<!ENTITY % a0 "<!-- x -->">{levels} %a19;')


def quadratic_text(size: int) -> bytes:
    return doctype(f'<!ENTITY a "{"a" * size}">', "&a;" * size)


def many_declarations(size: int) -> bytes:
    return doctype("".join(f'<!ATTLIST model a{place} CDATA "x">' for place in range(3 * size)))


def outside(size: int) -> bytes:
    return doctype('<!ENTITY % a SYSTEM "file:///dev/zero"> %a; <!ENTITY b SYSTEM "file:///dev/zero">', "&b;")


def outside_type(size: int) -> bytes:
    return b'<!DOCTYPE model SYSTEM "file:///dev/zero"><model><entity name="R"/></model>'


def included(size: int) -> bytes:
    return (b'<model xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///dev/zero"/>'
            b'<entity name="R"/></model>')


def wide_text(size: int) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-16"?><model>{"<entity name=" * size}'.encode("utf-16")


def angles(size: int) -> bytes:
    return b"<" * 100 * size


# Archives of values.


def same_lists(size: int) -> bytes:
    """Lists of the list before, over and over."""
    writer = Writer()
    inner = writer.listed([])
    for _ in range(40):
        inner = writer.listed([inner] * 50)
    return writer.data(inner)


def lists_in_lists(size: int) -> bytes:
    writer = Writer()
    inner = writer.listed([])
    for _ in range(size):
        inner = writer.listed([inner])
    return writer.data(inner)


def list_of_itself(size: int) -> bytes:
    writer = Writer()
    made = writer.listed([])
    writer.fill(made, {"NS.objects": [made, made]})
    return writer.data(made)


def number_in_itself(size: int) -> bytes:
    writer = Writer()
    made = writer.object("NSNumber")
    writer.fill(made, {"NS.intval": made, "NS.boolval": made, "NS.dblval": made})
    return writer.data(made)


def date_of_itself(size: int) -> bytes:
    writer = Writer()
    number = writer.object("NSNumber")
    writer.fill(number, {"NS.dblval": number})
    return writer.data(writer.listed([
        writer.object("NSDate", {"NS.time": number}),
        writer.object("NSDecimalNumber", {"NS.mantissa": b"\x01\x00", "NS.exponent": number, "NS.length": number})]))


def one_long_text(size: int) -> bytes:
    """A dictionary whose objects have one long text, of each kind that is read anew."""
    writer = Writer()
    data = writer.value("y" * 10 * size)
    return writer.data(writer.listed([
        writer.object("NSMutableString", {"NS.string": data}) for _ in range(size)]))


def long_keys(size: int) -> bytes:
    writer = Writer()
    key = writer.value("k" * 10 * size)
    return writer.data(writer.listed([
        writer.object("NSDictionary", {"NS.keys": [key], "NS.objects": [key]}) for _ in range(size)]))


def long_class(size: int) -> bytes:
    writer = Writer()
    return writer.data(writer.listed([writer.object("C" * 10 * size) for _ in range(size)]))


def many_small(size: int) -> bytes:
    """A property list of a million references to one byte."""
    count = 30 * size
    body = b"\x08" + b"\xaf\x12" + struct.pack(">I", count) + b"\x00" * count
    offsets = struct.pack(">II", 8, 9)
    return b"bplist00" + body + offsets + struct.pack(">5xBBBQQQ", 0, 4, 1, 2, 1, 8 + len(body))


def lying_count(size: int) -> bytes:
    body = b"\x08" + b"\xaf\x13" + struct.pack(">Q", 2 ** 63 - 1)
    offsets = struct.pack(">II", 8, 9)
    return b"bplist00" + body + offsets + struct.pack(">5xBBBQQQ", 0, 4, 1, 2, 1, 8 + len(body))


def lying_trailer(size: int) -> bytes:
    return b"bplist00\x08" + b"\x08" * 40 + struct.pack(">5xBBBQQQ", 0, 8, 8, 2 ** 61, 2 ** 60, 8)


# Property lists in XML, which say which version of a model is current.


def nested_xml_list(size: int) -> bytes:
    return b'<?xml version="1.0"?><plist version="1.0">' + b"<array>" * size + b"</array>" * size + b"</plist>"


def broad_xml_list(size: int) -> bytes:
    return b'<?xml version="1.0"?><plist version="1.0"><array>' + b"<true/>" * 200 * size + b"</array></plist>"


def entities_of_xml_list(size: int) -> bytes:
    return (b'<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a "b">]><plist version="1.0"><dict>'
            b"<key>_XCCurrentVersionName</key><string>&a;&a;&lt;</string></dict></plist>")


MODELS: list[Bomb] = [
    number_of_itself, numbers_in_numbers, text_of_itself, class_of_itself, compounds, expressions, superentities,
    one_text_often, one_path_often, one_path_in_expressions, one_list_of_warnings, one_list_of_arguments,
    properties_of_an_ancestor, widely_inherited, counts, requests_without_end, slow_pattern, names_with_zero,
    defaults_of_archives]
SOURCES: list[Bomb] = [
    attributes_of_an_element, namespaces, elements, elements_with_an_attribute, chain, empty_chain, broad,
    many_properties, many_identifiers, many_requests, many_configurations, many_constraints, old_indexes,
    long_predicate, deep_predicate, long_path, numbers, requests_of_numbers, lengths, slow_patterns, laughs,
    parameter_laughs, quadratic_text, many_declarations, outside, outside_type, included, wide_text, angles]
VALUES: list[Bomb] = [
    same_lists, lists_in_lists, list_of_itself, number_in_itself, date_of_itself, one_long_text, long_keys, long_class,
    many_small, lying_count, lying_trailer]
LISTS: list[Bomb] = [nested_xml_list, broad_xml_list, entities_of_xml_list]


def write_all(folder: str, size: int = SIZE) -> list[str]:
    """Writes all bombs; returns their paths."""
    made: list[str] = []
    for bombs, ending in ((MODELS, "mom"), (SOURCES, "xml"), (VALUES, "archive")):
        for each in bombs:
            made.append(write(folder, f"{each.__name__}.{ending}", each(size)))
    for each in LISTS:
        versions = os.path.join(folder, f"{each.__name__}.xcdatamodeld")
        os.makedirs(os.path.join(versions, "b.xcdatamodel"))
        write(os.path.join(versions, "b.xcdatamodel"), "contents", source('<entity name="R"/>'))
        write(versions, ".xccurrentversion", each(size))
        made.append(versions)
    return made


def write(folder: str, name: str, data: bytes) -> str:
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def deflated(size: int) -> bytes:
    """A gigabyte of nothing, deflated."""
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = bytes(1 << 20)
    return b"".join(maker.compress(part) for _ in range(1024)) + maker.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--size", type=int, default=SIZE)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for path in write_all(arguments.folder, arguments.size):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
