"""What a verb works with: its request, the call that it answers, the repository, and its result.

A request is a frozen `msgspec.Struct` whose fields are `Annotated[type, option(...)]`. Every
interface is derived from these fields: the command-line parser, the JSON Schema of tools, and the
reference pages. A result contains everything that an interface may show. Its fields are the keys of
`--json`, and the wording is defined in `memrepo.faces.text`.

`--version`, `--help` and `check FILE` import this module too. Therefore modules that open a
repository (store, configuration) are imported inside functions.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from memrepo import __version__
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError
from memrepo.core.ids import digest, slugify, visible
from memrepo.core.memory import defaults_of
from memrepo.core.secrets import configure
from memrepo.core.times import whole_seconds

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from memrepo.config import Config
    from memrepo.core.messages import Context
    from memrepo.store.history import LogEntry
    from memrepo.store.repo import Repository
    from memrepo.store.tree import Snapshot

# -- requests and results ---------------------------------------------------------------------


class Option(NamedTuple):
    """The command-line details of a field, in addition to its type, bounds and default."""

    flags: tuple[str, ...] = ()
    """Its flags on the command line; empty for a positional argument."""
    metavar: str = ""
    const: str | None = None
    """The value if the option is given without one (`optional`)."""
    optional: bool = False
    several: bool = False
    """Whether one option accepts many values, instead of being repeated."""
    least: int = 0
    rest: bool = False
    """Whether it accepts all remaining arguments, including options."""
    piped: bool = False
    """Whether `-` on the command line means standard input."""
    group: str = ""
    """Name of a mutually exclusive group: at most one field of a group may be given."""
    read: Callable[[str], Any] | None = None
    """Parses the command-line word; raises ValueError with the value found and the expected form.
    """
    choices: tuple[str, ...] = ()


def option(
    says: str,
    *flags: str,
    ge: float | None = None,
    le: float | None = None,
    choices: Collection[str] = (),
    **more: Any,
) -> msgspec.Meta:
    """Describe a field: its help line, flags, bounds and choices. `more` are fields of Option."""
    known = Option(flags, choices=tuple(choices), **more)
    return msgspec.Meta(description=says, ge=ge, le=le, extra={"option": known})


def choices_of(type_: object, meta: msgspec.Meta) -> tuple[str, ...]:
    """Return the choices of a field, from its option or else from its `Literal` type."""
    known: Option = (meta.extra or {})["option"]
    if known.choices:
        return known.choices
    if get_origin(type_) is Literal:
        return get_args(type_)
    return tuple(choice for part in get_args(type_) for choice in choices_of(part, meta))


class Unfit(UsageError):
    """Raised when a field of a request is outside its bounds or choices."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}", fix=f"expected {expected}")


@cache
def _declared(kind: type[msgspec.Struct]) -> dict[str, tuple[msgspec.Meta, tuple[str, ...]]]:
    """Return the metadata and the choices of each field of a request."""
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: get_args(hints[name]) for name in kind.__struct_fields__}
    return {name: (meta, choices_of(type_, meta)) for name, (type_, meta) in parts.items()}


def checked(request: msgspec.Struct) -> object:
    """Return the request if its fields are within their bounds and choices. Raises Unfit.

    This is for Python callers. Command-line parsers and tool schemas have already checked their
    input.
    """
    defaults = defaults_of(type(request))
    for name, (meta, choices) in _declared(type(request)).items():
        value = getattr(request, name)
        if value == defaults.get(name):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            if choices and one not in choices:
                raise Unfit(name, one, f"one of {', '.join(choices)}")
            if isinstance(one, int | float) and not isinstance(one, bool):
                if meta.ge is not None and one < meta.ge:
                    raise Unfit(name, one, f"a number from {meta.ge}")
                if meta.le is not None and one > meta.le:
                    raise Unfit(name, one, f"a number up to {meta.le}")
    return request


DryRun = Annotated[bool, option("print what would be done", "--dry-run")]
Reason = Annotated[str, option("why, for the commit", "--reason")]
NoTouch = Annotated[bool, option("do not count this as a use of the memories", "--no-touch")]
At = Annotated[
    str, option("as it was at a commit, or at the end of a day", "--at", metavar="REV|DATE")
]


