"""Arrow arrays that do not have what they say: each is an error of its column, before memory is read that is not there.

They are laid out by hand, so that no other package is needed.
"""

import ctypes
import struct
import unittest
from typing import Optional

import quire
from quire._c import _arrow
from quire._c._arrow import ArrowArray, ArrowSchema


class Place(quire.Model):
    whole: quire.Attr[Optional[int]]
    text: quire.Attr[Optional[str]]
    flag: quire.Attr[Optional[bool]]
    real: quire.Attr[Optional[float]]
    data: quire.Attr[Optional[bytes]]


RELEASED = {
    kind: _arrow.Release(lambda address, kind=kind: setattr(kind.from_address(address), "release", _arrow.Release()))
    for kind in (ArrowSchema, ArrowArray)}


def pointers(kind, targets):
    """A C array of pointers to structs; None is NULL."""
    made = (ctypes.POINTER(kind) * len(targets))(*[
        ctypes.POINTER(kind)() if target is None else ctypes.pointer(target) for target in targets])
    return ctypes.cast(made, ctypes.POINTER(ctypes.POINTER(kind)))


def schema(form, name=b"", children=(), dictionary=None, **fields):
    made = ArrowSchema(format=form, name=name, n_children=len(children), release=RELEASED[ArrowSchema])
    if children:
        made.children = pointers(ArrowSchema, children)
    if dictionary is not None:
        made.dictionary = ctypes.pointer(dictionary)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def array(length, buffers, children=(), dictionary=None, **fields):
    """Buffers are bytes, or None for NULL."""
    made = ArrowArray(
        length=length, n_buffers=len(buffers), n_children=len(children), release=RELEASED[ArrowArray])
    made.kept = [each and ctypes.create_string_buffer(each, len(each)) for each in buffers]
    if buffers:
        made.addresses = (ctypes.c_void_p * len(buffers))(*[each and ctypes.addressof(each) for each in made.kept])
        made.buffers = ctypes.cast(made.addresses, ctypes.POINTER(ctypes.c_void_p))
    if children:
        made.children = pointers(ArrowArray, children)
    if dictionary is not None:
        made.dictionary = ctypes.pointer(dictionary)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


class Given:
    """A schema and an array as a source."""

    def __init__(self, kind, values):
        self.structs = kind, values

    def __arrow_c_array__(self, requested_schema=None):
        kind, values = self.structs
        return (
            _arrow._new_capsule(ctypes.addressof(kind), _arrow.SCHEMA, None),
            _arrow._new_capsule(ctypes.addressof(values), _arrow.ARRAY, None))


def longs(*values):
    return struct.pack(f"<{len(values)}q", *values)


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def view(size, buffer, offset):
    return struct.pack("<i4sii", size, b"abcd", buffer, offset)


