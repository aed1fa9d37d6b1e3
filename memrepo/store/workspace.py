"""Read an agent's workspace from disk. Symlinks are never followed.

Every file that is not read is reported. A memrepo repository is recognised by its configuration
file: of the one that reads, the folders that memrepo writes are left out, and of any other, all.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from memrepo.core.codec import LFS_POINTER
from memrepo.core.errors import GitFailed, Problem, problem
from memrepo.core.ids import blob_id
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, PROFILES, standing_of
from memrepo.core.messages import counted
from memrepo.core.patterns import find_conflict, regex
from memrepo.core.secrets import (
    Secret,
    find_secrets,
    is_clean,
    is_known_clean,
    placeholder,
    redact,
    without_secrets,
)
from memrepo.read.marks import unclosed_private, without_private
from memrepo.read.sources import (
    CODE,
    OWN,
    UNMATCHED,
    UNSEARCHED,
    SourceRules,
    in_repository,
    is_denied,
    is_hidden,
    is_text,
    kind_of,
    may_hold,
    named_only,
    why_denied,
)
from memrepo.store.git import Git, top_of

MAX_BYTES = 4 * 1024 * 1024
_LARGEST = 256 * 1024 * 1024
"""Size limit in bytes for a file imported as a whole. Exports can be large."""
MAX_SEARCHED, MAX_SEARCHED_BYTES, MAX_SEARCHED_FILE = 1000, 16 * 1024 * 1024, 256 * 1024
"""Limits of the text that neither `claims` nor `notes` names: files, all bytes, bytes of a file."""
MAX_DEPTH = 64
"""Maximum depth of folders. Deeper folders are refused by name."""
_INSTALLED = ("node_modules", "site-packages", "venv", "__pycache__")
_OURS = "is a memrepo repository, which is never read"
_HOME = "is this repository, of which only your own files are read"
_UNMISTAKABLE = regex(r"(?=\S*\d)(?=\S*[^\W\d_])\S{8,}")
"""A secret value with letters and digits. The same value elsewhere is the same secret."""


class WorkspaceFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The readable files of a workspace, as contents by name, and the refused files.

    `refused` names existing files that were not read. A folder ends in a slash, and an empty name
    means everything. The last snapshot of a refused file is retained. `clean` contains the hex
    SHA-256 of texts without a secret, and `times` when each file was last written.
    """

    files: dict[str, bytes]
    refused: frozenset[str]
    problems: tuple[Problem, ...]
    clean: frozenset[str] = frozenset()
    times: Mapping[str, datetime] = msgspec.field(default_factory=dict)

    def keeps(self, name: str) -> bool:
        """Return whether a file's last snapshot is retained because the file is unreadable."""
        return name in self.refused or any(
            name.startswith(folder) for folder in self.refused if not folder or folder[-1] == "/"
        )


def not_followed(folder: str, only: str = "") -> WorkspaceFiles:
    """Refuse a whole folder reached through a symlink, and retain all its last snapshots."""
    link = problem("source-not-a-file", folder, "folder-link")
    return WorkspaceFiles(files={}, refused=frozenset({only}), problems=(link,))


