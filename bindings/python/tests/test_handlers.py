"""Handlers of live lists: which state of the list they see, and what becomes of what they raise."""

import contextlib
import unittest

import quire
from handler_calls import CONTEXT, NOT_OF_A_CHILD, QUERY, RESULTS, TOLD_OF_NOTHING, Line

CALLS = {
    f"{kind}: {name}": call
    for kind, calls in (("context", CONTEXT), ("query", QUERY), ("list", RESULTS)) for name, call in calls.items()
}


class Signed(quire.Model):
    """Its text has a mark in front as soon as it is saved."""

    text: quire.Attr[str]

    def will_save(self):
        if not self.text.startswith("a"):
            self.text = "a" + self.text


class HandlerTestCase(unittest.TestCase):
    """A list of five lines, whose objects are held."""

    def setUp(self):
        self.store = quire.open(":memory:", [Line, Signed])
        self.addCleanup(self.store.close)
        with self.store.context.transaction() as context:
            for number in range(5):
                context.add(Line(text=f"t{number}"))
        self.follow(context)

    def follow(self, context):
        self.context = context
        self.query = context.query(Line).order_by("text")
        # Made first, and so told before the others.
        self.first = self.query.live()
        self.live = self.query.live()
        self.lines = list(self.live)
        for line in self.lines:
            line.committed_values("text")  # which the library reads for
        self.told, self.wrong = [], []
        self.watch(self.live)

    def watch(self, live):
        """Notes what is told of a list, and rows that it does not show where that says."""

        @live.on_change
        def handler(change):
            self.told.append((live, len(change)))
            for each in change:
                place = each.new_flat
                if place is not None and (place >= len(live) or live[place].id != each.id):
                    self.wrong.append((live, each))

    def times(self, live):
        return sum(each is live for each, _ in self.told)

    def elsewhere(self):
        """Another context saves a new first line, and has the last one come second."""
        with self.store.background() as other:
            other.add(Line(text="a"))
            other.query(Line).order_by("-text").first().text = "b"


class FailingExpressionTests(HandlerTestCase):
    def test_a_list_that_cannot_tell_where_a_row_belongs_stays_as_it_is_until_it_can(self):
        works = [True]

        @quire.register_function("shaky")
        def shaky(text: str) -> bool:
            if not works[0]:
                raise ValueError("not now")
            return text > "t2"

        self.addCleanup(quire.unregister_function, "shaky")
        self.live.close()
        live = self.query.where("shaky(text) == YES").live()
        self.watch(live)
        works[0] = False
        self.lines[0].text = "t7"
        for call in self.context.process, self.context.save:
            with self.assertRaisesRegex(quire.FunctionError, "not now"):
                call()
            self.assertEqual(list(live.ids), [line.id for line in self.lines[3:]])
            self.assertTrue(self.context.has_changes)
        self.assertEqual(self.times(live), 0)
        works[0] = True
        self.context.save()
        self.assertEqual(list(live.ids), [line.id for line in (*self.lines[3:], self.lines[0])])
        self.assertEqual((self.times(live), self.wrong), (1, []))


