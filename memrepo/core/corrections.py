"""Correction records of contradicting memories.

Each case is one file under `corrections/`, written in the same commit as the decision. Recall never
returns these files, and no run reads them as a source. Each file records what was believed and why
that changed. The texts are quoted in the body so that they cannot be parsed as lines of the file
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

from memrepo.core.codec import CodecError, entry_lines, normal_body, split_header
from memrepo.core.errors import Problem
from memrepo.core.ids import digest, text_hash
from memrepo.core.layout import Layout, below
from memrepo.core.memory import (
    Actor,
    MemoryRef,
    Name,
    Share,
    ValueMismatch,
    defaults_of,
    node_of,
    read_value,
    text,
)
from memrepo.core.messages import fold
from memrepo.core.patterns import regex, unix
from memrepo.core.state import State, Write

CorrectionVerdict = Literal["flagged", "superseded", "both"]
"""`flagged`: a person must decide. `superseded`: one memory replaced the other, and `kept` is the
id of the remaining one. `both`: the memories do not contradict each other."""
Status = Literal["open", "resolved"]
ID = regex(r"con-[0-9a-f]{16}")
REASON_LENGTH = 500
_HEADING = regex(r"## (mem-[0-9a-f]{16})")


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two texts being compared, with its current or former memory."""

    memory: str
    text: str


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """One correction: the two texts, the decision, who decided, and the judge's confidence.

    The first side is the newer memory. `at` is when the case was found and `decided` when it was
    resolved. `run` is empty outside of runs.
    """

    id: Annotated[str, text(ID.pattern, what="the id of a correction such as con-0123456789abcdef")]
    verdict: CorrectionVerdict
    kept: MemoryRef = ""
    confidence: Share | None = None
    reason: Annotated[str, text(limit=REASON_LENGTH, what="a text")] = ""
    by: Actor
    at: datetime | None = None
    decided: datetime | None = None
    run: Name = ""
    sides: tuple[Side, Side]

    @property
    def status(self) -> Status:
        """Return "open" if the decision is pending, else "resolved"."""
        return "open" if self.verdict == "flagged" else "resolved"

    @property
    def memories(self) -> tuple[str, ...]:
        """Return the ids of the memories in this correction, without duplicates."""
        return tuple(dict.fromkeys(side.memory for side in self.sides))

    def about(self, texts: Mapping[str, str]) -> bool:
        """Return whether both memories still have the texts recorded in this correction.

        `texts` is keyed by id.
        """
        return all(
            side.memory in texts and text_hash(texts[side.memory]) == text_hash(side.text)
            for side in self.sides
        )


def contradiction_id(one: str, other: str) -> str:
    """Return the id of a contradiction between two memories, which may be given in either order."""
    return f"con-{digest(['contradiction', *sorted((one, other))])[:16]}"


def path_of(layout: Layout, correction: Correction) -> str:
    """Return the path of a new correction file, built from the correction's date (UTC) and id."""
    day = correction.at.astimezone(UTC).date().isoformat() if correction.at else "undated"
    return f"{layout.area('corrections')}{day}-{correction.id}.md"


