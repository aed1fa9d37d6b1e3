"""Define which workspace files runs read as claims or notes, and why they ignore other files.

The allow and deny lists extend memory-purifier's source contract. Claim sources also include topic
files at any depth, files about the person, the agent and its tools, and the memories of other
agents. Dated daily logs are notes, and their lasting statements become claims too. Pages in folders
of notes are claims while a folder has few, and search finds the passages of other text. The source
profile `classic` is memory-purifier's original contract, without raw logs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memrepo.core.layout import CLONES, in_workspace
from memrepo.core.patterns import compiled, read_table, regex
from memrepo.policies.rules import Text, Texts, Unfit
from memrepo.read.documents import is_episode

SourceKind = Literal["claims", "notes", "page", "text"]
"""How runs read a file: as claims, as notes, as claims while its folder has few, or for search."""
_TABLE = read_table(Path(__file__).with_name("sources.toml"))
CLASSIC_CLAIMS, CLAIMS, FOLDERS, SEARCH, NOTES, CODE, AUTHORITY, OWN, PERSONAL, TEXT_SUFFIXES = (
    tuple(_TABLE[key])
    for key in (
        "classic_claims",
        "claims",
        "folders",
        "search",
        "notes",
        "code",
        "authority",
        "own",
        "personal",
        "text_suffixes",
    )
)
VAULT_CLAIMS = (*CLAIMS, *_TABLE["vault_claims"])
VAULT_NOTES = (*NOTES, *_TABLE["vault_notes"])
DENY = (*AUTHORITY, *OWN, *_TABLE["deny"])
FOREIGN = tuple(_TABLE["foreign"])
_SHIPPED = frozenset(
    (*VAULT_CLAIMS, *VAULT_NOTES, *CLASSIC_CLAIMS, *FOLDERS, *SEARCH, *DENY, *FOREIGN)
)
UNMATCHED = "matches no pattern of [sources]"
UNSEARCHED = "belongs to a program, or has instructions for agents"


def _read_kinds(found: Any) -> tuple[str, ...]:
    rows = msgspec.convert(found, tuple[str, ...])
    from difflib import get_close_matches

    from memrepo.read.kinds import kinds  # few configurations name kinds

    known = tuple(dict.fromkeys(kind.name for kind in kinds().kind))
    for row in rows:
        pattern, _, kind = (part.strip() for part in row.rpartition("="))
        if not pattern or kind not in known:
            near = get_close_matches(kind, known, 1) or known
            fix = f'write "{pattern or "PATTERN"} = {near[0]}"'
            raise Unfit(f'"PATTERN = KIND" with one of {", ".join(known)}', fix)
    return rows


Kinds = Annotated[
    tuple[str, ...],
    Meta(title='a list of rows such as ["memory/ideas.md = rules"]', extra={"read": _read_kinds}),
]


class SourceRules(msgspec.Struct, frozen=True, kw_only=True):
    """Glob patterns, relative to the workspace, that determine how runs read files.

    `*`, `?` and classes never match a slash. `**/` matches any number of folders, including none. A
    pattern that ends in `/` matches everything below that folder. Hidden folders are read only if a
    pattern names them with their dot. `folders` and `search` do not apply to files of programs and
    to instructions for agents.

    profile: workspace: the files of an agent's workspace; notes: every note of a vault or another
        folder; classic: only memory-purifier's files, and no daily logs.
    claims: Files that runs distil into memories.
    notes: Files that become notes only.
    folders: Pages in folders of notes, which runs distil too: at most 150, from the folders with
        the fewest pages first. Search finds the others.
    search: Other text, which search finds and from which runs distil nothing: at most 1,000 files,
        from the folders with the fewest files first, and no file over 256 KiB.
    deny: Files that are never read.
    scope: The scope of what runs read in the workspace, as `project:kiln`; unset: none.
    kinds: Sets the kind of files instead of detecting it: `memory/ideas.md = rules`. `memrepo
        sources` shows the kind of each file.
    """

    profile: Literal["workspace", "notes", "classic"] = "workspace"
    claims: Texts = CLAIMS
    notes: Texts = NOTES
    folders: Texts = FOLDERS
    search: Texts = SEARCH
    deny: Texts = DENY
    scope: Text | None = None
    kinds: Kinds = ()
    is_personal: bool = True
    """Whether files that only a person has are read too."""

    @property
    def days(self) -> bool:
        """Return whether the daily logs among the notes yield claims too."""
        return self.profile != "classic"

    def configured_kind(self, path: str) -> str:
        """Return the kind that the configuration sets for a file, or an empty string if none."""
        for row in self.kinds:
            pattern, _, kind = row.rpartition("=")
            if matches(in_workspace(path), pattern.strip()):
                return kind.strip()
        return ""


def matches(path: str, pattern: str) -> bool:
    """Return whether a slash-separated path matches a glob pattern."""
    return _fits(path, (pattern,), hidden=True)


@lru_cache(maxsize=8192)  # each stage of a run looks up each file
def kind_of(path: str, rules: SourceRules) -> SourceKind | None:
    """Return how runs read a workspace file, or None if they ignore it."""
    path = in_workspace(path)
    if _denial(path, rules):
        return None
    if _any(path, rules.notes):
        return "notes"
    if _any(path, rules.claims):
        return "claims"
    if is_foreign(path):
        return None
    if not (is_page := _any(path, rules.folders)) and not _any(path, rules.search):
        return None
    if rules.days and _DAY.fullmatch(path.rpartition("/")[2]):
        return "notes"  # a daily log, in whatever folder
    return "page" if is_page else "text"


_DAY = regex(r"\d{4}-\d\d-\d\d\.md")


def why_denied(path: str, rules: SourceRules) -> str:
    """Return why runs ignore a path, or an empty string if they read it."""
    if denial := _denial(in_workspace(path), rules):
        return denial
    return "" if kind_of(path, rules) else UNSEARCHED if is_foreign(path) else UNMATCHED


def _denial(path: str, rules: SourceRules) -> str:
    """Return why a path is not read even if a pattern matches it, or an empty string."""
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        return "is not a path inside the workspace"
    if _fits(path, rules.deny, hidden=True):
        pattern = next(p for p in rules.deny if matches(path, p))
        return _DENIALS.get(pattern, f"is on the deny list ({pattern})")
    if not rules.is_personal and path in PERSONAL:
        return "is read only with the personal profile"
    return ""


def is_foreign(path: str) -> bool:
    """Return whether a file belongs to a program, or has instructions for agents."""
    return _fits(path, FOREIGN, hidden=True)


def named_only(rules: SourceRules) -> SourceRules:
    """Return the rules without `folders` and `search`, as they apply in a folder of code."""
    return msgspec.structs.replace(rules, folders=(), search=())


def in_repository(rules: SourceRules) -> SourceRules:
    """Return the rules that apply in another repository: only patterns that name the folder."""
    claims, notes = (
        tuple(p for p in patterns if not p.startswith("**/"))
        for patterns in (rules.claims, rules.notes)
    )
    return msgspec.structs.replace(named_only(rules), claims=claims, notes=notes)


def may_hold(folder: str, rules: SourceRules) -> bool:
    """Return whether a folder or its subfolders may contain files that runs read."""
    if is_denied(folder, rules):
        return False
    if not (folder := in_workspace(f"{folder}/").rstrip("/")) or f"{folder}/" == CLONES:
        return True
    parts = tuple(folder.split("/"))
    wide = () if is_foreign(f"{folder}/any.md") else (*rules.folders, *rules.search)
    return any(
        _leads_into(parts, _components(pattern)[:-1])
        for pattern in (*rules.claims, *rules.notes, *wide)
    )


MAX_PAGES = 150
"""The number of pages in folders of notes that runs distil."""


def distilled(paths: Iterable[str], rules: SourceRules, known: Collection[str]) -> dict[str, str]:
    """Return how runs distil files, by path: as "claims" or "notes".

    There are at most MAX_PAGES pages, those in folders with the fewest first. The `known` files,
    which a run has read, stay distilled, so that no memory ends because a folder has grown.
    """
    kinds = {path: kind_of(path, rules) for path in paths}
    found: dict[str, str] = {p: kind for p, kind in kinds.items() if kind in ("claims", "notes")}
    folders: dict[str, list[str]] = {}
    for path in (path for path, kind in kinds.items() if kind == "page"):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    room = MAX_PAGES - sum(page in known for pages in folders.values() for page in pages)
    for _, pages in sorted(folders.items(), key=lambda item: (len(item[1]), item[0])):
        fresh = sorted(page for page in pages if page not in known)[: max(0, room)]
        room -= len(fresh)
        found |= dict.fromkeys([page for page in pages if page in known] + fresh, "claims")
    return found


def is_denied(folder: str, rules: SourceRules) -> bool:
    """Return whether everything below a folder is on the deny list."""
    folders = tuple(pattern for pattern in rules.deny if pattern.endswith("/"))
    return _fits(in_workspace(f"{folder}/any.md"), folders, hidden=True)


def _leads_into(parts: tuple[str, ...], folders: tuple[str, ...]) -> bool:
    """Return whether a pattern's folders match a folder or any of its subfolders."""
    if not parts or not folders:
        return not parts
    if folders[0] == "**":
        deeper = not is_hidden(parts[0]) and _leads_into(parts[1:], folders)
        return deeper or _leads_into(parts, folders[1:])
    return _is_named(parts[0], folders[0]) and _leads_into(parts[1:], folders[1:])


