"""The man page and the completion name what there is."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import quire

from .command import CommandTestCase

PAGE = pathlib.Path(quire.__file__).parent / "cli" / "quire.1"


class ManualTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        from quire.cli.arguments import commands_of, parser

        self.commands = commands_of(parser())
        # As a terminal shows it, with hyphens that are hyphens.
        self.page = PAGE.read_text().replace("\\-", "-")

    def section(self, name: str) -> str:
        found = re.search(rf"^\.SS {name}\n(.*?)(?=^\.S[SH] )", self.page, re.DOTALL | re.MULTILINE)
        assert found is not None, name
        return found[1]

    def test_it_has_every_option_of_every_command(self) -> None:
        for name, made in self.commands.items():
            text = self.section(name)
            if name == "export":
                text += self.section("query")
            for action in made._actions:
                for option in action.option_strings:
                    if option not in ("-h", "--help") and not (name == "explain" and len(option) == 2):
                        self.assertIn(option, text, name)
                for choice in action.choices or ():
                    self.assertIn(str(choice), self.page, name)

    def test_it_has_no_option_that_is_not_there(self) -> None:
        known = {option for made in self.commands.values() for each in made._actions for option in each.option_strings}
        self.assertEqual(set(re.findall(r"--[a-z]+(?:-[a-z]+)*", self.page)) - known, {"--version"})

    def test_it_has_every_exit_code(self) -> None:
        from quire.cli.exits import Exit

        text = self.page[self.page.index("EXIT STATUS") :]
        self.assertEqual([int(each) for each in re.findall(r"^\.B (\d+)$", text, re.MULTILINE)], sorted(Exit))

    def test_it_is_a_page_without_warnings(self) -> None:
        if shutil.which("groff") is None:
            self.skipTest("no groff")
        ran = subprocess.run(["groff", "-man", "-ww", "-z", str(PAGE)], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


class CompletionTests(CommandTestCase):
    def complete(self, *lines: str) -> list[list[str]]:
        """What bash offers for the last word of each line."""
        program = (
            f"quire() {{ {sys.executable} -m quire \"$@\"; }}\n"
            'eval "$(quire completion bash)"\n'
            "compopt() { :; }\n"
            'for line in "$@"; do IFS=" " read -ra words <<<"$line"; [[ $line == *" " ]] && words+=("")\n'
            'COMP_WORDS=(quire "${words[@]}"); COMP_CWORD=${#words[@]}; _quire; echo "${COMPREPLY[@]}"; done')
        ran = subprocess.run(["bash", "-c", program, "bash", *lines], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(ran.stderr, "")
        return [line.split() for line in ran.stdout.splitlines()]

    def test_bash_completes_commands_options_choices_files_and_entities(self) -> None:
        expected = {
            "ex": ["explain", "export"], "query --se": ["--section"],
            "query --format ": ["table", "json", "csv", "arrow"], "query bo": ["books.sqlite"],
            "query books.sqlite C": ["Comic", "Cover"], "query --limit 5 books.sqlite B": ["Book"],
            "completion ": ["bash", "zsh"], "check books.sqlite ": []}
        self.assertEqual(dict(zip(expected, self.complete(*expected))), expected)

    def test_shells_read_their_scripts(self) -> None:
        for shell in ("bash", "zsh"):
            script = self.succeed("completion", shell)
            if shutil.which(shell):
                ran = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""), shell)

    def test_both_know_every_command_and_option(self) -> None:
        from quire.cli.arguments import commands_of, parser

        for shell in ("bash", "zsh"):
            script = self.succeed("completion", shell)
            for name, made in commands_of(parser()).items():
                self.assertIn(name, script)
                for option in (option for each in made._actions for option in each.option_strings):
                    self.assertIn(option, script, shell)

    def test_zsh_completes(self) -> None:
        if shutil.which("zsh") is None:
            self.skipTest("no zsh")
        program = (
            f"quire() {{ {sys.executable} -m quire \"$@\"; }}\n"
            "autoload -Uz compinit && compinit -D -u\n"
            'eval "$(quire completion zsh)"\n'
            "print ${_comps[quire]}")
        ran = subprocess.run(
            ["zsh", "-f", "-c", program], capture_output=True, text=True, env={**os.environ, "HOME": self.folder})
        self.assertEqual(ran.stdout, "_quire\n", ran.stderr)