class StateTests(HandlerTestCase):
    """Each call, with something pending that the list has not shown yet."""

    def run_call(self, call, own, child=False, automatic=False, is_save=False):
        case = StateTests("run_call")
        HandlerTestCase.setUp(case)
        with contextlib.ExitStack() as ending:
            ending.callback(case.doCleanups)
            if child:
                case.parent, case.parent_live = case.context, case.live
                case.follow(case.context.create_child())
                case.watch(case.parent_live)
            case.parts = [case.query.live(), case.query.where("rank == 0").live()]
            case.composite = quire.Composite(*case.parts)
            for each in (*case.parts, case.composite):
                case.watch(each)
            case.context.enable_undo()
            # See AheadTests for a save before which another context has saved.
            if child or not is_save:
                case.elsewhere()
            if child and not automatic:
                case.parent.merge()
            case.context.merges_automatically = automatic
            case.told.clear()
            case.wrong.clear()
            case.context.add(Line(text="p"))
            call(case)
            case.context.process()
            self.assertEqual(case.wrong, [])
            if own and not automatic:
                self.assertGreaterEqual(case.times(case.live), 1 + own)

    def test_handlers_see_what_they_are_told_whatever_call_brings_it(self):
        for name, (call, own) in CALLS.items():
            with self.subTest(name):
                self.run_call(call, own, is_save=name == "context: save")

    def test_it_is_so_where_others_are_merged_automatically(self):
        for name, (call, own) in CALLS.items():
            with self.subTest(name):
                self.run_call(call, own, automatic=True, is_save=name == "context: save")

    def test_it_is_so_in_a_child(self):
        for name, (call, own) in CALLS.items():
            if name not in NOT_OF_A_CHILD:
                for automatic in (False, True):
                    with self.subTest(name, automatic=automatic):
                        self.run_call(call, own, child=True, automatic=automatic)

    def test_every_public_call_is_among_them(self):
        for kind, calls in ((quire.Context, CONTEXT), (quire.Query, QUERY), (quire.Results, RESULTS)):
            public = {name for each in kind.__mro__[:-1] if each.__module__.startswith("quire") for name in vars(each)}
            public = {name for name in public if not name.startswith("_")}
            self.assertEqual(public - set(calls) - TOLD_OF_NOTHING[kind], set(), kind)

    def test_a_parent_is_told_of_what_was_pending_there_before_a_child_saves(self):
        child = self.context.create_child()
        child.add(Line(text="a"))
        self.context.add(Line(text="p"))
        child.save()
        self.assertEqual((self.wrong, self.told), ([], [(self.live, 1), (self.live, 1)]))

    def test_the_handlers_of_a_child_are_called_when_one_of_its_parent_raises(self):
        @self.live.on_change
        def fails(change):
            raise KeyError("mine")

        parent = self.context
        self.follow(parent.create_child())
        parent.add(Line(text="p"))
        self.context.add(Line(text="q"))
        with self.assertRaisesRegex(KeyError, "mine"):
            self.context.process()
        self.assertEqual((self.times(self.live), self.wrong), (1, []))

    def test_what_a_handler_raises_before_the_work_of_a_call_comes_out_after_it(self):
        @self.live.on_change
        def fails(change):
            raise KeyError(len(change))

        some = self.query.where("text == 't0'")
        for name, call in {
            "merge": self.context.merge, "undo": self.context.undo, "process": self.context.process,
            "delete": some.delete, "set_query": lambda: self.live.set_query(some),
        }.items():
            with self.subTest(name):
                self.elsewhere()
                self.context.merges_automatically = name == "process"
                self.context.enable_undo()
                self.told.clear()
                self.context.add(Line(text="x"))
                with self.assertLogs("quire", "ERROR") as logged, self.assertRaisesRegex(KeyError, "^1$"):
                    call()
                self.assertEqual((len(logged.records), self.times(self.live), self.wrong), (1, 2, []))
                with contextlib.suppress(KeyError):
                    self.context.merge()

    def test_what_comes_out_of_a_save_says_that_it_was_written(self):
        failure = KeyError("mine")

        def fails(change):
            raise failure

        def notes_of(context):
            context.add(Line(text="new"))
            with self.assertRaises(KeyError) as caught:
                context.save()
            self.assertIs(caught.exception, failure)
            return getattr(failure, "__notes__", None)

        self.live.on_change(fails)
        with self.assertLogs("quire", "ERROR"), self.assertRaises(KeyError), self.context.transaction() as context:
            # The block takes the save back.
            self.assertIsNone(notes_of(context))
            raise failure
        saved = "This was raised after the save: the changes are in the file."
        for _ in range(2):
            self.assertEqual(notes_of(self.context), [saved])
        self.assertEqual(str(failure), "'mine'")
        with self.store.background() as other:
            self.assertEqual(other.query(Line).count(), 7)
        child = self.context.create_child()
        with child.query(Line).live() as live, self.assertLogs("quire", "ERROR"):
            live.on_change(fails)
            self.assertIn("This was raised after the save: the changes are in the parent context.", notes_of(child))

    def test_a_handler_may_close_everything_before_the_work_of_a_call(self):
        self.live.on_change(lambda change: self.context.close())
        self.context.add(Line(text="p"))
        with self.assertRaises(quire.StoreClosed):
            self.query.delete()
        with self.store.background() as other:
            self.assertEqual(other.query(Line).count(), 5)


