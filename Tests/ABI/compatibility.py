#!/usr/bin/env python3
"""Compares the interface that the headers declare with that of the last release, by abidiff.

    compatibility.py            fails for what docs/stability.md does not allow, tells what was added, and proves with
                                copies of the headers that each kind of break is found
    compatibility.py --write    writes the baseline from the headers, with a release

The library is made of Swift, whose debug information says nothing of C's types. Swift's compiler compares each function
with its header, and abi.symbols the names. So this compiles the declarations: a library with an empty function for each
one, with the library's versions of symbols. A function of its own leads to each type, enumeration and macro. Functions
that the headers define inline are exported for this.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
# What a minor version before 1.0, or a major one, changes on purpose: suppressions of abidiff, empty after a release.
CHANGED = "Tests/ABI/changed.suppr"
# Structs that never grow: programs pass them by value, count through arrays of them, or embed them (base.h).
FIXED = re.compile(r"quire_(string|value|entry|index_element|index_path|\w+_array)$|Arrow")
# In the place of the system's, so that the baseline is the same on each.
SYSTEM_HEADERS = {
    "stdbool.h": "#define bool _Bool\n#define true 1\n#define false 0\n",
    "stddef.h": "typedef __SIZE_TYPE__ size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "".join(
        f"typedef __{name.upper()}_TYPE__ {name}_t;\n"
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")) +
        "#define UINT32_MAX 4294967295u\n#define UINT64_MAX 18446744073709551615ul\n#define SIZE_MAX UINT64_MAX\n",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the baseline")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if parser.parse_args().write:
            write(folder)
            return
        baseline = max(HERE.glob("baseline-*.xml"), key=lambda path: version_of(path.stem))
        problems, additions = compared(baseline, ROOT, folder)
        problems += tagged(baseline, ROOT, folder)
        if additions and not may_add(baseline, ROOT):
            problems.append("A release has this version already; additions need a new minor version.")
        print(f"Compared with {baseline.stem}:", ", ".join(additions) or "nothing is added")
        problems += proofs(folder)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


def write(folder):
    for path in HERE.glob("baseline-*.xml"):
        path.unlink()
    path = HERE / f"baseline-{'.'.join(map(str, version(ROOT)))}.xml"
    dump(ROOT, folder).write(path, encoding="unicode")
    (ROOT / CHANGED).write_text("")
    print(f"wrote {path.relative_to(ROOT)}")


def version(root):
    text = (root / "include/quire/base.h").read_text()
    numbers = re.findall(r"^#define QUIRE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE)
    return tuple(map(int, numbers))


def version_of(name):
    return tuple(map(int, re.search(r"(\d+)\.(\d+)\.(\d+)$", name).groups()))


def may_break(old, new):
    """Whether a version may remove and change what an older one had."""
    return new[0] > old[0] or new[0] == 0 and new[1] > old[1]


def may_add(baseline, root):
    """A minor version adds; a patch does not. The version of the baseline adds until it is released."""
    old, new = version_of(baseline.stem), version(root)
    return new[:2] > old[:2] or new == old and f"v{'.'.join(map(str, new))}" not in git(root, "tag").split()


def git(root, *arguments):
    try:
        return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def tagged(baseline, root, folder):
    """Where git knows the tag of the last release, the baseline is what the headers were then."""
    tag = git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*").strip()
    if not tag:
        return []
    if version_of(tag) != version_of(baseline.stem):
        return [f"The last release is {tag}, and the baseline is {baseline.stem}; see docs/stability.md."]
    tree = folder / "tagged"
    tree.mkdir()
    archive = subprocess.run(
        ["git", "-C", root, "archive", tag, "include", "Sources/QuireCore/exports.map"],
        check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    problems, additions = compared(baseline, tree, folder)
    shutil.rmtree(tree)
    return [f"The baseline is not what {tag} declares: {each}" for each in problems + additions]


def compared(baseline, root, folder):
    """What is broken since the baseline, as abidiff tells it, and what was added."""
    old = xml.etree.ElementTree.parse(baseline)
    new = dump(root, folder)
    added = sorted(functions(new) - functions(old))
    additions = [
        f"macro {name[6:]}" if name.startswith("macro_") else f"function {name}"
        for name in added if not name.startswith("type_")]
    additions += take_off_growth(old, new)
    new.write(folder / "new.xml", encoding="unicode")
    command = ["abidiff", "--harmless", "--no-added-syms", baseline, folder / "new.xml"]
    if may_break(version_of(baseline.stem), version(root)) and (root / CHANGED).read_text().strip():
        # Programs of the release must not run with this version: no function may have a version that they know.
        if versions(old) & versions(new):
            return [f"Something is changed ({CHANGED}), and functions still have {versions(old) & versions(new)}."], []
        for tree, name in ((old, "old.xml"), (new, "new.xml")):
            without_versions(tree).write(folder / name, encoding="unicode")
        command = ["abidiff", "--suppressions", root / CHANGED, *command[1:3], folder / "old.xml", folder / "new.xml"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return [], additions
    return [f"abidiff ended with {result.returncode}:\n{result.stdout}{result.stderr}"], additions


def functions(tree):
    return {symbol.get("name") for symbol in tree.iter("elf-symbol")}


def versions(tree):
    """The versions of the library's functions."""
    return {symbol.get("version") for symbol in tree.iter("elf-symbol")} - {"TYPES"}


