"""Define which workspace files runs read as claims or notes, and why they ignore other files.

The allow and deny lists extend memory-purifier's source contract. Claim sources also include topic
files at any depth, files about the person, the agent and its tools, and the memories of other
agents. Dated daily logs are notes, and their lasting statements become claims too. The source
profile `classic` is memory-purifier's original contract, without raw logs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.core.judge import Profile

SourceKind = Literal["claims", "notes"]
_TABLE = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))
CLASSIC_CLAIMS, CLAIMS, NOTES, AUTHORITY, OWN, PERSONAL, TEXT_SUFFIXES = (
    tuple(_TABLE[key])
    for key in (
        "classic_claims",
        "claims",
        "notes",
        "authority",
        "own",
        "personal",
        "text_suffixes",
    )
)
VAULT_CLAIMS = (*CLAIMS, *_TABLE["vault_claims"])
VAULT_NOTES = (*NOTES, *_TABLE["vault_notes"])
DENY = (*AUTHORITY, *OWN, *_TABLE["deny"])
UNMATCHED = "matches no pattern of sources.claims or sources.notes"


class SourceRules(msgspec.Struct, frozen=True, kw_only=True):
    """Glob patterns, relative to the workspace, that determine how runs read files.

    `*`, `?` and classes never match a slash. `**/` matches any number of folders, including none. A
    pattern that ends in `/` matches everything below that folder. Hidden folders are read only if a
    pattern names them with their dot. With `days`, the daily logs among the notes yield claims too.
    """

    claims: tuple[str, ...] = CLAIMS
    notes: tuple[str, ...] = NOTES
    deny: tuple[str, ...] = DENY
    profile: Profile = "personal"
    days: bool = True
    kinds: tuple[str, ...] = ()
    """Rows of `pattern = kind`. The first pattern that matches a path applies."""

    def configured_kind(self, path: str) -> str:
        """Return the kind that the configuration sets for a file, or an empty string if none."""
        for row in self.kinds:
            pattern, _, kind = row.rpartition("=")
            if matches(path, pattern.strip()):
                return kind.strip()
        return ""


def matches(path: str, pattern: str) -> bool:
    """Return whether a slash-separated path matches a glob pattern."""
    return _compiled((pattern,), hidden=True).fullmatch(path) is not None


def kind_of(path: str, rules: SourceRules) -> SourceKind | None:
    """Return how runs read a workspace file (claims or notes), or None if they ignore it."""
    if why_denied(path, rules):
        return None
    return "notes" if _any(path, rules.notes) else "claims"


@lru_cache(maxsize=8192)  # each stage of a run looks up each file
def why_denied(path: str, rules: SourceRules) -> str:
    """Return why runs ignore a path, or an empty string if they read it."""
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        return "is not a path inside the workspace"
    if _compiled(rules.deny, hidden=True).fullmatch(path):
        pattern = next(p for p in rules.deny if matches(path, p))
        return _DENIALS.get(pattern, f"is on the deny list ({pattern})")
    if rules.profile == "business" and path in PERSONAL:
        return "is read only with the personal profile"
    if not _any(path, (*rules.notes, *rules.claims)):
        return UNMATCHED
    return ""


def may_hold(folder: str, rules: SourceRules, *, by_name: bool = False) -> bool:
    """Return whether a folder or its subfolders may contain files that runs read."""
    if is_denied(folder, rules):
        return False
    parts = tuple(folder.split("/"))
    return any(
        _leads_into(parts, _components(pattern)[:-1])
        for pattern in (*rules.claims, *rules.notes)
        if not (by_name and pattern.startswith("**/"))
    )


def is_denied(folder: str, rules: SourceRules) -> bool:
    """Return whether everything below a folder is on the deny list."""
    folders = tuple(pattern for pattern in rules.deny if pattern.endswith("/"))
    return _compiled(folders, hidden=True).fullmatch(f"{folder}/any.md") is not None


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


def is_episode(path: str) -> bool:
    """Return whether a file is an episode, that is, directly in a folder named `episodes`."""
    return PurePosixPath(path).parent.name == "episodes"


@lru_cache(maxsize=256)
def _components(pattern: str) -> tuple[str, ...]:
    """Split a pattern into components. A folder pattern is expanded to end in `**` and `*`."""
    parts = tuple(pattern.split("/"))
    if parts[-1] in ("", "**"):
        return (*parts[:-1], "**", "*")
    return parts


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...], *, hidden: bool) -> re.Pattern[str]:
    """Compile glob patterns into a regular expression that matches whole paths."""
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
    return re.compile("|".join(f"(?:{form})" for form in forms) or r"(?!)", re.DOTALL)


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
    return _compiled(patterns, hidden=False).fullmatch(path) is not None


_DENIALS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(AUTHORITY, "contains instructions or is a generated page: not evidence")
    | dict.fromkeys(OWN, "has the name of a folder that memrepo or git uses")
)