class Writes(Protocol):
    """The fields that the request of every committing verb contains."""

    @property
    def dry_run(self) -> bool:
        """Return whether to print the changes without making them."""

    @property
    def reason(self) -> str:
        """Return the reason for the commit."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a write that has no request of its own."""

    dry_run: bool = False
    reason: str = ""


class VerbResult(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all results. `exit` and `notices` are not part of the JSON record."""

    unlisted: ClassVar[tuple[str, ...]] = ()
    """More fields that interfaces show but that are not part of the JSON record."""
    is_report: ClassVar[bool] = False
    """Whether a verb that may write wrote nothing and reports, so that a pager may show it."""

    exit: Exit = Exit.DONE
    notices: tuple[Problem, ...] = ()
    """Warnings about files, rules and the repository that occurred during the call."""

    @property
    def is_concealed(self) -> bool:
        """Return whether secrets were replaced in each text of it already."""
        return False

    def after(self, notices: tuple[Problem, ...]) -> Self:
        """Return the result with the given earlier notices before its own."""
        return msgspec.structs.replace(self, notices=(*notices, *self.notices))

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON-compatible values."""
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.structs.replace(
                self, exit=Exit.DONE, notices=(), **dict.fromkeys(self.unlisted, msgspec.UNSET)
            ),
            str_keys=True,
        )
        del found["exit"], found["notices"]
        return found


# -- the call and the repository --------------------------------------------------------------

MACHINE = f"memrepo/{__version__}"
T = TypeVar("T")


def nothing(_: str) -> None:
    """Ignore a line or a progress message that nobody asked for."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """The caller, place and time of a call, and the callbacks of the interface."""

    where: Path
    now: datetime
    json: bool = False
    quiet: bool = False
    colour: bool = False
    actor: str = ""
    id: str = ""
    """The agent's session id, if the environment names one."""
    say: Callable[[str], None] = nothing
    read: Callable[[], str] = str
    """Returns input in addition to the request: standard input, or a tool's text."""
    tick: Callable[[str], None] = nothing
    clock: Callable[[], datetime] | None = None
    """Returns the current time, for verbs that run for long."""
    expect: str = ""
    """The commit id or prefix that HEAD must match for a write; empty to accept any HEAD."""
    scope: str = ""
    """The scope that the caller is bound to; empty if unbound.

    A bound caller reads this scope and the memories of the whole repository. It writes only into
    its scope. The value is set when the interface starts and cannot be changed by a call.
    """

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "now", whole_seconds(self.now))

    def text_of(self, file: str) -> str:
        """Return the text of a file, named from the working folder or `where`, or of stdin."""
        if file == "-":
            return self.read()
        path = next(filter(Path.is_file, (Path(file), self.where / file)), None)
        if path is None:
            raise UsageError(f"{file}: no such file", fix="name a file, or give the text on stdin")
        return path.read_text(encoding="utf-8", errors="replace")


PROGRAM = "process:"


def as_program(call: Call, client: str, tick: Callable[[str], None] = nothing) -> Call:
    """Return the context of one call by a program: no output, the current time, and its name.

    `tick` receives progress messages. The actor is never a person, regardless of the environment
    and of the client's name.
    """
    actor = call.actor
    if not actor.startswith(PROGRAM):
        actor = PROGRAM + (slugify(client)[:40].strip("-") if client.strip() else "mcp")
    return msgspec.structs.replace(
        call,
        now=call.clock() if call.clock else call.now,
        actor=actor,
        json=True,
        quiet=True,
        colour=False,
        say=nothing,
        tick=tick,
        read=str,
    )


class OtherFormat(MemrepoError):
    """Raised if a newer memrepo wrote the repository, on writing, or if its format is not read."""

    def __init__(self, path: str, found: int, known: int) -> None:
        fix = "upgrade memrepo; reading commands still work"
        if found < known:
            fix = "run `memrepo init` in a new folder and import this repository's memories there:"
            fix += " `memrepo import obsidian FOLDER/memories`"
        super().__init__(
            f"{path}: found format = {found}, expected format = {known}",
            fix=fix,
            exit_code=Exit.DECIDE if found > known else Exit.REPOSITORY,
        )


