"""A list that is kept right without live results: query again, gather the sections again, compare."""

from __future__ import annotations

import sample


class News:
    """Whether another connection has committed since the last time."""

    def __init__(self, version):
        self.version = version
        self.last = version()

    def __call__(self):
        before, self.last = self.last, self.version()
        return self.last != before


class Live:
    """Of a contender that has `ids_and_authors`, and functions that make and commit changes."""

    def __init__(self, contender):
        self.contender = contender
        self.ids, self.sections = self.query()

    def query(self):
        ids, authors = self.contender.ids_and_authors()
        return ids, sample.sections(authors)

    def refresh(self):
        ids, self.sections = self.query()
        self.told = sample.difference(self.ids, ids)
        self.ids = ids

    def take_over(self):
        self.refresh()

    def shows(self, count):
        return len(self.ids) >= count

    def told_list(self):
        return sample.told_list(self.ids, [count for _, _, count in self.sections])

    def window(self, place):
        return self.contender.window(place)

    def window_by_ids(self, place):
        return self.contender.window_of(self.ids[place:place + sample.WINDOW])

    def _then_refresh(self, write):
        def change():
            write()
            self.refresh()

        return change

    def moving(self, ids, authors):
        return self._then_refresh(self.contender.moving(ids, authors))

    def updating(self, id, title):
        return self._then_refresh(self.contender.updating(id, title))

    def deleting(self, id):
        return self._then_refresh(self.contender.deleting(id))

    def inserting(self, row):
        return self._then_refresh(self.contender.inserting(row))
