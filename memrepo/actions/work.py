"""What every command is given and what it answers; stdout belongs to `cli` alone.

`--version`, `--help` and `check FILE` load this module too, so what opens a repository (store,
configuration) is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memrepo import __version__
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.times import whole_seconds

if TYPE_CHECKING:
    from memrepo.config import Config
    from memrepo.core.messages import Context
    from memrepo.core.problems import Problem
    from memrepo.store.repo import Repository
    from memrepo.store.tree import Snapshot

MACHINE = f"memrepo/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One call of the program: folder, clock, output and the environment it may know."""

    where: Path
    now: datetime
    json: bool = False
    quiet: bool = False
    colour: bool = False
    actor: str = ""
    id: str = ""
    """The agent's session, where the environment names one."""
    say: Callable[[str], None] = print
    read: Callable[[], str] = str
    tick: Callable[[str], None] = lambda _: None
    edit: Callable[[str], str | None] = lambda _: None
    clock: Callable[[], datetime] | None = None
    """The time from then on, for a command that goes on for long."""
    expect: str = ""
    """The commit, or its first digits, that a write may build on; empty: whichever HEAD is at."""
    subject: str = ""
    """What a commit's subject says instead of a step's own words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "now", whole_seconds(self.now))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command found: exit code, JSON keys, and the same as text for a person."""

    data: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    exit: Exit = Exit.DONE
    problems: tuple[Problem, ...] = ()

    def after(self, told: tuple[Problem, ...]) -> Answer:
        """Return the answer with findings from before the command in front of its own."""
        return replace(self, problems=(*told, *self.problems))


class NewerFormat(MemrepoError):
    """The repository was written by a newer memrepo: reading works, writing is refused."""

    exit_code = Exit.DECIDE

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the repository has format {found}, this memrepo writes format {known}",
            fix="upgrade memrepo; reading commands work meanwhile",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An open repository with its effective configuration and the tree at HEAD."""

    store: Repository
    config: Config
    tree: Snapshot

    def require_writable(self) -> None:
        """Raise NewerFormat where a newer program owns this repository."""
        if self.config.read_only:
            from memrepo.config import FORMAT

            raise NewerFormat(self.config.get("format"), FORMAT)

    def actor(self, session: Session) -> str:
        """Return who acts: `human:<email>` only for a listed author, never under an agent."""
        from memrepo.store.identity import person

        if session.actor:
            return session.actor
        email = person(self.store.repo)[1]
        return f"human:{email}" if email in self.config.human_authors else "process:unknown"

    def context(self, session: Session, **more: Any) -> Context:
        """Return what the commits of one command share."""
        from memrepo.core.messages import Context

        return Context(actor=self.actor(session), **{"subject": session.subject, **more})


@contextmanager
def opened(session: Session) -> Iterator[Desk]:
    """Open the repository that the session points at, with its configuration."""
    from memrepo.store.repo import open_repository

    with open_repository(session.where) as store:
        store.expected = session.expect
        yield desk(store)


def desk(store: Repository, known: Snapshot | None = None) -> Desk:
    """Read configuration and tree of an open repository at HEAD; a known tree of it is kept."""
    from memrepo.config import ConfigError, parse_config

    head = store.head()
    tree = known if known is not None and known.commit == head else store.snapshot(head)
    path = store.layout.config
    # A person who edits memrepo.toml means it at once, committed or not.
    try:
        data = store.work.read(path)
        text = (tree.files[path] if data is None else data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            0, "", f"found a byte that is not UTF-8 at offset {error.start}"
        ) from error
    return Desk(store=store, config=parse_config(text), tree=tree)
