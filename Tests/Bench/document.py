#!/usr/bin/env python3
"""Writes docs/benchmarks.md and its plots from what script/bench measured.

    Tests/Bench/document.py FILE.json      the same again from a file of --json
"""

from __future__ import annotations

import json
import os
import pathlib
import platform
import re
import sqlite3
import subprocess
import sys
import textwrap
from typing import Optional

import plan
import plot
from budgets import BUDGETS, Figures

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
NATIVE = ("quire-c", "sqlite-c", "sqlite-c-commit", "sqlite-c-requery", "grdb")
PLOTS = [
    ("live-one", "live.one", "One row changes, and the list is right again", "seconds, commit included"),
    ("live-thousand", "live.thousand", "1,000 rows change in one save", "seconds, commit included"),
    ("fetch-first", "fetch.first", "First fetch of the sorted, sectioned list", "seconds"),
    ("memory-list", "memory.list", "Memory of the sorted, sectioned list", "bytes, all rows")]


def time_text(seconds: float) -> str:
    for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1 or name == "µs":
            return f"{_short(seconds * factor)} {name}"
    raise AssertionError


def _short(number: float) -> str:
    if number >= 100 or number == 0:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def bytes_text(count: float) -> str:
    for factor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{_short(count / factor)} {name}"
    return f"{_short(count)} B"


def write(results: list[dict], machine: list[str]) -> None:
    figures = Figures(results)
    notes = (HERE / "notes.md").read_text()
    parts = [
        notes.split("<!-- figures -->")[0].rstrip(), _cases(), "## The machine", "\n".join(machine), _headline(figures),
        "\n\n".join(draw_plots(figures)), _budgets(figures),
        "## From C and Swift\n\n" + _table(figures, NATIVE, "quire-c"),
        "## From Python\n\n" + _table(figures, plan.PYTHON, plan.QUIRE_PYTHON), _more(figures), _behind(figures),
        notes.split("<!-- figures -->")[1].strip()]
    (ROOT / "docs/benchmarks.md").write_text("\n\n".join(part for part in parts if part) + "\n")


# MARK: the machine


