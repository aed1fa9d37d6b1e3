"""`memrepo config`: show the effective configuration, set a key, or explain a key.

Each change of the configuration is one commit. If the file has uncommitted edits, the change is
written to the file and left for the user to commit. Settings that a repository must not contain are
stored in the clone's `.git/config`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import prepare
from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.work import Work, outside
from memrepo.config import OUTSIDE, RETIRED, Config, git_name, line_of, parse_config
from memrepo.core.changes import Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.patterns import regex
from memrepo.keys import BY_NAME, KEYS, PLAN_NAMES, Key
from memrepo.store import settings

What = Literal["show", "set", "add", "remove", "unset", "explain"]
TABLES = ("prices", "ttls", "aliases", "words")
"""Kinds of keys whose value is a table. Their entries can be set one by one."""
LISTS = ("texts", "crons")


class NoSuchKey(MemrepoError):
    """Raised when no configuration key has the given name."""

    exit_code = Exit.USAGE

    def __init__(self, name: str) -> None:
        import difflib

        every = [*BY_NAME, *OUTSIDE]
        near = difflib.get_close_matches(name, every, n=1, cutoff=0.6)
        near = near or [k for k in every if k.rpartition(".")[2] == name.rpartition(".")[2]][:1]
        super().__init__(
            f"{name} is not a configuration key",
            fix=f"did you mean {near[0]}?" if near else "`memrepo config show` lists all keys",
        )


class NotAList(MemrepoError):
    """Raised when `add` or `remove` names a key whose value is not a list."""

    exit_code = Exit.USAGE

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} holds no list", fix=f"`memrepo config set {name} VALUE`")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo config`."""

    what: Annotated[
        What,
        option(
            "show every key; set one, add words to its list or remove them, unset it;"
            " explain a key",
            choices=("show", "set", "add", "remove", "unset", "explain"),
        ),
    ] = "show"
    key: Annotated[str, option("the key, such as run.max_usd", metavar="KEY")] = ""
    values: Annotated[
        tuple[str, ...],
        option("value, in TOML or as bare words; several words make a list", metavar="VALUE"),
    ] = ()
    dry_run: DryRun = False
    reason: Reason = ""


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key, its value as JSON, the origin of the value, and a description."""

    key: str
    value: Any
    from_: str = msgspec.field(name="from")
    doc: str


class Result(VerbResult, frozen=True, kw_only=True):
    """All configuration keys, and the settings stored outside the repository."""

    keys: tuple[KeyRow, ...]


class Explained(VerbResult, frozen=True, kw_only=True):
    """A key with its description, allowed values and default, and its current value and origin."""

    key: str
    doc: str
    kind: str
    words: tuple[str, ...]
    """The allowed words, or an empty tuple if the value is not limited to certain words."""
    default: Any
    value: Any
    from_: str = msgspec.field(name="from")
    set_with: str
    """The command that changes the key."""


Outcome = Literal["committed", "with your edits", "in this clone", "dry run", "unchanged"]


class KeyChange(VerbResult, frozen=True, kw_only=True):
    """The value of a key before and after a change, and the commit of that change."""

    key: str
    old: Any
    new: Any
    path: str
    """The changed file: the repository's configuration, or `.git/config`."""
    commit: str
    """Empty if nothing was committed."""
    state: Outcome


def do(work: Work, request: Request) -> Result | Explained | KeyChange:
    """Show, explain, or change configuration keys."""
    request = replace(request, key=PLAN_NAMES.get(request.key, request.key))
    if request.what == "show":
        rows = tuple(row for row in _rows(work) if request.key in ("", row.key))
        if not rows:
            raise NoSuchKey(request.key)
        return Result(keys=rows)
    if not request.key:
        raise UsageError(f"memrepo config {request.what}: no key was given")
    if request.what == "explain":
        return _explained(work, request.key)
    if (request.what == "unset") == bool(request.values):
        message = "takes no value" if request.values else "no value was given"
        raise UsageError(f"memrepo config {request.what} {request.key}: {message}")
    if request.key in OUTSIDE:
        return _in_clone(work, request)
    return _set(work, request)