def without_versions(tree):
    for symbol in tree.iter("elf-symbol"):
        symbol.attrib.pop("version")
        symbol.attrib.pop("is-default-version")
    for function in tree.iter("function-decl"):
        if function.get("elf-symbol-id"):
            function.set("elf-symbol-id", function.get("elf-symbol-id").partition("@")[0])
    return tree


def take_off_growth(old, new):
    """Removes from `new` what structs and enumerations may grow by, and returns it in words."""
    grown = []
    before = {each.get("name"): each for each in old.iter("enum-decl")}
    for enum in new.iter("enum-decl"):
        known = {each.get("name") for each in before.get(enum.get("name"), enum).iter("enumerator")}
        for each in enum.findall("enumerator"):
            if each.get("name") not in known:
                grown.append(f"enumerator {each.get('name')}")
                enum.remove(each)
    before = {each.get("name"): each for each in old.iter("class-decl") if each.get("size-in-bits")}
    for struct in new.iter("class-decl"):
        name = struct.get("name")
        if name not in before or FIXED.match(name):
            continue
        size = int(before[name].get("size-in-bits"))
        # What fits into the padding at the end is no growth: `struct_size` would not tell that it is there.
        added = [each for each in struct.findall("data-member") if int(each.get("layout-offset-in-bits")) >= size]
        if added:
            grown.append(f"{name} has {', '.join(each.find('var-decl').get('name') for each in added)}")
            struct.set("size-in-bits", str(size))
            for each in added:
                struct.remove(each)
    return grown


def dump(root, folder):
    """abidw's description of what the headers below `root` declare."""
    system = folder / "system"
    system.mkdir(exist_ok=True)
    for name, text in SYSTEM_HEADERS.items():
        (system / name).write_text(text)
    preprocess = ["gcc", "-std=c11", "-E", "-P", "-nostdinc", "-isystem", system, f"-I{root / 'include'}"]
    header = root / "include/quire.h"

    def output(command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    whole = folder / "whole.h"
    whole.write_text("#include <quire.h>\n" + "".join(macros(output([*preprocess, "-dM", header]))))
    text = output([*preprocess, whole])
    (folder / "stub.c").write_text(stub(text))
    exports = (root / "Sources/QuireCore/exports.map").read_text()
    inline = "".join(f"    {name};\n" for name in re.findall(r"^static inline [^(]*\b(\w+)\(", text, re.MULTILINE))
    (folder / "stub.map").write_text(f"{exports}TYPES {{\n  global:\n    type_*;\n{inline}}};\n")
    library = folder / "libquire.so.0"
    subprocess.run(
        ["gcc", "-std=gnu11", "-g", "-gdwarf-4", "-w", "-fPIC", "-shared", "-nostdlib", "-Wl,-soname=libquire.so.0",
         f"-Wl,--version-script={folder / 'stub.map'}", f"-fdebug-prefix-map={folder}=.", folder / "stub.c",
         "-o", library], check=True)
    subprocess.run(
        ["abidw", "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path", "--no-elf-needed",
         "--no-parameter-names", "--out-file", folder / "dump.xml", library], check=True)
    return xml.etree.ElementTree.parse(folder / "dump.xml")


def macros(defined):
    """A function for each macro that is a number or an initializer. Each number has an enumeration of its own: abidiff
    does not miss an enumerator where another one has the same number.
    """
    for name in sorted(re.findall(r"^#define (QUIRE_\w+) \w+_MAX$", defined, re.MULTILINE)):
        yield f"static inline void macro_{name}(enum {{ NUMBER_{name} = {name} }} value) {{ }}\n"
    for name, struct in sorted(re.findall(r"^#define (QUIRE_\w+_INIT) .*?\bsizeof\((\w+)\)", defined, re.MULTILINE)):
        yield f"static inline void macro_{name}({struct} *value) {{ {struct} made = {name}; }}\n"


def stub(text):
    """The preprocessed headers with a body for each function, and a function that leads to each type."""
    parts, start, depth = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "{(") - (character in "})")
        is_inline_function = character == "}" and re.match(r"\s*static\b", text[start:])
        if depth == 0 and (character == ";" or is_inline_function):
            parts.append(text[start:place + 1])
            start = place + 1
    types = []
    for place, part in enumerate(parts):
        if re.match(r"\s*(?!typedef|static|struct \w+ \{)[^({]*\bquire_\w+\(.*\);$", part, re.DOTALL):
            parts[place] = part[:-1] + " { __builtin_trap(); }"
        parts[place] = re.sub(r"^\s*static inline\b", "\n", parts[place])
        types += re.findall(r"^\s*typedef (?:struct|enum) \w+ \{.*\} (quire_\w+);$", part, re.DOTALL)
    return "".join(parts + [f"\nvoid type_{name}({name} *value) {{ }}" for name in types])


