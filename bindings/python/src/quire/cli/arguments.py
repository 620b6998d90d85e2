"""The commands and their options. Help, completion and the test of the man page read them here."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Callable, NoReturn

from .._c._ffi import VERSION
from .comma_separated import can_stand_bare
from .exits import Exit

__all__ = ["Command", "commands_of", "parser", "read"]

Command = Callable[[argparse.Namespace], Exit]
_Parsers = Any


class Parser(argparse.ArgumentParser):
    """Says which word was probably meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (--[^ =]+)", message)
        known = list(self._option_string_actions)
        if wrong and wrong[1] is not None:
            known = [
                each for action in self._actions for each in action.choices or () if str(each) in message]
        near = difflib.get_close_matches((wrong[1] or wrong[2]) if wrong else "", known, 1)
        super().error(message + (f"; did you mean {near[0]}?" if near else ""))


def parser() -> argparse.ArgumentParser:
    """Reads the command line. The name of the chosen command is in `command`."""
    made = Parser(
        prog="quire", description="Looks into files of Quire and of Core Data, imports and exports them.",
        epilog="`quire COMMAND --help` says more; so does `man quire`.", allow_abbrev=False)
    made.add_argument("--version", action="version", version=f"quire {VERSION}")
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    _info(commands)
    _query(commands)
    _explain(commands)
    _check(commands)
    _compact(commands)
    _migrate(commands)
    _history(commands)
    _watch(commands)
    _export(commands)
    _import(commands)
    _convert(commands)
    _journal(commands)
    _browse(commands)
    _completion(commands)
    return made


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line. What is left over is told with the usage of the command that it was given to."""
    made = parser()
    found, rest = made.parse_known_args(_with_orders(arguments))
    if rest:
        commands_of(made).get(found.command, made).error(f"unrecognized arguments: {' '.join(rest)}")
    return found


def _with_orders(arguments: Sequence[str]) -> list[str]:
    """The command line, in which `--sort -pages` is an order and no option. One that there is stays an option."""
    known = {
        option for made in commands_of(parser()).values() for each in made._actions for option in each.option_strings}
    found: list[str] = []
    for each in arguments:
        if found and found[-1] in ("-s", "--sort") and each.startswith("-") and each not in known:
            found[-1] = f"--sort={each}"
        else:
            found.append(each)
    return found


def commands_of(made: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands by their names."""
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {name: each for name, each in _choices(action) if isinstance(each, argparse.ArgumentParser)}
    return {}


def _choices(action: Any) -> list[tuple[str, object]]:
    return list(action.choices.items())


def _command(commands: _Parsers, name: str, help: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False)
    return made


def _file(made: argparse.ArgumentParser, help: str = "the store") -> None:
    made.add_argument("file", metavar="FILE", help=help)


def _entity(made: argparse.ArgumentParser) -> None:
    made.add_argument("entity", metavar="ENTITY", help="an entity of the store; `quire info` names them")


def _selecting(made: argparse.ArgumentParser) -> None:
    """Which rows, and in which order."""
    made.add_argument(
        "-w", "--where", metavar="PREDICATE", action="append",
        help="only objects that fulfil it, such as \"author.name BEGINSWITH 'G' AND pages > 100\"; may be repeated")
    made.add_argument(
        "-s", "--sort", metavar="KEYS", action="append",
        help="keys to order by, with commas between them; a minus before a key turns it round")
    made.add_argument("-n", "--limit", metavar="N", type=_count, help="at most so many rows")
    made.add_argument("--offset", metavar="N", type=_count, default=0, help="leave out the first N rows")
    made.add_argument("--own", action="store_true", help="no objects of entities that inherit from ENTITY")


def _columns(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "-c", "--columns", metavar="KEYS",
        help="attributes, relationships (ids) and paths such as author.name or tags.label, with commas between them")
    made.add_argument("--ids", action="store_true", help="the id of each object as a first column, @id")


def _count(text: str) -> int:
    try:
        found = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number") from None
    if not 0 <= found < 2**63:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 2**63 - 1")
    return found


def _info(commands: _Parsers) -> None:
    made = _command(commands, "info", "tell the entities of a store, its sizes, indexes, version hashes and metadata")
    _file(made)
    made.add_argument(
        "entity", metavar="ENTITY", nargs="?", help="tell its attributes, relationships and indexes instead")
    made.add_argument("-f", "--format", choices=["table", "json"], default="table", help="table (the usual) or json")
    made.add_argument(
        "--names", action="store_true",
        help="only the names of the entities, or of the properties of ENTITY, one on each line")


def _query(commands: _Parsers) -> None:
    made = _command(commands, "query", "write the rows of an entity")
    _file(made)
    _entity(made)
    _selecting(made)
    made.add_argument(
        "--section", metavar="KEY",
        help="divide the rows by the values of a key; or by letter:KEY, day:KEY, week:KEY, month:KEY, year:KEY or "
        "value:KEY")
    _columns(made)
    made.add_argument(
        "-f", "--format", choices=["table", "json", "csv", "arrow"], default="table",
        help="table (the usual), json, csv, or arrow, which is a stream of Arrow for other programs")


def _explain(commands: _Parsers) -> None:
    made = _command(commands, "explain", "tell what a query would do: its SQL, the indexes it uses, what none serves")
    _file(made)
    _entity(made)
    _selecting(made)


def _check(commands: _Parsers) -> None:
    made = _command(
        commands, "check",
        "look for damage, missing values, relationships that lead nowhere, and wrong derived values")
    _file(made)
    made.add_argument("--mend", action="store_true", help="make text indexes anew that do not lead to every row")