def machine(python: str, seconds: Optional[float]) -> list[str]:
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 1e6
    swift = _output(["swift", "--version"])
    version = re.search(r"Swift version ([\d.]+)", swift)
    packages = _output([python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"])
    version_of_python = _output([python, "-c", "import platform; print(platform.python_version())"]).strip()
    peers = [line.replace("==", " ") for line in packages.splitlines() if line.split("==")[0].lower() in plan.PYTHON]
    lines = [
        f"- {model}, {os.cpu_count()} processors, {memory:.0f} GB; {_system()}, Linux {platform.release()}",
        f"- SQLite {sqlite3.sqlite_version}; Swift {version[1] if version else 'unknown'}; GRDB.swift 7.10.0; "
        f"CPython {version_of_python}, {', '.join(peers)}",
        f"- Quire {_output(['git', '-C', str(ROOT), 'describe', '--always', '--dirty']).strip()}, by `script/bench`"]
    if seconds:
        lines[-1] += f", which took {seconds / 60:.0f} minutes with everything that it built"
    return lines


def _system() -> str:
    text = pathlib.Path("/etc/os-release").read_text() if os.path.exists("/etc/os-release") else ""
    found = re.search(r'^PRETTY_NAME="(.*)"', text, re.MULTILINE)
    return found[1] if found else platform.system()


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


# MARK: tables


def _value(case: plan.Case, median: float) -> str:
    return bytes_text(median) if case.unit != "s" else time_text(median)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(figures: Figures, contenders: tuple[str, ...], ours: str) -> str:
    """A line for each case and number of rows that Quire takes part in, and how many times as long others take."""
    lines = [_row(["case", "rows", *contenders]), "|---|" + "---:|" * (len(contenders) + 1)]
    for case in plan.CASES:
        for name, rows in [(name, rows) for name in (case.name, *case.also) for rows in case.rows]:
            base = figures.of(name, ours, rows)
            if base is None:
                continue
            cells = []
            for contender in contenders:
                median = figures.of(name, contender, rows)
                text = "" if median is None else _value(case, median)
                cells.append(f"{text} ({_short(median / base)}x)" if median and base and contender != ours else text)
            lines.append(_row([f"`{name}`", f"{rows:,}" if rows else "", *cells]))
    return "\n".join([*lines, "", "In parentheses, how many times as much as Quire."])


def _cases() -> str:
    lines = ["## The cases", "", _row(["case", "what is done"]), "|---|---|"]
    return "\n".join([*lines, *(_row([f"`{case.name}`", case.title]) for case in plan.CASES)])


def _headline(figures: Figures) -> str:
    case = plan.case_of("live.one")
    return "\n".join([
        "## The headline: one row changes", "",
        "From the change to the moment at which the displayed, sectioned list is right again and the view knows",
        "what to redraw, commit included.", "",
        _row(["contender", *(f"{rows:,} rows" for rows in case.rows)]), "|---|" + "---:|" * len(case.rows),
        *(_row([f"`{each}`", *(
            "" if figures.of(case.name, each, rows) is None else time_text(figures.of(case.name, each, rows))
            for rows in case.rows)]) for each in ("quire-c", "quire-python", *NATIVE[2:], *plan.PYTHON_PEERS))])


def _budgets(figures: Figures) -> str:
    lines = ["## Goals", "", "What the design asks of 1.0, with 1,000,000 rows unless it says otherwise.", "",
             _row(["work", "goal", "measured", ""]), "|---|---:|---:|---|"]
    for budget in BUDGETS:
        found, is_met = budget.measured(figures), budget.is_met(figures)
        sign = "at least " if budget.is_least else ""
        verdict = "met" if is_met else "not measured"
        if is_met is False:
            by = max(found / budget.limit, budget.limit / max(found, 1e-12))
            word = "**missed**" if budget.is_required else "not yet required"
            verdict = f"{word}: {_short(by)} times"
        unit = "x" if budget.unit == "x" else f" {budget.unit.replace('us', 'µs')}"
        lines.append(_row([
            budget.work, f"{sign}{budget.limit:g}{unit}", "" if found is None else f"{_short(found)}{unit}", verdict]))
    return "\n".join(lines)


def _more(figures: Figures) -> str:
    """Contenders that are in no other table: statements that were tried as floors."""
    lines = []
    for (name, contender, rows), median in figures.medians.items():
        if contender in (*NATIVE, *plan.PYTHON):
            continue
        base = figures.of(name, "quire-c", rows)
        ratio = _short(median / base) + "x" if base else ""
        lines.append(_row([f"`{name}`", f"{rows:,}", f"`{contender}`", time_text(median), ratio]))
    if not lines:
        return ""
    return "\n".join(["## More of predicates and text indexes", "", _row(
        ["case", "rows", "contender", "median", "beside quire-c"]), "|---|---:|---|---:|---:|", *lines])


def behind(figures: Figures) -> list[tuple[str, str, int, float]]:
    """Case, peer and rows where a peer takes less than Quire does from the same language, and Quire's part of it."""
    found = []
    for case in plan.CASES:
        for ours, peers in (("quire-c", plan.NATIVE_PEERS), (plan.QUIRE_PYTHON, plan.PYTHON_PEERS)):
            for rows, peer in [(rows, peer) for rows in case.rows for peer in peers]:
                ratio = figures.ratio(case.name, ours, peer, rows)
                if ratio is not None and ratio > 1:
                    found.append((case.name, peer, rows, ratio))
    return found


def _behind(figures: Figures) -> str:
    causes = {}
    # An entry may go on in lines that are indented.
    for line in (HERE / "causes.md").read_text().replace("\n  ", " ").splitlines():
        match = re.match(r"- ([\w.]+), ([\w, -]+): (.*)", line)
        for peer in match[2].split(", ") if match else ():
            causes[match[1], peer] = match[3]
    lines = [
        textwrap.fill(
            f"- `{name}`, {peer}{f', {rows:,} rows' if rows else ''}: Quire takes {_short(ratio)} times as much. "
            + causes.get((name, peer), "The cause is not known."), 120, subsequent_indent="  ")
        for name, peer, rows, ratio in behind(figures)]
    head = "## Where Quire is behind\n\nThe peers that take less than Quire from the same language, and why.\n\n"
    return head + ("\n".join(lines) or "Nowhere in this run.")


# MARK: plots


def draw_plots(figures: Figures) -> list[str]:
    """Writes the pictures; gives the lines that show them."""
    shown = []
    for file, name, title, up in PLOTS:
        case = plan.case_of(name)
        in_bytes = case.unit != "s"
        lines: dict[str, plot.Points] = {}
        for contender in (*NATIVE, *plan.PYTHON):
            points = [(rows, figures.of(name, contender, rows)) for rows in case.rows]
            kept = [(rows, value * rows if in_bytes else value) for rows, value in points if value]
            if len(kept) > 1:
                lines[contender] = kept
        if not lines:
            continue
        text = plot.drawn(title, "rows in the list", up, lines, bytes_text if in_bytes else time_text)
        (ROOT / f"docs/{file}.svg").write_text(text)
        shown.append(f"![{title}]({file}.svg)")
    return shown


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(json.loads(pathlib.Path(sys.argv[1]).read_text()), machine(sys.executable, None))
