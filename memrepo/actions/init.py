"""`memrepo init`: create a knowledge repository or adopt an existing folder."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Annotated, Literal, NamedTuple

import msgspec

from memrepo.actions import import_ as importing
from memrepo.actions.pending import unknown_person
from memrepo.actions.run.ingest import (
    Ingested,
    choose_folder,
    copied_by_other_person,
    take_in,
    to_join,
    workspace_of,
    workspace_rules,
)
from memrepo.actions.run.judge import Usable, usable_judges
from memrepo.actions.work import VerbResult, Work, option
from memrepo.config import with_person
from memrepo.core.errors import NotARepository, UsageError
from memrepo.core.layout import ADOPTED_PREFIX, AREAS, CONFIG_NAME, Layout, asset
from memrepo.core.messages import Context, message
from memrepo.core.patterns import regex
from memrepo.core.state import EMPTY, Step, Write, play
from memrepo.formats.plan import CLAIMS
from memrepo.policies.rules import is_zone
from memrepo.read.kinds import AGENT_FOLDER
from memrepo.read.sources import (
    CODE,
    VAULT_CLAIMS,
    VAULT_NOTES,
    SourceRules,
    distilled,
    is_text,
    kind_of,
    named_only,
)
from memrepo.store import settings
from memrepo.store.git import top_of
from memrepo.store.objects import COMMITTER, Chain, NewCommit
from memrepo.store.repo import Repository, find_layout, open_or_create, refuse_other_root
from memrepo.store.run_files import project_name
from memrepo.store.settings import (
    append_local,
    author,
    install_drivers,
    install_hooks,
    is_adopted,
    person,
    wrong_hooks,
)
from memrepo.store.workspace import (
    UnreadFile,
    find_unread,
    holds_sources,
    is_repository,
    read_workspace,
)

InitProfile = Literal["personal", "business", "classic"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo init`."""

    dir: Annotated[str, option("the folder (default: the current one)", metavar="DIR")] = ""
    profile: Annotated[
        InitProfile,
        option(
            "business leaves CHRONICLES.md, DREAMS.md and their views out; classic is personal with"
            " the rules of the original programs (`lifecycle.profile`)",
            "--profile",
            choices=("personal", "business", "classic"),
        ),
    ] = "personal"
    tz: Annotated[
        str | None,
        option("time zone of the repository (default: this machine's)", "--tz", metavar="ZONE"),
    ] = None
    workspace: Annotated[
        str, option("the agent's workspace, which runs read", "--from", metavar="WORKSPACE")
    ] = ""
    person: Annotated[bool, option("add your git e-mail to `human_authors`", "--person")] = False


class Recognised(NamedTuple):
    """The kind of a folder, as recognised, and the source profile that covers all its files."""

    what: str = ""
    """Empty if the kind is unknown."""
    profile: str = "workspace"
    is_code: bool = False
    folders: tuple[str, ...] = ()
    """Folders of pages that the files of an agent name, and that runs would only search."""


class Result(VerbResult, frozen=True, kw_only=True):
    """The new repository, and what was imported into it and read."""

    path: str
    commit: str
    profile: str
    branch: str
    imported: int
    """The number of memories imported from a purifier."""
    import_: importing.Result = msgspec.field(name="import")
    ingest: Ingested
    warnings: tuple[str, ...]
    timezone: str
    config: str
    """The path of the configuration file."""
    known: bool
    """Whether the folder already was a memrepo repository."""
    made: bool
    """Whether the git repository was created too."""
    recognised: str = ""
    """The recognised kind of the workspace.

    Empty if the folder already was a memrepo repository.
    """
    folders: tuple[str, ...] = ()
    """Folders that runs distil because the agent's own files name them."""
    searched: tuple[str, ...] = ()
    """Sources in which search finds passages, and from which runs distil nothing."""
    left_alone: tuple[UnreadFile, ...]
    """Text files of the workspace that runs do not read, by name."""
    judges: tuple[Usable, ...] = ()
    """The models that can judge on this machine, with the cost of one nightly run each."""


