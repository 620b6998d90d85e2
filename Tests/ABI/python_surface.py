#!/usr/bin/env python3
"""Compares what the Python package offers with what the last release offered.

    python_surface.py            fails for what docs/stability.md does not allow, and tells what was added
    python_surface.py --write    writes the baseline, with a release

A line of the baseline is a name and what belongs to it: the parameters of a function, the bases of a class, the value
of a member of an enumeration. A parameter is `name`, or `/name` where it is given by place alone, `*name` where it is
given by name alone. `name=` has a default, and `**name` and `***name` take any number.
"""
import argparse
import enum
import inspect
import pathlib
import sys

import quire

HERE = pathlib.Path(__file__).resolve().parent
# Classes that a program calls, besides errors. The package makes the objects of the others.
MADE = {
    "Cancellation", "Composite", "Context", "Expression", "Index", "Model", "Order", "Path", "Predicate", "Template"}
# How a parameter may be given. What a later kind allows beyond an earlier one breaks no caller.
MARKS = {
    inspect.Parameter.POSITIONAL_ONLY: "/", inspect.Parameter.POSITIONAL_OR_KEYWORD: "",
    inspect.Parameter.KEYWORD_ONLY: "*", inspect.Parameter.VAR_POSITIONAL: "**", inspect.Parameter.VAR_KEYWORD: "***",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the baseline")
    now = surface(quire)
    if parser.parse_args().write:
        for path in HERE.glob("python-*.surface"):
            path.unlink()
        path = HERE / f"python-{quire.__version__}.surface"
        path.write_text("".join(f"{' '.join([name, *parts])}\n" for name, parts in sorted(now.items())))
        print(f"wrote Tests/ABI/{path.name}: {len(now)} names")
        return
    path = max(HERE.glob("python-*.surface"), key=lambda path: [int(part) for part in path.stem[7:].split(".")])
    before = {name: parts for name, *parts in map(str.split, path.read_text().splitlines())}
    problems = list(broken(before, now))
    added = sorted(set(now) - set(before))
    print(f"Compared with {path.stem}, {len(before)} names. Added: {', '.join(added) or 'nothing'}")
    for was, becomes, is_allowed in PROOFS:
        if is_allowed == bool(list(broken({"a": was.split()}, {"a": becomes.split()} if becomes else {}))):
            problems.append(f"The change of {was!r} to {becomes!r} is {'refused' if is_allowed else 'not found'}.")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


def surface(package):
    """Of each public name its parts, as the baseline has them."""
    found = {}
    for name in ["__version__", *(name for names in package._NAMES.values() for name in names.split())]:
        thing = getattr(package, name)
        if isinstance(thing, type):
            found[name] = ["class", *sorted(base.__name__ for base in thing.__mro__[1:] if is_own(base))]
            if issubclass(thing, enum.Enum):
                found.update({f"{name}.{key}": ["member", repr(each.value)] for key, each in thing.__members__.items()})
            for base in reversed(thing.__mro__):
                if is_own(base):
                    found.update(members(name, base))
            if name not in MADE and not issubclass(thing, quire.Error):
                found.pop(f"{name}.__init__", None)
        elif callable(thing):
            found[name] = parts(thing)
        else:
            found[name] = ["value"]
    return found


def is_own(kind):
    return kind.__module__.partition(".")[0] == "quire" and not kind.__name__.startswith("_")


def members(name, kind):
    for key, value in vars(kind).items():
        if key.startswith("_") and key != "__init__" or issubclass(kind, enum.Enum) and key in kind.__members__:
            continue
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        yield f"{name}.{key}", parts(value) if inspect.isfunction(value) else ["attribute"]


def parts(function):
    """`function`, and its parameters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["function"]
    return ["function", *(
        MARKS[each.kind] + each.name + ("=" if each.default is not each.empty else "") for each in parameters
        if not each.name.startswith("_"))]


def broken(before, now):
    """What callers of `before` miss in `now`, a sentence each."""
    for name, was in before.items():
        if name not in now:
            yield f"{name} is gone."
        elif was[0] != now[name][0] and (was[0], now[name][0]) != ("attribute", "value"):
            yield f"{name} was a {was[0]} and is a {now[name][0]}."
        elif was[0] == "class":
            yield from (f"{name} is no {base} any more." for base in was[1:] if base not in now[name])
        elif was[0] == "member" and was != now[name]:
            yield f"{name} was {was[1]} and is {now[name][1]}."
        elif was[0] == "function":
            yield from (f"{name}: {reason}" for reason in calls_broken(was[1:], now[name][1:]))


def calls_broken(was, becomes):
    after = {each.strip("/*="): each for each in becomes}
    for each in was:
        name = each.strip("/*=")
        later = after.get(name)
        if later is None:
            yield f"the parameter {name} is gone."
        elif each.endswith("=") and not later.endswith("="):
            yield f"the parameter {name} has no default any more."
        # By place and by name is the widest.
        elif mark(later) not in ("", mark(each)):
            yield f"the parameter {name} was {each} and is {later}."
    for each in becomes:
        is_new = each.strip("/*=") not in [old.strip("/*=") for old in was]
        if is_new and not each.endswith("=") and len(mark(each)) < 2:
            yield f"the new parameter {each} has no default."
    # Those that may be given by place keep their places.
    places = [[each.strip("/=") for each in parameters if mark(each) in ("", "/")] for parameters in (was, becomes)]
    if places[1][:len(places[0])] != places[0]:
        yield "parameters have other places."


def mark(parameter):
    return parameter[:len(parameter) - len(parameter.lstrip("/*"))]


# What a name was, what it becomes, and whether that is allowed.
PROOFS = [
    ("function a b=", "", False),
    ("function a b=", "attribute", False),
    ("function a b=", "function a", False),
    ("function a b=", "function a c=", False),
    ("function a b=", "function a b", False),
    ("function a b=", "function b= a", False),
    ("function a b=", "function a *b=", False),
    ("function a b=", "function a b= c", False),
    ("function a *b", "function a b", True),
    ("function a b=", "function a b= c= *d=", True),
    ("function a", "function a= **rest ***named", True),
    ("class Error", "class", False),
    ("class Error", "class Error Other", True),
    ("member 1", "member 2", False),
]

if __name__ == "__main__":
    main()
