"""Settings of one clone: options, clone id, hooks, git's merge driver, and the user's crontab.

The clone's id is stored in the common git directory, which is never cloned or pushed. The host and
inode of that directory are stored with the id. If the directory is copied, they no longer match,
and a new id is created.

Hooks are copies of one shim that calls the installed program. A hook of another program stays as it
is, and has to call memrepo's itself.

Git calls the merge driver for each file that both sides changed. The merge strategy `recursive`
obeys `merge.renames=false`, so an edit is never applied to a memory that is only similar.

The program `crontab` is found on the PATH. A failed read is never treated as an empty table,
because the next write would delete its contents.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from memrepo.core.errors import CrontabFailed, NoCrontab
from memrepo.core.ids import digest
from memrepo.core.layout import AREAS, Layout
from memrepo.store.git import Repo, lock, spelled

_LIMIT_S = 30.0
_NONE_YET = (b"no crontab", b"no such file")
_CRON_PATH = ("/usr/bin", "/bin")


def read() -> bytes:
    """Return the user's crontab, or b"" if the user has none. Raises NoCrontab or CrontabFailed."""
    done = _run("-l")
    if done.returncode == 0:
        return done.stdout
    if any(words in done.stderr.lower() for words in _NONE_YET):
        return b""
    raise CrontabFailed("read", cause=_output(done))


def write(text: bytes) -> None:
    """Replace the user's crontab and read it back to verify it. Remove an empty crontab."""
    done = _run("-", text) if text else _run("-r")
    if done.returncode != 0:
        raise CrontabFailed("write", cause=_output(done))
    if read() != text:
        raise CrontabFailed("raced")