def do(work: Work, request: Request) -> Result:
    """Create or adopt a repository without changing existing files."""
    where, workspace = _folders(work, request)
    with open_or_create(where, Layout()) as (store, made):
        store.refuse_unfit()
        with store.writing():
            pass  # recover from an interrupted init
        known = _known_layout(store, where)
        found = recognise(workspace or where) if known is None else Recognised()
        adopted = workspace is None and _holds_markdown(where, found)
        apart = adopted and (found.is_code or _taken(where))
        store.layout = known or Layout(ADOPTED_PREFIX if apart else "")
        # Write settings outside the work tree first: init counts as done after the first commit.
        is_first = workspace is not None and settings.workspace(store.repo) is None
        if workspace is not None or (adopted and known is None):
            settings.put(store.repo, settings.WORKSPACE, str(workspace or Path()))
        warnings = [*_local_side(store, adopted=adopted), *_misplaced(where, workspace, made=made)]
        commit = _add_person(store, work) if known and request.person else ""
        if not known:
            files = _templates(store, request, found, bare=not adopted)
            commit = _commit(store, work, "Create knowledge repository", files)
        warnings += _fit_out(store)
        at = Work(work.call, store=store)
        brought = _claims(at, workspace or where)
        if workspace is not None and known is not None:
            warnings += _own_folder(at, workspace, is_first=is_first)
        ingested = take_in(at.refreshed(), reason="first snapshot of the workspace")
        at = at.refreshed()
        root = workspace or settings.workspace(store.repo) or (where if adopted else None)
        rules, home = workspace_rules(at), at.store.root.resolve()
        unread = find_unread(root, rules, home=home) if root else ()
        if workspace and known is None and not (unread or _holds(at, ingested)):
            warnings.append(f"{workspace} {_EMPTY}")
        warnings += _claude_notes(workspace or where) if known is None else ()
        if request.profile == "classic" and at.config.lifecycle.profile != "classic":
            warnings.append("its profile stays: set lifecycle.profile classic in memrepo.toml")
        branch, unknown = store.branch.removeprefix("refs/heads/"), unknown_person(at)
    return Result(
        path=str(where),
        commit=ingested.commit or brought.commit or commit,
        profile=request.profile,
        branch=branch,
        imported=brought.imported,
        import_=brought,
        ingest=ingested,
        warnings=tuple(warnings),
        timezone=at.config.zone.key,
        config=store.layout.config,
        known=known is not None,
        recognised=found.what if workspace is not None or adopted else "",
        made=made,
        folders=found.folders,
        searched=_searched(at),
        left_alone=unread,
        judges=usable_judges(at),
        notices=(*brought.problems, *ingested.refused, *unknown, *store.notices),
    )


def _fit_out(store: Repository) -> Iterator[str]:
    """Install the merge drivers and make the inbox. Yield a warning if there are no drivers."""
    inbox = store.layout.area("sources") + "inbox"
    if not store.work.linked(inbox):
        (store.root / inbox).mkdir(parents=True, exist_ok=True)
    adopted = is_adopted(store.repo, store.layout)
    if message := install_drivers(store.repo, store.layout, adopted=adopted):
        yield message


def _known_layout(store: Repository, where: Path) -> Layout | None:
    """Return the layout that a repository has, if any. Refuse what cannot be adopted."""
    known = find_layout(store.repo, store.head()) if store.head() else None
    if known is None:
        refuse_other_root(store.repo)
    elif not (store.root / known.config).exists():
        raise NotARepository("not-checked-out", where=where, config=known.config)
    return known


def _folders(work: Work, request: Request) -> tuple[Path, Path | None]:
    """Return the folder of the repository, and the workspace. Raises UsageError."""
    if request.tz is not None and not is_zone(request.tz):
        raise UsageError(
            f"memrepo init: --tz {request.tz!r} is not a zone of the tz database",
            fix="name one such as Europe/Berlin or UTC",
        )
    workspace = workspace_of(work.call.where / request.workspace) if request.workspace else None
    if workspace is not None and not workspace.is_dir():
        raise UsageError(
            f"--from {workspace}: is not a folder", fix="name the folder that holds MEMORY.md"
        )
    return (work.call.where / request.dir).absolute(), workspace


def _misplaced(where: Path, workspace: Path | None, *, made: bool) -> Iterator[str]:
    """Yield a warning if the repository is inside another one, or inside its workspace."""
    if made and (outer := top_of(where.parent)) is not None:
        yield (
            f"it is in the work tree of {outer}, which does not track it: add it to that"
            f" repository's `.gitignore`, or make it a submodule"
        )
    if workspace is not None and workspace.resolve() in where.resolve().parents:
        yield f"{where} is below the workspace: {_APART}"
    elif workspace is not None and is_repository(workspace):
        yield f"{workspace} is a memrepo repository: {_APART}"