# Each a header, a text of it, what it becomes, and what abidiff must say; None where the change is allowed.
MAP = "../../Sources/QuireCore/exports.map"
CHANGES = [
    ("a removed function", "list.h",
     "int64_t quire_page_row_count(const quire_page *page);", "", "Removed function"),
    ("a parameter of another type", "list.h", "quire_page_column(const quire_page *page, int64_t index)",
     "quire_page_column(const quire_page *page, int32_t index)", "'typedef int64_t'"),
    ("one parameter more", "list.h", "quire_page_row_count(const quire_page *page)",
     "quire_page_row_count(const quire_page *page, int flags)", "parameter 2"),
    ("another result", "list.h",
     "int64_t quire_page_row_count(", "int32_t quire_page_row_count(", "return type changed"),
    ("a member of another type", "log.h", "uint64_t row_count;", "double row_count;", "row_count"),
    ("a member less", "log.h", "uint64_t row_count;", "", "row_count"),
    ("a member in the midst", "log.h", "uint64_t nanoseconds;", "uint64_t start; uint64_t nanoseconds;", "start"),
    ("a member in the padding", "store.h", "bool tracks_history;", "bool tracks_history; bool other;", "other"),
    ("a longer struct that never grows", "base.h",
     "    size_t size; /", "    size_t size; size_t capacity; /", "capacity"),
    ("a renumbered enumerator", "list.h", "QUIRE_COLUMN_DATE = 4,", "QUIRE_COLUMN_DATE = 14,", "QUIRE_COLUMN_DATE"),
    ("an enumerator less", "list.h", "QUIRE_COLUMN_DATE = 4,", "", "QUIRE_COLUMN_DATE"),
    ("another number of a macro", "base.h", "#define QUIRE_NUL UINT32_MAX", "#define QUIRE_NUL 0", "QUIRE_NUL"),
    ("a larger number of a macro", "fetch.h",
     "#define QUIRE_NO_LIMIT UINT64_MAX", "#define QUIRE_NO_LIMIT UINT32_MAX", "QUIRE_NO_LIMIT"),
    ("a macro that is no limit", "function.h",
     "#define QUIRE_ANY_NUMBER SIZE_MAX", "#define QUIRE_ANY_NUMBER 7", "QUIRE_ANY_NUMBER"),
    ("a removed initializer", "log.h", "#define QUIRE_LOG_INIT", "#define QUIRE_LOG_OTHER", "macro_QUIRE_LOG_INIT"),
    ("a removed inline function", "value.h", "quire_value_boolean(bool boolean)",
     "quire_value_truth(bool boolean)", "quire_value_boolean"),
    ("an inline function's parameter of another type", "value.h", "quire_value_integer(int64_t integer)",
     "quire_value_integer(int32_t integer)", "'typedef int64_t'"),
    ("another result of an inline function", "value.h", "static inline quire_value quire_value_boolean(",
     "static inline void quire_value_boolean(", "return type changed"),
    ("another version of a symbol", MAP, "QUIRE_0.1 {", "QUIRE_0.9 {", "Removed function"),
    ("a new function", "list.h",
     "int64_t quire_page_row_count(", "int quire_new(int);\nint64_t quire_page_row_count(", None),
    ("a new member at the end", "log.h", "uint64_t row_count;", "uint64_t row_count; uint64_t start;", None),
    ("a new enumerator", "list.h", "QUIRE_COLUMN_DATE = 4,", "QUIRE_COLUMN_DATE = 4, QUIRE_COLUMN_NEW = 99,", None),
]