def _run(option: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("crontab")
    if program is None:
        raise NoCrontab
    try:
        return subprocess.run(
            [program, option],
            input=text,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CrontabFailed("run", option=option, cause=error) from error


def _output(done: subprocess.CompletedProcess[bytes]) -> str:
    text = " ".join(done.stderr.decode("utf-8", "replace").split())
    return text or f"exit code {done.returncode}"


def with_entries(table: bytes, name: str, commands: Sequence[str]) -> bytes:
    """Return a crontab in which the given lines are the entries of `name`, after all others.

    Each ends in a comment that names their owner. Every other line stays as it is.
    """
    rows = [row for row in table.splitlines(keepends=True) if not _is_of(row, name)]
    if commands and rows and not rows[-1].endswith(b"\n"):
        rows[-1] += b"\n"
    return b"".join((*rows, *(os.fsencode(f"{line}{_tag(name)}\n") for line in commands)))


def entries(table: bytes, name: str) -> tuple[str, ...]:
    """Return the entries of `name`, without the comment at their end."""
    rows = (os.fsdecode(row.rstrip(b"\r\n")) for row in table.splitlines() if _is_of(row, name))
    return tuple(row.removesuffix(_tag(name)) for row in rows)


def _is_of(row: bytes, name: str) -> bool:
    return os.fsdecode(row.rstrip(b"\r\n")).endswith(_tag(name))


def _tag(name: str) -> str:
    escaped = name.replace("%", r"\%")  # a bare percent sign ends a command
    return f" # memrepo {escaped}"


def program() -> tuple[str, ...]:
    """Return the command words that start this memrepo installation without relying on PATH."""
    sibling = Path(sys.executable).with_name("memrepo")
    if sibling.exists():
        return (str(sibling),)
    found = shutil.which("memrepo")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "memrepo")


def timeout_words(seconds: int) -> tuple[str, ...]:
    """Return a command prefix that limits run time, or () if `timeout` is not installed."""
    found = shutil.which("timeout")
    return (found, "-s", "INT", "-k", "60", str(seconds)) if found else ()


def search_path() -> str:
    """Return the PATH with which a cron job finds git, or "" if cron's default suffices."""
    git = shutil.which("git")
    folder = str(Path(git).parent) if git else ""
    return ":".join((folder, *_CRON_PATH)) if folder and folder not in _CRON_PATH else ""


WORKSPACE = "memrepo.workspace"
FOLDER = "memrepo.folder"
_NOT_SET = 5


def workspace(repo: Repo) -> Path | None:
    """Return the path of the agent workspace that `sources/` mirrors, or None if none is set."""
    found = get(repo, WORKSPACE)
    return repo.top / found if found else None


def folder(repo: Repo) -> str:
    """Return the folder of `sources/` that has the copy of this clone's workspace, or "" for all.

    It ends in a slash. All of `sources/` leaves out `inbox/` and the folders of other clones.
    """
    found = get(repo, FOLDER).strip("/")
    return f"{found}/" if found not in ("", ".") else ""


def get(repo: Repo, key: str) -> str:
    """Return a setting of this clone, or an empty string if it is not set."""
    return repo.config.of_clone().get(spelled(key), "")


def local(repo: Repo) -> dict[str, str]:
    """Return {name: value} of memrepo's settings in this clone. The last repeated value counts."""
    found = repo.config.of_clone()
    return {name: value for name, value in found.items() if name.startswith("memrepo.")}


def put(repo: Repo, key: str, value: str) -> None:
    """Store a setting in this clone."""
    repo.call("config", "--local", key, value)
    repo.config.forget()


def drop(repo: Repo, key: str) -> None:
    """Remove a setting from this clone. Ignore a setting that does not exist."""
    repo.call("config", "--local", "--unset-all", key, accepted=_NOT_SET)
    repo.config.forget()


def person(repo: Repo) -> tuple[str, str]:
    """Return the name and e-mail that git gives to an author. Either may be an empty string.

    Like git, prefer `GIT_AUTHOR_NAME` and `GIT_AUTHOR_EMAIL` to the configuration.
    """
    name, email = os.environ.get("GIT_AUTHOR_NAME"), os.environ.get("GIT_AUTHOR_EMAIL")
    return name or repo.config.get("user.name"), email or repo.config.get("user.email")


def author(repo: Repo) -> str:
    """Return `Name <email>` for commits on behalf of a person, or "" if git has no e-mail set."""
    name, email = (part.translate(_UNSAFE).strip() for part in person(repo))
    return f"{name or email} <{email}>" if email else ""


_UNSAFE = str.maketrans(dict.fromkeys("<>\n\0", ""))


CLONE = "memrepo.clone"
CLONE_FILE = "clone.json"
_ID_DIGITS = 16
_CLONE_WAIT_S = 10.0


def clone_id(repo: Repo) -> str:
    """Return this clone's id of 16 hex digits. The first use creates the id."""
    common = repo.common_dir
    folder = common / "memrepo"
    here = {"host": os.uname().nodename, "inode": common.stat().st_ino}
    if found := _read_id(folder / CLONE_FILE, here):
        return found
    with lock(folder, "clone", wait_s=_CLONE_WAIT_S):
        if found := _read_id(folder / CLONE_FILE, here):
            return found
        draft = folder / f"{CLONE_FILE}.new"
        draft.write_text("", encoding="utf-8")
        # The creation time of the file distinguishes clones made at the same path.
        made = draft.stat()
        id_ = digest([*here.values(), str(common), made.st_ino, made.st_mtime_ns])[:_ID_DIGITS]
        draft.write_text(json.dumps({"id": id_, **here}) + "\n", encoding="utf-8")
        draft.replace(folder / CLONE_FILE)
    return id_


def clone_names(repo: Repo) -> list[str]:
    """Return the clone's name from `git config memrepo.clone`, if it has one, and its id."""
    return [name for name in (get(repo, CLONE), clone_id(repo)) if name]


def _read_id(path: Path, here: dict[str, object]) -> str:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        same = all(found.get(key) == value for key, value in here.items())
        return str(found["id"]) if same else ""
    except (FileNotFoundError, ValueError, KeyError, AttributeError):
        return ""


def append_local(repo: Repo, name: str, lines: list[str]) -> None:
    """Append lines to a file in `.git/info/`, skipping lines that the file already contains."""
    path = repo.common_dir / "info" / name
    path.parent.mkdir(exist_ok=True)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    new = [line for line in lines if line not in old.splitlines()]
    if new:
        gap = "" if not old or old.endswith("\n") else "\n"
        path.write_text(old + gap + "\n".join(new) + "\n", encoding="utf-8")


PROGRAM = "memrepo.program"
HOOKS = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
_MARK = b"#!/bin/sh\n# memrepo:"
HOOK_CALL = '`memrepo hooks run NAME "$@"` in the hook of each name there asks memrepo'
_LEGACY = ".legacy"  # where the pre-commit framework moves a hook that it calls first


def wrong_hooks(repo: Repo, shim: Path) -> str:
    """Return one line that names the hooks which do not run, by reason, or "".

    A hook of another program counts if it calls `memrepo hooks run NAME`.
    """
    wanted, elsewhere = shim.read_bytes(), other_hooks_path(repo)
    folder = repo.top / elsewhere if elsewhere else _hooks_folder(repo)
    found: dict[str, list[str]] = {}
    for name in HOOKS:
        if reason := _hook_state(folder / name, wanted):
            found.setdefault(reason, []).append(name)
    parts = []
    for reason, names in found.items():
        fix = HOOK_CALL if elsewhere or reason == _FOREIGN else "`memrepo hooks install`"
        who = "all" if len(names) == len(HOOKS) else ", ".join(names)
        parts.append(f"{who}: {reason} ({fix})")
    start = f"core.hooksPath is {elsewhere}, where git looks for hooks instead; "
    return f"{start if elsewhere and parts else ''}{'; '.join(parts)}"


_FOREIGN = "belongs to another program"


def _hook_state(path: Path, wanted: bytes) -> str:
    call = f"hooks run {path.name}".encode()
    for place in (path, path.with_name(path.name + _LEGACY)):
        found = place.read_bytes() if place.is_file() else b""
        if found == wanted or call in found:
            return "" if place.stat().st_mode & stat.S_IXUSR else "not executable"
        if found.startswith(_MARK):
            return "from another version of memrepo"
    return _FOREIGN if path.exists() else "not installed"


def other_hooks_path(repo: Repo) -> str:
    """Return the value of `core.hooksPath` if it is not the clone's own hooks folder, else ""."""
    found = repo.config.path("core.hooksPath")
    if not found:
        return ""
    place = repo.top / found
    return "" if place.resolve() == _hooks_folder(repo).resolve() else found


def install_hooks(repo: Repo, shim: Path) -> list[str]:
    """Install memrepo's hooks. Return those left to another program that does not call memrepo."""
    folder, left = _hooks_folder(repo), []
    for name in HOOKS:
        path = folder / name
        if path.exists() and not (path.is_file() and path.read_bytes().startswith(_MARK)):
            left += [name] * bool(_hook_state(path, shim.read_bytes()))
        else:
            folder.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)  # never write through a link
            path.write_bytes(shim.read_bytes())
            path.chmod(0o755)
    name_program(repo)
    return left


