"""Counts the instructions of the work of Quire, by callgrind, and compares them with those of a commit."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Iterable, NamedTuple, Optional

from plan import CASES, Case
from runner import ROOT

FOLDER = ROOT / "build/instructions"
LIMIT = 1.03
"""More than so many times the instructions of the commit is worse."""
SAME_WORK = {"window.ids": "window"}
"""Names of the plan under which the C program reports what it has measured under another one."""
UNCOUNTED = {
    "threads": ("wait.save", "wait.fetch", "wait.edit", "wait.query", "read.threads"),
    "other programs": ("foreign.writer",),
    "the disk": ("journal",),
    "figures of memory": ("memory.list", "memory.objects"),
}


class Failure(Exception):
    """A sentence for the user of the script."""


class Built(NamedTuple):
    """The program of a tree, which finds the tree's library by itself."""

    name: str
    program: pathlib.Path
    note: str = ""


# MARK: counting

def names_of(cases: Iterable[Case]) -> list[tuple[str, str]]:
    """The names under which the C program measures work, each with the case that it belongs to."""
    left_out = {name for names in UNCOUNTED.values() for name in names}
    found = {}
    for case in cases:
        if case.in_c and case.in_c not in left_out:
            found.update((SAME_WORK.get(name, name), case.in_c) for name in (case.name, *case.also))
    if not found:
        raise Failure(f"no instructions are counted of {', '.join(case.name for case in cases)}.\n{remarks()}")
    return list(found.items())


def fixed_addresses() -> list[str]:
    """The words before a command that give it the same addresses in each run, where the system allows that."""
    words = ["setarch", "-R"]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []


def count(built: Built, name: str, case: str, rows: int, files: pathlib.Path) -> int:
    """The instructions of one piece of work: of all that a run does of it, divided by their number."""
    profile = FOLDER / built.name / f"{name}.callgrind"
    profile.parent.mkdir(parents=True, exist_ok=True)
    # Addresses and hashes are the same in each run, and so is the size of the environment.
    ended = subprocess.run(
        [*fixed_addresses(), "valgrind", "--tool=callgrind", "--collect-atstart=no", f"--callgrind-out-file={profile}",
         built.program, "--only", case, "--count", name, "--rows", str(rows), "--folder", "."],
        cwd=files, env={"PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1"}, capture_output=True, text=True)
    works = re.search(r"^counted (\d+)$", ended.stdout, re.MULTILINE)
    if ended.returncode or not works:
        lines = ended.stderr.strip().splitlines() or ["without a message"]
        raise Failure(f"'{built.program} --count {name}' ended with status {ended.returncode}: {lines[-1]}")
    total = re.search(r"^(?:summary|totals): (\d+)$", profile.read_text(errors="replace"), re.MULTILINE)
    if works[1] == "0" or not total or total[1] == "0":
        raise Failure(f"'{built.program}' measures nothing under the name '{name}'.")
    return int(total[1]) // int(works[1])


def compare(cases: list[Case], rows: int, present: Built, other: Optional[Built]) -> list[str]:
    """Prints the table. Returns the names with more instructions than LIMIT allows."""
    worse = []
    names = names_of(cases)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="files-") as folder:
        files = pathlib.Path(folder)
        subprocess.run([present.program, "--prepare", ".", "--rows", f"0,{rows}"], cwd=files, check=True)
        head = f"{'case':<22}{'rows':>10}{'instructions':>16}"
        print(head + (f"{other.name[:12]:>16}{'ratio':>8}" if other else ""), flush=True)
        for name, case in names:
            found = count(present, name, case, rows, files)
            line = f"{name:<22}{rows:>10,}{found:>16,}"
            if other:
                before = count(other, name, case, rows, files)
                line += f"{before:>16,}{found / before:>8.3f}"
                if found > before * LIMIT:
                    worse.append(name)
                    line += "  worse"
            print(line, flush=True)
    return worse


