#!/usr/bin/env python3
"""Opens stores for reading with the library, in a process of its own, and prints what it counts there.

    reader.py [--uid N] [STORE ...]

With --uid the process is that user by then, so that the permissions of files hold for it as they do not for root. For
each store a line of JSON: `counts`, of each entity its objects without and with those of entities below it, or
`refused` with the message, or `failed`. Without stores their paths are lines of the input, each answered at once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

import subject


def read(path: str) -> dict[str, Any]:
    try:
        with subject.opened(path) as store:
            return {"counts": {
                name: [subject.count(store, name, False), subject.count(store, name, True)] for name in store.classes}}
    except Exception as error:
        kind = "refused" if subject.is_refusal(error) else "failed"
        return {kind: f"{type(error).__name__}: {error}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--uid", type=int)
    parser.add_argument("stores", nargs="*")
    arguments = parser.parse_args()
    subject.quire()
    if arguments.uid is not None:
        # What is imported or loaded later may lie where this user does not get.
        list(map(read, arguments.stores[:1]))
        os.setgroups([])
        os.setgid(arguments.uid)
        os.setuid(arguments.uid)
    for path in arguments.stores or map(str.strip, sys.stdin):
        print(json.dumps(read(path)), flush=True)


if __name__ == "__main__":
    main()