def name_program(repo: Repo) -> None:
    """Record the path of the running memrepo, unless the recorded program still exists."""
    found, known = program(), get(repo, PROGRAM)
    if len(found) == 1 and not (known and Path(known).is_file()):
        # GUI clients and cron start hooks without the PATH of a virtual environment.
        put(repo, PROGRAM, found[0])


def _hooks_folder(repo: Repo) -> Path:
    return repo.common_dir / "hooks"


_DRIVER = "merge.memrepo.driver"
_WANTED: Mapping[str, str] = {"pull.twohead": "recursive", "merge.renames": "false"}
_DRIVER_SETTINGS: Mapping[str, str] = {
    "merge.memrepo.name": "memories, joined field by field",
    # Text that identifies a memory in the hunk headers of a diff.
    "diff.memrepo.xfuncname": "^((title|subject|id): .*|#+ .*)$",
}


def wanted_attributes(layout: Layout, *, adopted: bool) -> list[str]:
    """Return lines for `.git/info/attributes`. If adopted, they match only memrepo's folders."""
    if not adopted:
        return ["*.md merge=memrepo diff=memrepo"]
    folders = [f"/{layout.prefix}{area}/**/*.md" for area in AREAS]
    return [f"{folder} merge=memrepo diff=memrepo -text" for folder in folders]


def is_adopted(repo: Repo, layout: Layout) -> bool:
    """Return whether memrepo shares the repository with files that do not use its attributes."""
    path = repo.top / ".gitattributes"
    try:
        return bool(layout.prefix) or "*.md -merge" not in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return True


def install_drivers(repo: Repo, layout: Layout, *, adopted: bool) -> str:
    """Install the merge driver in this clone and return `driver_state`. Repeated calls are safe."""
    append_local(repo, "attributes", wanted_attributes(layout, adopted=adopted))
    for key, value in {
        **_DRIVER_SETTINGS,
        _DRIVER: f"{shlex.join(program())} merge-driver %O %A %B %L %P",
    }.items():
        if get(repo, key) != value:
            put(repo, key, value)
    for key, value in _WANTED.items():
        if not get(repo, key):
            put(repo, key, value)
    return driver_state(repo, layout, adopted=adopted)


def driver_state(repo: Repo, layout: Layout, *, adopted: bool) -> str:
    """Return why git would not merge memories field by field in this clone, or ""."""
    path = repo.common_dir / "info" / "attributes"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if missing := [w for w in wanted_attributes(layout, adopted=adopted) if w not in lines]:
        return (
            f"`git merge` does not know memrepo's merge driver: info/attributes lacks {missing[0]}"
        )
    driver = get(repo, _DRIVER)
    if not driver:
        return "`git merge` does not know memrepo's merge driver"
    first = next(iter(shlex.split(driver)), "")
    if shutil.which(first) is None:
        return f"found no program for the merge driver at {first}"
    for key, value in _WANTED.items():
        if (found := get(repo, key)) != value:
            return f"{key} is {found or 'not set'}, expected {value}: git may follow renames"
    return ""
