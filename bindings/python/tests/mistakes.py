"""The mistakes of a caller, to read what each is told: `python3 mistakes.py` prints the table."""

from __future__ import annotations

from typing import Optional

import mistakes_in_batches  # noqa: F401
import mistakes_in_lists  # noqa: F401
import mistakes_in_models  # noqa: F401
import mistakes_in_queries  # noqa: F401
import mistakes_in_saves  # noqa: F401
import mistakes_in_values  # noqa: F401
from mistake_world import MISTAKES, Mistake, world


def provoked(mistake: Mistake) -> Optional[BaseException]:
    """What a mistake raises."""
    with world() as made:
        try:
            mistake.make(made)
        except Exception as error:
            return error
    return None


def offender(error: BaseException) -> str:
    """What the error tells of its offender beyond words."""
    row = getattr(error, "row", None)
    key = getattr(error, "key", "")
    return "".join((
        getattr(error, "entity", ""), f".{key}" if key else "", "#" if getattr(error, "id", 0) else "",
        "" if row is None else f"@{row}"))


def main() -> None:
    for mistake in MISTAKES:
        error = provoked(mistake)
        if error is None:
            print(f"- {mistake.title}\n      nothing")
            continue
        known = offender(error)
        mark = "" if known == mistake.offender else f"  <{known}> instead of"
        print(f"- {mistake.title} {mark} <{mistake.offender}>")
        print(f"      {type(error).__name__}: " + str(error).replace("\n", "\n      | "))


if __name__ == "__main__":
    main()
