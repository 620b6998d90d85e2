"""What the command `quire` says where the library cannot be loaded. Its own modules cannot be imported then."""

from __future__ import annotations

import os
import sys

_MISSING = 6
"""As `Exit.MISSING` of the command."""


def end_with(error: ImportError) -> None:
    """Ends the process with a sentence where it runs the command, and does nothing in other programs."""
    if _is_command():
        print(f"quire: {error}", file=sys.stderr)
        sys.exit(_MISSING)


def _is_command() -> bool:
    arguments = sys.argv[:1]
    if arguments == ["-m"]:
        # While `python -m` looks for its module.
        words = _command_line()
        return "-mquire" in words or ("-m", "quire") in zip(words, words[1:])
    return bool(arguments) and os.path.basename(arguments[0]) == "quire"


def _command_line() -> list[str]:
    """All words of the process. Python before 3.10 does not tell them."""
    found: list[str] = getattr(sys, "orig_argv", [])
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return found or os.fsdecode(file.read()).split("\0")
    except OSError:
        return found