def proofs(folder):
    """Changes each copy of the headers in one place. What is no break must be told as an addition."""
    tree = folder / "tree"
    (tree / "Sources/QuireCore").mkdir(parents=True)
    (tree / CHANGED).parent.mkdir(parents=True)
    (tree / CHANGED).write_text("")
    shutil.copytree(ROOT / "include", tree / "include")
    shutil.copy(ROOT / "Sources/QuireCore/exports.map", tree / "Sources/QuireCore")
    set_version(tree, 0, 1, 0)
    original = folder / "original-0.1.0.xml"
    dump(tree, folder).write(original, encoding="unicode")
    for what, header, text, becomes, expected in CHANGES:
        path = tree / "include/quire" / header
        right = path.read_text()
        if right.count(text) != 1:
            yield f"{header} does not have {text!r} once, which the proof of {what} changes"
            continue
        exports = tree / "Sources/QuireCore/exports.map"
        map_before = exports.read_text()
        path.write_text(right.replace(text, becomes))
        if "quire_new(" in becomes:
            exports.write_text(map_before + "QUIRE_99.0 {\n  global:\n    quire_new;\n} QUIRE_0.1;\n")
        problems, additions = compared(original, tree, folder)
        if expected is None and (problems or not additions):
            yield f"{what} is allowed, but: {problems or 'it is not told'}"
        if expected is not None and expected not in "".join(problems):
            yield f"{what} is not found; additions: {additions}, problems: {problems}"
        path.write_text(right)
        exports.write_text(map_before)
    if compared(original, tree, folder) != ([], []):
        yield "the same headers are not the same"
    yield from proofs_of_versions(original, tree, folder)
    # A baseline that is not that of the tag.
    run = ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a"], ["tag", "v0.1.0"]):
        subprocess.run([*run, *command], check=True)
    if tagged(original, tree, folder) or may_add(original, tree):
        yield "a baseline that is that of the tag is refused, or the tagged version may add"
    changed = xml.etree.ElementTree.parse(original)
    symbols = changed.getroot().find("elf-function-symbols")
    symbols.remove(symbols[0])
    changed.write(original, encoding="unicode")
    if not tagged(original, tree, folder):
        yield "a baseline that is not that of the tag is not found"
    print(f"{len(CHANGES)} changes and a wrong baseline were found or told")


def set_version(tree, *numbers):
    path = tree / "include/quire/base.h"
    text = path.read_text()
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), numbers):
        text = re.sub(rf"^(#define QUIRE_VERSION_{part}) \d+$", rf"\1 {number}", text, flags=re.MULTILINE)
    path.write_text(text)


def proofs_of_versions(original, tree, folder):
    """A break needs a version that may have it, a place in the list of what is changed, and new versions of symbols."""
    exports = "Sources/QuireCore/exports.map"
    names = ("include/quire/base.h", "include/quire/list.h", CHANGED, exports)
    right = {name: (tree / name).read_text() for name in names}
    removed = "int64_t quire_page_row_count(const quire_page *page);"
    (tree / "include/quire/list.h").write_text(right["include/quire/list.h"].replace(removed, ""))
    listed = "[suppress_function]\nsymbol_name = quire_page_row_count\nchange_kind = deleted-function\n"
    for minor, patch, text, node, is_allowed in (
            (1, 1, listed, "0.2", False), (2, 0, "", "0.2", False), (2, 0, listed, "0.1", False),
            (2, 0, listed, "0.2", True), (2, 0, listed.replace("page", "rage"), "0.2", False)):
        set_version(tree, 0, minor, patch)
        (tree / CHANGED).write_text(text)
        (tree / exports).write_text(right[exports].replace("QUIRE_0.1 {", f"QUIRE_{node} {{"))
        problems = compared(original, tree, folder)[0]
        if is_allowed == bool(problems):
            yield f"0.{minor}.{patch} with {text!r} and QUIRE_{node} removes a function, and that gives {problems}"
        if may_add(original, tree) != (minor == 2):
            yield f"0.{minor}.{patch} may {'not ' if minor == 2 else ''}add"
    for name, text in right.items():
        (tree / name).write_text(text)


if __name__ == "__main__":
    main()
