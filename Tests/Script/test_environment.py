"""script/environment makes whole environments or none. Runs a copy of it with a list and a package of its own."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script/environment"


class EnvironmentTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lists = self.folder / "clone/script/environments"
        self.lists.mkdir(parents=True)
        shutil.copy(SCRIPT, self.lists.parent)
        self.packages = self.folder / "packages"
        self.packages.mkdir()
        self.write("example==1")
        self.environment = {
            **os.environ, "QUIRE_CACHE": str(self.folder / "cache"), "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.packages)}

    def write(self, requirement):
        (self.lists / "tried.txt").write_text(f"# Needed by this test.\n{requirement}\n")

    def package(self, name, *metadata):
        with zipfile.ZipFile(self.packages / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", "answer = 42\n")
            wheel.writestr(
                f"{name}-1.dist-info/METADATA",
                "\n".join(["Metadata-Version: 2.1", f"Name: {name}", "Version: 1", *metadata, ""]))
            wheel.writestr(
                f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{name}-1.dist-info/RECORD", "")

    def start(self, *arguments):
        return subprocess.Popen(
            [self.lists.parent / "environment", *arguments], env=self.environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)

    def run_script(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def assert_works(self):
        code = "import example; print(example.answer)"
        self.assertEqual(self.run_script("--run", "tried", "-c", code), (0, "42\n", ""))

    def test_a_failure_is_one_line_and_the_next_run_succeeds(self):
        code, out, err = self.run_script("tried")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(
            err, r"^script/environment: cannot make 'tried', which is needed by this test: "
            r"No matching distribution found for example==1\. .*\.log has the details\.")
        self.assertEqual(err.count("\n"), 1, err)
        self.package("example")
        self.assert_works()

    def test_what_a_kill_leaves_is_made_once_more_by_one_of_several_runs(self):
        self.package("example")
        cache = self.folder / "cache/environments"
        killed = self.start("tried")
        # The interpreter is there long before the packages are.
        while not list(cache.glob("tried-*/bin")):
            self.assertIsNone(killed.poll())
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        self.assertEqual(list(cache.glob("tried-*/whole")), [])
        started = [self.start("tried") for _ in range(3)]
        ended = {(*process.communicate(timeout=120), process.returncode) for process in started}
        self.assertEqual(len(ended), 1, ended)
        ((first, err, code),) = ended
        self.assertEqual((err, code), ("", 0))
        self.assert_works()

        self.write("# Why.\nexample==1")
        self.assertEqual(self.run_script("tried"), (0, first, ""), "a comment changes nothing")
        self.package("needy", "Requires-Dist: example")
        self.write("needy==1")
        code, out, err = self.run_script("tried")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("needy 1 requires example, which is not installed", err, "dependencies are pinned, too")
        self.assertTrue(pathlib.Path(first.strip(), "whole").exists(), "another list leaves the environment alone")


if __name__ == "__main__":
    unittest.main()