def _own_folder(at: Work, workspace: Path, *, is_first: bool) -> Iterator[str]:
    """Give a workspace a folder of its own if another clone's fills `sources/`, and say so."""
    repo = at.store.repo
    if settings.get(repo, settings.FOLDER) or not (is_first or copied_by_other_person(at)):
        return
    folder, near = choose_folder(at, workspace)
    if folder:
        settings.put(repo, settings.FOLDER, folder.rstrip("/"))
        area = at.tree.layout.area("sources")
        undo = f"`git rm -r {area}{folder}`, `git commit -m joined`, "
        what = f"another workspace fills {area}: this one is copied to {area}{folder}"
        yield what + to_join(at, near, undo)


def _searched(at: Work) -> tuple[str, ...]:
    """Return the sources from which runs distil nothing."""
    layout = at.tree.layout
    names = {layout.source_name(path) for path in at.tree.files.below(layout.area("sources"))}
    others = names - distilled(names, at.config.source_rules(), ()).keys()
    return tuple(sorted(filter(is_text, others)))


_APART = "runs read your own files there, and never what memrepo writes"
_EMPTY = (
    "contains no text yet: runs read its markdown (`memrepo config sources.claims`),"
    " `memrepo import` takes in what another program exported"
)


def _holds(at: Work, ingested: Ingested) -> bool:
    """Return whether the workspace contains sources, including any that could not be read."""
    return bool(ingested.refused) or any(at.tree.files.below(at.tree.layout.area("sources")))


def machine_zone() -> str:
    """Return this machine's time zone, preferring `TZ`, or UTC if the time zone is unknown."""
    import logging
    from zoneinfo import ZoneInfoNotFoundError

    import tzlocal

    logging.getLogger("tzlocal").disabled = True  # its warnings are irrelevant here
    try:
        found = tzlocal.get_localzone_name()
    except ZoneInfoNotFoundError:
        found = ""
    return found if is_zone(found) else "UTC"


_AGENT = set(
    (
        "MEMORY.md RTMEMORY.md USER.md SOUL.md IDENTITY.md HEARTBEAT.md PROCEDURES.md "
        "CHRONICLES.md DREAMS.md memory episodes"
    ).split()
)


def recognise(folder: Path) -> Recognised:
    """Return the kind of a folder, recognised by the names of its files.

    A folder of notes is recognised by the files below it.
    """
    names = {entry.name for entry in os.scandir(folder)} if folder.is_dir() else set()
    code = bool(names.intersection(CODE))
    # Agent workspaces are also opened in Obsidian: two agent file names outweigh its settings.
    if ".obsidian" in names and len(names & _AGENT) < 2:
        return Recognised("an Obsidian vault", "notes")
    if names & _AGENT:
        named = () if code else _named_folders(folder)
        return Recognised("an agent's workspace", is_code=code, folders=named)
    if names & {".claude", "CLAUDE.md"}:
        return Recognised("a Claude Code project", is_code=code)
    if code:
        return Recognised("a code repository", is_code=True)
    rules = SourceRules(claims=VAULT_CLAIMS, notes=VAULT_NOTES)
    if not names & {"AGENTS.md", CONFIG_NAME} and holds_sources(folder, rules):
        return Recognised("a folder of notes", "notes")
    return Recognised()


_NAMING = ("AGENTS.md", "CLAUDE.md", "MEMORY.md", "SOUL.md", "TOOLS.md", "USER.md")


def _named_folders(folder: Path) -> tuple[str, ...]:
    """Return the folders of pages that the files at the top of an agent's workspace name.

    They say where its notes are, in any language: "people are in `personen/`".
    """
    text = ""
    for file in (folder / name for name in _NAMING):
        with suppress(OSError):
            text += file.read_text("utf-8", "replace") if file.is_file() else ""
    named = set(regex(r"(?<![\w/.-])([\w-]+)/").findall(text))
    return tuple(
        name
        for name in sorted(named)
        if kind_of(f"{name}/page.md", SourceRules()) == "text"
        and not AGENT_FOLDER.search(name)
        and (folder / name).is_dir()
        and any(page for at in ("*.md", "*/*.md") for page in (folder / name).glob(at))
    )


def _claude_notes(workspace: Path) -> Iterator[str]:
    """Yield where Claude Code keeps its own notes of a project, which is no part of its folder."""
    place = Path.home() / ".claude" / "projects" / project_name(workspace) / "memory"
    if place.is_dir():
        yield (
            f"Claude Code keeps notes of this project in {place}:"
            f" `memrepo import claude-code {shlex.quote(str(place))}` takes them in"
        )