LONG = b"x" * 30
# Attribute, type, what makes the array, the row that is wrong, and a part of the message.
CASES = {
    "negative length": ("whole", b"l", lambda: array(-1, [None, longs(1, 2)]), None, "negative"),
    "negative length of texts": ("text", b"u", lambda: array(-1, [None, ints(0, 1), b"a"]), None, "negative"),
    "negative offset": ("whole", b"l", lambda: array(2, [None, longs(1, 2)], offset=-5), None, "negative"),
    "length beyond memory": ("whole", b"l", lambda: array(2**61, [None, longs(1)]), None, "any memory"),
    "offset beyond memory": ("whole", b"l", lambda: array(1, [None, longs(1)], offset=2**62), None, "any memory"),
    "null integers": ("whole", b"l", lambda: array(2, [None, None]), None, "buffer 1 is NULL"),
    "null numbers": ("real", b"g", lambda: array(2, [None, None]), None, "buffer 1 is NULL"),
    "null booleans": ("flag", b"b", lambda: array(2, [None, None]), None, "buffer 1 is NULL"),
    "null ends": ("text", b"u", lambda: array(2, [None, None, b"ab"]), None, "buffer 1 is NULL"),
    "null text": ("text", b"u", lambda: array(2, [None, ints(0, 1, 2), None]), None, "buffer 2 is NULL"),
    "null bytes": ("data", b"Z", lambda: array(1, [None, longs(0, 1), None]), None, "buffer 2 is NULL"),
    "null pieces": ("data", b"w:3", lambda: array(1, [None, None]), None, "buffer 1 is NULL"),
    "no buffers": ("whole", b"l", lambda: array(2, []), None, "0 buffers"),
    "buffers that are none": ("whole", b"l", lambda: array(2, [], n_buffers=2), None, "2 buffers, and there are none"),
    "negative buffers": ("whole", b"l", lambda: array(2, [None], n_buffers=-2), None, "-2 buffers"),
    "one buffer": ("whole", b"l", lambda: array(2, [None]), None, "1 buffers"),
    "two buffers of text": ("text", b"u", lambda: array(2, [None, ints(0, 1, 2)]), None, "2 buffers"),
    "two buffers of views": ("text", b"vu", lambda: array(1, [None, view(1, 0, 0)]), None, "2 buffers"),
    "ends that descend": ("text", b"u", lambda: array(2, [None, ints(0, 5, 2), b"abcde"]), 1, "at 5 and end at 2"),
    "ends that descend by one": ("text", b"u", lambda: array(2, [None, ints(3, 3, 2), b"abcde"]), 1, "at 3"),
    "wide ends that descend": ("data", b"Z", lambda: array(2, [None, longs(0, 5, 2), b"abcde"]), 1, "at 5"),
    "a negative end": ("text", b"u", lambda: array(1, [None, ints(-4, 1), b"abcde"]), 0, "at -4"),
    "a slice with a negative end": ("text", b"u", lambda: array(
        1, [None, ints(0, -4, 1), b"abcde"], offset=1), 0, "at -4"),
    "a view of no buffer": ("text", b"vu", lambda: array(1, [None, view(20, 7, 0), None]), 0, "no memory"),
    "a view of a negative buffer": ("text", b"vu", lambda: array(
        2, [None, view(1, 0, 0) + view(20, -1, 0), LONG, longs(30)]), 1, "no memory"),
    "a view of the lengths": ("text", b"vu", lambda: array(
        1, [None, view(20, 1, 0), LONG, longs(30)]), 0, "no memory"),
    "a view behind its buffer": ("data", b"vz", lambda: array(
        1, [None, view(20, 0, 11), LONG, longs(30)]), 0, "no memory"),
    "a view far behind": ("text", b"vu", lambda: array(
        1, [None, view(20, 0, 2**30), LONG, longs(30)]), 0, "no memory"),
    "a view before its buffer": ("text", b"vu", lambda: array(
        1, [None, view(20, 0, -4), LONG, longs(30)]), 0, "no memory"),
    "a view of a negative size": ("text", b"vu", lambda: array(
        1, [None, view(-1, 0, 0), LONG, longs(30)]), 0, "no memory"),
    "a view of a negative length": ("text", b"vu", lambda: array(
        1, [None, view(20, 0, 0), LONG, longs(-1)]), 0, "no memory"),
    "a view of NULL": ("text", b"vu", lambda: array(
        1, [None, view(20, 0, 0), None, longs(30)]), 0, "no memory"),
    "views without lengths": ("text", b"vu", lambda: array(
        1, [None, view(20, 0, 0), LONG, None]), None, "lengths of the others"),
    "a width that is none": ("data", b"w:abc", lambda: array(1, [None, LONG]), None, "'w:abc'"),
    "a negative width": ("data", b"w:-3", lambda: array(1, [None, LONG]), None, "'w:-3'"),
    "decimals of nothing": ("real", b"d:abc", lambda: array(1, [None, LONG]), None, "'d:abc'"),
    "decimals without a scale": ("real", b"d:5", lambda: array(1, [None, LONG]), None, "'d:5'"),
    "decimals of an odd width": ("real", b"d:5,2,7", lambda: array(1, [None, LONG]), None, "'d:5,2,7'"),
    "no format": ("whole", None, lambda: array(1, [None, LONG]), None, "the type ''"),
}


class ArrowMalformedTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Place])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def refused(self, make, name, row, pattern):
        for insert in (self.context.insert_rows, self.context.insert_many):
            with self.assertRaisesRegex((quire.InvalidArgument, quire.WrongType), pattern) as caught:
                insert(Place, make())
            if name is not None:
                self.assertIn(f"column '{name}'", str(caught.exception))
            self.assertEqual(caught.exception.row, row)
            self.assertEqual(self.context.query(Place).count(), 0)

    def test_columns(self):
        for called, (name, form, make, row, pattern) in CASES.items():
            with self.subTest(called):
                self.refused(lambda: {name: Given(schema(form, name.encode()), make())}, name, row, pattern)

    def test_columns_of_tables(self):
        for called, (name, form, make, row, pattern) in CASES.items():
            with self.subTest(called):
                def table():
                    values = make()
                    return Given(
                        schema(b"+s", children=[schema(form, name.encode())]),
                        array(max(0, values.length) if values.length < 9 else 1, [None], children=[values]))
                self.refused(table, name, row, pattern)

    def test_tables(self):
        kind = lambda: schema(b"+s", children=[schema(b"l", b"whole")])
        child = lambda: array(1, [None, longs(1)])
        for make, name, pattern in (
            (lambda: Given(kind(), array(100000, [None], children=[child()])), "whole", "1 values.*100000 rows"),
            (lambda: Given(kind(), array(1, [None], children=[child()], offset=1)), "whole", "1 values.*2 rows"),
            (lambda: Given(kind(), array(1, [None])), None, "The table.*1 columns.*have 0"),
            (lambda: Given(kind(), array(1, [None], n_children=1)), None, "not all there"),
            (lambda: Given(kind(), array(1, [None], children=[None])), None, "not all there"),
            (lambda: Given(kind(), array(1, [], children=[child()], n_buffers=1)), None, "none"),
            (lambda: Given(kind(), array(-3, [None], children=[child()])), None, "negative"),
            (lambda: Given(kind(), array(1, [None], children=[child()], offset=-9)), None, "negative"),
            (lambda: Given(schema(b"+s", n_children=1), array(1, [None], children=[child()])), None, "not all there"),
            (lambda: Given(schema(b"+s", n_children=-1), array(1, [None])), None, "-1 columns"),
        ):
            self.refused(make, name, None, pattern)

    def test_dictionaries(self):
        words = lambda: array(2, [None, ints(0, 1, 2), b"ab"])
        kind = lambda form=b"i": schema(form, b"text", dictionary=schema(b"u"))
        for make, row, pattern in (
            (lambda: Given(kind(), array(2, [None, ints(0, 2)], dictionary=words())), 1, "index 2 .*dictionary of 2"),
            (lambda: Given(kind(), array(2, [None, ints(0, -1)], dictionary=words())), 1, "index -1"),
            (lambda: Given(kind(), array(1, [None, ints(0)])), None, "there is none"),
            (lambda: Given(kind(b"g"), array(1, [None, longs(0)], dictionary=words())), None, "whole numbers"),
            (lambda: Given(kind(), array(1, [None, ints(0)], dictionary=array(-1, [None, None, None]))), None, "negat"),
            (lambda: Given(kind(), array(1, [None, ints(0)], dictionary=array(1, [None, None, None]))), None, "NULL"),
        ):
            self.refused(lambda: {"text": make()}, "text", row, pattern)

    def test_what_is_empty_needs_no_memory(self):
        for form in (b"l", b"u", b"vu", b"b", b"g"):
            self.context.insert_rows(Place, {"whole": [], "text": Given(schema(form, b"text"), array(0, []))})
        self.assertEqual(self.context.query(Place).count(), 0)
        for form, buffers in ((b"u", [None, ints(0, 0, 0), None]), (b"vu", [None, view(0, 9, 9) * 2, None])):
            self.context.insert_rows(Place, {"text": Given(schema(form, b"text"), array(2, buffers))})
        # What stands where there is no value means nothing.
        nil = array(2, [b"\2", view(99, 9, 9) + view(20, 0, 10), LONG, longs(30)], null_count=1)
        self.context.insert_rows(Place, {"text": Given(schema(b"vu", b"text"), nil)})
        self.assertEqual(
            self.context.query(Place).values(Place.text), [("",), ("",), ("",), ("",), (None,), ("x" * 20,)])


if __name__ == "__main__":
    unittest.main()