def remarks() -> str:
    """What the table does not show."""
    lines = [f"left out, {reason}: {', '.join(left_out)}" for reason, left_out in UNCOUNTED.items()]
    lines.append(f"left out, not in the C program: {', '.join(case.name for case in CASES if not case.in_c)}")
    lines.append(f"callgrind_annotate shows where they are: {FOLDER.relative_to(ROOT)}/*/CASE.callgrind")
    return "\n".join(lines)


# MARK: building

def compile_program(folder: pathlib.Path, sources: pathlib.Path, include: pathlib.Path) -> pathlib.Path:
    """The C program, compiled the same way for all trees, with the library that lies in the folder."""
    program = folder / "bench"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-w", f"-I{include}",
         *sorted(sources.glob("*.c")), "-o", program, f"-L{folder}", "-lquire", f"-Wl,-rpath,{folder}", "-lsqlite3",
         "-lm", "-pthread"], check=True, capture_output=True, text=True)
    return program


def present(library: pathlib.Path) -> Built:
    """This tree, whose library is built."""
    folder = FOLDER / "present"
    shutil.rmtree(folder, ignore_errors=True)
    keep_library(library.parent, folder)
    return Built("present", compile_program(folder, ROOT / "Tests/Bench", ROOT / "include"))


def resolve(commit: str) -> str:
    """The hash of a commit."""
    resolved = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True, text=True)
    if resolved.returncode:
        raise Failure(f"there is no commit '{commit}'.")
    return resolved.stdout.strip()


def of_commit(name: str) -> Built:
    """A commit, whose library is built once. Its program is that of this tree where its headers have all it needs."""
    compiler = subprocess.run(["swift", "--version"], capture_output=True, check=True).stdout
    folder = FOLDER / f"{name}-{hashlib.sha256(compiler).hexdigest()[:8]}"
    if not (folder / "include").exists():
        build_library(name, folder)
    try:
        return Built(name, compile_program(folder, ROOT / "Tests/Bench", folder / "include"))
    except subprocess.CalledProcessError as failed:
        first = next((line for line in failed.stderr.splitlines() if "error:" in line), "the compiler failed")
        note = f"{name[:12]} runs its own program, since that of this tree does not compile: {first}"
    if '"--count"' not in (folder / "Bench/bench.c").read_text():
        raise Failure(f"{note}; and its own cannot count.")
    try:
        return Built(name, compile_program(folder, folder / "Bench", folder / "include"), note)
    except subprocess.CalledProcessError as failed:
        raise Failure(f"neither this tree's program nor its own compiles with {name[:12]}:\n{failed.stderr}") from None


def build_library(name: str, folder: pathlib.Path) -> None:
    """Keeps the library, the headers and the program of a commit; what building needs beside them is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "source"
    log = folder / "build.log"
    folder.mkdir(parents=True)
    print(f"bench: building {name[:12]}, once; the log is {log}", flush=True)
    steps = (
        ["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, source],
        ["git", "-C", source, "checkout", "--quiet", "--detach", name],
        [source / "script/setup"],
        ["cmake", "-S", source, "-B", source / "build", "-G", "Ninja"],
        ["cmake", "--build", source / "build", "--target", "quire_swift"])
    with log.open("w") as output:
        for step in steps:
            if subprocess.run(step, stdout=output, stderr=subprocess.STDOUT).returncode:
                raise Failure(f"{name[:12]} cannot be built: '{' '.join(map(str, step))}' failed; see {log}")
    keep_library(source / "build/lib", folder)
    shutil.copytree(source / "Tests/Bench", folder / "Bench")
    # The headers come last: where they are, the rest is complete.
    shutil.copytree(source / "include", folder / "include")
    shutil.rmtree(source)


def keep_library(library_folder: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in library_folder.glob("libquire.so*"):
        shutil.copy2(file, folder / file.name, follow_symlinks=False)


__all__ = ["Built", "Failure", "compare", "of_commit", "names_of", "present", "remarks", "resolve"]
