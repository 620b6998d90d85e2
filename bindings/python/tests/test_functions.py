"""Functions of the program in predicates."""

from __future__ import annotations

import ctypes
import ctypes.util
import threading
import weakref
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import quire

from support import Author, Everything, StoreTestCase, day


class FunctionTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.thing = self.context.add(Everything(
            text="löwe", whole=7, real=2.5, flag=True, instant=day(1), exact=Decimal("1.5"), data=b"\0x",
            uid=UUID(int=5), single=0.25, small=-3))

    def register(self, name: str, function: Any, **options: Any) -> None:
        quire.register_function(name, function, **options)
        self.addCleanup(self.remove, name)

    @staticmethod
    def remove(name: str) -> None:
        try:
            quire.unregister_function(name)
        except quire.NotFound:
            pass

    def matches(self, format: str, *arguments: Any) -> bool:
        """In memory, and in the store, which must agree."""
        predicate = quire.Predicate(format, *arguments)
        try:
            answer = predicate.matches(self.thing)
        finally:
            self.context.save()
        with self.store.create_context() as other:
            self.assertEqual(other.query(Everything).where(predicate).count(), int(answer), format)
        return answer

    def test_an_exception_comes_out_of_the_fetch(self) -> None:
        self.context.save()

        def fail(number: int) -> int:
            raise ZeroDivisionError(f"no {number}")

        self.register("fail", fail)
        with self.store.create_context() as other:
            with self.assertRaises(quire.FunctionError) as caught:
                other.query(Everything).where("fail(whole) == 1").all()
            self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
            self.assertEqual(other.query(Everything).where("whole == 7").count(), 1)

    def test_functions_of_ctypes_are_called_with_their_types(self) -> None:
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        library.hypot.argtypes, library.hypot.restype = [ctypes.c_double, ctypes.c_double], ctypes.c_double
        self.register("hypotenuse", library.hypot)
        self.register("power_of_two", library.ldexp, arguments=[ctypes.c_double, ctypes.c_int], result=ctypes.c_double)
        c = ctypes.CDLL(None)
        c.strlen.argtypes, c.strlen.restype = [ctypes.c_char_p], ctypes.c_size_t
        self.register("bytes_of", c.strlen)
        self.assertTrue(self.matches("hypotenuse(3, 4) == 5 AND hypotenuse(whole, 24) == 25"))
        self.assertTrue(self.matches("power_of_two(real, whole) == 320"))
        self.assertTrue(self.matches("bytes_of(text) == 5 AND FUNCTION('bytes_of', '') == 0"))
        self.assertTrue(self.matches("hypotenuse(middle, 1) == nil"))

    def test_core_datas_order_calls_the_same(self) -> None:
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        library.hypot.argtypes, library.hypot.restype = [ctypes.c_double, ctypes.c_double], ctypes.c_double
        self.register("hypotenuse", library.hypot)
        self.register("power:", lambda base, exponent: None if base is None else base ** exponent)
        self.register("replace:with:", lambda text, old, new: text.replace(old, new))
        self.register("startsLike:", lambda text, other: text[0] == other[0])
        for format, text in (
                ("FUNCTION(3, 'hypotenuse', 4) == 5", "hypotenuse(3, 4) == 5"),
                ("FUNCTION(whole, 'power:', 2) == 49", "power:(whole, 2) == 49"),
                ("FUNCTION('power:', whole, 2) == 49", "power:(whole, 2) == 49"),
                ("FUNCTION(FUNCTION(2, 'power:', 3), 'power:', 2) == 64", "power:(power:(2, 3), 2) == 64"),
                ("FUNCTION(middle, 'power:', 2) == nil", "power:(middle, 2) == nil"),
                ("FUNCTION(text, 'replace:with:', 'we', 'b') == 'löb'", 'replace:with:(text, "we", "b") == "löb"'),
                ("FUNCTION(text, 'uppercase') == 'LÖWE'", 'uppercase:(text) == "LÖWE"'),
                ("text startsLike: 'lama'", 'startsLike:(text, "lama") == 1')):
            self.assertTrue(self.matches(format), format)
            self.assertEqual(str(quire.Predicate(format)), text)
            self.assertEqual(quire.Predicate(text), quire.Predicate(format))
        self.assertTrue(self.matches("FUNCTION(%@, 'replace:with:', 'e', 'a') == 'powar:'", "power:"))
        self.assertTrue(quire.function("power:", Everything.whole, 2).same_as(
            quire.Expression("FUNCTION(whole, 'power:', 2)")))

    def test_core_datas_order_tells_what_goes_wrong(self) -> None:
        def fail(number: int, other: int) -> int:
            raise ZeroDivisionError(f"no {number}")

        self.register("fail:", fail)
        self.register("several:", lambda number, other: [1, 2])
        self.register("odd:", lambda number, other: object())
        self.register("open:", lambda number, other=1: number)
        with self.assertRaisesRegex(quire.FunctionError, "fail: failed: ZeroDivisionError: no 7") as caught:
            self.matches("FUNCTION(whole, 'fail:', 1) == 1")
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        for format, error, message in (
                ("FUNCTION(whole, 'several:', 1) == 1", quire.FunctionError, "several: .* single value"),
                ("FUNCTION(whole, 'odd:', 1) == 1", quire.FunctionError, "odd: failed: WrongType"),
                ("FUNCTION(whole, 'open:', 1, 2) == 1", quire.FunctionError, "open: failed: TypeError"),
                ("FUNCTION(whole, 'fail:') == 1", quire.PredicateError, "fail: takes 2 arguments, and here is 1"),
                ("FUNCTION('fail:', whole) == 1", quire.PredicateError, "fail: takes 2 arguments, and here is 1"),
                ("FUNCTION(whole, 'fail:', 1, 2) == 1", quire.PredicateError, "fail: takes 2 arguments, .* are 3"),
                ("FUNCTION(whole, 'unheard:', 1) == 1", quire.Unsupported, "unheard:"),
                ("FUNCTION(whole, 'a b') == 1", quire.PredicateError, "'a b' cannot name a function")):
            with self.assertRaisesRegex(error, message, msg=format):
                self.matches(format)
            with self.assertRaisesRegex(error, message, msg=format):
                with self.store.create_context() as other:
                    other.query(Everything).where(format).count()

    def test_callables_are_given_lists_and_dictionaries(self) -> None:
        seen: list[Any] = []

        def note(*values: Any) -> int:
            seen[:] = values
            return len(values)

        self.register("note", note, deterministic=False)
        self.register("itemAt:", lambda collection, place: collection[place])
        row = {"list": [1, [Decimal("2.5"), None]], "inner": {"key": "värde", "day": day(1)}, "place": "key"}
        self.assertEqual(quire.Expression("FUNCTION(list, 'itemAt:', 0)").evaluate(row), 1)
        self.assertEqual(quire.Expression("FUNCTION(inner, 'itemAt:', place)").evaluate(row), "värde")
        self.assertTrue(quire.Predicate("note(list, inner, {}, SELF) == 4").matches(row))
        self.assertEqual(seen, [row["list"], row["inner"], [], row])
        with self.assertRaisesRegex(quire.FunctionError, "itemAt: failed: IndexError"):
            quire.Expression("FUNCTION(list, 'itemAt:', 5)").evaluate(row)
        self.assertTrue(self.matches("FUNCTION({whole, text}, 'itemAt:', 1) == 'löwe'"))

    def test_callables_are_given_the_values_of_many_objects(self) -> None:
        author = self.context.add(Author(name="Goethe"))
        for price in (3.0, 1.0, 2.0):
            self.quote(author=author, price=price)
        self.context.add(Author(name="Nobody"))
        seen: list[Any] = []

        def note(author: int, quotes: list[int], prices: list[float]) -> float:
            seen.append((author, sorted(quotes), sorted(prices)))
            return max(prices, default=0.0)

        self.register("greatest", note)
        predicate = quire.Predicate("FUNCTION(SELF, 'greatest', quotes, quotes.price) == 3")
        self.context.save()
        self.assertTrue(predicate.matches(author))
        wanted = (author.id, sorted(quote.id for quote in author.quotes), [1.0, 2.0, 3.0])
        self.assertEqual(seen, [wanted])
        seen.clear()
        with self.store.create_context() as other:
            self.assertEqual([each.name for each in other.query(Author).where(predicate)], ["Goethe"])
        self.assertIn(wanted, seen)
        self.assertEqual(len(seen), 2)

    def test_wrong_calls_are_refused_at_once(self) -> None:
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        self.register("power_of_two", library.ldexp, arguments=[ctypes.c_double, ctypes.c_int], result=ctypes.c_double)
        self.register("twice", lambda number: number * 2)
        for format in ("power_of_two(1) == 1", "power_of_two(1, 'x') == 1", "power_of_two(1, 3000000000) == 1",
                       "twice() == 1", "twice(1, 2) == 1", "FUNCTION('unheard', 1) == 1"):
            with self.assertRaises(quire.PredicateError, msg=format):
                quire.Predicate(format)
        with self.assertRaisesRegex(quire.PredicateError, "Argument 2 of power_of_two"):
            self.matches("power_of_two(1, text) == 1")

    def test_registration_refuses_what_cannot_be_called(self) -> None:
        c = ctypes.CDLL(None)
        with self.assertRaisesRegex(quire.InvalidArgument, "argtypes"):
            quire.register_function("absolute", c.abs)
        with self.assertRaisesRegex(quire.InvalidArgument, "argument 1"):
            quire.register_function("absolute", c.abs, arguments=[ctypes.c_void_p], result=ctypes.c_int)
        with self.assertRaisesRegex(quire.InvalidArgument, "interpreter"):
            quire.register_function("nothing", ctypes.pythonapi.Py_IsInitialized, arguments=[], result=ctypes.c_int)
        with self.assertRaises(TypeError):
            quire.register_function("nothing", ctypes.c_int(5))  # type: ignore[arg-type]
        null = ctypes.CFUNCTYPE(ctypes.c_int)(0)
        with self.assertRaisesRegex(quire.InvalidArgument, "NULL"):
            quire.register_function("nothing", null)
        for name in ("", "two words", "sum", "sum:", "a:b", "a::", "and", "1st", "größe"):
            with self.assertRaises(quire.InvalidArgument, msg=name):
                quire.register_function(name, lambda: 1)
        with self.assertRaises(TypeError):
            quire.register_function("number", 5)  # type: ignore[arg-type]
        for wrong in (3, None, b"name"):
            for call in (lambda: 1, c.abs, None):
                with self.assertRaisesRegex(quire.WrongType, "the name of a function is a text, not"):
                    quire.register_function(wrong, call)  # type: ignore[call-overload]
            with self.assertRaisesRegex(quire.WrongType, "the name of a function is a text, not"):
                quire.unregister_function(wrong)  # type: ignore[arg-type]
        for wrong in (3, "ii"):
            for call in (lambda: 1, c.abs):
                with self.assertRaisesRegex(quire.WrongType, "absolute: the arguments are a list of their types, not"):
                    quire.register_function("absolute", call, arguments=wrong)  # type: ignore[call-overload]
        self.register("once", lambda: 1)
        with self.assertRaises(quire.InvalidState):
            quire.register_function("once", lambda: 2)
        self.assertTrue(self.matches("once() == 1"))

    def test_callables_are_given_values_of_python(self) -> None:
        seen: list[Any] = []

        @quire.register_function("note", deterministic=False)
        def note(*values: Any) -> int:
            seen[:] = values
            return len(values)

        self.addCleanup(self.remove, "note")
        keys = "text, whole, real, flag, instant, exact, data, uid, single, small, link"
        self.assertTrue(self.matches(f"note({keys}) == 11"))
        self.assertEqual(seen, [
            "löwe", 7, 2.5, True, day(1), Decimal("1.5"), b"\0x", UUID(int=5), 0.25, -3, None])
        self.assertEqual([type(value) for value in seen[3:6]], [bool, datetime, Decimal])

    def test_results_come_back_as_they_are(self) -> None:
        for value, key in (("löwe", "text"), (7, "whole"), (2.5, "real"), (True, "flag"), (day(1), "instant"),
                           (Decimal("1.5"), "exact"), (UUID(int=5), "uid"), (None, "link"), ("a\0b", "'a\\u0000b'")):
            self.register("answer", lambda: value)
            self.assertTrue(self.matches(f"answer() == {key}"), key)
            quire.unregister_function("answer")

    def test_what_a_callable_raises_is_the_cause_of_the_error(self) -> None:
        def fail(number: int) -> int:
            raise ZeroDivisionError(f"no {number}")

        self.register("fail", fail)
        with self.assertRaisesRegex(quire.FunctionError, "fail failed: ZeroDivisionError: no 7") as caught:
            self.matches("fail(whole) == 1")
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        self.register("odd", lambda number: object())
        with self.assertRaisesRegex(quire.FunctionError, "WrongType"):
            self.matches("odd(whole) == 1")
        self.register("several", lambda number: [1, 2])
        with self.assertRaisesRegex(quire.FunctionError, "single value"):
            self.matches("several(whole) == 1")

    def test_an_interruption_goes_on(self) -> None:
        def interrupt() -> int:
            raise KeyboardInterrupt

        self.register("interrupt", interrupt)
        with self.assertRaises(KeyboardInterrupt):
            self.matches("interrupt() == 1")

    def test_a_function_that_was_removed_is_an_error(self) -> None:
        self.register("twice", lambda number: number * 2)
        predicate = quire.Predicate("twice(whole) == 14")
        self.assertTrue(predicate.matches(self.thing))
        quire.unregister_function("twice")
        with self.assertRaisesRegex(quire.Unsupported, "twice"):
            predicate.matches(self.thing)
        with self.assertRaises(quire.NotFound):
            quire.unregister_function("twice")
        self.assertEqual(str(predicate), "twice(whole) == 14")

    def test_a_function_lives_as_long_as_it_is_registered(self) -> None:
        class Twice:
            def __call__(self, number: int) -> int:
                return number * 2

        function = Twice()
        there = weakref.ref(function)
        self.register("twice", function)
        del function
        self.assertTrue(self.matches("twice(whole) == 14"))
        self.assertIsNotNone(there())
        quire.unregister_function("twice")
        self.assertIsNone(there())

    def test_a_function_may_not_use_the_context(self) -> None:
        def meddle() -> int:
            self.context.save()
            return 1

        self.register("meddle", meddle)
        with self.assertRaises(quire.FunctionError) as caught:
            self.matches("meddle() == 1")
        self.assertIsInstance(caught.exception.__cause__, quire.InvalidState)
        self.context.save()

    def test_a_function_may_not_close_what_calls_it(self) -> None:
        child = self.context.create_child()
        live = self.context.query(Everything).live()
        self.context.save()
        raised: list[BaseException] = []

        def close(call: Any) -> int:
            try:
                call()
            except quire.Error as error:
                raised.append(error)
            return 7

        def each(call: Any) -> None:
            """In memory, in SQL, and through ctypes, which knows nothing of Python."""
            native = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: close(call))
            for name, function, kind in (("shut", lambda: close(call), {}), ("shut_too", native, {"arguments": []})):
                self.register(name, function, deterministic=False, **kind)
                self.assertTrue(quire.Predicate(f"{name}() == whole").matches(self.thing))
                self.assertEqual(self.context.query(Everything).where(f"{name}() == whole").count(), 1)
                self.assertEqual(len(live), 1)
                with self.store.create_context() as other:
                    self.assertEqual(len(other.query(Everything).where(f"{name}() == whole").all()), 1)
                quire.unregister_function(name)

        for call in (self.store.close, self.context.close, child.close, self.store.context.close):
            raised.clear()
            each(call)
            self.assertGreaterEqual(len(raised), 6)
            self.assertEqual({type(error) for error in raised}, {quire.InvalidState})
            self.assertFalse(self.store.closed or self.context.closed or child.closed or live.closed)
        # Unless the program handles it, the query fails, and nothing more.
        self.register("shut", self.store.close, deterministic=False)
        with self.assertRaises(quire.FunctionError) as caught:
            self.context.query(Everything).where("shut() == 1").all()
        self.assertIsInstance(caught.exception.__cause__, quire.InvalidState)
        self.thing.whole = 8
        child.add(Everything(whole=9))
        child.save()
        self.context.save()
        self.assertEqual(len(live), 2)
        child.close()
        self.context.close()
        self.assertTrue(child.closed and self.context.closed and not self.store.closed)
        self.store.close()
        self.assertTrue(self.store.closed)

    def test_threads_call_it_at_once(self) -> None:
        self.register("plus", lambda left, right: left + right)
        wrong: list[Any] = []

        def work(number: int) -> None:
            context = self.store.create_context()
            thing = context.add(Everything(whole=number))
            predicate = quire.Predicate("plus(whole, %d) == %d", number, 2 * number)
            for _ in range(200):
                if not predicate.matches(thing):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_texts_of_ctypes_functions(self) -> None:
        c = ctypes.CDLL(None)
        self.register("after", c.strstr, arguments=[ctypes.c_char_p, ctypes.c_char_p], result=ctypes.c_char_p)
        self.assertTrue(self.matches("after(text, 'we') == 'we'"))
        self.assertTrue(self.matches("after(text, 'x') == nil"))
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
        self.register("letters", kind(lambda word: -1 if word is None else len(word.decode())))
        self.assertTrue(self.matches("letters(text) == 4 AND letters(link) == -1"))

    def test_dates_keep_their_instant(self) -> None:
        self.register("next_day", lambda moment: moment + timedelta(days=1))
        self.assertTrue(self.matches("next_day(instant) == %@", day(2)))