def encode(correction: Correction) -> bytes:
    """Format a correction file. The reason is folded to one line."""
    values: dict[str, object] = {
        "type": "correction",
        "id": correction.id,
        "status": correction.status,
        "verdict": correction.verdict,
        "memories": correction.memories,
        **{key: getattr(correction, key) for key in defaults_of(Correction) if key != "sides"},
        "reason": fold(correction.reason, REASON_LENGTH),
    }
    lines = ["---"]
    for key, value in values.items():
        if value not in (None, ""):
            lines += entry_lines(key, node_of(value))
    lines.append("---")
    for side in correction.sides:
        lines += ["", f"## {side.memory}", ""]
        lines += [f"> {line}" if line else ">" for line in normal_body(side.text).split("\n")]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def decode(path: str, data: bytes) -> Correction | tuple[Problem, ...]:
    """Decode a correction file. If it is invalid, return the problems instead. Never raises."""
    found = split_header(data, path)
    if found.problems:
        return found.problems
    if not found.present:
        return (_problem(path, "found no header, expected one"),)
    known = defaults_of(Correction)
    values: dict[str, Any] = {e.key: e.value for e in found.entries if e.key in known}
    if lacking := [key for key in ("id", "verdict", "by") if key not in values]:
        return (_problem(path, f"found no {lacking[0]}, expected one", key=lacking[0]),)
    sides = [*_sides(unix(data.decode("utf-8")[found.body_offset :]))]
    if len({side.memory for side in sides}) != 2 or len(sides) != 2:
        why = f"found {len(sides)} quoted texts under the headings of memories, expected 2"
        return (_problem(path, why, found.body_line),)
    try:
        correction: Correction = read_value(Correction, {**values, "sides": sides})
    except ValueMismatch as bad:
        return (_problem(path, str(bad), found.place(bad.path)[0], str(bad.path[0])),)
    wanted = correction.memories if correction.verdict == "superseded" else ("",)
    if correction.kept not in wanted:
        why = f"found kept: {correction.kept or 'nothing'}, expected one of {', '.join(wanted)}"
        return (_problem(path, why, key="kept"),)
    if not path.endswith(f"-{correction.id}.md"):
        why = f"found a file name that does not end in -{correction.id}.md"
        return (_problem(path, why),)
    return correction


def _sides(body: str) -> Iterator[Side]:
    memory, lines = "", list[str]()
    for line in [*body.split("\n"), ""]:
        if heading := _HEADING.fullmatch(line):
            memory = heading[1]
        elif line.startswith(">"):
            lines.append(line[2:] if line.startswith("> ") else line[1:])
        elif lines:
            yield Side(memory=memory, text="\n".join(lines))
            memory, lines = "", []


def _problem(path: str, message: str, line: int = 1, key: str = "") -> Problem:
    return Problem(
        path=path,
        line=line,
        rule="correction-unreadable",
        key=key,
        message=message,
        fix="restore it from history (`git log -- <path>`)",
    )


class Corrections(msgspec.Struct, frozen=True, kw_only=True):
    """All corrections of a tree, their paths by id, and the problems of unreadable files."""

    cases: Mapping[str, Correction] = msgspec.field(default_factory=dict)
    paths: Mapping[str, str] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def between(self, one: str, other: str) -> Correction | None:
        """Return the recorded contradiction between two memories, or None."""
        return self.cases.get(contradiction_id(one, other))

    def place(self, layout: Layout, correction: Correction) -> str:
        """Return the current path of a correction, or a path for a new one."""
        return self.paths.get(correction.id) or path_of(layout, correction)


def record(state: State, correction: Correction) -> Write:
    """Return the change that writes a correction. Raise CodecError if it would not decode."""
    path = corrections_of(state).place(state.layout, correction)
    data = encode(correction)
    found = decode(path, data)
    if not isinstance(found, Correction):
        raise CodecError(*found)
    return Write(path=path, data=data)


def corrections_of(state: State) -> Corrections:
    """Return the corrections recorded in a state. The result is cached."""
    return state.once(_read_from)


def _read_from(state: State) -> Corrections:
    return read_corrections(state.files, state.layout)


def read_corrections(files: Mapping[str, bytes], layout: Layout) -> Corrections:
    """Read all corrections. If two files have the same id, use the one with the higher `weight`."""
    cases: dict[str, Correction] = {}
    paths: dict[str, str] = {}
    problems: list[Problem] = []
    for path in correction_paths(below(files, layout.area("corrections")), layout):
        found = decode(path, files[path])
        if not isinstance(found, Correction):
            problems += found
        elif found.id not in cases or weight(found) > weight(cases[found.id]):
            cases[found.id], paths[found.id] = found, path
    return Corrections(cases=cases, paths=paths, problems=tuple(problems))


def correction_paths(paths: Iterable[str], layout: Layout) -> list[str]:
    """Return the sorted paths of correction files."""
    area = layout.area("corrections")
    return sorted(p for p in paths if p.startswith(area) and p.endswith(".md"))


def weight(correction: Correction) -> tuple[bool, bool, str, bytes]:
    """Return the sort key of a correction: resolved, decided by a person, time, bytes.

    The higher version is used.
    """
    moment = correction.decided or correction.at
    person = correction.by.startswith("human:")
    when = moment.isoformat() if moment else ""
    return correction.status == "resolved", person, when, encode(correction)