def _readable(
    root: Path,
    rules: SourceRules,
    only: str = "",
    home: Path | None = None,
    left: list[UnreadFile] | None = None,
) -> Iterator[tuple[str, os.DirEntry[str] | OSError]]:
    """Yield each file below a folder that runs may read, and each folder that cannot be listed.

    What they do not read is added to `left`: text files, and folders.
    """
    here = {"": rules_at(root, rules)}
    groups: dict[str, UnreadFile | None] = {"": None}
    left = [] if left is None else left

    def enters(folder: str) -> bool:
        name, outer = f"{folder}/", folder.rpartition("/")[0]
        if not (not only or name.startswith(only) or only.startswith(name)):
            return False
        if _is_ours(root / folder, home):
            if is_repository(root / folder):
                left.append(UnreadFile(name=name, why=_OURS, denied=True))
            return False
        here[folder] = _rules_in(root / folder, here[outer])
        own = _group(folder, here[outer], here[folder])
        if is_repository(root / folder):
            own = UnreadFile(name=name, why=_HOME, denied=True)
        groups[folder] = groups[outer] or own
        is_open = may_hold(folder, here[folder])
        if not is_open:
            left.append(groups[folder] or UnreadFile(name=name, why=UNMATCHED, denied=False))
        return is_open

    others: dict[str, tuple[os.DirEntry[str], int]] = {}
    for name, entry in _walk(root, "", MAX_DEPTH, enters=enters):
        if not name.startswith(only):
            continue
        is_folder = name.endswith("/")
        folder = name.rstrip("/").rpartition("/")[0]
        kind = kind_of(f"{name}any.md" if is_folder else name, here[folder])
        if isinstance(entry, OSError):
            yield name, entry
            if kind not in _NAMED:
                why = f"could not be listed: {entry.strerror}"
                left.append(UnreadFile(name=name, why=why, denied=True))
        elif kind in _NAMED:
            yield name, entry
        elif entry.is_symlink() and (is_folder or is_text(name)):
            why = "is a symlink, which is never followed"
            left.append(groups[folder] or UnreadFile(name=name, why=why, denied=True))
        elif kind and entry.is_file(follow_symlinks=False):
            others[name] = entry, _size(entry)
        elif is_text(name) and name.isprintable():
            why = why_denied(name, here[folder])
            denied = why not in (UNMATCHED, UNSEARCHED)
            left.append(groups[folder] or UnreadFile(name=name, why=why, denied=denied))
    found, over = within_limits({name: size for name, (_, size) in others.items()})
    left += over
    for name in sorted(found):
        yield name, others[name][0]


_NAMED = ("claims", "notes")


def rules_at(root: Path, rules: SourceRules) -> SourceRules:
    """Return the rules for a workspace: of a code repository, only what `claims` and `notes` name.

    A folder with an agent's profile is its workspace, even if it has a `package.json` too.
    """
    rules = msgspec.structs.replace(rules, deny=(*rules.deny, *template_folders(root)))
    is_agents = any(os.path.lexists(root / name) for name in PROFILES)
    return rules if is_agents else _rules_in(root, rules, is_root=True)


def template_folders(vault: Path) -> tuple[str, ...]:
    """Return the folder that Obsidian's settings name as that of the vault's templates, if any."""
    place = vault / ".obsidian" / "templates.json"
    try:
        found = msgspec.json.decode(place.read_bytes(), type=dict[str, object]).get("folder")
    except (OSError, msgspec.DecodeError):
        return ()
    return (f"{found.strip('/')}/",) if isinstance(found, str) and found.strip("/ .") else ()


def _rules_in(folder: Path, rules: SourceRules, *, is_root: bool = False) -> SourceRules:
    """Return the rules that apply in a folder, given those of the folder that contains it."""
    is_apart = folder.name in _INSTALLED or os.path.lexists(folder / ".git")
    if is_apart and not is_root:
        return in_repository(rules)
    is_code = (rules.folders or rules.search) and any(os.path.lexists(folder / n) for n in CODE)
    return named_only(rules) if is_code else rules


def within_limits(sizes: Mapping[str, int]) -> tuple[frozenset[str], tuple[UnreadFile, ...]]:
    """Split files that no pattern names into those that runs read, and the others.

    Folders with the fewest files come first. One that would exceed a limit is left out as a whole.
    """
    folders: dict[str, dict[str, int]] = {}
    unread = []
    for name, size in sizes.items():
        if size <= MAX_SEARCHED_FILE:
            folders.setdefault(name.rpartition("/")[0], {})[name] = size
        else:
            why = f"is larger than {MAX_SEARCHED_FILE // 1024} KiB, and no pattern names it"
            unread.append(UnreadFile(name=name, why=why, denied=False))
    read: set[str] = set()
    total = 0
    for folder, files in sorted(folders.items(), key=lambda item: (len(item[1]), item[0])):
        size = sum(files.values())
        if len(read) + len(files) > MAX_SEARCHED or total + size > MAX_SEARCHED_BYTES:
            why = f"has {counted(len(files), 'text', 'texts')}, more than `sources.search` takes"
            unread.append(UnreadFile(name=f"{folder}/", why=why, denied=False))
            continue
        read.update(files)
        total += size
    return frozenset(read), tuple(unread)


