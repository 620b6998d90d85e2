"""Live lists: reading them, and being told of their changes."""

import gc
import unittest
import weakref

import quire
from support import Author, Quote, StoreTestCase, day


class ListTestCase(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.goethe, self.schiller = (self.context.add(Author(name=name)) for name in ("Goethe", "Schiller"))
        for number in range(6):
            self.quote(f"text {number}", author=(self.goethe, self.schiller, None)[number % 3], price=number)
        self.context.save()
        self.query = self.context.query(Quote).order_by(Quote.price)
        self.live = self.query.live(section_by="author.name")
        self.told = []


class ReadingTests(ListTestCase):
    def test_it_is_a_sequence_over_all_sections(self):
        live = self.live
        self.assertEqual([quote.price for quote in live], [2, 5, 0, 3, 1, 4])
        self.assertEqual(len(live), 6)
        self.assertEqual([quote.price for quote in live[1:4]], [5, 0, 3])
        self.assertEqual([quote.price for quote in live[::-2]], [4, 3, 5])
        self.assertEqual([quote.price for quote in live[4:1:-1]], [1, 3, 0])
        self.assertEqual(live[3:3], [])
        self.assertIs(live[-1], live[5])
        self.assertEqual([quote.price for quote in reversed(live)], [4, 1, 3, 0, 5, 2])
        self.assertIn(live[2], live)
        self.assertNotIn("x", live)
        self.assertNotIn(self.goethe, live)
        self.assertEqual(live.index(live[4]), 4)
        self.assertEqual(live.count(live[4]), 1)
        self.assertEqual(list(live.ids), [quote.id for quote in live])
        for wrong in (6, -7, 2**40):
            with self.assertRaises(IndexError):
                live[wrong]
        for other in (self.goethe, "x"):
            with self.assertRaises(ValueError):
                live.index(other)
        self.assertEqual(repr(live), "<Results Quote 3 sections 6 rows>")

    def test_sections_are_found_by_place_and_by_name(self):
        sections = self.live.sections
        self.assertEqual(sections.names, ["", "Goethe", "Schiller"])
        self.assertEqual(
            [(len(each), each.start, each.index_title) for each in sections], [(2, 0, ""), (2, 2, "G"), (2, 4, "S")])
        section = sections["Goethe"]
        self.assertIs(section, sections[1])
        self.assertEqual([quote.price for quote in section], [0, 3])
        self.assertIs(section[-1], self.live[3])
        self.assertEqual([quote.price for quote in section[::-1]], [3, 0])
        self.assertIn(self.live[2], section)
        self.assertNotIn(self.live[0], section)
        with self.assertRaises(LookupError):
            sections["Kant"]
        with self.assertRaises(IndexError):
            sections[3]
        with self.assertRaises(IndexError):
            section[2]
        self.assertEqual(repr(section), "<Section 'Goethe' 2 rows>")

    def test_sections_contain_themselves_and_their_names(self):
        sections = self.live.sections
        for each in ("", "Goethe", sections[2]):
            self.assertIn(each, sections)
        for each in ("Kant", None, 0, self.query.live(section_by="author.name").sections[0]):
            self.assertNotIn(each, sections)

    def test_paths_lead_both_ways(self):
        for place, quote in enumerate(self.live):
            path = self.live.path_of(quote)
            self.assertIs(self.live[path], quote)
            self.assertIs(self.live[tuple(path)], quote)
            self.assertEqual(self.live.flat(path), place)
            self.assertEqual(self.live.position_of(quote.id), place)
        self.assertEqual(self.live.path_of(self.live[3]), quire.Path(1, 1))
        self.assertIsNone(self.live.path_of(self.goethe))
        self.assertIsNone(self.live.path_of(Quote(contents="x")))
        self.assertIsNone(self.live.position_of(999))
        for wrong in ((3, 0), (0, 2), (-1, 0), (0, -1)):
            with self.assertRaises(IndexError):
                self.live[quire.Path(*wrong)]

    def test_numbers_that_are_no_places_are_refused_and_never_cut_down(self):
        huge = 2**64
        for wrong in (quire.Path(huge, 0), quire.Path(0, huge), quire.Path(-huge, 0), huge, -huge):
            with self.assertRaises(IndexError):
                self.live[wrong]
        with self.assertRaises(quire.NotFound):
            self.live.section_for_index_title(huge)
        self.assertIsNone(self.live.position_of(huge + 1))
        for wrong in (1.0, "x", None, (1, 2, 3), ("x", 0)):
            with self.assertRaises(TypeError):
                self.live[wrong]
        for wrong in (1.0, "x", None):
            with self.assertRaises(TypeError):
                self.live.sections[0][wrong]
            with self.assertRaises(TypeError):
                self.live.position_of(wrong)

    def test_whole_numbers_of_other_libraries_are_places(self):
        class Number:
            def __index__(self):
                return 1

        self.assertIs(self.live[Number()], self.live[1])
        self.assertIs(self.live.sections[1][Number()], self.live.sections[1][1])
        self.assertIs(self.live[quire.Path(Number(), Number())], self.live[3])

    def test_index_titles_lead_to_sections(self):
        self.assertEqual(self.live.index_titles, ["", "G", "S"])
        self.assertEqual(self.live.section_for_index_title(2), 2)
        with self.assertRaises(quire.NotFound):
            self.live.section_for_index_title(3)

    def test_without_sections_there_is_one(self):
        live = self.query.where("price > 99").live()
        self.assertEqual((len(live), live.sections.names), (0, [""]))
        self.assertEqual(len(self.query.where("price > 99").live(section_by=Quote.note).sections), 0)

    def test_what_cannot_be_live_is_refused(self):
        with self.assertRaises(quire.Unsupported):
            self.query.excluding_pending_changes().live()
        with self.assertRaises(quire.InvalidArgument):
            self.query.live(section_by="nothing")
        with self.assertRaises(quire.InvalidArgument):
            self.context.query(Quote).where("nothing == 1").live()

    def test_values_of_a_window_come_without_objects(self):
        rows = [(quote.contents, quote.price) for quote in self.live]
        self.assertEqual(self.live.values(Quote.contents, "price"), rows)
        self.assertEqual(self.live.values(Quote.contents, "price", first=1, count=2), rows[1:3])
        self.live[0].price = 77
        prices = self.live.columns(Quote.price, first=0, count=1)
        self.assertEqual(prices[Quote.price].to_list(), [77])
        self.assertIs(prices["price"], prices[Quote.price])
        self.assertEqual(len(self.live.values()[0]), len(self.context.query(Quote).values()[0]))
        for first, count in ((0, len(rows) + 1), (-1, 1), (2**70, 1)):
            with self.assertRaises(quire.InvalidArgument):
                self.live.values("price", first=first, count=count)

    def test_a_section_of_an_earlier_state_says_so(self):
        section = self.live.sections[0]
        self.quote("new", price=9)
        self.context.process()
        self.assertEqual(len(section), 2)
        with self.assertRaisesRegex(quire.InvalidState, "has changed since"):
            section[0]
        self.assertEqual(len(self.live.sections[0]), 3)


class HandlerTests(ListTestCase):
    def setUp(self):
        super().setUp()
        self.live.on_change(self.told.append)

    def test_what_a_handler_changes_is_told_before_the_call_returns(self):
        @self.live.on_change
        def handler(change):
            if len(self.live) < 9:
                self.quote(f"more {len(self.live)}", price=0)

        self.live[0].contents = "other"
        self.context.save()
        self.assertEqual((len(self.live), len(self.context.inserted)), (9, 3))
        self.assertEqual([len(change) for change in self.told], [1, 1, 1, 1])

    def test_a_handler_that_never_stops_changing_is_an_error(self):
        @self.live.on_change
        def handler(change):
            self.live[0].price = (self.live[0].price or 0) + 1
            self.context.process()

        self.live[0].contents = "other"
        with self.assertRaisesRegex(quire.InvalidState, "1000 times"):
            self.context.process()
        self.live.close()
        self.context.rollback()

    def test_a_handler_sees_the_new_state(self):
        seen = []

        @self.live.on_change
        def handler(change):
            seen.append((len(self.live), self.live.path_of(quote), [type(each) for each in change]))

        quote = self.quote("new", author=self.goethe, price=1)
        self.assertEqual(seen, [])
        self.context.process()
        self.assertEqual(seen, [(7, quire.Path(1, 1), [quire.Insert])])

    def test_each_kind_of_change_is_told(self):
        new = self.quote("new", author=self.goethe, price=9)
        gone, moved, updated = self.live[0], self.live[2], self.live[5]
        self.context.delete(gone)
        moved.price = 7
        updated.contents = "other"
        self.context.process()
        (change,) = self.told
        self.assertEqual(len(change), 4)
        delete, *rest = change
        self.assertIsInstance(delete, quire.Delete)
        self.assertEqual((delete.old, delete.new, delete.old_flat, delete.new_flat), ((0, 0), None, 0, None))
        self.assertIs(delete.object, gone)
        found = {type(each): each for each in rest}
        self.assertEqual((found[quire.Insert].new, found[quire.Insert].object), ((1, 2), new))
        move = found[quire.Move]
        self.assertEqual((move.old, move.new, move.object), ((1, 0), (1, 1), moved))
        self.assertEqual((found[quire.Update].old, found[quire.Update].new), ((2, 1), (2, 1)))
        self.assertEqual(change.map(0), None)
        self.assertEqual([change.map(place) for place in range(1, 6)], [0, 2, 1, 4, 5])
        self.assertIsNone(change.map(99))
        self.assertEqual((change.inserted_sections, change.deleted_sections), ((), ()))

    def test_sections_come_and_go(self):
        kant = self.context.add(Author(name="Kant"))
        for quote in list(self.live.sections["Goethe"]):
            quote.author = kant
        self.context.save()
        (change,) = self.told
        self.assertEqual((change.inserted_sections, change.deleted_sections), ((1,), (1,)))
        self.assertEqual(
            change.section_changes, (quire.DeleteSection(1, "Goethe"), quire.InsertSection(1, "Kant")))
        for each in change.section_changes:
            self.assertIsInstance(each, quire.SectionChange)
        self.assertEqual(repr(change), "<ChangeSet 2 rows, 1 new sections, 1 gone>")
        self.assertEqual({type(each) for each in change}, {quire.Move})
        self.assertEqual(
            [step.kind for step in change.steps()],
            [quire.StepKind.INSERT_SECTION, quire.StepKind.MOVE_ROW, quire.StepKind.MOVE_ROW,
             quire.StepKind.DELETE_SECTION, quire.StepKind.UPDATE_ROW, quire.StepKind.UPDATE_ROW])

    def test_section_changes_come_in_the_order_in_which_they_can_be_applied(self):
        names = self.live.sections.names
        for quote in list(self.live):
            quote.author = None
        self.context.process()
        for number, name in enumerate(("Arnim", "Brentano", "Chamisso")):
            self.quote("new", author=self.context.add(Author(name=name)), price=number)
        self.context.process()
        self.assertEqual(
            [each for change in self.told for each in change.section_changes],
            [quire.DeleteSection(2, "Schiller"), quire.DeleteSection(1, "Goethe"), quire.InsertSection(1, "Arnim"),
             quire.InsertSection(2, "Brentano"), quire.InsertSection(3, "Chamisso")])
        self.assertEqual([change.deleted_sections for change in self.told], [(1, 2), ()])
        for each in (each for change in self.told for each in change.section_changes):
            if isinstance(each, quire.DeleteSection):
                self.assertEqual(names.pop(each.index), each.name)
            else:
                names.insert(each.index, each.name)
        self.assertEqual(names, self.live.sections.names)

    def test_a_section_change_is_a_value(self):
        self.assertEqual(quire.InsertSection(1, "x"), quire.InsertSection(index=1, name="x"))
        self.assertNotEqual(quire.InsertSection(1, "x"), quire.DeleteSection(1, "x"))
        self.assertEqual(len({quire.InsertSection(1, "x"), quire.InsertSection(1, "x")}), 1)
        self.assertEqual(repr(quire.DeleteSection(1, "x")), "DeleteSection(index=1, name='x')")
        with self.assertRaises(AttributeError):
            quire.DeleteSection(1, "x").index = 2

    def test_a_change_is_a_value(self):
        self.quote("new", price=9)
        self.context.process()
        (change,) = self.told
        (insert,) = change
        self.assertIn(insert, change)
        self.assertEqual({insert}, set(change))
        self.assertNotEqual(insert, None)
        other = self.query.live(section_by="author.name")
        self.addCleanup(other.close)
        other.on_change(lambda each: self.assertNotEqual(set(each), set(self.told[-1])))
        self.quote("newer", price=10)
        self.context.process()

    def test_a_place_that_no_list_has_leads_nowhere(self):
        self.quote("new", price=9)
        self.context.process()
        for place in (-1, 99, 2**64, -(2**64)):
            self.assertIsNone(self.told[0].map(place))
        with self.assertRaises(TypeError):
            self.told[0].map(0.5)

    def test_permanent_ids_are_given_after_the_changes_were_told(self):
        quote = self.quote("new", price=9)
        self.context.obtain_permanent_ids()
        self.assertEqual([each.object for each in self.told[0]], [quote])
        self.assertGreater(quote.id, 0)

    def test_a_change_of_a_related_object_is_told(self):
        self.goethe.name = "Zweig"
        self.context.process()
        self.assertEqual(self.live.sections.names, ["", "Schiller", "Zweig"])
        self.assertEqual(len(self.told), 1)

    def test_a_rollback_is_told(self):
        self.quote("new", price=9)
        self.live[0].price = 50
        self.context.process()
        self.context.rollback()
        self.assertEqual(len(self.told), 2)
        self.assertEqual([quote.price for quote in self.live], [2, 5, 0, 3, 1, 4])

    def test_no_query_calls_handlers(self):
        for run in (
            self.query.all, self.query.count, self.query.ids, self.query.exists, lambda: list(self.query),
            lambda: self.query.values("price"), self.query.first, lambda: self.query[0:2],
        ):
            self.told.clear()
            self.quote("new", price=9)
            run()
            # Queries see what is unsaved, and leave the report to the next call that processes changes.
            self.assertEqual(len(self.told), 0)
            self.context.process()
            self.assertEqual(len(self.told), 1)

    def test_a_limit_and_an_offset_stay_true(self):
        self.live.close()
        live = self.query.offset(1).limit(3).live()
        live.on_change(self.told.append)
        self.assertEqual([quote.price for quote in live], [1, 2, 3])
        first = self.quote("new", price=-1)
        self.context.process()
        self.assertEqual([quote.price for quote in live], [0, 1, 2])
        self.assertEqual([type(each) for each in self.told[0]], [quire.Delete, quire.Insert])
        self.context.delete(first)
        self.context.delete(live[1])
        self.context.save()
        self.assertEqual([quote.price for quote in live], [2, 3, 4])
        live.set_query(self.query.limit(2))
        self.assertEqual([quote.price for quote in live], [0, 2])

    def test_a_window_is_refilled_however_many_rows_leave(self):
        for number in range(2000):
            self.quote(f"more {number}", price=100 + number)
        self.context.save()
        # The list knows 256 rows behind its window. Of those and the window's own, more or fewer than the limit and
        # than the offset are left.
        rest = self.query.where("price >= 100")
        windows = [rest.offset(offset).limit(10) for offset in (0, 40)]
        lives = [window.live() for window in windows]
        for number in (270, 333, 289, 300, 297, 333, 140):
            for quote in rest.limit(number):
                self.context.delete(quote)
            self.context.process()
            for window, live in zip(windows, lives):
                self.assertEqual(list(live.ids), list(window.ids()))
        self.assertEqual([len(live) for live in lives], [10, 0])

    def test_a_suspended_list_stays_as_it_is(self):
        before = list(self.live.ids)
        with self.live.suspended():
            self.context.delete(self.live[0])
            self.quote("new", price=9)
            self.context.save()
            self.assertEqual((list(self.live.ids), self.told), (before, []))
            with self.assertRaises(quire.InvalidState):
                self.live.set_query(self.query)
            with self.assertRaises(quire.InvalidState), self.live.suspended():
                pass
        (change,) = self.told
        self.assertEqual([type(each) for each in change], [quire.Delete, quire.Insert])

    def test_what_a_user_has_dragged_is_not_told(self):
        live = self.query.live()
        self.addCleanup(live.close)
        live.on_change(self.told.append)
        self.live.close()
        with live.suspended(tell=False):
            live[0].price = 2.5
        self.assertEqual([quote.price for quote in live], [1, 2, 2.5, 3, 4, 5])
        self.assertEqual(self.told, [])

    def test_a_handler_that_raises_when_a_list_is_suspended_leaves_it_following(self):
        live = self.query.live()

        @live.on_change
        def fails_once(change):
            live.remove_handler(fails_once)
            raise KeyError("mine")

        self.quote("new", price=9)
        with self.assertRaisesRegex(KeyError, "mine"), live.suspended():
            self.fail("the block of a list that is not suspended runs")
        self.quote("another", price=10)
        self.context.process()
        self.assertEqual([quote.price for quote in live], [0, 1, 2, 3, 4, 5, 9, 10])

    def test_a_list_that_cannot_read_when_it_is_resumed_can_be_resumed_later(self):
        works = [True]

        @quire.register_function("shaky")
        def shaky(price: float) -> float:
            if not works[0]:
                raise ValueError("shaky")
            return price

        self.addCleanup(quire.unregister_function, "shaky")
        live = self.query.where("shaky(price) > 2").live()
        live.on_change(self.told.append)
        self.live.close()
        with self.assertRaises(quire.FunctionError), live.suspended():
            self.quote("new", price=9)
            works[0] = False
        works[0] = True
        self.assertEqual(([quote.price for quote in live], self.told), ([3, 4, 5], []))
        with live.suspended():
            self.assertEqual([quote.price for quote in live], [3, 4, 5])
            with self.assertRaises(quire.InvalidState), live.suspended():
                pass
        self.assertEqual([quote.price for quote in live], [3, 4, 5, 9])
        self.assertEqual([type(each) for each in self.told[0]], [quire.Insert])
        live.set_query(self.query)

    def test_another_query_tells_the_difference(self):
        before = list(self.live)
        self.live.set_query(self.query.where("price > 1"), section_by="author.name")
        (change,) = self.told
        self.assertEqual({type(each) for each in change}, {quire.Delete})
        self.assertEqual(list(self.live), [quote for quote in before if quote.price > 1])
        self.live.set_query(self.context.query(Quote).order_by("-price"))
        self.assertEqual([quote.price for quote in self.live], [5, 4, 3, 2, 1, 0])
        self.assertEqual(self.live.sections.names, [""])
        self.assertEqual(len(self.told[1].deleted_sections), 3)
        self.live.set_query(self.context.query(Quote).order_by("-price"))
        self.assertEqual(len(self.told), 2)
        self.quote("new", price=2.5)
        self.context.process()
        self.assertEqual([type(each) for each in self.told[2]], [quire.Insert])

    def test_a_query_that_cannot_be_live_leaves_the_list_as_it_was(self):
        before = list(self.live)
        for query, section in (
                (self.context.query(Author), None), (self.query.where("nothing == 1"), None), (self.query, "nothing"),
                (self.store.create_context().query(Quote), None)):
            with self.assertRaises(quire.InvalidArgument):
                self.live.set_query(query, section_by=section)
        self.assertEqual((list(self.live), self.told), (before, []))

    def test_what_changes_nothing_is_not_told(self):
        self.live[0].price = self.live[0].price
        self.context.add(Author(name="unrelated"))
        self.context.process()
        self.context.save()
        self.assertEqual(self.told, [])

    def test_a_removed_handler_is_not_called(self):
        self.live.remove_handler(self.told.append)
        with self.assertRaises(ValueError):
            self.live.remove_handler(self.told.append)
        self.quote("new")
        self.context.process()
        self.assertEqual(self.told, [])

    def test_a_handler_that_another_removes_is_not_called_any_more(self):
        live = self.query.live()
        calls = []

        @live.on_change
        def first(change):
            live.remove_handler(calls.append)

        live.on_change(calls.append)
        self.live.on_change(lambda change: self.live.close())
        self.live.on_change(calls.append)
        self.quote("new")
        self.context.process()
        self.assertEqual(calls, [])

    def test_an_exception_comes_out_after_all_handlers_were_called(self):
        calls = []

        @self.live.on_change
        def fails(change):
            calls.append("fails")
            raise KeyError("mine")

        @self.live.on_change
        def fails_too(change):
            calls.append("fails too")
            raise ValueError("second")

        other = self.query.live()
        self.addCleanup(other.close)
        other.on_change(lambda change: calls.append("other"))
        self.quote("new", price=9)
        with self.assertLogs("quire", "ERROR"), self.assertRaisesRegex(KeyError, "mine"):
            self.context.save()
        self.assertEqual(calls, ["fails", "fails too", "other"])
        self.assertFalse(self.context.has_changes)
        self.assertEqual(len(self.told), 1)

    def test_an_exception_beside_a_failed_save_is_logged(self):
        @self.live.on_change
        def fails(change):
            raise KeyError("mine")

        self.context.insert_many(Quote, {"note": ["a quote without contents"]})
        with self.assertLogs("quire", "ERROR"), self.assertRaises(quire.ValidationError):
            self.context.save()

    def test_a_handler_may_change_and_save(self):
        @self.live.on_change
        def follow(change):
            if len(self.live) < 10:
                self.quote("more", price=20 + len(self.live))
                self.context.save()

        self.quote("new", price=9)
        self.context.save()
        self.assertEqual(len(self.live), 10)
        self.assertEqual(len(self.told), 4)
        self.assertEqual(self.store.create_context().query(Quote).count(), 10)

    def test_a_handler_may_close_the_list(self):
        other = self.query.live()
        other.on_change(lambda change: self.live.close())
        self.live.on_change(lambda change: other.close())
        self.quote("new")
        self.context.process()
        self.assertTrue(other.closed)

    def test_only_what_can_be_called_is_a_handler(self):
        with self.assertRaises(TypeError):
            self.live.on_change(5)

    def test_reading_anew_is_silent(self):
        generation = self.live.generation
        self.quote("new", price=9)
        self.live.fetch()
        self.assertEqual(len(self.live), 7)
        self.assertGreaterEqual(self.live.generation, generation)
        self.context.process()
        self.assertEqual(self.told, [])

    def test_reading_anew_shows_the_moment_of_the_context(self):
        other = self.store.create_context()
        live = other.query(Quote).order_by("contents").live()
        quote = live[0]
        self.assertEqual(quote.price, 0.0)
        self.live[self.live.position_of(quote.id)].price = 77.0
        self.context.save()
        live.fetch()
        self.assertEqual((live[0].price, quote.price), (0.0, 0.0))
        other.merge()
        live.fetch()
        self.assertEqual((live[0].price, quote.price), (77.0, 77.0))

    def test_a_list_that_nobody_holds_is_collected_and_not_told(self):
        told = []
        for make in self.query.live, lambda: quire.Composite(self.query.live()):
            for reads in False, True:
                live = make()
                live.on_change(told.append)
                live.on_change(self.fail)
                if reads:
                    live.sections
                watcher = weakref.ref(live)
                with self.assertWarnsRegex(RuntimeWarning, "handlers.*: list.append, .*fail.*Keep"):
                    del live
                    gc.collect()
                self.assertIsNone(watcher())
        self.quote("new")
        self.context.process()
        self.assertEqual(told, [])

    def test_a_list_whose_sections_nobody_has_read_is_gone_with_its_last_reference(self):
        gc.disable()
        self.addCleanup(gc.enable)
        live = self.query.live(aggregates={"dearest": "max:(price)"})
        self.assertEqual(live.aggregates["dearest"], 5)
        watcher = weakref.ref(live)
        del live
        self.assertIsNone(watcher())

    def test_changes_hold_objects_that_were_unsaved(self):
        quote = self.quote("new", price=9)
        self.context.process()
        (insert,) = self.told[0]
        self.assertIs(insert.object, quote)
        self.assertEqual(insert.id, quote.id)
        self.context.save()
        self.assertIs(self.live[2], quote)
        self.assertEqual(self.live.ids[2], insert.id)
        self.assertEqual(len(self.told), 1)

    def test_dates_and_other_keys_make_sections_too(self):
        for quote in self.live:
            quote.created_at = day(quote.price // 2)
        live = self.query.live(section_by=Quote.created_at)
        self.assertEqual([len(section) for section in live.sections], [2, 2, 2])


if __name__ == "__main__":
    unittest.main()
