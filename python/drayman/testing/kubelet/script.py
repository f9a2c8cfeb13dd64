"""What the command of a container would do, as far as a container that runs nothing can know."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHELLS = ("sh", "bash", "ash", "dash")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SEPARATORS = ";&|\n"
_LOOP = re.compile(r"\b(?:while|until)\b")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a command: `seconds` until then (None: the command does not tell), exit code, output."""

    seconds: float | None
    exit_code: int
    output: str


def interpret(command: Sequence[str], environment: Mapping[str, str]) -> Outcome:
    """Return what `command` (with its arguments) would do in `environment`.

    `env` and `echo` print; the first `sleep` with a number tells how long it runs, or for ever inside a loop; the first
    `exit` with a number ends it. Everything else is taken to succeed at once without a word.
    """
    output: list[str] = []
    seconds: float | None = None
    text = _script(command)
    commands = _commands(text)
    for words in commands:
        match words:
            case ["env" | "printenv"]:
                output.extend(f"{name}={value}" for name, value in sorted(environment.items()))
            case ["printenv", *names]:
                output.extend(environment[name] for name in names if name in environment)
            case ["echo", *arguments]:
                output.append(" ".join(_expand(argument, environment) for argument in arguments))
            case ["sleep", duration, *_]:
                seconds = _seconds(duration) if seconds is None else seconds
            case ["exit", code, *_] if code.isdecimal():
                return Outcome(_endless(text, seconds), int(code) % 256, _lines(output))
            case ["false"] if len(commands) == 1:
                return Outcome(seconds, 1, _lines(output))
    return Outcome(_endless(text, seconds), 0, _lines(output))


def _script(command: Sequence[str]) -> str:
    """Return the text that a shell would run: that after `-c`, or the command itself."""
    if len(command) >= 3 and command[0].rsplit("/", 1)[-1] in SHELLS and command[1].startswith("-"):
        return command[2]
    return shlex.join(command)


def _commands(text: str) -> list[list[str]]:
    """Split a script into simple commands of words; what is quoted wrongly is cut at blanks."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = text.split()
    commands: list[list[str]] = [[]]
    for token in tokens:
        if set(token) <= set(_SEPARATORS):
            commands.append([])
        elif commands[-1] or token not in ("do", "then", "else", "exec", "{"):
            commands[-1].append(token)
    return [words for words in commands if words]


def _seconds(text: str) -> float | None:
    if text in ("infinity", "inf"):
        return FOREVER
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    return float(match[1]) * _UNITS[match[2]] if match else None


def _endless(text: str, seconds: float | None) -> float | None:
    return FOREVER if seconds is not None and _LOOP.search(text) else seconds


def _expand(text: str, environment: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: environment.get(match[1] or match[2], ""), text)


def _lines(output: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in output)