def _rows(work: Work) -> Iterator[KeyRow]:
    path, text = work.tree.layout.config, _text(work)
    for key in KEYS:
        given = key.name in work.config.given
        yield KeyRow(
            key=key.name,
            value=_plain(work.config.get(key.name)),
            from_=f"{path}:{_line(text, key)}" if given else "default",
            doc=key.doc,
        )
    for name, setting in outside(work).items():
        doc = "A personal setting; it is never read from a repository."
        if name in RETIRED:
            doc = "No longer used: remove it."
        yield KeyRow(key=name, value=setting.value, from_=setting.origin, doc=doc)
    workspace = settings.workspace(work.store.repo)
    if workspace is not None:
        doc = "The agent workspace that sources/ mirrors in this clone."
        yield KeyRow(key=settings.WORKSPACE, value=str(workspace), from_=".git/config", doc=doc)


def _line(text: str, key: Key) -> int:
    return line_of(text, key.name) or line_of(text, key.plan)


def _text(work: Work) -> str:
    path = work.tree.layout.config
    data = work.store.work.read(path)
    return (work.tree.files[path] if data is None else data).decode()


def _plain(value: object) -> object:
    """Return a value as JSON-compatible types."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _explained(work: Work, name: str) -> Explained:
    key = BY_NAME.get(name)
    if key is None and name not in OUTSIDE:
        raise NoSuchKey(name)
    found = {row.key: row for row in _rows(work)}.get(name)
    return Explained(
        key=name,
        doc=key.doc if key else "A personal setting; it is never read from a repository.",
        kind=key.kind if key else "text",
        words=key.words if key else (),
        default=_plain(Config(values={}).get(name)) if key else None,
        value=found.value if found else None,
        from_=found.from_ if found else "not set",
        set_with=f"memrepo config {'add' if key and key.kind in LISTS else 'set'} {name} ...",
    )


def _key_and_path(name: str) -> tuple[Key, tuple[str, ...]]:
    """Return the key with the given name, and the key's path in the file.

    The name of a table entry returns the key of the table.
    """
    if key := BY_NAME.get(name):
        return key, _path(name)
    for key in KEYS:
        if key.kind in TABLES and name.startswith(f"{key.name}."):
            return key, (*_path(key.name), name[len(key.name) + 1 :])
    raise NoSuchKey(name)


def _path(name: str) -> tuple[str, ...]:
    section, _, last = name.rpartition(".")
    return (section, last) if section else (last,)


def _set(work: Work, request: Request) -> KeyChange:
    key, path = _key_and_path(request.key)
    text = _text(work)
    new = without(text, _path(key.plan)) if key.plan not in ("", key.name) else text
    if request.what == "unset":
        new = without(new, path)
    else:
        new = with_value(new, path, _value(work, key, request))
    parsed = parse_config(new)  # raises ConfigError before anything is written
    before, after = _plain(work.config.get(key.name)), _plain(parsed.get(key.name))
    if new == text:
        return _changed(request.key, before, after, work, "", "unchanged")
    what = f"{'Unset' if request.what == 'unset' else 'Set'} {request.key}"
    return _written(work, request, new, what, (before, after))


def _value(work: Work, key: Key, request: Request) -> object:
    """Return the value that the words of a command line specify."""
    words = request.values
    if request.what in ("add", "remove"):
        if key.kind not in LISTS:
            raise NotAList(request.key)
        held = list(work.config.get(key.name))
        if request.what == "add":
            return [*held, *(word for word in words if word not in held)]
        for word in words:
            if word not in held:
                raise UsageError(
                    f"{request.key} does not hold {word!r}",
                    fix=f"`memrepo config explain {request.key}` shows it",
                )
        return [word for word in held if word not in words]
    if len(words) > 1 or (key.kind in LISTS and not words[0].lstrip().startswith("[")):
        return list(words)
    (word,) = words
    if key.kind == "flag":
        word = {"on": "true", "yes": "true", "off": "false", "no": "false"}.get(word.lower(), word)
    try:
        found = tomllib.loads(f"x = {word}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return word
    # If the value of a key is a text, 5 and 2026-01-01 are texts too.
    plain = found.keys() == {"x"} and key.kind not in ("text", "name", "zone", "choice", "ref")
    return found["x"] if plain or isinstance(found["x"], str) else word


def _written(
    work: Work, request: Request, new: str, what: str, values: tuple[object, object]
) -> KeyChange:
    """Write the file, and commit the change if the file had no uncommitted edits."""
    work.require_writable()
    path, store = work.tree.layout.config, work.store
    name, (before, after) = request.key, values
    if request.dry_run:
        return _changed(name, before, after, work, "", "dry run")
    with store.writing():
        if store.work.read(path) not in (None, work.tree.files[path]):
            (store.root / path).write_text(new, encoding="utf-8", newline="")
            return _changed(name, before, after, work, "", "with your edits")
        step = Step(
            op="edit",
            what=what,
            reason=request.reason or f"`memrepo config {request.what}`",
            changes=(Write(path=path, data=new.encode()),),
        )
        plan = Plan(base=work.tree.commit, steps=(step,))
        state, now = work.tree.state(), work.call.now
        landing = prepare(store, state, plan, work.context(), now, author=work.author)
        commit = store.land(landing.chain, f"config-{work.tree.commit[:10]}")
    return _changed(name, before, after, work, commit, "committed")


def _changed(
    name: str,
    before: object,
    after: object,
    work: Work,
    commit: str,
    state: Outcome,
) -> KeyChange:
    path = ".git/config" if name in OUTSIDE else work.tree.layout.config
    return KeyChange(key=name, old=before, new=after, path=path, commit=commit, state=state)


def _in_clone(work: Work, request: Request) -> KeyChange:
    """Set a key in this clone's `.git/config`, because the repository must not contain the key."""
    name, repo = f"memrepo.{git_name(request.key)}", work.store.repo
    before = settings.get(repo, name) or None
    if request.what in ("add", "remove") or len(request.values) > 1:
        raise NotAList(request.key)
    after = request.values[0] if request.values else None
    if not request.dry_run:
        settings.put(repo, name, after) if after else settings.drop(repo, name)
    state: Outcome = "dry run" if request.dry_run else "in this clone"
    return _changed(request.key, before, after, work, "", state)


