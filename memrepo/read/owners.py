"""Whom a file is about: the names that the profile files of a workspace give.

`USER.md` and `human.md` are about a person, `IDENTITY.md` and `persona.md` about the agent. Their
lines seldom say it ("Timezone: UTC"), so a thought of such a file is given the name.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memrepo.core.patterns import regex
from memrepo.read.kinds import PLACEHOLDER, section_kind
from memrepo.read.thoughts import field_of
from memrepo.read.words import words

PERSONS = ("USER.md", "human.md")
AGENTS = ("IDENTITY.md", "persona.md")
_MARKER = regex(r"^\s*[-*+]\s+")
_ASIDE = regex(r"[(（,;|/—–·•]|\s-\s|(?<=\w{4})\.\s")
_TITLE = regex(r"^#[ \t]+(?:USER|IDENTITY)(?:\.md)?[ \t]*[-–—:][ \t]*(?P<name>[^\n]{1,60})$")
_MARKS = "*_`\"'“”«»「」 \t.。"
NAME_LENGTH = 60


class Owners(msgspec.Struct, kw_only=True):
    """The names that the profile files of each folder give."""

    by_file: dict[str, str] = msgspec.field(default_factory=dict)

    def of(self, name: str) -> str:
        """Return whom a workspace file is about, or an empty string."""
        return self.by_file.get(name, "")

    @property
    def names(self) -> frozenset[str]:
        """Return all names, and the first word of each."""
        found = self.by_file.values()
        return frozenset(found) | {name.split()[0] for name in found}


def is_profile(name: str) -> bool:
    """Tell whether a workspace file says who somebody is."""
    return name.rpartition("/")[2] in (*PERSONS, *AGENTS)


def read_owners(files: Iterable[tuple[str, bytes]]) -> Owners:
    """Read the names out of the profile files among these (name, bytes) pairs."""
    owners = Owners()
    for name, data in files:
        if is_profile(name) and (found := name_in(data)):
            owners.by_file[name] = found
    return owners


def name_in(data: bytes) -> str:
    """Return the name that a profile file gives in a field or in its title, or an empty string."""
    table = words()
    lines = data.decode("utf-8", "replace").splitlines()
    for line in lines:
        key, value = field_of(_MARKER.sub("", line))
        if key.lower() in table.names and not PLACEHOLDER.search(line):
            name = _ASIDE.split(value.strip(_MARKS), maxsplit=1)[0].strip(_MARKS)
            if name and name.lower() not in table.unset and len(name) <= NAME_LENGTH:
                return name
    titles = (match["name"].strip(_MARKS) for line in lines if (match := _TITLE.match(line)))
    return next((t for t in titles if len(t.split()) <= 3 and not section_kind([t])), "")
