"""What code stops of false wordings alone, and what it must let through.

The lines and wordings are invented: `grounding_false.txt` and `grounding_true.txt`. A row is the
kind of falsehood, the line, its wording, and what the line stands under, or other fields.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memrepo.core.judge import Candidate, CanonicalClaim, Cluster, Scores, Wording
from memrepo.core.memory import Source
from memrepo.judges.asking import check_of
from memrepo.judges.grounding import Grounds, claim_fault, find_unsupported, grounds_of

Row = tuple[str, str, str, tuple[str, ...]]


def rows(name: str) -> list[Row]:
    """Return the rows of a table."""
    text = (Path(__file__).parent / f"grounding_{name}.txt").read_text(encoding="utf-8")
    cells = (line.split("|") for line in text.splitlines())
    return [(c[0], c[1], c[2], tuple(part for part in c[3:] if part)) for c in cells]


FALSE, TRUE = rows("false"), rows("true")
EXACT = {
    *("number", "unit", "currency", "date", "time", "name", "identifier", "quotation"),
    *("tags", "lead", "entities"),
}
"""Kinds of falsehood that code can see; the others are for the second question."""
SCORES = Scores(**dict.fromkeys(Scores.__struct_fields__, 0.5))
SOURCE = Source(
    resource="sources/MEMORY.md",
    blob="0" * 40,
    lines=(1, 1),
    text_hash="th-" + "0" * 16,
    kind="direct",
    captured="2026-06-10",
    captured_from="file",
)


def answered(row: Row) -> tuple[CanonicalClaim, Grounds]:
    """Return the claim that words a row, and what it may draw on."""
    _, line, text, more = row
    fields = dict(part.split(": ", 1) for part in more if part.split(":")[0] in FIELDS)
    context = tuple(part for part in more if part.split(":")[0] not in FIELDS)
    member = Candidate(candidate_id="cand-1", text=line, context=context, sources=(SOURCE,))
    cluster = Cluster(
        cluster_id="clust-1",
        candidates=(member,),
        strength=3.0,
        type_hint="fact",
        home_hint="LTMEMORY.md",
    )
    words = {name: fields.get(name, "") for name in ("title", "subject", "object")}
    claim = CanonicalClaim(
        cluster_id="clust-1",
        type="fact",
        standing="resolved",
        wording=Wording(text=text, **words),
        scores=SCORES,
        quote=line,
        tags=(fields["tags"],) if "tags" in fields else (),
        entities=(fields["entities"],) if "entities" in fields else (),
    )
    return claim, grounds_of(cluster)


FIELDS = ("title", "subject", "object", "tags", "entities")


def fault(row: Row) -> str:
    return claim_fault(*answered(row), ())


@pytest.mark.parametrize("row", [r for r in FALSE if r[0] in EXACT], ids=lambda r: r[2])
def test_code_stops_what_can_be_checked_exactly(row: Row) -> None:
    assert fault(row)


@pytest.mark.parametrize("row", TRUE, ids=lambda r: r[2])
def test_code_lets_a_true_paraphrase_through(row: Row) -> None:
    assert fault(row) == ""


@pytest.mark.parametrize("row", [*FALSE, *TRUE], ids=lambda r: r[2])
def test_what_code_lets_through_is_asked_about(row: Row) -> None:
    claim, grounds = answered(row)
    assert fault(row) or check_of(claim, grounds, ()) is not None


@pytest.mark.parametrize(
    ("line", "text", "days", "refused"),
    [
        ("The roof was done yesterday.", "The roof was done on 2026-06-09.", "2026-06-10", False),
        ("The roof was done yesterday.", "The roof was done on 2026-06-07.", "2026-06-10", True),
        ("The fair is next Friday.", "The fair is on 12 June 2026.", "2026-06-10", False),
        ("The roof was done.", "The roof was done on 10 June 2026.", "2026-06-10", False),
        ("The roof was done.", "The roof was done on 10 June 2026.", "", True),
    ],
)
def test_a_relative_date_is_resolved_against_the_day_of_the_file(
    line: str, text: str, days: str, refused: bool
) -> None:
    grounds = Grounds(evidence=(line,), days=(days,) if days else ())
    assert bool([*find_unsupported([("text", text)], grounds)]) is refused


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("Lea wants it ... by noon", ""),
        ("lea WANTS it", ""),
        ("", "quote is empty"),
        ("...", "quote is empty"),
        ("Lea wants that", "not in the evidence"),
        ("Orders", "not in the evidence"),
        ("Lea wants it ... at night", "not in the evidence"),
    ],
)
def test_an_answer_cites_words_of_its_evidence(quote: str, why: str) -> None:
    row = (
        "",
        "Lea wants it in the yard by noon.",
        "Lea wants it in the yard by noon.",
        ("Orders",),
    )
    claim, grounds = answered(row)
    claim = type(claim)(
        **{n: getattr(claim, n) for n in claim.__struct_fields__} | {"quote": quote}
    )
    found = claim_fault(claim, grounds, ())
    assert (why in found) if why else not found
