"""print a script that completes the command line in a shell

The script asks the command itself for what can follow. For `kubectl dra`, kubectl's own completion asks the program
`kubectl_complete-dra`, which is installed beside this one.

examples:
  source <(drayman completion bash)
  drayman completion zsh > "${fpath[1]}/_drayman"
  drayman completion fish > ~/.config/fish/completions/drayman.fish
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import TYPE_CHECKING

from drayman import cli
from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_BASH = """\
_drayman() {
    local IFS=$'\\n'
    COMPREPLY=($(drayman completion --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _drayman drayman
"""

_ZSH = """\
#compdef drayman
_drayman() {
    local -a answers
    local line
    for line in "${(@f)$(drayman completion --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && answers+=("${${line//:/\\\\:}//$'\\t'/:}")
    done
    if (( $#answers )); then _describe drayman answers; else _files; fi
}
if [[ ${funcstack[1]} == _drayman ]]; then _drayman "$@"; else compdef _drayman drayman; fi
"""

_FISH = """\
function __drayman_complete
    drayman completion --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c drayman -a '(__drayman_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

_SECONDS = 2.0
"""How long a server may take to name its namespaces: someone holds the tabulator key."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), nargs="?", help="the shell")
    parser.add_argument("--complete", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)  # what the scripts ask with
    parser.set_defaults(usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Print the script, or what can follow the words that are given."""
    if arguments.complete is not None:
        for word, about in candidates(arguments.complete):
            print(f"{word}\t{about}" if about else word)
    elif arguments.shell is None:
        arguments.usage_error(f"name the shell: {', '.join(SCRIPTS)}")
    else:
        print(SCRIPTS[arguments.shell], end="")
    return cli.DONE


def kubectl() -> int:
    """Answer kubectl's completion: a candidate a line, and at the end whether file names may follow too."""
    found = list(candidates(sys.argv[1:]))
    for word, about in found:
        print(f"{word}\t{about}" if about else word)
    print(":4" if found else ":0")
    return cli.DONE


def candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the last of `words` (of the command line, without the command) can become, and what that is.

    Nothing is yielded where a file is meant, or anything at all.
    """
    *before, current = words or [""]
    given = cli.verb_first(before)
    if given and given[0].startswith("-"):  # nothing but options so far
        given = []
    parser = cli.parser(given[:1])
    positionals, waiting = _actions(parser), None
    options: dict[str, str] = {}
    for word in given:
        if waiting is not None:
            options[waiting.dest], waiting = word, None
        elif word.startswith("-"):
            waiting = _option(parser, word)
        elif positionals:
            action = positionals[0]
            if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                parser = action.choices[word]
                positionals = _actions(parser)
            elif action.nargs not in ("*", "+"):
                del positionals[0]
    if waiting is not None:
        listed = _listed(waiting)
        # Of several values between commas the last is completed.
        before_it = current[: current.rfind(",") + 1] if waiting.dest in _LISTS else ""
        found = ((before_it + word, "") for word in listed) if listed else _values(waiting, options)
    elif current.startswith("-"):
        found = _options(parser)
    else:
        found = _values(positionals[0], options) if positionals else ()
    return ((word, about) for word, about in found if word.startswith(current))


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if not action.option_strings]


def _option(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    """Return the option called `word` when the next word is its value."""
    action = next((action for action in parser._actions if word in action.option_strings), None)
    return None if action is None or action.nargs == 0 else action


def _options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if action.help != argparse.SUPPRESS:
            for name in action.option_strings:
                yield name, _about(parser, action)


def _about(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _values(action: argparse.Action, options: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    if isinstance(action, argparse._SubParsersAction):
        return [(choice.dest, choice.help or "") for choice in action._choices_actions]
    if action.choices is not None:
        return [(str(choice), "") for choice in action.choices]
    with contextlib.suppress(DraymanError, OSError):
        if action.dest == "context":
            return [(name, "") for name in _contexts(options)]
        if action.dest == "namespace":
            return [(name, "") for name in _namespaces(options)]
    return ()


_LISTS = frozenset({"state", "select", "ignore"})
"""Options that take several values between commas."""


def _listed(action: argparse.Action) -> Iterable[str]:
    """Return the values of an option that are known without asking anybody, though others may be given."""
    if action.dest == "state":
        from drayman.cli.view.fleet import STATES

        return STATES
    if action.dest in ("select", "ignore") or (action.dest == "explain" and action.metavar == "RULE"):
        from drayman.lint import all_rules

        return all_rules()
    if action.dest == "kubernetes_version":
        from drayman import features

        return features.KUBERNETES_VERSIONS
    return ()


def _contexts(options: Mapping[str, str]) -> Sequence[str]:
    from drayman.kube import config

    return config.contexts(options.get("kubeconfig"))


def _namespaces(options: Mapping[str, str]) -> list[str]:
    from drayman.kube import config
    from drayman.kube.blocking import Reader
    from drayman.kube.resources import NAMESPACES

    server = config.load(options.get("kubeconfig"), context=options.get("context"))
    with Reader(server, seconds=_SECONDS) as reader:
        return [item["metadata"]["name"] for item in reader.list(NAMESPACES)[0]]