def _claims(at: Work, workspace: Path) -> importing.Result:
    """Import the claims that a purifier published in the workspace, unless already imported.

    Later changes of the claims are treated as changes by a person.
    """
    folder = workspace / "runtime"
    if not (folder / CLAIMS).is_file() or importing.was_imported(at):
        return importing.Result()
    sources = read_workspace(
        workspace, at.config.source_rules(), home=at.store.root.resolve()
    ).files
    request = importing.Request(format=importing.ARTIFACTS, path=str(folder))
    return importing.bring_in(at, request, sources)


def _holds_markdown(where: Path, found: Recognised) -> bool:
    """Return whether the folder itself is a workspace with files that runs would read."""
    if found.profile == "notes":
        return True
    if not where.is_dir() or (where / CONFIG_NAME).exists():
        return False
    return holds_sources(where, named_only(SourceRules()))


def _taken(where: Path) -> bool:
    names = {*AREAS, CONFIG_NAME}
    return any((where / name).exists() for name in names)


def _add_person(store: Repository, work: Work) -> str:
    """Add the person at this clone to `human_authors`, and return the commit, if it is new."""
    at, email = Work(work.call, store=store), person(store.repo)[1]
    if work.call.actor or not email:
        raise UsageError(
            "memrepo init: --person needs a person's git e-mail",
            fix="`git config user.email ADDRESS`, and unset MEMREPO_ACTOR",
        )
    if at.config.is_person(email):
        return ""
    path = store.layout.config
    text = with_person(at.tree.files[path].decode(), email)
    return _commit(store, work, f"Count {email} as a person", {path: text.encode()})


def _commit(store: Repository, work: Work, what: str, files: Mapping[str, bytes]) -> str:
    """Commit files of `init`: the templates and settings, or one changed setting."""
    step = Step(
        op="init",
        what=what,
        reason="`memrepo init`: settings, hooks and templates",
        changes=tuple(Write(path=path, data=data) for path, data in sorted(files.items())),
    )
    base = store.head()
    empty = msgspec.structs.replace(EMPTY, layout=store.layout)
    effects, _ = play(empty, (step,))
    email = person(store.repo)[1]
    context = Context(actor=work.call.actor or (f"human:{email}" if email else "process:unknown"))
    return store.land(
        Chain(
            base=base,
            commits=[NewCommit(message=message(step, context), effect=effects[0])],
            author=author(store.repo) or COMMITTER,
            when=store.not_before(work.call.now, base),
        ),
        "init",
    )


_CLASSIC = """
[lifecycle]
# evidence | classic: classic has the rules of the original programs, in which what nobody retrieves
# leaves.
profile = "classic"
"""


def _templates(
    store: Repository, request: Request, found: Recognised, *, bare: bool
) -> Mapping[str, bytes]:
    email = person(store.repo)[1]
    text = Template(asset("templates", "repo", CONFIG_NAME).read_text(encoding="utf-8"))
    config = text.substitute(
        profile="personal" if request.profile == "classic" else request.profile,
        timezone=json.dumps(request.tz or machine_zone()),
        human_authors=json.dumps([email] if email else []),
    )
    if found.profile != "workspace":
        config = config.replace('# profile = "workspace"', f'profile = "{found.profile}"')
    if found.folders:
        before, shown, rest = regex(r"(?ms)^(# folders = \[\n.*?)^# \]\n").split(config, 1)
        named = "".join(f'  "{name}/**/*.md",\n' for name in found.folders)
        config = before + shown.replace("# ", "") + named + "]\n" + rest
    if request.profile == "classic":
        config += _CLASSIC
    files = {store.layout.config: config.encode()}
    if bare:
        for name in ("gitattributes", "gitignore", "pre-commit-config.yaml"):
            target = f".{name}"
            if not (store.root / target).exists():
                files[target] = asset("templates", "repo", name).read_bytes()
        files["templates/daily-log.md"] = asset("templates", "repo", "daily-log.md").read_bytes()
    return files


def _local_side(store: Repository, *, adopted: bool) -> list[str]:
    warnings = []
    if adopted:
        append_local(store.repo, "exclude", [f"/{store.layout.prefix}.memrepo/"])
    shim = asset("hooks", "shim")
    install_hooks(store.repo, shim)
    if wrong := wrong_hooks(store.repo, shim):
        warnings.append(f"hooks: {wrong}")
    if not person(store.repo)[1]:
        warnings.append("user.email is not set in git: set it, and list it under human_authors")
    return warnings