class NestedTests(HandlerTestCase):
    """Handlers whose calls move the lists on while others have not heard of what they were called for."""

    def acting(self, live, act):
        """Has a handler of a list act once."""
        acted = []

        @live.on_change
        def handler(change):
            if not acted:
                acted.append(True)
                act()

    def delete_some(self):
        for line in self.lines[:3]:
            self.context.delete(line)
        self.context.save()

    def test_others_hear_what_they_are_told_before_a_handler_moves_the_lists_on(self):
        for name, (call, _) in CALLS.items():
            with self.subTest(name):
                case = HandlerTestCase()
                HandlerTestCase.setUp(case)
                case.parts = [case.query.live(), case.query.where("rank == 0").live()]
                case.composite = quire.Composite(*case.parts)
                for each in (*case.parts, case.composite):
                    case.watch(each)
                case.context.enable_undo()
                case.elsewhere()

                def act(case=case, call=call):
                    case.context.delete(case.lines[1])
                    call(case)

                self.acting(case.first, act)
                case.context.add(Line(text="p"))
                case.context.process()
                case.context.process()
                self.assertEqual(case.wrong, [])
                self.assertGreater(case.times(case.live), 0)
                case.doCleanups()

    def test_later_handlers_of_the_same_list_are_among_them(self):
        live = self.query.live()
        self.acting(live, self.delete_some)
        self.watch(live)
        self.context.add(Line(text="z"))
        self.context.save()
        self.assertEqual(self.told, [(self.live, 1), (live, 1), (self.live, 3), (live, 3)])
        self.assertEqual(self.wrong, [])

    def test_lists_of_a_child_are_among_them(self):
        parent = self.context
        self.acting(self.live, lambda: (child.delete(child.get(Line, self.lines[0].id)), child.save()))
        child = parent.create_child()
        live = child.query(Line).order_by("text").live()
        self.watch(live)
        parent.add(Line(text="z"))
        child.add(Line(text="y"))
        child.process()
        self.assertEqual((self.wrong, self.times(live)), ([], 2))

    def test_each_handler_is_told_of_each_change_once_and_in_order(self):
        lists = [self.live, self.query.live(), self.query.where("rank == 0").live()]
        counts = {}

        def follow(live, name):
            counts[name] = len(live)

            @live.on_change
            def count(change):
                for each in change:
                    counts[name] += (each.old is None) - (each.new is None)
                generations.setdefault(name, []).append(sorted(each.id for each in change))

            @live.on_change
            def act(change):
                if len(live) < 30:
                    self.context.add(Line(text=f"{name} {len(live)}"))
                    self.context.save()
                    self.context.add(Line(text=f"{name} {len(live)}"))
                    self.context.process()

        generations = {}
        for name, live in enumerate(lists):
            follow(live, name)
        follow(self.live, "again")
        self.context.add(Line(text="p"))
        self.context.save()
        self.assertEqual(set(counts.values()), {len(self.live)})
        self.assertGreaterEqual(len(self.live), 30)
        ids = [each for each in generations.values()]
        self.assertTrue(all(each == ids[0] == sorted(ids[0]) for each in ids))

    def test_what_others_raise_meanwhile_comes_out_of_the_outer_call(self):
        inner = []

        def act():
            self.context.add(Line(text="q"))
            self.context.save()
            inner.append(True)

        @self.live.on_change
        def fails(change):
            raise KeyError("mine")

        self.acting(self.first, act)
        self.context.add(Line(text="p"))
        with self.assertLogs("quire", "ERROR"), self.assertRaisesRegex(KeyError, "mine"):
            self.context.save()
        self.assertEqual(inner, [True])


