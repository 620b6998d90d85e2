"""Sections by period in the zones of the system's data, beside Python's zoneinfo."""

from __future__ import annotations

import importlib
import os
import pathlib
import struct
import sys
import tempfile
import unittest
import zoneinfo
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, timezone
from typing import Any
from unittest import mock

import quire
from quire import sections
from quire.lists import _time_zones

from support import cases_of_turn, say_skipped

UTC = timezone.utc
HOUR, SECOND, DAY = timedelta(hours=1), timedelta(seconds=1), timedelta(days=1)


class Moment(quire.Model):
    at: quire.Attr[datetime]


def zones() -> list[str]:
    """The zones of zone1970.tab: all that differ since 1970."""
    for folder in zoneinfo.TZPATH:
        table = pathlib.Path(folder, "zone1970.tab")
        if table.exists():
            lines = table.read_text(encoding="utf-8").splitlines()
            return [line.split("\t")[2] for line in lines if line and not line.startswith("#")]
    say_skipped("the zones of zone1970.tab", pathlib.Path(zoneinfo.TZPATH[0], "zone1970.tab"))
    return []


def changes(zone: zoneinfo.ZoneInfo, first: int, last: int) -> Iterator[datetime]:
    """The moments from the first to the last year at which the clocks of a zone begin to show another offset."""
    step = timedelta(hours=12)
    moment, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last + 1, 1, 1, tzinfo=UTC)
    while moment < end:
        offset = moment.astimezone(zone).utcoffset()
        if (moment + step).astimezone(zone).utcoffset() != offset:
            before, after = moment, moment + step
            while after - before > SECOND:
                middle = before + (after - before) // (2 * SECOND) * SECOND
                if middle.astimezone(zone).utcoffset() == offset:
                    before = middle
                else:
                    after = middle
            yield after
        moment += step


def first_moment(day: date, zone: zoneinfo.ZoneInfo, near: list[datetime]) -> datetime:
    """The first moment at which the clocks of a zone show a day, which begins by the clock or by one of the changes."""
    midnight = datetime.combine(day, time(), UTC)
    hours = [(midnight + timedelta(hours=each)).astimezone(zone) for each in range(-30, 31)]
    begins = [midnight - (each.utcoffset() or timedelta()) for each in hours] + near
    return min(each for each in begins if each.astimezone(zone).date() == day)


def write_zone(folder: str, name: str, offset: int) -> None:
    """Writes a TZif file of a zone with one offset."""
    block = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, 4) + struct.pack(">lBB", offset, 0, 0) + b"ABC\0"
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(block + block + b"\n\n")


class TimeZoneTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Moment])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def sections(self, moments: Any, rule: quire.sections.SectionRule) -> list[tuple[str, datetime, list[datetime]]]:
        self.context.query(Moment).delete()
        self.context.insert_rows(Moment, {"at": list(moments)})
        live = self.context.query(Moment).order_by("at").live(section_by=rule)
        return [(each.name, each.value, [row.at for row in each]) for each in live.sections]

    def days(self, moment: datetime, zone: str) -> list[str]:
        return [name for name, _, _ in self.sections([moment], sections.by_day("at", time_zone=zone))]

    def compare(self, name: str, moments: list[datetime], near: list[datetime], again: str) -> None:
        zone = zoneinfo.ZoneInfo(name)
        days: dict[date, list[datetime]] = {}
        for moment in moments:
            days.setdefault(moment.astimezone(zone).date(), []).append(moment)
        right = [
            (day.isoformat(), first_moment(day, zone, [each for each in near if abs(each - rows[0]) < 2 * DAY]), rows)
            for day, rows in sorted(days.items())]
        self.assertEqual(self.sections(moments, sections.by_day("at", time_zone=name)), right, again)
        for rule, length in ((sections.by_month, 7), (sections.by_year, 4)):
            periods: dict[str, list[datetime]] = {}
            for moment in moments:
                periods.setdefault(moment.astimezone(zone).date().isoformat()[:length], []).append(moment)
            found = {each: rows for each, _, rows in self.sections(moments, rule("at", time_zone=name))}
            self.assertEqual(found, periods, again)

    def test_all_zones_agree_with_the_standard_library_around_each_change(self) -> None:
        for name, again in cases_of_turn(self, zones(), 20):
            zone = zoneinfo.ZoneInfo(name)
            near = list(changes(zone, 1970, 2037))
            moments = {datetime(1970, 1, 1, tzinfo=UTC), datetime(2037, 12, 31, tzinfo=UTC)}
            for change in near:
                moments |= {change - HOUR, change - SECOND, change, change + HOUR}
                # The midnights before and after it tell the offsets to the second.
                for offset in ((change - SECOND).astimezone(zone).utcoffset(), change.astimezone(zone).utcoffset()):
                    assert offset is not None
                    local = (change + offset).replace(hour=0, minute=0, second=0)
                    moments |= {local - offset + each for each in (-SECOND, timedelta(), DAY - SECOND, DAY)}
            with self.subTest(zone=name):
                self.compare(name, sorted(moments), near, again)

    def test_the_minute_after_midnight_is_of_the_next_day_where_clocks_then_go_back(self) -> None:
        # At 00:01 on October 29, 2006, the clocks of Newfoundland went back to 23:01.
        change = datetime(2006, 10, 29, 2, 31, tzinfo=UTC)
        moments = [change + timedelta(minutes=each) for each in (-2, -1, 0, 49, 58, 59, 60)]
        for order in (moments, moments[::-1]):
            found = self.sections(order, sections.by_day("at", time_zone="America/St_Johns"))
            self.assertEqual([(name, len(rows)) for name, _, rows in found], [("2006-10-28", 4), ("2006-10-29", 3)])
            self.assertEqual(found[1][1], change - timedelta(minutes=1))

    def test_the_days_of_zones_whose_laws_have_changed_lately_are_those_of_now(self) -> None:
        for name, moment, day in (
            ("America/Mexico_City", datetime(2026, 7, 1, 5, 30, tzinfo=UTC), "2026-06-30"),
            ("Africa/Cairo", datetime(2026, 6, 1, 21, 30, tzinfo=UTC), "2026-06-02"),
            ("Asia/Almaty", datetime(2026, 3, 10, 18, 30, tzinfo=UTC), "2026-03-10"),
        ):
            self.assertEqual(self.days(moment, name), [day], name)

    def test_the_folder_of_the_environment_is_looked_at_by_each_list(self) -> None:
        moment = datetime(2026, 7, 1, 23, 30, tzinfo=UTC)
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, TZDIR=folder):
            for offset, day in ((3600, "2026-07-02"), (-3600, "2026-07-01")):
                write_zone(folder, "Mars/Base", offset)
                rule = sections.by_day("at", time_zone="Mars/Base")
                self.assertEqual([name for name, _, _ in self.sections([moment], rule)], [day])
            kept = self.context.query(Moment).live(section_by=rule)
            write_zone(folder, "Mars/Base", 3600)
            # The same rule, whose lists have the data of their beginning.
            self.assertEqual([each.name for each in self.context.query(Moment).live(rule).sections], ["2026-07-02"])
            self.context.insert_rows(Moment, {"at": [moment]})
            self.assertEqual([(each.name, len(each)) for each in kept.sections], [("2026-07-01", 2)])
            # A zone that the folder lacks is one of ICU.
            self.assertEqual(self.days(moment, "Europe/Berlin"), ["2026-07-02"])
            pathlib.Path(folder, "Mars/Base").write_bytes(b"TZif2")
            with self.assertRaisesRegex(quire.CannotOpen, "cannot be read from '.*/Mars/Base': it ends too early"):
                sections.by_day("at", time_zone="Mars/Base")

    def test_zones_that_the_system_lacks_are_those_of_the_package_tzdata(self) -> None:
        moment = datetime(2026, 7, 1, 23, 30, tzinfo=UTC)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sys, "path", [folder, *sys.path]):
            package = pathlib.Path(folder, "tzdata")
            package.mkdir()
            (package / "__init__.py").touch()
            write_zone(str(package / "zoneinfo"), "Mars/Base", 3600)
            write_zone(str(package / "zoneinfo"), "Europe/Berlin", -3600)
            _time_zones.folder_of_tzdata.cache_clear()
            self.addCleanup(_time_zones.folder_of_tzdata.cache_clear)
            importlib.invalidate_caches()
            self.assertEqual(self.days(moment, "Mars/Base"), ["2026-07-02"])
            if zones():
                self.assertEqual(self.days(moment, "Europe/Berlin"), ["2026-07-02"])
            with mock.patch.dict(os.environ, TZDIR=folder):
                self.assertEqual(self.days(moment, "Europe/Berlin"), ["2026-07-01"])

    def test_names_that_lead_elsewhere_are_no_zones(self) -> None:
        for name in ("../zoneinfo/UTC", "/usr/share/zoneinfo/UTC", "Europe/../UTC", "./UTC", "Europe", "", "Europe/"):
            with self.assertRaisesRegex(quire.InvalidArgument, "is not a time zone"):
                sections.by_day("at", time_zone=name)


if __name__ == "__main__":
    unittest.main()
