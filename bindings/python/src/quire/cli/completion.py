"""Completion for shells, written from the commands and options that there are."""

from __future__ import annotations

import argparse
from typing import Optional

from .arguments import commands_of, parser
from .exits import Exit
from .selection import RULES

__all__ = ["completion"]


def completion(options: argparse.Namespace) -> Exit:
    """Prints a script for a shell: `eval "$(quire completion bash)"`."""
    print(_bash() if options.shell == "bash" else _zsh(), end="")
    return Exit.DONE


def _options(made: argparse.ArgumentParser) -> list[argparse.Action]:
    return [each for each in made._actions if each.option_strings]


def _arguments(made: argparse.ArgumentParser) -> list[argparse.Action]:
    return [each for each in made._actions if not each.option_strings]


def _choices(action: argparse.Action) -> list[str]:
    return [str(each) for each in action.choices or ()]


def _takes_value(action: argparse.Action) -> bool:
    return action.nargs != 0


_BASH = """\
# Completion of quire for bash: eval "$(quire completion bash)"
_quire() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ --help --version" -- "$current")
    return
  fi
  local options values="" place=0 word takes=""
  case $command in
@CASES@
    *) return ;;
  esac
  case $command:$previous in
@VALUES@
  esac
  if [[ $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  if [[ " $takes " == *" $previous "* ]]; then
    return
  fi
  # Which of the arguments without a name this is, and which file comes before.
  local index file="" skip=""
  for ((index = 2; index < COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ $skip ]]; then
      skip=""
    elif [[ " $takes " == *" $word "* ]]; then
      skip=1
    elif [[ $word != -* ]]; then
      ((place++)) || file=$word
    fi
  done
  case $command:$place in
@PLACES@
    *) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}
complete -F _quire quire
"""
_ENTITIES = 'mapfile -t COMPREPLY < <(compgen -W "$(quire info --names "${file/#~/$HOME}" 2>/dev/null)" -- "$current")'


def _bash() -> str:
    cases: list[str] = []
    values: list[str] = []
    places: list[str] = []
    commands = commands_of(parser())
    for name, made in commands.items():
        words = [word for each in _options(made) for word in each.option_strings]
        takes = [word for each in _options(made) if _takes_value(each) for word in each.option_strings]
        cases.append(f'    {name}) options="{" ".join(words)}" takes="{" ".join(takes)}" ;;')
        for each in _options(made):
            if each.choices:
                patterns = "|".join(f"{name}:{word}" for word in each.option_strings)
                values.append(f'    {patterns}) values="{" ".join(_choices(each))}" ;;')
            elif each.dest == "model":
                patterns = "|".join(f"{name}:{word}" for word in each.option_strings)
                values.append(
                    f'    {patterns}) compopt -o filenames 2>/dev/null; '
                    'mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;')
        for place, each in enumerate(_arguments(made)):
            if each.dest == "entity":
                places.append(f"    {name}:{place}) {_ENTITIES} ;;")
            elif each.choices:
                places.append(
                    f'    {name}:{place}) mapfile -t COMPREPLY < <(compgen -W "{" ".join(_choices(each))}" -- '
                    '"$current") ;;')
        count = len(_arguments(made))
        places.append(f"    {name}:{count}) ;;")
    return (
        _BASH.replace("@COMMANDS@", " ".join(commands)).replace("@CASES@", "\n".join(cases))
        .replace("@VALUES@", "\n".join(values)).replace("@PLACES@", "\n".join(places)))


_ZSH = """\
#compdef quire
# Completion of quire for zsh: eval "$(quire completion zsh)", after compinit.
_quire_entities() {
  local -a found
  found=(${(f)"$(quire info --names ${(Q)~words[2]} 2>/dev/null)"})
  compadd -a found
}
_quire() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[say how it is used]' '(- *)--version[print the version]' '1: :->command' \\
    '*:: :->rest'
  case $state in
    command)
      local -a commands
      commands=(
@COMMANDS@
      )
      _describe command commands
      ;;
    rest)
      case $line[1] in
@CASES@
      esac
      ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _quire "$@"
else
  compdef _quire quire
fi
"""


def _zsh() -> str:
    described: list[str] = []
    cases: list[str] = []
    for name, made in commands_of(parser()).items():
        described.append(f"        '{name}:{_quoted(made.description or '')}'")
        words = [word for each in _options(made) for word in _zsh_option(each)]
        words += [_zsh_argument(place, each) for place, each in enumerate(_arguments(made), 1)]
        lines = " \\\n            ".join(words)
        cases.append(f"        {name})\n          _arguments -s \\\n            {lines}\n          ;;")
    return _ZSH.replace("@COMMANDS@", "\n".join(described)).replace("@CASES@", "\n".join(cases))


def _quoted(text: str) -> str:
    """Text between single quotes, within which a colon and brackets have a meaning."""
    for mark in "[]:":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("'", "'\\''")


def _zsh_option(each: argparse.Action) -> list[str]:
    repeats = "*" if isinstance(each, argparse._AppendAction) else ""
    ending = ""
    if _takes_value(each):
        if each.choices:
            offered: Optional[str] = f"({' '.join(_choices(each))})"
        elif each.dest == "model":
            offered = "_files"
        elif each.dest == "section":
            offered = "(" + " ".join(f"{rule}\\:" for rule in RULES) + ")"
        else:
            offered = ""
        ending = f":{_quoted(str(each.metavar or each.dest).lower())}:{offered}"
    return [f"'{repeats}{word}[{_quoted(each.help or '')}]{ending}'" for word in each.option_strings]


def _zsh_argument(place: int, each: argparse.Action) -> str:
    offered = "_quire_entities" if each.dest == "entity" else (
        f"({' '.join(_choices(each))})" if each.choices else "_files")
    return f"'{place}{':' if each.nargs == '?' else ''}:{str(each.metavar or each.dest).lower()}:{offered}'"
