"""Writes a page for each header, from Doxygen's XML, in the order of the header.

    headers.py XML INCLUDE OUTPUT

The pages are reStructuredText with Sphinx's C domain. Of the header itself is taken which pointers may be NULL, because
Doxygen reads it without these words.
"""
import dataclasses
import pathlib
import re
import sys
import typing
import xml.etree.ElementTree as ET

LEADS = ("Owned", "Fails", "Borrowed", "Thread", "Threads")
OPENING = re.compile(r"^([A-Z][a-z]+(?: [a-z]+){0,3})\. (?=[A-Z`:])")
NAME = re.compile(r"\b(?:QUIRE_[A-Z0-9_]+|quire_[a-z0-9_]+)\b(?!\.\w)")
HEADER = re.compile(r"(?<![\w/`:])(?:quire/)?([a-z_]+\.h)\b")


@dataclasses.dataclass
class Name:
    """What a page may link to."""

    role: str


class Pages:
    """All headers, and the names in them."""

    def __init__(self, xml: pathlib.Path, include: pathlib.Path) -> None:
        self.xml = xml
        self.include = include
        order = re.findall(r'#include "quire/(\w+\.h)"', (include / "quire.h").read_text())
        self.headers = {name: self.compound(name.replace("_", "__").replace(".", "_8")) for name in order}
        self.structs = {
            inner.get("refid"): self.compound(inner.get("refid"))
            for header in self.headers.values() for inner in header.findall("innerclass")}
        self.names: dict[str, Name] = {
            struct.findtext("compoundname"): Name("struct") for struct in self.structs.values()}
        roles = {"function": "func", "typedef": "type", "define": "macro", "enum": "enum"}
        for header in self.headers.values():
            for member in header.iter("memberdef"):
                self.names.setdefault(member.findtext("name"), Name(roles[member.get("kind")]))
                self.names.update({value.findtext("name"): Name("enumerator") for value in member.findall("enumvalue")})

    def compound(self, name: str) -> ET.Element:
        return ET.parse(self.xml / f"{name}.xml").getroot()[0]

    # --- Text

    def link(self, name: str, shown: str) -> str:
        """A name in code, as a link where there is a page of it."""
        found = self.names.get(name)
        if shown in self.headers:
            return f":doc:`{shown} <{shown[:-2]}>`"
        if not found:
            return f"``{shown}``" if "`" not in shown else escaped(shown)
        return f":c:{found.role}:`{escaped(shown)} <{name}>`" if shown != name else f":c:{found.role}:`{name}`"

    def inline(self, node: ET.Element, here: str) -> str:
        """The text of a paragraph without blocks."""
        return self.text([node.text or "", *node], here)

    def text(self, pieces: list[typing.Union[str, ET.Element]], here: str) -> str:
        """The text of pieces of a paragraph: words and elements, each with the words behind it."""
        parts: list[str] = []
        for child in pieces:
            if isinstance(child, str):
                parts.append(self.plain(child, here))
                continue
            inner = "".join(child.itertext())
            if child.tag == "computeroutput":
                parts.append(self.link(inner.rstrip("()"), inner))
            elif child.tag == "ref":
                parts.append(self.link(inner.rstrip("()"), inner))
            elif child.tag == "emphasis":
                parts.append(f"*{escaped(inner)}*")
            elif child.tag == "bold":
                parts.append(f"**{escaped(inner)}**")
            else:
                parts.append(self.plain(inner, here))
            parts.append(self.plain(child.tail or "", here))
        # A role ends where no word goes on.
        text = ""
        for part in parts:
            if part and text.endswith("`") and re.match(r"[\w`]", part):
                text += "\\ "
            elif part.startswith((":", "`")) and text and re.search(r"[\w`]$", text):
                text += "\\ "
            text += part
        return text.strip()

    def plain(self, text: str, here: str) -> str:
        text = escaped(re.sub(r"\s+", " ", text))
        text = NAME.sub(lambda match: self.link(match[0], match[0]), text.replace("\\_", "_"))
        return HEADER.sub(lambda match: f":doc:`{match[0]} <{match[1][:-2]}>`"
                          if match[1] in self.headers and match[1] != here else match[0], text)

    def blocks(self, node: ET.Element, here: str) -> list[str]:
        """The lines of a description."""
        lines: list[str] = []
        for para in node.findall("para"):
            pieces: list[typing.Union[str, ET.Element]] = [para.text or ""]
            for child in para:
                if child.tag not in BLOCKS:
                    pieces.append(child)
                    continue
                lines += self.paragraph(pieces, here) + BLOCKS[child.tag](self, child, here)
                pieces = [child.tail or ""]
            lines += self.paragraph(pieces, here)
        return lines

    def paragraph(self, pieces: list[typing.Union[str, ET.Element]], here: str) -> list[str]:
        text = self.text(pieces, here)
        return ["", led(text)] if text else []

    def verbatim(self, node: ET.Element, here: str) -> list[str]:
        text = "".join(node.itertext()).strip("\n")
        return ["", ".. code-block:: text", "", *(f"   {line}" for line in text.split("\n"))]

    def listed(self, node: ET.Element, here: str) -> list[str]:
        lines = [""]
        for item in node.findall("listitem"):
            lines.append("- " + " ".join(self.inline(para, here) for para in item.findall("para")))
        return lines

    def table(self, node: ET.Element, here: str) -> list[str]:
        lines = ["", ".. list-table::", "   :header-rows: 1", ""]
        for row in node.findall("row"):
            for number, entry in enumerate(row.findall("entry")):
                text = " ".join(self.inline(para, here) for para in entry.findall("para"))
                lines.append(f"   {'* -' if number == 0 else '  -'} {text}")
        return lines

    def parameters(self, node: ET.Element, here: str) -> list[str]:
        lines = [""]
        for item in node.findall("parameteritem"):
            name = "".join(item.find("parameternamelist").itertext()).strip()
            text = " ".join(self.inline(para, here) for para in item.find("parameterdescription").findall("para"))
            lines.append(f":param {name}: {text}")
        return lines

    def section(self, node: ET.Element, here: str) -> list[str]:
        text = " ".join(self.inline(para, here) for para in node.findall("para"))
        return ["", f":returns: {text}" if node.get("kind") == "return" else text]

    def described(self, node: ET.Element, here: str, indent: str, nullable: list[str] = []) -> list[str]:
        brief, detail = (self.blocks(node.find(f"{part}description"), here) for part in ("brief", "detailed"))
        if node.tag == "enumvalue" or node.get("kind") == "variable":
            # A member has one short paragraph, of which Doxygen takes the first sentence away.
            if len(brief) == 2 and len(detail) > 1 and not detail[1].startswith((".. ", "**", "- ", ":")):
                brief, detail = ["", f"{brief[1]} {detail[1]}"], detail[2:]
        lines = brief + detail
        if nullable:
            names = ", ".join(f"``{name}``" for name in nullable)
            lines += ["", f"May be NULL: {names}."]
        return [f"{indent}{line}" if line else "" for line in lines] + [""]

    # --- Things

    def page(self, name: str) -> str:
        """The page of a header."""
        header = self.headers[name]
        source = (self.include / "quire" / name).read_text().split("\n")
        lines = [name, "=" * len(name), "", ".. code-block:: c", "", f"   #include <quire/{name}>"]
        lines += [opened(line) for line in self.described(header, name, "")]
        things: list[tuple[int, list[str]]] = []
        shown: set[str] = set()
        for inner in header.findall("innerclass"):
            struct = self.structs[inner.get("refid")]
            shown.add(struct.findtext("compoundname"))
            things.append((int(struct.find("location").get("line")), self.struct(struct, name, source)))
        for member in header.iter("memberdef"):
            if member.findtext("name") in shown and member.get("kind") == "typedef":
                continue
            if not "".join(member.find("briefdescription").itertext()).strip():
                continue
            things.append((int(member.find("location").get("line")), self.member(member, name, source)))
        for _, thing in sorted(things, key=lambda each: each[0]):
            lines += thing
        return "\n".join(lines) + "\n"

    def struct(self, struct: ET.Element, here: str, source: list[str]) -> list[str]:
        lines = ["", f".. c:struct:: {struct.findtext('compoundname')}", ""] + self.described(struct, here, "   ")
        for member in struct.iter("memberdef"):
            place = int(member.find("location").get("line"))
            if source[place - 1].startswith("     "):
                continue
            declared = declaration(source, place)
            if "@" in signature(member):
                # A union without a name is shown as it is written.
                begin = max(number for number in range(place) if source[number].startswith("    union {"))
                lines += ["   .. code-block:: c", ""]
                lines += [f"      {line[4:].replace('QUIRE_NULLABLE ', '')}" for line in source[begin:place - 1]]
                lines += [f"      }} {member.findtext('name')};", ""]
                lines += self.described(member, here, "   ")
                continue
            lines += [f"   .. c:member:: {signature(member)}", ""]
            lines += self.described(member, here, "      ")
            if re.search(rf"QUIRE_NULLABLE {member.findtext('name')}\b", declared):
                lines += ["      May be NULL.", ""]
        return lines

    def member(self, member: ET.Element, here: str, source: list[str]) -> list[str]:
        kind, name = member.get("kind"), member.findtext("name")
        if kind == "enum":
            lines = ["", f".. c:enum:: {name}", ""] + self.described(member, here, "   ")
            for value in member.findall("enumvalue"):
                number = (value.findtext("initializer") or "").lstrip("= ")
                lines += [f"   .. c:enumerator:: {value.findtext('name')}" + (f" = {number}" if number else ""), ""]
                lines += self.described(value, here, "      ")
            return lines
        if kind == "define":
            parameters = [each.findtext("defname") for each in member.findall("param")]
            written = f"{name}({', '.join(parameters)})" if parameters and any(parameters) else name
            return ["", f".. c:macro:: {written}", ""] + self.described(member, here, "   ")
        if kind == "typedef":
            return ["", f".. c:type:: {name}", ""] + self.described(member, here, "   ")
        declared = declaration(source, int(member.find("location").get("line")))
        nullable = [found for found in re.findall(r"QUIRE_NULLABLE (\w+)\s*[,)]", declared) if found != "out_error"]
        return ["", f".. c:function:: {signature(member)}", ""] + self.described(member, here, "   ", nullable)

    def write(self, folder: pathlib.Path) -> None:
        """Writes all pages, and the table of them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in self.headers:
            (folder / f"{name[:-2]}.rst").write_text(self.page(name), encoding="utf-8")
        listed = dict(re.findall(r"^ \*   quire/(\w+\.h) +(.*)$", (self.include / "quire.h").read_text(), re.MULTILINE))
        rows = "".join(f"   * - :doc:`{name} <{name[:-2]}>`\n     - {escaped(text)}\n" for name, text in listed.items())
        names = "".join(f"   {name[:-2]}\n" for name in listed)
        (folder / "headers.txt").write_text(
            f".. list-table::\n   :widths: 25 75\n\n{rows}\n.. toctree::\n   :hidden:\n\n{names}", encoding="utf-8")


BLOCKS = {
    "verbatim": Pages.verbatim, "preformatted": Pages.verbatim, "programlisting": Pages.verbatim,
    "itemizedlist": Pages.listed, "table": Pages.table, "parameterlist": Pages.parameters, "simplesect": Pages.section,
}


def escaped(text: str) -> str:
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def led(text: str) -> str:
    """A paragraph whose first word says what it is about has that word in bold."""
    for lead in LEADS:
        if text.startswith(f"{lead}:"):
            return f"**{lead}:**{text[len(lead) + 1:]}"
    return text


def opened(line: str) -> str:
    return OPENING.sub(r"**\1.** ", line)


def signature(member: ET.Element) -> str:
    """A declaration as the C domain reads it."""
    kind = "".join(member.find("type").itertext())
    arguments = member.findtext("argsstring") or ""
    name = member.findtext("name")
    text = f"{kind}{name}{arguments}" if kind.endswith("(*") else f"{kind} {name}{arguments}"
    return re.sub(r"\b(static|inline)\s+", "", text).replace("( *", "(*")


def declaration(source: list[str], line: int) -> str:
    """What is declared from a line of a header on, up to its end."""
    text = ""
    for each in source[line - 1:line + 11]:
        text += each + " "
        if ";" in each or "{" in each:
            break
    return text


def main() -> None:
    xml, include, output = map(pathlib.Path, sys.argv[1:])
    Pages(xml, include).write(output)


if __name__ == "__main__":
    main()
