#!/usr/bin/env python3
"""Checks that the binary interface keeps the rules that base.h gives for names and types.

    rules.py QUIRE.ABI
"""
import re
import sys

# What every call returns: it keeps its own type and its short names.
STATUS = "quire_status"
# Structs that the library lends or fills and that never grow, as base.h says.
FIXED = {"quire_string", "quire_value", "quire_entry", "quire_index_element", "quire_index_path"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    enums = {line.split()[1] for line in lines if line.startswith("enum ")}
    handles = {line.split()[1] for line in lines if line.startswith("handle ")}
    problems = []
    seen = 0
    kind = None
    structs = {}
    for line in lines:
        if not line.startswith(" "):
            kind = line
        if line.startswith("struct "):
            structs[line.split()[1].rstrip(":")] = []
        elif line.startswith("  ") and kind.startswith("struct ") and not line.startswith("    "):
            structs[kind.split()[1].rstrip(":")].append(line.split(None, 1)[1])
        elif line.startswith("  ") and kind.startswith("enum "):
            name = kind.split()[1]
            words = [word.rstrip("s") for word in name.upper().split("_")[1:]]
            enumerator = line.split()[1]
            if name != STATUS and not any(enumerator.startswith(f"QUIRE_{word}") for word in words):
                problems.append(f"{enumerator} does not begin with a word of {name}")
        elif line.startswith("function "):
            seen += 1
            problems += function_problems(line[len("function "):], enums, handles)
    for name, members in structs.items():
        if any("reserved" in member for member in members) and "uint32_t struct_size" not in members:
            if not any(f"{name}_array" == other for other in structs) and name not in LENT_BY_POINTER:
                problems.append(f"{name} has reserved members, no size, and comes in no array")
        for member in members:
            inner = member.split(" ")[0]
            if inner in structs and not never_grows(inner):
                problems.append(f"{name}: {member} lies within it, and {inner} may grow")
            if any(member.startswith(enum + " ") for enum in enums):
                problems.append(f"{name}: {member} has the type of an enumeration")
        array = structs.get(f"{name}_array")
        if array is not None and [member.split()[-1] for member in array] != ["first", "count", "stride"]:
            problems.append(f"{name}_array is no array")
    if problems or seen < 100:
        sys.exit("\n".join(problems) or "no functions")
    print(f"{seen} functions, {len(structs)} structs, {len(enums)} enumerations")


# One at a time, so that a newer library may give longer ones.
LENT_BY_POINTER = {"quire_column"}


def never_grows(struct):
    return struct in FIXED or struct.endswith("_array")


def function_problems(declaration, enums, handles):
    match = re.fullmatch(r"(.*?[ *])(quire_\w+)\((.*)\)", declaration)
    result, name = match[1].strip(), match[2]
    parameters = [] if match[3] == "void" else [each.rstrip("?") for each in match[3].split(", ")]
    if name.endswith("_retain") and not parameters[0].startswith("const "):
        yield f"{name} changes what it retains"
    for each in [result + " result", *parameters]:
        base = each.replace("const ", "").split(" ")[0]
        if base in enums and base != STATUS:
            yield f"{name}: {each} has the type of an enumeration"
        if each.startswith("quire_") and "*" not in each and not never_grows(base) and base not in enums:
            yield f"{name}: {each} goes by value, and may grow"
        if re.fullmatch(r"(size_t|uint32_t|int32_t|uint64_t) \**\s*(out_)?(index|section|row|child|first|start)", each):
            yield f"{name}: {each} is a place and no int64_t"
    if result == "size_t":
        yield f"{name} counts in size_t"
    # An array of structs that may grow comes with the distance between its elements.
    for each in [result, *parameters]:
        lent = re.match(r"const (quire_\w+) \*( |\*|$)", each)
        counted = any(re.search(r"size_t \* out_count$", parameter) for parameter in parameters)
        if lent and counted and lent[1] not in FIXED | handles:
            yield f"{name} lends an array of {lent[1]} without its stride"


if __name__ == "__main__":
    main()
