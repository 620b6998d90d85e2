#!/usr/bin/env python3
"""Checks that each _INIT macro sets the size of its struct and nothing else, as base.h says.

A binding of another language may then fill a struct with zeros, and set its size.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = """
#include <quire.h>
#include <stdio.h>

static int compare(const char *macro, const void *struct_, size_t size) {
    const unsigned char *const bytes = struct_;
    if (*(const uint32_t *)struct_ != size) return printf("%%s does not set struct_size\\n", macro);
    for (size_t place = sizeof(uint32_t); place < size; place++)
        if (bytes[place]) return printf("%%s sets the byte %%zu\\n", macro, place);
    return 0;
}

int main(void) {
    int problems = 0;
%s
    return problems != 0;
}
"""
USE = '    {{ static const {type} made = {macro}; problems |= compare("{macro}", &made, sizeof made); }}'


def main():
    headers = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/quire").glob("*.h")))
    macros = re.findall(r"^#define (QUIRE_\w+)_INIT\b", headers, re.MULTILINE)
    sized = re.findall(r"^typedef struct (\w+) \{\s*/\*\* sizeof\(\1\) in your build", headers, re.MULTILINE)
    problems = [f"{name} has no _INIT macro" for name in sized if name.upper() not in macros]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "initializers.c")
        program.write_text(PROGRAM % "\n".join(USE.format(type=each.lower(), macro=f"{each}_INIT") for each in macros))
        built = program.with_suffix("")
        command = ["gcc", "-std=c11", "-Wall", "-Werror", f"-I{ROOT / 'include'}", program, "-o", built]
        subprocess.run(command, check=True)
        problems += subprocess.run([built], capture_output=True, text=True).stdout.splitlines()
    for problem in problems:
        print(problem)
    print(f"{len(macros)} macros")
    sys.exit(1 if problems or len(macros) < 25 else 0)


if __name__ == "__main__":
    main()
