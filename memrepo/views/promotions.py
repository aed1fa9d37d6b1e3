"""List notes nominated for promotion, as one line per note or as a markdown report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.ageing import Nomination


class Promotion(msgspec.Struct, frozen=True, kw_only=True):
    """A note nominated for promotion, with reasons, destination and number of retrievals."""

    id: str
    path: str
    title: str
    why: tuple[str, ...]
    destination: str
    retrievals: int
    last: str
    """The time of the last retrieval. Empty for never."""

    @property
    def name(self) -> str:
        """Return the note's title on one line, or else its file name."""
        slug = self.path.rsplit("/", 1)[-1].removesuffix(".md")
        return " ".join(visible(self.title or slug).split())


def promotions(found: Iterable[Nomination]) -> tuple[Promotion, ...]:
    """Convert candidates to promotions."""
    return tuple(
        Promotion(
            id=one.note.id,
            path=one.note.path,
            title=one.note.text("title"),
            why=one.why,
            destination=one.destination,
            retrievals=one.access.total,
            last=format_time(one.access.last) if one.access.last else "",
        )
        for one in found
    )


def listed(found: Sequence[Promotion]) -> list[str]:
    """Return lines of text: the number of promotions, followed by one line per promotion."""
    return [
        _count(found),
        *(
            f"  {one.id}  {one.name}: {', '.join(one.why)}; to the {one.destination}"
            for one in found
        ),
    ]


def report(found: Sequence[Promotion]) -> list[str]:
    """Return the lines of a markdown report on promotions, with proposed destinations."""
    lines = ["# Promotion report", "", _count(found) + "."]
    for one in found:
        lines += [
            "",
            f"## {one.name}",
            "",
            f"- file: `{one.path}`",
            f"- retrievals: {one.retrievals}" + (f", last {one.last}" if one.last else ""),
            f"- why: {', '.join(one.why)}",
            f"- destination: {one.destination}",
        ]
    return lines


def _count(found: Sequence[Promotion]) -> str:
    return counted(len(found), "note is", "notes are") + " nominated"