def _compact(commands: _Parsers) -> None:
    _file(_command(commands, "compact", "give the free pages of a file back to the file system"))


def _migrate(commands: _Parsers) -> None:
    made = _command(commands, "migrate", "take a store over to another version of its model, in place")
    _file(made, "the store, which is written unless it is a dry run")
    made.add_argument(
        "model", metavar="MODEL", help="the model that it is to have: .xcdatamodeld, .momd, .mom or another store")
    made.add_argument("--dry-run", action="store_true", help="write nothing, and print each step with its SQL")
    made.add_argument(
        "--source", metavar="MODEL", help="the model that it has, where the file keeps no copy of its model")


def _export(commands: _Parsers) -> None:
    made = _command(commands, "export", "write the rows of an entity into a file of CSV, JSON Lines, Parquet or Arrow")
    _file(made)
    _entity(made)
    made.add_argument(
        "output", metavar="OUTPUT", nargs="?", default="-", help="the file to write; - is standard output")
    _selecting(made)
    _columns(made)
    made.add_argument(
        "-r", "--relationships", action="store_true",
        help="also the relationships, by what is unique where they lead, such as author.name")
    _formats(made)
    made.add_argument("--force", action="store_true", help="replace OUTPUT where it is there")


def _import(commands: _Parsers) -> None:
    made = _command(commands, "import", "insert the rows of a file of CSV, JSON Lines, Parquet or Arrow into a store")
    _file(made, "the store, which is written")
    _entity(made)
    made.add_argument("source", metavar="SOURCE", nargs="?", default="-", help="the file to read; - is standard input")
    made.add_argument("-c", "--columns", metavar="NAMES", help="the columns to take, with commas between them")
    made.add_argument(
        "--upsert", action="store_true",
        help="update the object that has the same values where the model wants them unique")
    made.add_argument(
        "--model", metavar="MODEL",
        help="the model of a store that is made where FILE is not there: .xcdatamodeld, .momd, .mom or another store")
    _formats(made)


def _convert(commands: _Parsers) -> None:
    made = _command(commands, "convert", "write a store of XML as one of SQLite, or the other way round")
    _file(made)
    made.add_argument("output", metavar="OUTPUT", help="the new store, where there must be no file")
    made.add_argument(
        "--model", metavar="MODEL",
        help="the model of FILE, which an XML store does not keep: .xcdatamodeld, .momd, .mom or another store")
    made.add_argument(
        "-t", "--type", choices=["sqlite", "xml"], help="what OUTPUT is to be; otherwise what FILE is not")
    made.add_argument("-q", "--quiet", action="store_true", help="no sentence at the end")


def _journal(commands: _Parsers) -> None:
    made = _command(
        commands, "journal", "have a store keep a change journal, from which other processes learn what was changed")
    _file(made, "the store, which is written")
    made.add_argument(
        "-k", "--keep", choices=["saves", "all", "none"], default="saves",
        help="saves: what Quire saves (the usual); all: also what plain SQL changes, by triggers; none: no journal")
    made.add_argument("-q", "--quiet", action="store_true", help="no sentence at the end")


def _formats(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "-f", "--format", choices=["csv", "jsonl", "parquet", "arrow"], help="otherwise the ending of the file says it")
    made.add_argument(
        "--null", metavar="TEXT", default="", type=_bare, help="what stands for no value in CSV; usually nothing")
    made.add_argument("-q", "--quiet", action="store_true", help="neither a progress bar nor a sentence at the end")


def _bare(text: str) -> str:
    if not can_stand_bare(text):
        raise argparse.ArgumentTypeError("a text without quotes, commas and ends of lines is needed")
    return text


def _history(commands: _Parsers) -> None:
    made = _command(commands, "history", "tell what any program has changed in a store that keeps a history")
    _file(made)
    made.add_argument("-e", "--entity", metavar="ENTITY", help="only changes of an entity, or of those under it")
    made.add_argument("-a", "--author", metavar="AUTHOR", help="only transactions of an author")
    made.add_argument(
        "--since", metavar="DATE", type=_date,
        help="only what is not earlier, such as 2026-11-28 or 2026-11-28T17:30+01:00; of UTC where it names no zone")
    made.add_argument("-n", "--limit", metavar="N", type=_count, help="at most so many transactions, the oldest first")
    made.add_argument(
        "-f", "--format", choices=["table", "json"], default="table",
        help="table (the usual), or json, an object on a line for each transaction")


def _watch(commands: _Parsers) -> None:
    made = _command(commands, "watch", "tell what any program changes in a store, as it comes")
    _file(made)
    _entity(made)
    made.add_argument(
        "-w", "--where", metavar="PREDICATE", action="append", help="only objects that fulfil it; may be repeated")
    made.add_argument("-n", "--limit", metavar="N", type=_count, help="end after so many changes")
    made.add_argument(
        "-f", "--format", choices=["table", "json"], default="table",
        help="table (the usual), or json, an object on a line for each change")
    made.add_argument("-q", "--quiet", action="store_true", help="without a line that says that it waits")


def _date(text: str) -> datetime:
    """A date as conditions and imports take it: of UTC where it names no zone."""
    from .values import instant, no_date

    try:
        found = instant(text)
        if not isinstance(found, datetime):
            raise no_date(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return found


def _browse(commands: _Parsers) -> None:
    made = _command(commands, "browse", "look through a store on the whole terminal")
    _file(made)
    made.add_argument("entity", metavar="ENTITY", nargs="?", help="the entity to show first")


def _completion(commands: _Parsers) -> None:
    made = _command(commands, "completion", "print what has a shell complete this command")
    made.add_argument("shell", metavar="SHELL", choices=["bash", "zsh"], help="bash or zsh")
