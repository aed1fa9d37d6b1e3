"""Which files of a workspace runs read, as what, and why the others are left alone.

The allow and deny lists are those of memory-purifier's source contract, widened by what real
workspaces hold: undated topic files are claim sources, dated daily logs are notes only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from memrepo.core.judging import Profile

SourceKind = Literal["claims", "notes"]

CLAIMS = (
    "MEMORY.md",
    "RTMEMORY.md",
    "PROCEDURES.md",
    "CHRONICLES.md",
    "DREAMS.md",
    "episodes/*.md",
    "memory/*.md",
    "inbox/*.md",
    "*.md",
)
NOTES = ("memory/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*.md",)
AUTHORITY = (
    "CONSTITUTION.md",
    "KNOWLEDGE.md",
    "AGENTS.md",
    "SOUL.md",
    "HARNESS.md",
    "LTMEMORY.md",
    "PLAYBOOKS.md",
    "EPISODES.md",
    "HISTORY.md",
    "WISHES.md",
    "TRENDS.md",
)
OWN = (
    "memories/",
    "views/",
    "candidates/",
    "runs/",
    "threads/",
    "corrections/",
    "tombstones/",
    "sources/",
    "memrepo/",
    ".memrepo/",
    ".git/",
)
DENY = (
    *AUTHORITY,
    *OWN,
    "runtime/",
    "HOT.md",
    "TOPICS.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "index.md",
    "*/index.md",
    "log.md",
    "*/log.md",
    "README.md",
    "*/README.md",
    "CLAUDE.md",
    "*/CLAUDE.md",
    "*/AGENTS.md",
)
PERSONAL = ("CHRONICLES.md", "DREAMS.md")
WORDS = (".md", ".markdown", ".txt")
"""Ends of the names of files that people write in."""
_UNMATCHED = "matches no pattern of sources.claims or sources.notes"

_TYPE_OF_NAME: Mapping[str, str] = MappingProxyType(
    {
        "MEMORY.md": "fact",
        "RTMEMORY.md": "lesson",
        "PROCEDURES.md": "method",
        "CHRONICLES.md": "milestone",
        "DREAMS.md": "aspiration",
    }
)


class SourceRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a workspace's files are: glob patterns, relative to the workspace.

    In a pattern `*`, `?` and classes never cross a slash; one that ends in `/` means everything
    below that folder.
    """

    claims: tuple[str, ...] = CLAIMS
    notes: tuple[str, ...] = NOTES
    deny: tuple[str, ...] = DENY
    profile: Profile = "personal"


def matches(path: str, pattern: str) -> bool:
    """Tell whether a slash-separated path matches a pattern, component by component."""
    if pattern.endswith("/"):
        folder = pattern.rstrip("/").split("/")
        parts = path.split("/")
        return len(parts) > len(folder) and _fits(parts[: len(folder)], folder)
    return _fits(path.split("/"), pattern.split("/"))


def kind_of(path: str, rules: SourceRules) -> SourceKind | None:
    """Tell what a workspace path is read as; None means that runs never read it."""
    if why_denied(path, rules):
        return None
    return "notes" if _any(path, rules.notes) else "claims"


def why_denied(path: str, rules: SourceRules) -> str:
    """Say why runs do not read a path; empty when they do."""
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        return "is not a path inside the workspace"
    pattern = next((p for p in rules.deny if matches(path, p)), None)
    if pattern is not None:
        return _DENIALS.get(pattern, f"is on the deny list ({pattern})")
    if rules.profile == "business" and path in PERSONAL:
        return "is read on the personal profile only"
    if not _any(path, (*rules.notes, *rules.claims)):
        return _UNMATCHED
    return ""


def is_unmatched(path: str, rules: SourceRules) -> bool:
    """Tell whether a path looks like a person's words, and no pattern says what becomes of it.

    Other programs' files (code, data, pictures) and what is hidden are no one's memory.
    """
    hidden = any(part.startswith(".") for part in path.split("/"))
    words = path.lower().endswith(WORDS)
    return words and not hidden and why_denied(path, rules) == _UNMATCHED


def default_type(path: str) -> str:
    """Return the claim type that a file's units are assumed to have.

    Works on workspace paths and on their snapshots below `sources/`.
    """
    if is_episode(path):
        return "episode"
    return _TYPE_OF_NAME.get(PurePosixPath(path).name, "fact")


def is_episode(path: str) -> bool:
    """Tell whether a file is an episode: it lies directly in a folder named `episodes`."""
    return PurePosixPath(path).parent.name == "episodes"


def is_procedures(path: str) -> bool:
    """Tell whether a file holds one method for each second-level heading."""
    return PurePosixPath(path).name == "PROCEDURES.md"


def _fits(parts: list[str], pattern: list[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))


def _any(path: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(path, pattern) for pattern in patterns)


_DENIALS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(AUTHORITY, "is an authority or view file, never evidence (memory-purifier)")
    | dict.fromkeys(OWN, "is memrepo's own or git's")
)
