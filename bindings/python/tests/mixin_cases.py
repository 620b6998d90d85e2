"""What tests of mixins share."""

import os
import tempfile
import unittest

import quire


class Noted:
    note: quire.Attr[str] = quire.attr(default="m")

    def shout(self):
        return self.note.upper()


def rows(model, **values):
    """What a file has of one object with these values, read by another store."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.sqlite")
        with quire.open(path, [model]) as store:
            store.context.add(model(**values))
            store.context.save()
        with quire.open(path, [model], read_only=True) as store:
            return store.context.query(model).dictionaries()


class MixinTestCase(unittest.TestCase):
    def assertRefused(self, expected, body, kind=TypeError):
        with self.assertRaisesRegex(kind, expected):
            body()
