"""Reading leaves the folder of a store as it was: each file in it, and what the file holds.

That is tried with what may lie beside a store, while another process writes, and where nothing may be written.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import model_cache
import store_file
import subject
from description import Model, differences
from rows import Reading
from tally import Tally

HERE = os.path.dirname(os.path.abspath(__file__))
# A user without rights, for what root may always do.
OTHER_USER = 65534
Counts = dict[str, list[int]]


class Process:
    """A script that answers each line of its input with a line of JSON."""

    def __init__(self, script: str, *arguments: str) -> None:
        self.running = subprocess.Popen(
            [sys.executable, os.path.join(HERE, script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)

    def ask(self, line: str) -> dict[str, Any]:
        assert self.running.stdin is not None and self.running.stdout is not None
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()
        answer: dict[str, Any] = json.loads(self.running.stdout.readline() or '{"failed": "no answer"}')
        return answer

    def end(self, by_force: bool = False) -> None:
        if by_force:
            self.running.kill()
        assert self.running.stdin is not None and self.running.stdout is not None
        self.running.stdin.close()
        self.running.stdout.close()
        self.running.wait()


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    if subject.missing() is not None:
        print(f"skipped: no folder is read from: {subject.missing()}")
        return
    reader = Process("reader.py")
    for path in stores:
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
        if model is not None:
            FolderCheck(tally, path, model, folder, reader).run(seed)
    reader.end()
    check_without_permission(tally, stores, folder)


def counts(path: str, model: Model) -> Counts:
    with store_file.opened(path) as connection:
        return {name: list(pair) for name, pair in Reading(connection, model, path).counts().items()}


class FolderCheck:
    def __init__(self, tally: Tally, path: str, model: Model, folder: str, reader: Process) -> None:
        self.tally, self.path, self.model, self.folder, self.reader = tally, path, model, folder, reader
        self.name = "/".join(path.split(os.sep)[-2:])

    def run(self, seed: int) -> None:
        expected = counts(self.path, self.model)
        self.read("as it is", self.path, expected)
        for words, prepare in SITUATIONS.items():
            place = tempfile.mkdtemp(dir=self.folder)
            target = store_file.copy_store(self.path, place)
            os.chmod(target, 0o644)
            prepare(target)
            self.read(words, target, expected)
            shutil.rmtree(place)
        self.read_while_another_process_writes(seed)
        self.read_after_an_interruption(seed)

    def read(
        self, words: str, path: str, expected: Counts, may_refuse: bool = False, is_shared: bool = False
    ) -> None:
        """With `is_shared` the index of the log is memory of several processes, in which each says that it reads."""
        before = store_file.folder_state(os.path.dirname(path))
        answer = self.reader.ask(path)
        after = store_file.folder_state(os.path.dirname(path))
        where = f"{self.name} {words}"
        self.tally.count(f"folders read from {words}")
        if may_refuse and "refused" in answer:
            self.tally.count("refusals to read after an interruption")
        else:
            self.tally.expect(
                where, f"{str(answer)[:300]}, not {str(expected)[:300]}", answer.get("counts") == expected)
        if is_shared and {*before} == {*after}:
            after = {name: before[name] if name.endswith("-shm") else value for name, value in after.items()}
        for each in differences(before, after):
            self.tally.differ(where, f"in the folder: {each}")

    def read_while_another_process_writes(self, seed: int) -> None:
        place = tempfile.mkdtemp(dir=self.folder)
        target = store_file.copy_store(self.path, place)
        os.chmod(target, 0o644)
        writer = Process("writer.py", target, str(seed))
        expected = counts(target, self.model)
        writer.ask("edit")
        self.read("while another process writes", target, expected)
        writer.ask("commit")
        self.read("while another process has it open", target, counts(target, self.model), is_shared=True)
        # Killed, the process leaves a log and its index.
        writer.end(by_force=True)
        self.read("with a log and its index", target, counts(target, self.model))
        if os.path.exists(target + "-shm"):
            os.remove(target + "-shm")
        self.read("with a log", target, counts(target, self.model))
        shutil.rmtree(place)

    def read_after_an_interruption(self, seed: int) -> None:
        """A process is killed while it writes to a store that has no log: its journal holds what was there before."""
        place = tempfile.mkdtemp(dir=self.folder)
        target = store_file.copy_store(self.path, place)
        os.chmod(target, 0o644)
        without_log(target)
        expected = counts(target, self.model)
        writer = Process("writer.py", target, str(seed))
        writer.ask("spill")
        writer.end(by_force=True)
        if os.path.exists(target + "-journal"):
            self.read("with a journal of an interrupted write", target, expected, may_refuse=True)
        shutil.rmtree(place)


def without_log(path: str) -> None:
    """Folds the log into the file, which has none from then on."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def with_folded_log(path: str) -> None:
    """Has a file that says that it has a log, and no log, as it is after it was closed."""
    without_log(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def put(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def with_empty_log(path: str) -> None:
    with_folded_log(path)
    put(path + "-wal", b"")


def with_index_left(path: str) -> None:
    """The index of a log that is not there any more."""
    with_folded_log(path)
    copy = f"{path}.copy"
    shutil.copyfile(path, copy)
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("PRAGMA user_version").fetchall()
    shutil.copyfile(copy + "-shm", path + "-shm")
    connection.close()
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(copy + suffix):
            os.remove(copy + suffix)


def with_damaged_index(path: str) -> None:
    with_folded_log(path)
    put(path + "-shm", bytes(range(256)) * 128)


def with_finished_journal(path: str) -> None:
    """A journal that is kept for the next write, as PRAGMA journal_mode = PERSIST keeps it."""
    without_log(path)
    put(path + "-journal", bytes(512))


SITUATIONS: dict[str, Callable[[str], None]] = {
    "without a log": without_log, "whose log is folded": with_folded_log, "with an empty log": with_empty_log,
    "with an index left": with_index_left, "with a damaged index": with_damaged_index,
    "with a finished journal": with_finished_journal}


# Folders without permission.


def check_without_permission(tally: Tally, stores: list[str], folder: str) -> None:
    """Another user reads stores that it must not write, in folders that it must not write: with and without a log."""
    expected: dict[str, tuple[str, Counts]] = {}
    for each in (folder, os.path.dirname(folder)):
        os.chmod(each, 0o755)
    for number, path in enumerate(stores):
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
        if model is None:
            continue
        for words, prepare in (("as it is", None), ("whose log is folded", with_folded_log)):
            place = tempfile.mkdtemp(dir=folder)
            target = store_file.copy_store(path, place)
            os.chmod(target, 0o644)
            if prepare is not None:
                prepare(target)
            expected[target] = (f"{number} {words}", counts(target, model))
            protect(place)
    uid = OTHER_USER if os.getuid() == 0 else None
    options = [] if uid is None else ["--uid", str(uid)]
    before = {target: store_file.folder_state(os.path.dirname(target)) for target in expected}
    answers = answers_of([*options, *expected])
    for target, answer in zip(expected, answers):
        words, wanted = expected[target]
        where = f"{os.path.basename(target)} {words}, without permission"
        tally.count("folders read from without permission")
        tally.expect(where, f"{str(answer)[:300]}, not {str(wanted)[:300]}", answer.get("counts") == wanted)
        for each in differences(before[target], store_file.folder_state(os.path.dirname(target))):
            tally.differ(where, f"in the folder: {each}")
        shutil.rmtree(os.path.dirname(target), onerror=unprotected)
    tally.expect("without permission", "not every store was read", len(answers) == len(expected))


def answers_of(arguments: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "reader.py"), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def protect(place: str) -> None:
    for folder, _, names in os.walk(place, topdown=False):
        for name in names:
            os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)


def unprotected(remove: Callable[..., Any], path: str, error: Any) -> None:
    os.chmod(os.path.dirname(path), 0o755)
    remove(path)
