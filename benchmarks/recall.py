"""Recall of gold bullets through the project's own index, over memories and over raw units."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memrepo.core import codec
from memrepo.core.ids import claim_id, strip_marker
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.read.thoughts import Unit
from memrepo.store.index import Filter, Index
from memrepo.store.tables import Indexed
from memrepo.store.tree import BlobFiles, Snapshot

ADVERSARIAL = 5
"""LoCoMo's questions that name the wrong person: there is nothing to find."""
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")

Place = tuple[str, int]
"""A source file as the repository names it, and a one-based line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, of which category, and what answers it.

    `gold` are the bare texts of bullets, or the ids of turns.
    """

    text: str
    category: int
    gold: frozenset[str]


class FilesInMemory(BlobFiles):
    """The files of a commit, kept in memory; nothing is known of other commits."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self._data = data
        self.__dict__["_listed"] = {path: f"{n:040x}" for n, path in enumerate(data)}, ()

    def __getitem__(self, path: str) -> bytes:
        return self._data[path]

    def of(self, path: str, blob: str) -> bytes:
        del blob
        return self._data[path]

    def each(self, wanted: Sequence[tuple[str, str]]) -> Iterator[bytes]:
        return (self._data[path] for path, _ in wanted)

    def changed_since(self, commit: str) -> None:
        del commit


def index_of(folder: Path, files: Mapping[str, bytes]) -> Index:
    """Return an index of files in memory."""
    tree = Snapshot(commit="measured", layout=Layout(), files=FilesInMemory(files))
    return Index(folder=folder, wanted=Indexed(tree=tree))


def evidence_of(text: str) -> frozenset[str]:
    """Return the dialogue ids that a text names."""
    return frozenset(f"D{a}:{b}" for a, b in _EVIDENCE.findall(text))


def workspaces(folder: Path) -> dict[Path, list[dict[str, Any]]]:
    """Return the workspaces of a folder with the questions of `NAME.gold.json` beside each."""
    return {
        path: json.loads(path.with_name(f"{path.name}.gold.json").read_bytes())["qa"]
        for path in sorted(folder.iterdir())
        if path.is_dir()
    }


def gold_bullets(workspace: Path) -> dict[Place, str]:
    """Return the bare text of each bullet that names its dialogue turns, by place."""
    found = {}
    for path in sorted(workspace.rglob("*.md")):
        name = path.relative_to(workspace).as_posix()
        if name.startswith(("memory/", "episodes/")):
            continue
        for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if row.lstrip().startswith("- ") and evidence_of(row):
                found[Layout().source(name), number] = strip_marker(row)
    return found


def questions(qa: Iterable[Mapping[str, Any]], bullets: Iterable[str]) -> list[Question]:
    """Return the questions that some bullet answers."""
    known = {text: evidence_of(text) for text in bullets}
    made = []
    for one in qa:
        wanted = evidence_of(" ".join(map(str, one["evidence"])))
        gold = frozenset(text for text, ids in known.items() if ids & wanted)
        if gold and one["category"] != ADVERSARIAL:
            made.append(Question(text=str(one["question"]), category=one["category"], gold=gold))
    return made


def raw_memories(units: Iterable[Unit], *, headings: bool) -> list[Memory]:
    """Return one memory a unit with its words unchanged, and its nearest heading as subject."""
    made = []
    for number, unit in enumerate(units):
        resource = Layout().source(unit.resource)
        id_ = claim_id(scope=str(number), subject="", predicate="", object_="", text=unit.text)
        under = (*unit.headings, *unit.parents)[-1:] if headings else ()
        fields = {
            "id": id_,
            "type": "fact",
            "sources": (
                Source(
                    resource=resource,
                    lines=unit.lines,
                    captured=unit.captured,
                    captured_from=unit.captured_from,
                ),
            ),
        }
        if under and under[0].strip():
            fields["subject"] = " ".join(under[0].split())[:120]
        made.append(Memory(path=f"memories/facts/u{number}.md", fields=fields, body=unit.text))
    return made


def recall_at(
    limit: int,
    memories: Sequence[Memory],
    asked: Sequence[Question],
    bullets: Mapping[Place, str],
) -> float:
    """Return the mean share of each question's gold bullets that the best `limit` hits rest on."""
    files = {m.path: codec.encode(m) for m in memories}
    covers = {m.path: covered(m, bullets) for m in memories}
    total = 0.0
    with tempfile.TemporaryDirectory(prefix="memrepo-recall-") as folder:
        index = index_of(Path(folder), files)
        for question in asked:
            hits = index.search([question.text], Filter(limit=limit))
            found = frozenset().union(*(covers[hit.path] for hit in hits))
            total += len(question.gold & found) / len(question.gold)
    return total / len(asked) if asked else 0.0


def covered(memory: Memory, bullets: Mapping[Place, str]) -> frozenset[str]:
    """Return the gold bullets on which a memory's sources lie."""
    return frozenset(bullets[place] for place in places(memory) if place in bullets)


def places(memory: Memory) -> frozenset[Place]:
    """Return every source line of a memory."""
    return frozenset(
        (s.resource, line) for s in memory.sources for line in range(s.lines[0], s.lines[1] + 1)
    )
