"""The rules that a file can break before its memory is read (docs/rules.md derives from it)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from memrepo.core.problems import Problem

MAX_BYTES = 1024 * 1024
"""Largest memory file that is read, in bytes."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""Begins the file that git holds instead of one that Git LFS stores."""
OWN_DEPTH = 4
"""Deepest nesting of lists and mappings under a schema key; the schema itself needs three."""
FOREIGN_DEPTH = 16
"""Deepest nesting under a key that is not ours."""

RULES: Mapping[str, str] = MappingProxyType(
    {
        "file-too-large": "A memory file holds at most 1 MiB.",
        "file-not-utf8": "A memory file is UTF-8.",
        "file-nul": "A memory file holds no NUL byte.",
        "file-conflict": "A file holds no conflict markers of git, but in fenced code.",
        "file-lfs-pointer": "A memory file is not stored by Git LFS.",
        "frontmatter-missing": "A memory file begins with a header between two lines `---`.",
        "frontmatter-unclosed": "The header that line 1 opens is closed by a line `---` or `...`.",
        "frontmatter-syntax": "The header is YAML.",
        "frontmatter-not-mapping": "The header is a mapping of keys to values.",
        "frontmatter-flow-mapping": "The header has one key per line, not one `{...}`.",
        "frontmatter-second-header": "A file has one header.",
        "frontmatter-duplicate-key": "A key is only once in its mapping.",
        "frontmatter-key": (
            "A key is text, on one line, and not a word YAML takes for another type."
        ),
        "frontmatter-anchor": "The header has no anchors (`&name`).",
        "frontmatter-alias": "The header has no aliases (`*name`).",
        "frontmatter-tag": "The header has no tags (`!name`).",
        "frontmatter-merge-key": "The header has no merge keys (`<<`).",
        "frontmatter-documents": "The header is one YAML document without directives.",
        "frontmatter-tab": "A tab is in a header only inside quotes and comments.",
        "frontmatter-character": "The header holds no control characters or exotic line breaks.",
        "frontmatter-depth": "Values nest at most 4 levels, those of foreign keys 16.",
        "frontmatter-value": "The value of a schema key is of the key's kind.",
        "frontmatter-missing-type": "A memory has a `type`.",
        "frontmatter-near-key": "A key that looks like a misspelt schema key is probably one.",
    }
)
"""Every rule of header and codec, with what it asks for in one line."""


def refusal(
    rule: str,
    path: str,
    message: str,
    *,
    line: int = 0,
    column: int = 0,
    key: str = "",
    fix: str = "",
    severity: Literal["error", "warning"] = "error",
) -> Problem:
    """Make the Problem of a rule in RULES; raises KeyError on a rule that is not listed."""
    if rule not in RULES:
        raise KeyError(rule)
    return Problem(
        path=path,
        rule=rule,
        message=message,
        line=line,
        column=column,
        key=key,
        fix=fix,
        severity=severity,
    )