def is_hidden(path: str) -> bool:
    """Return whether any component of a path begins with a dot."""
    return any(part.startswith(".") for part in path.split("/"))


def is_text(path: str) -> bool:
    """Return whether a file's ending suggests text written by a person, not code or data."""
    return path.lower().endswith(TEXT_SUFFIXES)


def default_type(path: str) -> str:
    """Return the default claim type for statements in a file."""
    if is_episode(path):
        return "episode"
    return str(_TABLE["types"].get(PurePosixPath(path).name, "fact"))


@lru_cache(maxsize=256)
def _components(pattern: str) -> tuple[str, ...]:
    """Split a pattern into components. A folder pattern is expanded to end in `**` and `*`."""
    parts = tuple(pattern.split("/"))
    if parts[-1] in ("", "**"):
        return (*parts[:-1], "**", "*")
    return parts


def _fits(path: str, patterns: tuple[str, ...], *, hidden: bool) -> bool:
    """Return whether any glob pattern matches a whole path."""
    return any(form.fullmatch(path) for form in _compiled(patterns, hidden=hidden))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...], *, hidden: bool) -> tuple[re.Pattern[str], ...]:
    """Compile glob patterns: those that are shipped, and those of a configuration."""
    shipped = tuple(p for p in patterns if p in _SHIPPED)
    own = tuple(p for p in patterns if p not in _SHIPPED)
    return (
        *([compiled(_joined(shipped, hidden=hidden), re.DOTALL)] if shipped else []),
        *([re.compile(_joined(own, hidden=hidden), re.DOTALL)] if own else []),
    )


