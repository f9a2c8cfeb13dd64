"""From files to diagnostics: reading, running the rules, leaving out what is not wanted."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from drayman import features, manifest
from drayman.errors import InputError
from drayman.lint.context import Context
from drayman.lint.diagnostic import Diagnostic, Severity
from drayman.lint.document import Document
from drayman.lint.ignoring import ignores
from drayman.lint.rule import Finding, Rule, all_rules
from drayman.lint.source import Source
from drayman.manifest import Manifest, Position

SYNTAX = "syntax"
"""The rule of files that hold no objects: not YAML, or not of the form of manifests."""

GENERAL = frozenset({"api-validation", "unknown-field"})
"""Rules that give way where a rule with `refines` found something at the same field."""

_SURROGATE = re.compile("[\ud800-\udfff]+")
"""What stands for bytes that are no text."""
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class Options:
    """How to lint.

    `context` are objects beside those of the files; with `complete` they and the files are all that there is.
    `namespace` is the one of objects in the files that name none. `select` and `ignore` are names of rules, or what
    these begin with; nothing selected means all. `ignore_in` has further ones to ignore, by pattern of file names.
    """

    kubernetes_version: str = features.LATEST
    feature_gates: Mapping[str, bool] | str | None = None
    context: Sequence[Manifest] = ()
    complete: bool = False
    namespace: str = "default"
    select: Collection[str] = ()
    ignore: Collection[str] = ()
    ignore_in: Mapping[str, Collection[str]] = field(default_factory=dict)


def lint(texts: Iterable[tuple[str, str]], options: Options | None = None) -> list[Diagnostic]:
    """Return what is wrong with the manifests in `texts`, pairs of a file's name and its text.

    In order of the files, then of the lines. Raises :class:`~drayman.errors.InputError` for options that cannot be
    used: an unknown version, gate or rule.
    """
    options = options or Options()
    gates = features.resolve(feature_gates=options.feature_gates, kubernetes_version=options.kubernetes_version)
    wanted = _wanted(options.select, options.ignore, options.ignore_in)
    sources = [Source(file, text) for file, text in texts]
    documents, found = _read(sources, options.namespace)
    context = Context(
        [*documents, *_beside(documents, options.context)], options.kubernetes_version, gates, options.complete
    )
    found += _run(context)
    by_file = {source.file: (number, source) for number, source in enumerate(sources)}
    kept = {one for one in found if one.rule in wanted and not _ignored(one, by_file[one.file][1], options)}
    return sorted(kept, key=lambda one: (by_file[one.file][0], _key(one)))


def _wanted(
    select: Collection[str], ignore: Collection[str], ignore_in: Mapping[str, Collection[str]]
) -> frozenset[str]:
    known = [*all_rules(), SYNTAX]
    for name in (*select, *ignore, *itertools.chain.from_iterable(ignore_in.values())):
        if not any(one.startswith(name) for one in known):
            raise unknown_rule(name)
    chosen = [one for one in known if not select or one.startswith(tuple(select))]
    return frozenset(one for one in chosen if not ignore or not one.startswith(tuple(ignore)))


def unknown_rule(name: str) -> InputError:
    """Return the error of a rule that does not exist."""
    from drayman.api import schema

    beginning = [one for one in all_rules() if one.startswith(name)]
    similar = schema.did_you_mean(name, list(all_rules()))
    hint = f"did you mean `{similar}`?" if similar else "docs/lint.md lists the rules"
    if beginning:
        hint = f"so begin {', '.join(f'`{one}`' for one in beginning[:6])}{', …' if len(beginning) > 6 else ''}"
    return InputError(f"unknown rule `{name}`", hint=hint)


def _read(sources: Iterable[Source], namespace: str) -> tuple[list[Document], list[Diagnostic]]:
    documents: list[Document] = []
    broken: list[Diagnostic] = []
    for source in sources:
        undecoded = _SURROGATE.search(source.text)
        if undecoded is not None:
            at = source.position(*undecoded.span())
            broken.append(Diagnostic(SYNTAX, Severity.ERROR, "", "", "not text in UTF-8", None, source.file, at))
            continue
        try:
            loaded = manifest.parse(source.text, file=source.file)
            documents += [Document(one, source, default_namespace=namespace) for one in loaded]
        except InputError as error:
            line = error.line or 1
            at = source.first_line(Position(line, 1, line + 1, 1))
            text = source.slice(at)
            at = replace(at, column=1 + len(text) - len(text.lstrip()))
            broken.append(Diagnostic(SYNTAX, Severity.ERROR, "", "", error.message, error.hint, source.file, at))
    return documents, broken


def _beside(documents: Sequence[Document], context: Iterable[Manifest]) -> Iterator[Document]:
    """Yield the objects of the context that the files do not have themselves."""
    own = {_identity(one) for one in documents}
    for one in context:
        document = Document(one, None, linted=False)
        if _identity(document) not in own:
            yield document


def _identity(document: Document) -> tuple[str, ...]:
    return document.group, document.kind, document.namespace, document.short_name


def _run(context: Context) -> list[Diagnostic]:
    found: dict[tuple[int, str], list[tuple[Rule, Finding]]] = {}
    for rule in all_rules().values():
        for one in rule.check(context):
            if one.document.linted:
                found.setdefault((id(one.document), plain(one.path)), []).append((rule, one))
    return [_diagnostic(rule, one) for same in found.values() for rule, one in _finest(same)]


def _finest(found: Sequence[tuple[Rule, Finding]]) -> Iterator[tuple[Rule, Finding]]:
    """Yield the findings at one field, without general ones of which a rule says more."""
    refined = [one for rule, one in found if rule.refines]
    for rule, one in found:
        if not (rule.name in GENERAL and any(_tells(finer, one) for finer in refined)):
            yield rule, one


def _tells(finer: Finding, general: Finding) -> bool:
    """Whether a finding says what the general one says: of a field all of it, of an expression what it repeats."""
    if finer.said is None:
        return not general.path.endswith(".expression")
    return finer.said in general.message


def _diagnostic(rule: Rule, found: Finding) -> Diagnostic:
    document = found.document
    path = document.written_path(plain(found.path))
    return Diagnostic(
        rule.name,
        found.severity or rule.severity,
        document.name,
        path,
        found.message,
        found.hint,
        document.manifest.file or "",
        found.position or document.position(path),
        found.fix,
    )


def plain(path: str) -> str:
    """Return a path with brackets only where a name needs them: `attributes[a.b/c]`, but `attributes.model`."""
    return re.sub(r"\[([A-Za-z_]\w*)\]", r".\1", path)


def _ignored(one: Diagnostic, source: Source, options: Options) -> bool:
    for pattern, names in options.ignore_in.items():
        if fnmatch.fnmatch(one.file, pattern) and one.rule.startswith(tuple(names)):
            return True
    return ignores(source, one.position.line, one.rule)


def _key(one: Diagnostic) -> tuple[object, ...]:
    at = one.position
    place = (at.line, at.column, at.end_line, at.end_column)
    return (*place, _ORDER[one.severity], one.rule, one.path, one.message, one.hint or "")
