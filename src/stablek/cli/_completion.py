"""Completion scripts, made from the parser: nothing is run while a user types."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from stablek.cli._parser import FILES, build_parser

__all__ = ["run", "script"]


@dataclass(frozen=True)
class Command:
    """One (sub)command: the words that lead to it and what may follow."""

    path: tuple[str, ...]
    help: str
    options: tuple[argparse.Action, ...]
    positionals: tuple[argparse.Action, ...]
    subcommands: tuple[str, ...]


def run(args: argparse.Namespace) -> None:
    """Print the script for a shell."""
    print(script(args.shell), end="")


def script(shell: str) -> str:
    """Completion script for bash, zsh or fish."""
    commands = list(_walk(build_parser(), (), ""))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _walk(
    parser: argparse.ArgumentParser, path: tuple[str, ...], summary: str
) -> Iterator[Command]:
    below: dict[str, argparse.ArgumentParser] = {}
    helps: dict[str, str] = {}
    options, positionals = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        elif action.option_strings:
            options.append(action)
        else:
            positionals.append(action)
    yield Command(path, summary, tuple(options), tuple(positionals), tuple(below))
    for name, parser_below in below.items():
        yield from _walk(parser_below, (*path, name), helps[name])


def _values(action: argparse.Action) -> list[str]:
    """Words that may stand for the value."""
    if action.choices:
        return [str(choice) for choice in action.choices]
    if action.dest == "name":  # of a data set
        from stablek.datasets import list_benchmark

        return [info.name for info in list_benchmark()]
    return []


def _takes_value(action: argparse.Action) -> bool:
    return action.nargs != 0


def _summary(action: argparse.Action) -> str:
    """The help up to its details, which do not fit into a menu."""
    return re.split(r" \(|: |; ", action.help or "")[0]


def _is_file(action: argparse.Action) -> bool:
    return action.metavar in FILES


def _flags(command: Command) -> list[str]:
    return [flag for action in command.options for flag in action.option_strings]


def _bash(commands: list[Command]) -> str:
    # An empty answer makes bash complete file names (-o default).
    known = "|".join(f'"{" ".join(c.path[:-1])} {c.path[-1]}"' for c in commands if c.path)
    values, words = [], []
    for command in commands:
        here = " ".join(command.path)
        for action in command.options:
            if _takes_value(action):
                cases = "|".join(f'"{here} {flag}"' for flag in action.option_strings)
                values.append(f'        {cases}) words="{" ".join(_values(action))}" ;;')
        plain = [*command.subcommands, *(v for a in command.positionals for v in _values(a))]
        flags, free = " ".join(_flags(command)), " ".join(plain)
        words.append(f'        "{here}") flags="{flags}"; words="{free}" ;;')
    lines = [
        "# bash completion for stablek",
        "_stablek() {",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local path="" flags="" words="" i',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$path ${COMP_WORDS[i]}" in',
        f'            {known}) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$path $prev" in',
        *values,
        "        *)",
        '            case "$path" in',
        *("        " + line for line in words),
        "            esac",
        '            [[ "$cur" == -* ]] && words="$flags" ;;',
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _stablek stablek",
    ]
    return "\n".join(lines) + "\n"


def _zsh(commands: list[Command]) -> str:
    lines = ["#compdef stablek", ""]
    for command in commands:
        name = "_".join(("_stablek", *command.path))
        specs = [_zsh_option(action) for action in command.options]
        lines += [f"{name}() {{"]
        if command.subcommands:
            below = [c for c in commands if c.path[:-1] == command.path and c.path]
            listed = [f"{c.path[-1]}:{c.help}" for c in below]
            cases = [f"        {c.path[-1]}) {'_'.join(('_stablek', *c.path))} ;;" for c in below]
            lines += [
                "    local curcontext=$curcontext state line",
                f"    local -a names=({' '.join(map(shlex.quote, listed))})",
                f"    _arguments -C {' '.join(specs)} '1: :->name' '*:: :->rest' && return",
                "    case $state in",
                "        name) _describe command names ;;",
                "        rest) case $line[1] in",
                *cases,
                "        esac ;;",
                "    esac",
            ]
        else:
            specs += [
                shlex.quote(f"{i}:{_zsh_text(action.dest)}:{_zsh_values(action)}")
                for i, action in enumerate(command.positionals, 1)
            ]
            lines += ["    _arguments \\", " \\\n".join(f"        {spec}" for spec in specs)]
        lines += ["}", ""]
    lines += ['_stablek "$@"']
    return "\n".join(lines) + "\n"


def _zsh_option(action: argparse.Action) -> str:
    value = ""
    if _takes_value(action):
        value = f":{_zsh_text(str(action.metavar or action.dest))}:{_zsh_values(action)}"
    flags = action.option_strings
    summary = f"[{_zsh_text(_summary(action))}]"
    if len(flags) == 1:
        return shlex.quote(f"{flags[0]}{summary}{value}")
    exclusive = f"({' '.join(flags)})"
    return f"{shlex.quote(exclusive)}{{{','.join(flags)}}}{shlex.quote(summary + value)}"


def _zsh_text(text: str) -> str:
    for special in ("\\", ":", "[", "]"):
        text = text.replace(special, "\\" + special)
    return text


def _zsh_values(action: argparse.Action) -> str:
    if _is_file(action):
        return "_files"
    words = " ".join(_values(action))
    return f"({words})" if words else " "


def _fish(commands: list[Command]) -> str:
    lines = ["# fish completion for stablek", "complete -c stablek -f"]
    for command in commands:
        seen = [f"__fish_seen_subcommand_from {name}" for name in command.path]
        if command.subcommands:
            seen.append(f"not __fish_seen_subcommand_from {' '.join(command.subcommands)}")
        start = f"complete -c stablek -n {shlex.quote('; and '.join(seen))}"
        for other in commands:
            if other.path and other.path[:-1] == command.path:
                lines.append(f"{start} -a {other.path[-1]} -d {_fish_quote(other.help)}")
        for action in command.positionals:
            if _is_file(action):
                lines.append(f"{start} -F")
            elif _values(action):
                lines.append(f"{start} -a {_fish_quote(' '.join(_values(action)))}")
        for action in command.options:
            line = start
            for flag in action.option_strings:
                line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
            if _is_file(action):
                line += " -r -F"
            elif _takes_value(action):
                words = " ".join(_values(action))
                line += f" -x -a {_fish_quote(words)}" if words else " -x"
            lines.append(f"{line} -d {_fish_quote(_summary(action))}")
    return "\n".join(lines) + "\n"


def _fish_quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