class InterruptedTests(HandlerTestCase):
    def test_handlers_that_an_interruption_left_out_are_called_by_the_next_call(self):
        live, tell = self.query.live(), self.live._tell
        self.watch(live)

        def interrupts(failures, only=None):
            self.live._tell = tell
            raise KeyboardInterrupt

        self.live._tell = interrupts
        self.context.add(Line(text="z"))
        with self.assertRaises(KeyboardInterrupt):
            self.context.process()
        self.assertEqual(self.told, [])
        self.context.process()
        self.assertEqual(self.told, [(self.live, 1), (live, 1)])
        self.assertEqual(self.wrong, [])

    def test_changes_that_were_taken_when_an_interruption_came_are_told_by_the_next_call(self):
        live, take_on = self.query.live(), self.live._take_on
        self.watch(live)

        def interrupts():
            self.live._take_on = take_on
            take_on()
            raise KeyboardInterrupt

        self.live._take_on = interrupts
        self.context.add(Line(text="z"))
        with self.assertRaises(KeyboardInterrupt):
            self.context.process()
        self.context.process()
        self.assertEqual(self.told, [(self.live, 1), (live, 1)])

    def test_lists_that_are_collected_or_closed_are_passed_over(self):
        gone, closed, live = self.query.live(), self.query.live(), self.query.live()
        for each in (closed, live):
            self.watch(each)
        closed.close()
        del gone
        self.context.add(Line(text="z"))
        self.context.process()
        self.assertEqual(self.told, [(self.live, 1), (live, 1)])


class AheadTests(HandlerTestCase):
    """Where a list is ahead of what is told, the change sets one after the other are right."""

    def copy(self, live):
        rows = list(live.ids)

        @live.on_change
        def apply(change):
            for each in sorted((each.old_flat for each in change if each.old is not None), reverse=True):
                del rows[each]
            for each in sorted((each for each in change if each.new is not None), key=lambda each: each.new_flat):
                self.assertEqual(each.object.id, each.id)
                rows.insert(each.new_flat, each.id)

        return rows

    def test_a_save_whose_hooks_change_objects(self):
        live = self.context.query(Signed).order_by("text").live()
        for text in ("am", "ax"):
            self.context.add(Signed(text=text))
        self.context.save()
        rows = self.copy(live)
        self.watch(live)
        self.context.add(Signed(text="z"))
        self.context.add(Signed(text="b"))
        self.context.save()
        self.assertEqual([each.text for each in live], ["ab", "am", "ax", "az"])
        self.assertEqual((rows, self.times(live)), (list(live.ids), 2))

    def test_a_save_before_which_another_context_has_saved(self):
        rows = self.copy(self.live)
        self.elsewhere()
        self.context.add(Line(text="p"))
        self.context.save()
        self.assertEqual([each.text for each in self.live], ["a", "b", "p", "t0", "t1", "t2", "t3"])
        self.assertEqual((rows, self.times(self.live)), (list(self.live.ids), 2))

    def test_a_list_with_a_handler_that_has_changes_processed_twice(self):
        rows = self.copy(self.live)

        @self.live.on_change
        def act(change):
            if len(self.live) == 6:
                for line in self.lines[:2]:
                    self.context.delete(line)
                    self.context.process()

        last = self.copy(self.live)
        self.context.add(Line(text="z"))
        self.context.process()
        self.assertEqual(self.times(self.live), 3)
        self.assertEqual((rows, last), (list(self.live.ids), list(self.live.ids)))


class RaisingTests(HandlerTestCase):
    def raising(self, live, error):
        @live.on_change
        def handler(change):
            raise error

    def test_all_handlers_are_called_before_one_that_was_interrupted_ends_the_call(self):
        for interruption in (KeyboardInterrupt, SystemExit):
            live, other = self.query.live(), self.query.live()
            self.raising(live, ValueError("other"))
            self.raising(live, interruption("stop"))
            for each in (live, other):
                self.watch(each)
            self.context.add(Line(text="p"))
            with self.assertLogs("quire", "ERROR") as logged, self.assertRaisesRegex(interruption, "stop"):
                self.context.save()
            self.assertIn("other", str(logged.records[0].exc_info[1]))
            self.assertEqual((self.times(live), self.times(other), len(logged.records)), (1, 1, 1))
            self.assertFalse(self.context.has_changes)
            self.context.process()
            self.assertEqual((self.times(live), self.times(other)), (1, 1))
            live.close()

    def test_an_interruption_beside_a_failed_call_comes_out_with_what_that_failed_with(self):
        self.raising(self.live, KeyboardInterrupt())
        self.context.insert_many(Line, {"rank": [0]})
        with self.assertRaises(KeyboardInterrupt) as raised:
            self.context.save()
        self.assertIsInstance(raised.exception.__cause__, quire.ValidationError)