_HEADING = regex(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")


def with_value(text: str, path: tuple[str, ...], value: object) -> str:
    """Return the text with a value set at the path given by table names and a key."""
    import tomlkit
    from tomlkit.items import InlineTable

    document = tomlkit.parse(text)
    *above, last = path
    table = _table(document, above)
    if table is not None and (last in table or isinstance(table, InlineTable)):
        table[last] = value
        return tomlkit.dumps(document)
    line = f"{tomlkit.key(last).as_string()} = {tomlkit.item(value).as_string()}"
    return _put(text, ".".join(above), last, line)


def without(text: str, path: tuple[str, ...]) -> str:
    """Return the text without a key, or the unchanged text if the key is not set."""
    import tomlkit

    document = tomlkit.parse(text)
    table = _table(document, path[:-1])
    if table is None or path[-1] not in table:
        return text
    del table[path[-1]]
    return tomlkit.dumps(document)


def _table(
    document: MutableMapping[str, object], names: Iterable[str]
) -> MutableMapping[str, object] | None:
    """Return the table at a path of table names, or None."""
    table: object = document
    for name in names:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, MutableMapping) else None


def _put(text: str, section: str, key: str, line: str) -> str:
    """Return the text with a line added to a section that does not set the key yet.

    The line follows the comment that shows the key, such as `# max_usd = 0.50`, or else the last
    value of the section.
    """
    lines = text.split("\n")
    place = 0 if not section else -1
    for number, row in enumerate(lines):
        if heading := _HEADING.fullmatch(row):
            if place >= 0:
                break
            if re.sub(r"\s*\.\s*", ".", heading[1].strip()) == section:
                place = number + 1
        elif place >= 0 and re.match(rf"#\s*{re.escape(key)}\s*=.*[^\[{{\s]\s*$", row):
            place = number + 1
            break
        elif place >= 0 and row.strip() and not row.lstrip().startswith("#"):
            place = number + 1
    if place < 0:
        body = text.rstrip("\n")
        return f"{body}\n\n[{section}]\n{line}\n" if body else f"[{section}]\n{line}\n"
    lines.insert(place, line)
    return "\n".join(lines)