def _is_source(name: str, rules: SourceRules) -> bool:
    is_folder = not name or name.endswith("/")
    return kind_of(f"{name}any.md" if is_folder else name, rules) in _NAMED


def holds_sources(root: Path, rules: SourceRules) -> bool:
    """Return whether a folder contains any file that runs may read."""
    return any(not isinstance(entry, OSError) for _, entry in _readable(root, rules))


def read_workspace(
    root: Path,
    rules: SourceRules,
    *,
    only: str = "",
    original: bool = False,
    home: Path | None = None,
) -> WorkspaceFiles:
    """Read every allowed file below a folder, or only those below the subfolder `only`.

    Private text is blank in the result, unless the files are `original`, whose only copy must not
    change. `home` is the repository that reads.
    """
    files: dict[str, bytes] = {}
    clean: set[str] = set()
    refused: set[str] = set()
    problems: list[Problem] = []
    values: dict[str, str] = {}
    times: dict[str, datetime] = {}
    for name, entry in _readable(root, rules, only, home):
        if isinstance(entry, OSError) and not _is_source(name, rules):
            refused.add(name)  # `**/` patterns may match: retain the snapshots below it
            continue
        if named := _secret_in_name(name, clean):
            problems.append(problem("source-secret-name", named[0], kind=named[1]))
            continue
        data, refusal = _read(name, entry)
        found = [refusal] if refusal is not None else []
        if data is not None and standing_of("hot", data) != "foreign":
            continue  # our own hot cache page, if the workspace is the repository
        if data is not None and not original:
            if line := unclosed_private(data.decode("utf-8", "replace")):
                found.append(problem("source-private-open", name, line=line))
            data = _without_private(data)
        if data is not None and not is_clean(data):
            data, secrets = _redact_secrets(name, data, values)
            found += secrets
        if data is not None and is_clean(data):
            clean.add(hashlib.sha256(data).hexdigest())
        problems += found
        if data is None:
            refused.add(name)
        else:
            files[name] = data
            with suppress(OSError):
                times[name] = _time_of(entry)
    for name, data in _files_with_values(files, values) if values else ():
        files[name], repeated = _redact_values(name, data, values)
        if is_clean(files[name]):
            clean.add(hashlib.sha256(files[name]).hexdigest())
        problems += repeated
    return WorkspaceFiles(
        files=files,
        refused=frozenset(refused),
        problems=tuple(problems),
        clean=frozenset(clean),
        times=times,
    )


def _secret_in_name(name: str, clean: set[str]) -> tuple[str, str] | None:
    """Return (redacted name, kind) of a file whose name is a secret as memories and pages cite it.

    They name the file with lines, or without its ending, or with blanks for its hyphens. The digest
    of a name without secrets is added to `clean`.
    """
    stem = name.rpartition(".")[0] or name
    forms = (name, f"- {name}:1-2, 2026-01-01", stem, regex(r"[-_%+/]+").sub(" ", stem))
    every = "\n".join(forms).encode("utf-8", "replace")
    if is_clean(every):
        clean.add(hashlib.sha256(every).hexdigest())
        return None
    for form in forms:
        for secret in find_secrets(form):
            value = form[secret.start : secret.end]
            mark = placeholder(secret.kind)
            folder = name.rpartition("/")[0]
            shown = name.replace(value, mark) if value in name else f"{folder}/{mark}".lstrip("/")
            return without_secrets(shown), secret.kind
    return None


