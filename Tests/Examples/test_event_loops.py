"""Checks that the examples for event loops show what another thread saves, and end.

Environment: WITH_POLL and WITH_GLIB are the C programs; without GLib on the system there is no WITH_GLIB. The Python
program finds the package and the library as usual (PYTHONPATH, QUIRE_LIBRARY).
"""
import os
import pathlib
import subprocess
import sys
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "event_loops"
SHOWN = "".join(f"{number}: saved by another thread\n" for number in range(1, 6))


class EventLoops(unittest.TestCase):
    def assert_shows_messages(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, SHOWN, ""))

    def test_poll(self):
        self.assert_shows_messages(os.environ["WITH_POLL"])

    @unittest.skipUnless("WITH_GLIB" in os.environ, "GLib is not installed")
    def test_glib(self):
        self.assert_shows_messages(os.environ["WITH_GLIB"])

    def test_asyncio(self):
        self.assert_shows_messages(sys.executable, "-W", "error", str(EXAMPLES / "with_asyncio.py"))


if __name__ == "__main__":
    unittest.main()