class Work:
    """The repository of one call, opened on first use and closed at the end of the call.

    `tree` and `config` belong to one commit and do not change after a write. Use `refreshed()` for
    the new HEAD, or `at()` for another commit. Only the Work that opened a repository closes it.
    """

    def __init__(
        self,
        call: Call,
        *,
        store: Repository | None = None,
        tree: Snapshot | None = None,
        config: Config | None = None,
    ) -> None:
        self.call = call
        self._store, self._tree, self._config = store, tree, config
        self._opened: AbstractContextManager[Repository] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            opened, self._opened, self._store = self._opened, None, None
            self._tree = self._config = None
            opened.__exit__(kind, error, trace)

    @property
    def store(self) -> Repository:
        """Return the repository that contains the call's folder. Raises NotARepository."""
        if self._store is None:
            from memrepo.store.repo import open_repository

            def resume_purge(store: Repository) -> None:
                from memrepo.store.remote import resume

                resume(store)

            opened = open_repository(self.call.where, resume_purge)
            self._store = opened.__enter__()
            self._opened = opened
            self._store.expected = self.call.expect
        return self._store

    @property
    def tree(self) -> Snapshot:
        """Return the files at this Work's commit, which is HEAD at first use."""
        return self.whole.within(self.call.scope) if self.call.scope else self.whole

    @property
    def whole(self) -> Snapshot:
        """Return the files with the memories of every scope, because writes are computed on all."""
        if self._tree is None:
            self._tree = self.store.snapshot(self.store.head())
        return self._tree

    @property
    def config(self) -> Config:
        """Return the effective configuration. Raises ConfigError."""
        if self._config is None:
            data = config_data(self.store, self.tree)
            self._config = parsed_config(self.store.layout.config, data)
            configure(self._config.secrets.off, self._config.secrets.patterns)
        return self._config

    @property
    def actor(self) -> str:
        """Return who performs the call."""
        if self.call.actor:
            return self.call.actor
        from memrepo.store.settings import person

        email = person(self.store.repo)[1]
        return f"human:{email}" if self.config.is_person(email) else "process:unknown"

    @property
    def author(self) -> str:
        """Return the git author for new commits: the agent if one acts, otherwise the person."""
        from memrepo.store import objects, settings

        kind, _, name = self.call.actor.partition(":")
        if kind in ("", "human"):
            return settings.author(self.store.repo) or objects.COMMITTER
        words = name.replace("-", " ").replace("_", " ").split()
        title = " ".join(word[:1].upper() + word[1:] for word in words) or "Agent"
        return f"{title} (memrepo) <{slugify(name) or 'agent'}@memrepo.invalid>"

    def answer(
        self, kind: str, type_: type[T], compute: Callable[[], T], *, of: Collection[str] = ()
    ) -> T:
        """Return what a function of this commit's files and of the configuration returns.

        The answer is stored until the commit, the configuration or the caller's scope changes.
        `of` has the paths of the files and folders that it depends on, by default all. `compute`
        may read nothing from the work tree, unless `kind` names what it found there.
        """
        config = self.store.work.read(self.tree.layout.config) or b""
        ids = [self.tree.files.id_of(path) for path in of] or self.tree.commit
        key = digest([ids, self.call.scope, config.decode("utf-8", "replace")])
        return self.store.cache.answer(kind, key, type_, compute)

    def landed(self) -> list[LogEntry]:
        """Return the landings of all runs contained in this commit, newest first."""
        from memrepo.store.history import landings

        layout, files, known = self.tree.layout, self.tree.files, self.tree.__dict__
        if "landed" not in known:
            runs = files.below(layout.area("runs"))
            known["landed"] = landings(self.store.repo, self.tree.commit, layout, runs)
        return list(known["landed"])

    def other_person(self, entry: LogEntry) -> str:
        """Return the name of the person at whose clone a run landed; empty if it was here."""
        from memrepo.store.objects import COMMITTER
        from memrepo.store.settings import person

        name, email = entry.committer.removesuffix(">").split(" <", 1)
        mine, here = person(self.store.repo)
        is_mine = name == mine or email.casefold() == here.casefold()
        return "" if is_mine or not here or entry.committer == COMMITTER else visible(name)

    def refreshed(self) -> Work:
        """Return a Work at the current HEAD, reusing the loaded tree if HEAD has not moved."""
        head = self.store.head()
        known = self._tree is not None and self._tree.commit == head
        return Work(self.call, store=self.store, tree=self._tree if known else None)

    def at(self, tree: Snapshot, config: Config) -> Work:
        """Return a Work on the files of another commit, with the given configuration."""
        return Work(self.call, store=self.store, tree=tree, config=config)

    def refresh(self) -> None:
        """Reload HEAD, so that later reads see new commits."""
        if self._store is not None:
            fresh = self.refreshed()
            self._tree, self._config = fresh._tree, None  # noqa: SLF001 - its own kind

    def require_writable(self) -> None:
        """Raise OtherFormat if this version cannot write the repository's format."""
        from memrepo.config import FORMAT

        found = self.config.format
        if found > FORMAT:
            raise OtherFormat(self.tree.layout.config, found, FORMAT)

    def begin_write(self, *, dry_run: bool = False) -> None:
        """Finish operations that a crash interrupted. Raise if writing is not possible here."""
        self.require_writable()
        self.store.refuse_unfit(index=False)
        if not dry_run:
            self.store.recover()

    def context(self, **more: Any) -> Context:
        """Return the message context shared by all commits of this call."""
        from memrepo.core.messages import Context

        return Context(actor=self.actor, **more)


