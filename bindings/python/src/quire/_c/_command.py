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
        # While `python -m` looks for its module. Python before 3.10 does not tell which one that is.
        words = getattr(sys, "orig_argv", [])
        return "-mquire" in words or ("-m", "quire") in zip(words, words[1:])
    return bool(arguments) and os.path.basename(arguments[0]) == "quire"