def _joined(patterns: tuple[str, ...], *, hidden: bool) -> str:
    """Translate glob patterns into a regular expression."""
    shown = "" if hidden else r"(?!\.)"
    forms = []
    for pattern in patterns:
        *folders, name = _components(pattern)
        form = [
            rf"(?:{shown}[^/]+/)*"
            if folder == "**"
            else f"{'' if folder.startswith('.') else shown}{_component(folder)}/"
            for folder in folders
        ]
        forms.append("".join(form) + _component(name))
    return "|".join(f"(?:{form})" for form in forms)


_PARTS = regex(r"\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def _component(pattern: str) -> str:
    """Translate a pattern component into a regular expression that matches no slash."""
    found = {"*": "[^/]*", "?": "[^/]"}
    return "".join(
        found.get(part) or (f"(?!/){translate(part)[4:-3]}" if len(part) > 1 else re.escape(part))
        for part in _PARTS.findall(pattern)
    )


def _is_named(folder: str, pattern: str) -> bool:
    return fnmatchcase(folder, pattern) and (pattern.startswith(".") or not is_hidden(folder))


def _any(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether any pattern matches a file. Hidden folders must be named in the pattern."""
    return _fits(path, patterns, hidden=False)


_DENIALS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(AUTHORITY, "contains instructions or is a generated page: not evidence")
    | dict.fromkeys(OWN, "has the name of a folder that memrepo or git uses")
)