def _time_of(entry: os.DirEntry[str] | OSError) -> datetime:
    if isinstance(entry, OSError):
        raise entry
    return datetime.fromtimestamp(int(entry.stat(follow_symlinks=False).st_mtime), UTC)


MAX_COMMITS = 2000
"""The maximum number of a workspace's commits that are searched for the time of a file."""


def committed_times(root: Path, files: Mapping[str, bytes]) -> dict[str, datetime]:
    """Return when a workspace's own git history last changed some files, by name.

    A file with uncommitted changes is left out. Return nothing for a workspace without git.
    """
    from memrepo.store.history import commits_with_files

    top = top_of(root.resolve()) if files else None
    if top is None:
        return {}
    below = root.resolve().relative_to(top)
    names = {(below / name).as_posix(): name for name in files}
    blobs: dict[str, str] = {}
    found: dict[str, datetime] = {}
    with Git(top) as git, suppress(GitFailed):
        for row in git.call("ls-tree", "-r", "-z", "HEAD", "--", *names).split("\0"):
            head, _, path = row.partition("\t")
            blobs[path] = head.rpartition(" ")[2]
        same = {p for p, name in names.items() if blobs.get(p) == blob_id(files[name])}
        words = ("-m", "--first-parent", f"-{MAX_COMMITS}", "HEAD", "--", *sorted(same))
        for entry in commits_with_files(git, *words) if same else ():
            for path in same.intersection(entry.paths):
                found.setdefault(names[path], entry.when)
    return found


def _without_private(data: bytes) -> bytes:
    """Remove the private parts of a file, unless its text was kept whole before."""
    if is_known_clean(data):
        return data
    text = data.decode("utf-8")
    public = without_private(text)
    return data if public == text else public.encode("utf-8")


class UnreadFile(msgspec.Struct, frozen=True, kw_only=True):
    """A text file (or folder with text files) that runs do not read, and the reason."""

    name: str
    """The name of the file, or of the folder with a trailing slash."""
    why: str
    denied: bool
    """Whether the file stays unread even if a pattern names it."""


def find_unread(
    root: Path, rules: SourceRules, *, only: str = "", home: Path | None = None
) -> tuple[UnreadFile, ...]:
    """Return the text files that runs do not read, sorted by name. Contents are not read.

    A denied folder, a hidden folder and a nested repository are one entry each. Links are never
    followed. Installed packages and git folders are omitted.
    """
    left: list[UnreadFile] = []
    for _ in _readable(root, rules, only, home, left):
        pass
    names = {one.name: one for one in left if not _is_installed(one.name)}
    return tuple(one for name, one in sorted(names.items()) if _has_text(root, name))


def _is_installed(name: str) -> bool:
    return name == ADOPTED_PREFIX or not set(_INSTALLED).isdisjoint(name.split("/"))


def _has_text(root: Path, name: str) -> bool:
    """Return whether a path is a file or a link, or a folder with a text file or none to list."""
    if not name.endswith("/") or (root / name.rstrip("/")).is_symlink():
        return True
    refused: list[OSError] = []
    for _, folders, files in os.walk(root / name, onerror=refused.append):
        if any(map(is_text, files)):
            return True
        folders[:] = [one for one in folders if one not in (*_INSTALLED, ".git")]
    return bool(refused)