def config_data(store: Repository, tree: Snapshot) -> bytes:
    """Return the bytes of the configuration. Raises ConfigError if it is no file."""
    from memrepo.config import ConfigError

    path = store.layout.config
    # Uncommitted edits of memrepo.toml apply immediately.
    data = store.work.read(path)
    if data is None and path not in tree.files:
        raise ConfigError(
            0,
            "",
            f"found {'a symlink' if store.work.linked(path) else 'no such file'}, expected a file:"
            " links are never followed",
            fix=f"put the file that it points to in its place, and commit it: `git log {path}`"
            " lists its former versions",
        )
    return tree.files[path] if data is None else data


def parsed_config(path: str, data: bytes) -> Config:
    """Return the configuration in a file. Raises ConfigError and OtherFormat."""
    from memrepo.config import FORMAT, ConfigError, parse_config

    try:
        config = parse_config(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(
            0, "", f"found a byte that is not UTF-8 at offset {error.start}"
        ) from error
    if (found := config.format) < FORMAT:
        raise OtherFormat(path, found, FORMAT)
    return config


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that must come from outside the repository, and its origin."""

    value: str
    origin: str


def outside(work: Work) -> Mapping[str, Setting]:
    """Return settings from git's configuration. Those of this clone override the person's."""
    from memrepo.config import OUTSIDE, git_name

    found: dict[str, Setting] = {}
    for name in OUTSIDE:
        value, origin = work.store.repo.config.stored(f"memrepo.{git_name(name)}")
        if value:
            found[name] = Setting(value=value, origin=origin)
    return found


def driver_notices(work: Work) -> tuple[Problem, ...]:
    """Return a warning if git in this clone would merge memories without the merge driver."""
    from memrepo.core.errors import NotARepository, problem
    from memrepo.store.settings import driver_state, is_adopted

    try:
        repo, layout = work.store.repo, work.store.layout
    except NotARepository:
        return ()
    why = driver_state(repo, layout, adopted=is_adopted(repo, layout))
    return (problem("merge-driver", ".git/config", why=why),) if why else ()


def purge_notices(work: Work) -> tuple[Problem, ...]:
    """Return an error if this clone has history that a purge in another clone replaced."""
    from memrepo.core.errors import problem
    from memrepo.store.history import purged_elsewhere

    commit = purged_elsewhere(work.store.repo)
    return (problem("purged-elsewhere", "HEAD", commit=commit[:10]),) if commit else ()


@contextmanager
def uncollected() -> Iterator[None]:
    """Run a block of code with the garbage collector disabled."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()  # avoid one more scan at exit
            gc.enable()