def _listing(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, sorted by name."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def is_repository(folder: Path) -> bool:
    """Return whether a folder is a memrepo repository, which nothing ever reads as a source."""
    return os.path.lexists(folder / CONFIG_NAME)  # also a link that leads nowhere


def _is_ours(folder: Path, home: Path | None) -> bool:
    """Return whether a folder is another repository, or one that memrepo writes in a repository."""
    if is_repository(folder):
        return folder.resolve() != home
    return f"{folder.name}/" in (*OWN, "prompts/") and is_repository(folder.parent)


def repository_of(place: Path) -> Path | None:
    """Return the memrepo repository that a path names, or that has the path in its own folders."""
    for folder in (place, *place.parents):
        inside = place.relative_to(folder).parts[:1]
        if is_repository(folder) and (not inside or f"{inside[0]}/" in OWN):
            return folder
    return None


def _group(folder: str, rules: SourceRules, inside: SourceRules) -> UnreadFile | None:
    """Return a folder that is reported as one, if it is such.

    `rules` are those of the folder that contains it, and `inside` its own.
    """
    name = f"{folder}/"
    if is_denied(folder, rules):
        return UnreadFile(name=name, why=why_denied(f"{name}any.md", rules), denied=True)
    if is_hidden(folder) and not may_hold(folder, rules):
        why = "is a hidden folder that no pattern of [sources] matches"
    elif not may_hold(folder, inside):
        why = "is a repository that no pattern of [sources] matches"
    elif inside != rules:
        why = "is a folder of code, of which only `sources.claims` is read"
    else:
        return None
    return UnreadFile(name=name, why=why, denied=False)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def read_folder(root: Path, wants: Callable[[str], bool]) -> tuple[dict[str, bytes], list[Problem]]:
    """Read the text files below a folder whose names `wants` accepts, without following links.

    `root` may also be a single file, which is read whatever its name. A hidden or installed folder
    is entered only if a file directly in it is wanted.
    """
    problems: list[Problem] = []

    def enters(name: str) -> bool:
        if wants(name):
            problems.append(problem("source-not-a-file", name, "folder"))
        return not is_repository(root / name) and not _is_shut(root / name, name, wants)

    if not root.is_dir():
        name = root.name
        entries: Iterable[tuple[str, os.DirEntry[str] | OSError]] = (
            (entry.name, entry) for entry in os.scandir(root.parent) if entry.name == name
        )
    else:
        entries = _walk(root, "", MAX_DEPTH, enters=enters)
    files: dict[str, bytes] = {}
    for name, entry in entries:
        if root.is_dir() and not wants(name) and not isinstance(entry, OSError):
            continue
        if named := _secret_in_name(name, set()):
            problems.append(problem("source-secret-name", named[0], kind=named[1]))
            continue
        data, refusal = _read(name, entry, _LARGEST)
        problems += [refusal] if refusal is not None else []
        if data is not None:
            files[name] = data
    return files, problems


def _walk(
    root: Path,
    prefix: str,
    depth: int,
    *,
    enters: Callable[[str], bool],
) -> Iterator[tuple[str, os.DirEntry[str] | OSError]]:
    """Yield (name, entry) of each file in name order, and (name, error) of unreadable folders."""
    try:
        entries = _listing(root)
    except OSError as error:
        yield prefix, error
        return
    for entry in entries:
        name = prefix + entry.name
        if entry.name == ".git":
            continue
        if not entry.is_dir(follow_symlinks=False):
            # A link to a folder is named like a folder, and refused later.
            yield name + "/" if _leads_to_folder(entry) else name, entry
        elif enters(name):
            if depth:
                deeper = root / entry.name
                yield from _walk(deeper, name + "/", depth - 1, enters=enters)
            else:
                yield name + "/", OSError(0, f"it is more than {MAX_DEPTH} folders deep")


def _is_shut(folder: Path, name: str, wants: Callable[[str], bool]) -> bool:
    """Return whether a hidden or installed folder contains no wanted file directly."""
    if not folder.name.startswith(".") and folder.name not in _INSTALLED:
        return False
    try:
        return not any(wants(f"{name}/{inner.name}") for inner in folder.iterdir())
    except OSError:
        return True


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _read(
    name: str, entry: os.DirEntry[str] | OSError, limit: int = MAX_BYTES
) -> tuple[bytes | None, Problem | None]:
    if isinstance(entry, OSError):
        return None, problem("source-unreadable", name, cause=entry.strerror)
    if not name.isprintable():
        return None, problem("source-name", ascii(name)[1:-1])
    if not entry.is_file(follow_symlinks=False):
        what = "a symlink" if entry.is_symlink() else "something that is not a file"
        return None, problem("source-not-a-file", name, "other", what=what)
    try:
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as handle:
            data = handle.read(limit + 1)
    except OSError as error:
        return None, problem("source-unreadable", name, cause=error.strerror)
    return _text_only(name, data, limit)


def _text_only(name: str, data: bytes, limit: int) -> tuple[bytes | None, Problem | None]:
    if len(data) > limit:
        return None, problem("source-too-large", name, limit=limit)
    if data.startswith(LFS_POINTER):
        return None, problem("source-lfs-pointer", name)
    stray = None
    if not _is_text(data):
        lines = data.split(b"\n")
        lost = [n for n, line in enumerate(lines, start=1) if not _is_text(line)]
        if MAX_STRAY * len(lost) > sum(map(bool, map(bytes.strip, lines))):
            return None, _no_text(name, data)
        data = b"\n".join(line if _is_text(line) else b"" for line in lines)
        count = counted(len(lost), "line", "lines")
        stray = problem("source-stray-bytes", name, line=lost[0], count=count)
    text = data.decode()
    if line := find_conflict(text):
        return None, problem("source-conflict", name, at=line)
    return data, stray


MAX_STRAY = 4
"""A file is text if at most one of this many lines is not, as after a program appended UTF-16."""


def _no_text(name: str, data: bytes) -> Problem:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return problem("source-not-utf8", name, offset=error.start)
    return problem("source-binary", name)


def _is_text(line: bytes) -> bool:
    try:
        return "\0" not in line.decode()
    except UnicodeDecodeError:
        return False


def _redact_secrets(
    name: str, data: bytes, values: dict[str, str]
) -> tuple[bytes | None, Sequence[Problem]]:
    """Redact secrets in a snapshot. Refuse inbox files that contain secrets instead.

    Add the distinctive secret values with their kinds to `values`.
    """
    text = data.decode("utf-8")
    if name.startswith("inbox/"):
        secrets = find_secrets(text)
        return None if secrets else data, [_secret("source-secret", name, s) for s in secrets]
    clean, secrets = redact(text)
    for secret in secrets:
        value = text[secret.start : secret.end]
        if _UNMISTAKABLE.fullmatch(value):
            values[value] = secret.kind
    problems = [_secret("source-secret-redacted", name, secret) for secret in secrets]
    return clean.encode("utf-8"), problems


def _secret(rule: str, name: str, secret: Secret) -> Problem:
    return problem(rule, name, line=secret.line, column=secret.column, kind=secret.kind)


def _files_with_values(
    files: Mapping[str, bytes], values: Mapping[str, str]
) -> Sequence[tuple[str, bytes]]:
    """Return the files that contain a value identified as a secret elsewhere in the workspace."""
    sought = [value.encode("utf-8") for value in values]
    return [
        (name, data)
        for name, data in files.items()
        if not name.startswith("inbox/") and any(value in data for value in sought)
    ]


def _redact_values(
    name: str, data: bytes, values: Mapping[str, str]
) -> tuple[bytes, Sequence[Problem]]:
    """Redact known secret values, even where the surrounding text does not identify them."""
    text = data.decode("utf-8")
    longest = sorted(values, key=lambda value: (-len(value), value))
    known = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
    problems = [
        problem(
            "source-secret-redacted",
            name,
            line=text.count("\n", 0, match.start()) + 1,
            column=match.start() - text.rfind("\n", 0, match.start()),
            kind=values[match[0]],
        )
        for match in known.finditer(text)
    ]
    replaced = known.sub(lambda match: placeholder(values[match[0]]), text)
    return without_secrets(replaced).encode("utf-8"), problems
